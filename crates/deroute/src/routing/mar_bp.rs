//! Multipath adaptive routing based on pauses (MAR-bP).
//!
//! # What it does
//! Flow rules with a condition: the default rule of a destination counts unless its output is paused for the
//! packet's VC; then an alternative rule of lower priority does.
//!
//! `non-minimal` alternatives are looked at where a packet enters the network for another group: host `i`
//! has the `i`-th global port of its router, and what is sent there goes on minimally (Valiant with `-g-`, but
//! with one static path for each host). In a flattened butterfly (`hyperx`), host `i` has the link to coordinate `i` of
//! the first dimension. `minimal` alternatives are looked at in every router: up a fat tree the default is the
//! port of the source (S-mod-K) and the others follow in turn; in a flattened butterfly the first
//! dimension comes first. If all are paused, the tree takes the default, and the butterfly the last
//! dimension.
//!
//! # Source
//! Thesis 4.5; Benito et al., HiPINEB 2017, II.B. The reading `credits` is that of FOGSim: an output counts as
//! paused if it cannot take the packet in this cycle.
//!
//! # Parameters
//! `alternatives`: `minimal` or `non-minimal` (default: `minimal` in a fat tree, `non-minimal` elsewhere);
//! `paused`: what tells that an output is paused, the flow control's `pauses` (default), or `credits`;
//! `redecide` (default false): look again in every cycle in which the packet waits at its source, or
//! anywhere if the alternatives are minimal; `vc_use`: see the topology.
//!
//! # Deadlock freedom
//! `non-minimal`: as Valiant with `-g-`, 3 local and 2 global VCs in a Dragonfly, or 2 and 2 with `vc_use =
//! "compact"`. `minimal`: up and down a fat tree on one VC; in a flattened butterfly the n-th hop takes the
//! n-th VC.
//!
//! # Limits
//! A pause comes when the queue of the minimal path is full: latency is that of full queues. What is diverted
//! under uniform traffic loads others, and they pause. Between the pause and its end everything goes one way.
//!
//! # Example
//! ```toml
//! [routing.mar_bp]
//! paused = "pauses"
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditional::Conditional;
use super::upward::{self, Climb, Rise};
use super::{
    Fabric, Follows, Header, Hop, Memo, Plan, Queues, RouterView, Routing, Signal, VcNeed, Watches,
};
use crate::ids::{HostId, PortId, VcId};
use crate::spec::{SpecError, VcUse};
use crate::state::{State, state};
use crate::topology::{Topology, Tree};

/// Parameters of MAR-bP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MarBpSpec {
    /// What the alternatives to a paused output are. Default: `minimal` in a fat tree, `non-minimal`
    /// elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Alternatives>,
    /// What tells that an output is paused. Default `pauses`.
    pub paused: PausedBy,
    /// Look again in every cycle in which a packet waits. Default `false`: once.
    pub redecide: bool,
    /// How the VC follows from the position on a non-minimal path. Default `path-position`.
    pub vc_use: VcUse,
}

/// Alternatives to a paused output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Alternatives {
    /// Other minimal paths, in every router.
    Minimal,
    /// A detour over the global link of the host, at the source.
    NonMinimal,
}

/// What tells that an output is paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PausedBy {
    /// The other end has told the VC to be silent (PFC), or the link (PAUSE).
    #[default]
    Pauses,
    /// The VC cannot take the packet in this cycle, for want of credits or of room in the output (FOGSim).
    Credits,
}

impl PausedBy {
    #[inline]
    fn says(self, queues: &dyn Queues, (port, vc, size): (PortId, VcId, u16)) -> bool {
        match self {
            Self::Pauses => queues.is_paused(port, vc),
            Self::Credits => !queues.takes(port, vc, size),
        }
    }

    fn signal(self) -> Option<Signal> {
        Some(match self {
            Self::Pauses => Signal::Pauses,
            Self::Credits => Signal::Credits,
        })
    }
}

/// What conditions were looked at, and what followed.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Count {
    looked: u64,
    diverted: u64,
}

impl Count {
    fn deeds(self) -> Vec<(&'static str, u64)> {
        vec![("diverted", self.diverted), ("decided", self.looked)]
    }
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that has no alternatives of this kind.
pub fn plan(spec: &MarBpSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let &MarBpSpec { alternatives, paused, redecide, vc_use } = spec;
    let tree = fabric.topology.tree().is_some();
    let usual = if tree { Alternatives::Minimal } else { Alternatives::NonMinimal };
    match alternatives.unwrap_or(usual) {
        Alternatives::NonMinimal if tree => {
            let message = "what goes up a fat tree twice is not free of deadlocks";
            let path = "routing.mar_bp.alternatives";
            Err(SpecError::new(path, message).choices(["minimal"]))
        }
        Alternatives::NonMinimal => {
            let rules = Conditional::new(fabric, "routing.mar_bp", vc_use)?;
            let vcs = rules.vcs();
            let agent = Box::new(move |_, _| -> Box<dyn Routing> {
                Box::new(Detours {
                    rules: rules.clone(),
                    paused,
                    redecide,
                    count: Count::default(),
                })
            });
            Ok(Plan { agent, vcs })
        }
        Alternatives::Minimal if tree => upward::plan(fabric, "routing.mar_bp", move |_, _, _| {
            Uplinks { paused, redecide, count: Count::default() }
        }),
        Alternatives::Minimal => dimensions(fabric, paused, redecide),
    }
}

/// Detours at the source.
struct Detours {
    rules: Conditional,
    paused: PausedBy,
    redecide: bool,
    count: Count,
}

impl Routing for Detours {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let (at, rules) = (view.router, &self.rules);
        if header.position > 0 {
            return rules.follow(at, header);
        }
        let minimal = rules.minimal(at, header);
        if !rules.is_conditional(at, header.destination) {
            return minimal;
        }
        let Some(over) = rules.alternative(at, view.input, 0) else { return minimal };
        self.count.looked += 1;
        if !self.paused.says(view.queues, (minimal.port, minimal.vc, view.size)) {
            return minimal;
        }
        self.count.diverted += 1;
        rules.divert(at, header, over)
    }

    fn follows(&self) -> Option<Follows> {
        Some(self.rules.follows())
    }

    fn watches(&self) -> Watches {
        let signal = self.paused.signal();
        Watches { reconsiders: self.redecide, signal, ..Watches::default() }
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        self.count.deeds()
    }

    state! { keep count; leave rules, paused, redecide; }
}

/// The ports up a fat tree.
struct Uplinks {
    paused: PausedBy,
    redecide: bool,
    count: Count,
}

impl State for Uplinks {
    state! { keep count; leave paused, redecide; }
}

impl Climb for Uplinks {
    fn choose(
        &mut self,
        tree: &Tree,
        view: &mut RouterView<'_>,
        header: &mut Header,
        rise: Rise,
    ) -> u32 {
        let source = match header.memo() {
            Memo::Source(host) => host,
            _ => {
                let source = HostId(upward::source(tree, view));
                header.remember(Memo::Source(source));
                source
            }
        };
        let usual = tree.share(rise.level, source.0);
        if rise.ups == 1 {
            return usual;
        }
        self.count.looked += 1;
        let mut ways = (0..rise.ups).map(|n| (usual + n) % rise.ups);
        let open = ways.find(|way| {
            let port = tree.up(rise.level, *way);
            !self.paused.says(view.queues, (port, VcId(0), view.size))
        });
        let way = open.unwrap_or(usual);
        self.count.diverted += u64::from(way != usual);
        way
    }

    fn redecides(&self) -> bool {
        self.redecide
    }

    fn signal(&self) -> Option<Signal> {
        self.paused.signal()
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        self.count.deeds()
    }
}

/// The dimensions of a flattened butterfly, the first one first.
struct Dimensions {
    topology: Arc<dyn Topology>,
    paused: PausedBy,
    redecide: bool,
    count: Count,
}

/// Plans for the dimensions of a lattice.
fn dimensions(fabric: &Fabric, paused: PausedBy, redecide: bool) -> Result<Plan, SpecError> {
    let path = "routing.mar_bp.alternatives";
    let lattice = super::require_lattice(fabric, path).map_err(|_| {
        let message = "this topology has one minimal path to a destination";
        SpecError::new(path, message).choices(["non-minimal"])
    })?;
    let topology = Arc::clone(&fabric.topology);
    let why = "each hop of a path takes the next VC";
    let count = lattice.dims() as u8;
    let need = |class: &&'static str| VcNeed { class, vcs: count, why: why.into() };
    let vcs = topology.classes().iter().map(need).collect();
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        let (topology, count) = (Arc::clone(&topology), Count::default());
        Box::new(Dimensions { topology, paused, redecide, count })
    });
    Ok(Plan { agent, vcs })
}

impl Routing for Dimensions {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let Some(lattice) = self.topology.lattice() else { unreachable!("a lattice is required") };
        let (at, to) = (view.router, header.destination);
        let hop = |dim: usize| {
            let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
            let port = lattice.port(dim, from, target, to.0 % lattice.trunk());
            Hop { port, vc: VcId(header.position), position: header.position + 1 }
        };
        let unaligned = |dim: &usize| lattice.coordinate(at, *dim) != lattice.coordinate(to, *dim);
        let mut ways = (0..lattice.dims()).filter(unaligned).map(hop);
        let Some(usual) = ways.next() else { unreachable!("it is not at its destination") };
        let Some(other) = ways.next() else { return usual };
        self.count.looked += 1;
        let paused = |hop: &Hop| self.paused.says(view.queues, (hop.port, hop.vc, view.size));
        if !paused(&usual) {
            return usual;
        }
        self.count.diverted += 1;
        // The last rule has no condition.
        let rest = std::iter::once(other).chain(ways);
        let mut taken = other;
        for hop in rest {
            taken = hop;
            if !paused(&hop) {
                break;
            }
        }
        taken
    }

    fn watches(&self) -> Watches {
        let (reconsiders, transit) = (self.redecide, self.redecide);
        Watches { reconsiders, transit, signal: self.paused.signal(), ..Watches::default() }
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        self.count.deeds()
    }

    state! { keep count; leave topology, paused, redecide; }
}
