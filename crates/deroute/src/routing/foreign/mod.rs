//! Routings whose decisions are made outside of the engine, by code that it does not trust.
//!
//! Such code is a [`Foreign`]: a function that is handed a [`Call`] and answers with a number. Through the
//! call it asks for what an agent may see, and says what becomes of the packet; both are numbers, so that any
//! language will do. Everything it says is checked. What is wrong becomes a [`Fault`], which ends the run
//! with the router, the packet and the value, and never a panic or a deadlock.

mod call;
mod facts;
mod rungs;

use std::sync::Arc;

pub use call::Call;

use super::{
    Fabric, Fault, Follows, Header, Hop, Injection, Message, Plan, Queue, Queues, RouterView,
    Routing, Watches, follow,
};
use crate::ids::{PortId, RouterId, VcId};
use crate::spec::SpecError;
use crate::state::state;
use crate::topology::{Peer, Topology};
use facts::Facts;
use rungs::Rungs;

/// What foreign code is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Hook {
    /// [`Routing::route`]. The answer is a port, or a hop ([`Call::hop`]).
    Route,
    /// A packet entered an injection queue.
    Entered,
    /// The head of an injection queue was not granted.
    Blocked,
    /// A packet left its injection queue.
    Left,
    /// [`Routing::queues_changed`].
    QueuesChanged,
    /// [`Routing::message`]: arguments are the sender, and the content.
    Message,
}

impl Hook {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Route, Self::Entered, Self::Blocked, Self::Left, Self::QueuesChanged, Self::Message];

    /// The name of its function.
    pub fn name(self) -> &'static str {
        match self {
            Self::Route => "route",
            Self::Entered => "entered",
            Self::Blocked => "blocked",
            Self::Left => "left",
            Self::QueuesChanged => "queues_changed",
            Self::Message => "message",
        }
    }
}

/// Code that decides.
pub trait Foreign: Send + Sync {
    /// Has it a function for a hook?
    fn has(&self, hook: Hook) -> bool;

    /// Calls the function of a hook. `None` if it raised an exception.
    fn call(&self, hook: Hook, call: &mut Call<'_>) -> Option<i64>;
}

/// Which VCs paths take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// Those of minimal paths.
    Minimal,
    /// Those of paths through an intermediate router.
    Valiant,
    /// The same, with a minimal hop before it.
    Progressive,
    /// The n-th hop takes the n-th VC, of so many, over whatever link.
    Counted(u8),
}

/// A routing by foreign code.
pub struct Foreigner {
    /// Its code.
    pub code: Arc<dyn Foreign>,
    /// What messages call it.
    pub name: String,
    /// Where it stands in the spec.
    pub path: &'static str,
    /// Which VCs its paths take.
    pub paths: Paths,
    /// It is asked at the source of a packet only, which then follows its path.
    pub at_source: bool,
    /// Heads of injection queues are routed again in every cycle in which they wait.
    pub reconsiders: bool,
    /// Words of state of every router.
    pub words: u16,
}

/// Checks a routing by foreign code against the network.
///
/// # Errors
/// A ladder that the topology does not have.
pub fn plan(what: Foreigner, fabric: &Fabric) -> Result<Plan, SpecError> {
    let (rungs, vcs) = Rungs::new(what.paths, fabric, what.path)?;
    let shared = Arc::new(Shared {
        what,
        rungs,
        vcs: fabric.vcs.clone(),
        topology: Arc::clone(&fabric.topology),
    });
    let agent = Box::new(move |first: RouterId, count: u32| -> Box<dyn Routing> {
        Box::new(Agent::new(Arc::clone(&shared), first, count))
    });
    Ok(Plan { agent, vcs })
}

/// What all agents have in common.
struct Shared {
    what: Foreigner,
    topology: Arc<dyn Topology>,
    rungs: Rungs,
    /// VCs of every link class.
    vcs: Vec<u8>,
}

/// What a port leads to, where it is not the class of a link.
const HOST: u8 = 254;
const UNUSED: u8 = 255;

/// The agents of some routers.
struct Agent {
    shared: Arc<Shared>,
    first: u32,
    count: u32,
    /// Ports of a router, at most.
    stride: usize,
    /// The link class of every port, by router.
    links: Vec<u8>,
    /// The state of every router.
    state: Vec<i64>,
    /// The first that was wrong.
    fault: Option<Box<Fault>>,
}

impl Agent {
    fn new(shared: Arc<Shared>, first: RouterId, count: u32) -> Self {
        let topology = &*shared.topology;
        let routers = || (first.0..first.0 + count).map(RouterId);
        let stride = routers().map(|router| usize::from(topology.radix(router))).max().unwrap_or(0);
        let class = |router: RouterId, port: u16| match port < topology.radix(router) {
            true => match topology.peer(router, PortId(port)) {
                Peer::Router { class, .. } => class,
                Peer::Host(_) => HOST,
                Peer::Unused => UNUSED,
            },
            false => UNUSED,
        };
        let ports = |router| (0..stride as u16).map(move |port| class(router, port));
        let links = routers().flat_map(ports).collect();
        let state = vec![0; usize::from(shared.what.words) * count as usize];
        Self { links, state, stride, first: first.0, count, fault: None, shared }
    }

    /// Calls the code for a hook, unless something was wrong before, and takes what it answers.
    #[inline]
    fn call<T>(
        &mut self,
        hook: Hook,
        facts: Facts<'_>,
        take: impl FnOnce(&mut Call<'_>, i64) -> Option<T>,
    ) -> Option<T> {
        if self.fault.is_some() {
            return None;
        }
        let shared = &*self.shared;
        let (at, words) = ((facts.router.0 - self.first) as usize, usize::from(shared.what.words));
        let links = &self.links[at * self.stride..][..self.stride];
        let state = &mut self.state[at * words..][..words];
        let mut call = Call { shared, facts, links, state, wrong: None };
        let answer = shared.what.code.call(hook, &mut call);
        let taken = answer.and_then(|answer| take(&mut call, answer));
        if taken.is_some() && call.wrong.is_none() {
            return taken;
        }
        let named = (&*shared.what.name, &*shared.topology);
        self.fault = Some(call.facts.fault(named, hook, call.wrong.as_deref()));
        None
    }

    /// Tells the code something, if it wants to know.
    fn tell(&mut self, hook: Hook, facts: Facts<'_>) {
        if self.shared.what.code.has(hook) {
            self.call(hook, facts, |_, _| Some(()));
        }
    }
}

impl Routing for Agent {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        if header.position > 0
            && let Some(ladder) = self.shared.follows()
        {
            return follow(&*self.shared.topology, ladder, view.router, header);
        }
        let (router, before) = (view.router, *header);
        let hop =
            self.call(Hook::Route, Facts::of(view, header), |call, answer| call.resolve(answer));
        hop.unwrap_or_else(|| {
            // Whatever it is until the run ends.
            *header = before;
            let port = self.shared.topology.next_hop(router, before.target()).port;
            Hop { port, vc: VcId(0), position: before.position.saturating_add(1) }
        })
    }

    fn follows(&self) -> Option<Follows> {
        let ladder = self.shared.follows()?.clone();
        Some(Follows { ladder, at_source: false })
    }

    fn queues_changed(
        &mut self,
        router: RouterId,
        queues: &dyn Queues,
        messages: &mut Vec<Message>,
    ) {
        let facts = Facts { queues: Some(queues), messages: Some(messages), ..Facts::at(router) };
        self.tell(Hook::QueuesChanged, facts);
    }

    fn watches(&self) -> Watches {
        let Foreigner { code, reconsiders, .. } = &self.shared.what;
        Watches {
            reconsiders: *reconsiders,
            queues: code.has(Hook::QueuesChanged),
            injections: code.has(Hook::Entered) || code.has(Hook::Left),
            blocked: code.has(Hook::Blocked),
            ..Watches::default()
        }
    }

    fn message(&mut self, from: RouterId, content: u32) {
        let topology = Arc::clone(&self.shared.topology);
        let near = |router: &u32| topology.domain(RouterId(*router)) == topology.domain(from);
        let before = (self.first..from.0).rev().take_while(near);
        let after = (from.0 + 1..self.first + self.count).take_while(near);
        let arguments = [i64::from(from.0), i64::from(content)];
        for router in before.chain(after).map(RouterId) {
            self.tell(Hook::Message, Facts { arguments, ..Facts::at(router) });
        }
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        let hook = match event {
            Injection::Entered => Hook::Entered,
            Injection::Blocked => Hook::Blocked,
            Injection::Left => Hook::Left,
        };
        let mut header = *header;
        let Queue { router, port: input, now, .. } = queue;
        self.tell(hook, Facts { input, now, header: Some(&mut header), ..Facts::at(router) });
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }

    fn bytes(&self) -> usize {
        8 * usize::from(self.shared.what.words) + self.stride
    }

    state! { keep state; leave shared, first, count, stride, links, fault; }
}

impl Shared {
    /// The ladder on which packets in transit follow their paths.
    fn follows(&self) -> Option<&super::Ladder> {
        self.rungs.ladder().filter(|_| self.what.at_source)
    }
}
