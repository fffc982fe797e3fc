//! Routings in Python: machine code of numba, called with numbers and function pointers.
//!
//! `deroute.routing` compiles a file to functions that take a [`Frame`]. It loads the words of a frame, and
//! calls its functions with the frame and two numbers. What they do is the engine's (`routing::foreign`), which
//! checks every number; what is unsafe is here.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::Arc;

use deroute::Simulation;
use deroute::ids::RouterId;
use deroute::routing::foreign::{self, Call, Foreign, Foreigner, Hook, Paths};
use deroute::routing::{self, Header};
use deroute::spec::{MinimalSpec, PythonSpec, Routing};
use pyo3::prelude::*;

use crate::errors;

/// Words of a frame: what `deroute.routing` calls `WORDS`.
const WORDS: usize = 13;
/// Those that a function may change.
const PHASE: usize = 7;
const INTERMEDIATE: usize = 9;
/// 1 once the code has answered, and has not raised an exception.
const ANSWERED: usize = 12;

/// What a function of a frame is.
type Function = extern "C" fn(*mut Frame, i64, i64) -> i64;
/// What compiled code is.
type Code = extern "C" fn(*mut Frame) -> i64;

/// One call of compiled code. `deroute.routing.compiler` knows this layout.
#[repr(C)]
struct Frame {
    words: [i64; WORDS],
    functions: *const Function,
    /// The `Call` that is answered.
    call: *mut (),
}

/// Functions that compiled code may call, by number: what `deroute.routing` calls `FUNCTIONS`.
macro_rules! functions {
    ($($name:ident: |$call:ident, $a:ident, $b:ident| $body:expr;)*) => {
        $(extern "C" fn $name(frame: *mut Frame, $a: i64, $b: i64) -> i64 {
            // SAFETY: compiled code hands back the frame that `Compiled::call` gave it, whose call lives
            // until that returns and is not used by anything else meanwhile.
            let $call = unsafe { &mut *(*frame).call.cast::<Call<'_>>() };
            $body
        })*

        static FUNCTIONS: &[Function] = &[$($name,)* divert, go_minimally];

        /// Their names, in order.
        pub const NAMES: &[&str] = &[$(stringify!($name),)* "divert", "go_minimally"];
    };
}

functions! {
    hop: |call, _a, _b| call.hop();
    hop_to: |call, router, _b| call.hop_to(router);
    hop_by: |call, port, _b| call.hop_by(port);
    queue: |call, hop, _b| call.queue(hop);
    port_queue: |call, port, _b| call.port_queue(port);
    vc_queue: |call, port, vc| call.vc_queue(port, vc);
    distance: |call, from, to| call.distance(from, to);
    intermediate: |call, policy, own_group| call.intermediate(policy, own_group);
    below: |call, bound, _b| call.below(bound);
    group: |call, router, _b| call.group(router);
    neighbour: |call, port, _b| call.neighbour(port);
    link_class: |call, port, _b| call.link_class(port);
    ports: |call, _a, _b| call.ports();
    exit_router: |call, router, _b| call.exit_router(router);
    exit_port: |call, router, _b| call.exit_port(router);
    state: |call, index, _b| call.state(index);
    keep: |call, index, value| call.keep(index, value);
    send: |call, delay, content| call.send(delay, content);
}

extern "C" fn divert(frame: *mut Frame, router: i64, policy: i64) -> i64 {
    change(frame, |call| call.divert(router, policy))
}

extern "C" fn go_minimally(frame: *mut Frame, _a: i64, _b: i64) -> i64 {
    change(frame, |call| call.go_minimally())
}

/// Changes the header of the packet, and the words that show it.
#[inline]
fn change(frame: *mut Frame, how: impl FnOnce(&mut Call<'_>) -> i64) -> i64 {
    // SAFETY: as in `functions!`.
    let (call, words) = unsafe { (&mut *(*frame).call.cast::<Call<'_>>(), &mut (*frame).words) };
    let told = how(call);
    if let Some(header) = call.header() {
        (words[PHASE], words[INTERMEDIATE]) = (header.phase as i64, middle(header));
    }
    told
}

/// The intermediate router of a packet, or -1.
fn middle(header: &Header) -> i64 {
    header.intermediate().map_or(-1, |RouterId(router)| router.into())
}

/// A file of Python, compiled.
struct Compiled {
    codes: [Option<Code>; Hook::ALL.len()],
    /// Owns the machine code.
    _keep: Py<PyAny>,
}

impl Foreign for Compiled {
    #[inline]
    fn has(&self, hook: Hook) -> bool {
        self.codes[hook as usize].is_some()
    }

    #[inline]
    fn call(&self, hook: Hook, call: &mut Call<'_>) -> Option<i64> {
        let code = self.codes[hook as usize]?;
        let [first, second] = call.arguments();
        let mut words = [0; WORDS];
        if let Some(header) = call.header() {
            words[5] = header.destination.0.into();
            words[6] = header.position.into();
            words[PHASE] = header.phase as i64;
            words[8] = header.hops.into();
            words[INTERMEDIATE] = middle(header);
        }
        words[0] = call.router();
        words[1] = call.input();
        words[2] = call.vc();
        words[3] = call.now();
        words[4] = call.size();
        (words[10], words[11]) = (first, second);
        let call = ptr::from_mut(call).cast();
        let mut frame = Frame { words, functions: FUNCTIONS.as_ptr(), call };
        // The address is that of a function which numba made for this layout, and `_keep` keeps it.
        let answer = code(&raw mut frame);
        (frame.words[ANSWERED] == 1).then_some(answer)
    }
}

/// What `deroute.routing.load` returns.
#[derive(FromPyObject)]
struct Loaded {
    addresses: Vec<(String, usize)>,
    /// `None` for a number of hops.
    ladder: Option<String>,
    hops: u8,
    at_source: bool,
    reconsiders: bool,
    words: u16,
}

/// A routing in Python, compiled; whoever builds the network asks for it once or twice.
struct Source {
    code: Arc<dyn Foreign>,
    name: String,
    loaded: Loaded,
}

impl Source {
    fn load(py: Python<'_>, spec: &PythonSpec) -> PyResult<Self> {
        let parameters = serde_json::to_string(&spec.parameters).unwrap_or_default();
        let name = spec.name.as_deref().unwrap_or("routing.py");
        let arguments = (spec.source.as_deref(), spec.file.as_deref(), name, parameters);
        let module = py.import("deroute.routing")?;
        let found = module.call_method1("load", arguments)?;
        let loaded: Loaded = found.extract()?;
        let mut codes = [None; Hook::ALL.len()];
        for (hook, address) in &loaded.addresses {
            let known = Hook::ALL.iter().position(|known| known.name() == hook);
            if let (Some(index), true) = (known, *address != 0) {
                // SAFETY: the address of a C callback that numba has compiled for `void *` to `int64`.
                codes[index] = Some(unsafe { std::mem::transmute::<usize, Code>(*address) });
            }
        }
        let code = Arc::new(Compiled { codes, _keep: found.unbind() });
        Ok(Self { code, name: name.to_owned(), loaded })
    }

    fn foreigner(&self) -> Foreigner {
        let Loaded { ladder, hops, at_source, reconsiders, words, .. } = &self.loaded;
        let paths = match ladder.as_deref() {
            None => Paths::Counted(*hops),
            Some("minimal") => Paths::Minimal,
            Some("progressive") => Paths::Progressive,
            Some(_) => Paths::Valiant,
        };
        Foreigner {
            code: Arc::clone(&self.code),
            name: self.name.clone(),
            path: "routing.python",
            paths,
            at_source: *at_source,
            reconsiders: *reconsiders,
            words: *words,
        }
    }
}

/// Builds the network of `spec` (JSON), and compiles its routing if that is in Python.
pub fn build(py: Python<'_>, spec: &str) -> PyResult<Simulation> {
    let spec = errors::parse(spec).map_err(|error| errors::spec_error(py, &error))?;
    let source = match &spec.routing {
        Routing::Python(python) => Some(Source::load(py, python)?),
        _ => None,
    };
    let built = py.detach(|| match &source {
        None => Simulation::build(&spec),
        Some(source) => Simulation::build_with(&spec, &|fabric| match &spec.routing {
            Routing::Python(_) => foreign::plan(source.foreigner(), fabric),
            other => routing::build(other, fabric),
        }),
    });
    built.map_err(|error| errors::spec_error(py, &error))
}

/// The same to look at the wiring: no Python runs for that.
pub fn wiring(py: Python<'_>, spec: &str) -> PyResult<Simulation> {
    let built = py.detach(|| {
        let mut spec = errors::parse(spec)?;
        if let Routing::Python(_) = spec.routing {
            spec.routing = Routing::Minimal(MinimalSpec {});
        }
        Simulation::build(&spec)
    });
    built.map_err(|error| errors::spec_error(py, &error))
}

/// What the exception was that a routing in Python raised, if one did.
pub fn raised(py: Python<'_>) -> Option<String> {
    py.import("deroute.routing").ok()?.call_method0("raised").ok()?.extract().ok()?
}
