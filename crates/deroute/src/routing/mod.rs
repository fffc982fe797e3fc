//! Routing algorithms.
//!
//! A routing algorithm is an agent in every router, and it is honest: it sees the queues of its own router, the
//! packet's header, and the messages that reached it. To add one: a file with its parameters and its [`Routing`], and
//! a line in the catalogue below. `CONTRIBUTING.md` walks through it.

pub mod acor;
mod conditional;
mod counters;
pub mod foreign;
mod header;
mod hooks;
pub mod ladder;
mod lian_detours;
mod local_links;
pub mod phase_a;
mod probability;
mod reach;
pub mod spec;
mod trace;
mod upward;
mod weights;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use header::{Header, Memo, ValiantPhase};
pub use hooks::{Routing, Wrapper};
pub use ladder::{Hop, Ladder, VcNeed};
pub use reach::destinations;
pub use trace::trace;
pub(crate) use trace::walk;

use crate::catalogue::catalogue;
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::rng::Stream;
use crate::spec::{Scale, SpecError};
use crate::topology::{Lattice, Topology};

/// Queue lengths of one router.
pub trait Queues {
    /// Length of the queue of an output port in phits, over all its VCs. By default
    /// (`network.sensing`) the phits granted to it whose credits have not come back: those in the
    /// switch, in the output buffer, on the link, in the buffer at the other end, and those whose
    /// credits are on the way.
    fn port(&self, port: PortId) -> u32;

    /// The same for one VC of the port.
    fn vc(&self, port: PortId, vc: VcId) -> u32;

    /// The same for a class of VCs: `vc`, `vc + classes`, `vc + 2 * classes`, ...
    fn class(&self, port: PortId, vc: VcId, _classes: u8) -> u32 {
        self.vc(port, vc)
    }

    /// The same for the VCs that a packet may take which asks for this one: more than that one if
    /// spare VCs are used.
    fn lane(&self, port: PortId, vc: VcId) -> u32 {
        self.vc(port, vc)
    }

    /// [`Queues::class`] of consecutive ports from `first` on; needs [`Watches::lengths`].
    fn classes(&self, first: PortId, vc: VcId, classes: u8, lengths: &mut [u32]) {
        for (port, length) in (first.0..).map(PortId).zip(lengths) {
            *length = self.class(port, vc, classes);
        }
    }

    /// [`Queues::lane`] of consecutive ports of one link class, from `first` on; needs [`Watches::lengths`].
    fn lanes(&self, first: PortId, vc: VcId, lengths: &mut [u32]) {
        for (port, length) in (first.0..).map(PortId).zip(lengths) {
            *length = self.lane(port, vc);
        }
    }

    /// Phits granted to one VC whose credits have not come back, whatever the length of the queue is taken for.
    fn taken(&self, port: PortId, vc: VcId) -> u32 {
        self.vc(port, vc)
    }

    /// Is there room for a packet at the other end of one VC?
    fn fits(&self, _port: PortId, _vc: VcId, _size: u16) -> bool {
        true
    }

    /// Has the other end told one VC to be silent? Never where the flow control has no pauses.
    fn is_paused(&self, _port: PortId, _vc: VcId) -> bool {
        false
    }

    /// Is there room for a packet in the output, and at the other end of one VC?
    fn takes(&self, port: PortId, vc: VcId, size: u16) -> bool {
        self.fits(port, vc, size)
    }
}

/// What an algorithm sees of its router.
pub struct RouterView<'a> {
    /// The router.
    pub router: RouterId,
    /// The port at whose head the packet is.
    pub input: PortId,
    /// Its VC there; at its source, which of the injection queues of its class.
    pub vc: VcId,
    /// The port of the destination host on its router.
    pub port: PortId,
    /// The packet's class in the queuing scheme, from 0.
    pub class: u8,
    /// The current cycle.
    pub now: Cycle,
    /// Phits of the packet.
    pub size: u16,
    /// Its queues.
    pub queues: &'a dyn Queues,
    /// Its random stream.
    pub rng: &'a mut Stream,
}

impl RouterView<'_> {
    /// The number of its injection queue, of a packet at its source, where the queuing scheme has so many classes.
    #[inline]
    pub fn injection_queue(&self, classes: usize) -> u8 {
        self.vc.0 * classes as u8 + self.class
    }
}

/// A message that an algorithm sends to every router of its domain (a Dragonfly's group).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Cycles until it arrives, at least 1.
    pub delay: Cycle,
    /// Its content, of the algorithm's own making.
    pub content: u32,
}

/// What an algorithm wants to be told of its routers: nothing by default, which costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// Heads of injection queues are routed again in every cycle in which they wait.
    pub reconsiders: bool,
    /// Heads in transit as well; needs `reconsiders`.
    pub transit: bool,
    /// [`Queues::classes`] and [`Queues::lanes`].
    pub lengths: bool,
    /// [`Routing::queues_changed`].
    pub queues: bool,
    /// [`Routing::injection`] with [`Injection::Entered`] and [`Injection::Left`].
    pub injections: bool,
    /// [`Routing::injection`] with [`Injection::Blocked`], once a cycle; needs `reconsiders`.
    pub blocked: bool,
    /// And in every other round of allocation; needs `blocked`.
    pub rounds: bool,
    /// What of the flow control it decides by.
    pub signal: Option<Signal>,
    /// [`Routing::notified`]; needs congestion points that send notifications.
    pub notifications: bool,
    /// [`Routing::sent`]; needs switches with queues at their outputs.
    pub departures: bool,
}

/// What a router learns from a notification of congestion that it makes, or that passes it: one of a congestion point,
/// or of a receiver that has got a marked packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The router.
    pub router: RouterId,
    /// The port by which it came; where it was made, the one whose queue is too long.
    pub port: PortId,
    /// It was made here, because of such a queue.
    pub made: Option<Made>,
    /// It is for a host of this router.
    pub ends: bool,
    /// Router and port of the destination of the packet that it tells of.
    pub to: (RouterId, PortId),
    /// 1 to 63; 63 of a receiver, who knows no lengths.
    pub feedback: u8,
    /// What it is about.
    pub about: About,
    /// The current cycle.
    pub now: Cycle,
}

/// What a notification of congestion is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The packet that it tells of was on a detour: a bit of the packet, which the notification repeats.
    pub diverted: bool,
    /// Where the packet met the queue.
    pub place: Place,
}

/// Where the queue is that a notification tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before a link between switches.
    Network,
    /// Before the link to a host.
    Endpoint,
    /// Somewhere: a receiver has got a marked packet.
    Unknown,
}

/// Why a run with foreign code ([`foreign`]) cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In which cycle; 0 where the hook is not told.
    pub now: Cycle,
    /// At which router.
    pub router: RouterId,
    /// Which routing, which packet and what was wrong.
    pub message: String,
}

/// Where a queue is that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// At an output.
    AtOutput,
    /// At an input.
    AtInput,
}

/// What a flow control tells a routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// [`Queues::is_paused`].
    Pauses,
    /// [`Queues::takes`], by credits.
    Credits,
}

/// Packets in transit just [`follow`] their path.
#[derive(Clone, Debug)]
pub struct Follows {
    /// How the positions on the path become VCs.
    pub ladder: Ladder,
    /// So do packets at their source.
    pub at_source: bool,
}

/// What happens to a packet in an injection queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Injection {
    /// It reached its router.
    Entered,
    /// It was at the head of its queue in a cycle in which the input port was idle, and no packet was granted
    /// from there.
    Blocked,
    /// It was granted, and leaves.
    Left,
}

/// The place of an injection queue, and the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// Its router.
    pub router: RouterId,
    /// Its port.
    pub port: PortId,
    /// Its number among the injection queues of its host: the class of its packets in the queuing scheme, unless
    /// there are several for each.
    pub number: u8,
    /// The current cycle.
    pub now: Cycle,
}

/// What a routing algorithm is built from.
#[derive(Clone)]
pub struct Fabric {
    /// The wiring.
    pub topology: Arc<dyn Topology>,
    /// Latency of each link class in cycles.
    pub latency: Vec<Cycle>,
    /// Virtual channels of each link class, for each class of the queuing scheme.
    pub vcs: Vec<u8>,
    /// Input buffer of each VC of each link class, in phits.
    pub buffers: Vec<u32>,
    /// Classes of the queuing scheme; 1 without one.
    pub classes: u8,
    /// Injection queues of a host for each of them.
    pub queues: u8,
    /// The units of the spec.
    pub scale: Scale,
}

/// A routing algorithm that has been checked against the network.
pub struct Plan {
    /// Makes the agent of the routers `first..first + count`.
    pub agent: AgentFactory,
    /// Virtual channels that its paths need: [`Ladder::needs`] where they are shortest paths, or two of
    /// them in a row.
    pub vcs: Vec<VcNeed>,
}

/// Makes the agent of the routers `first..first + count`.
pub type AgentFactory = Box<dyn Fn(RouterId, u32) -> Box<dyn Routing> + Send + Sync>;

/// Checks a routing algorithm against the network: [`build`] for those of the catalogue.
pub type Planner<'a> = dyn Fn(&Fabric) -> Result<Plan, SpecError> + 'a;

catalogue! {
    /// The routing algorithm and its parameters.
    enum Algorithm;
    /// Checks the routing that the spec asks for against the network.
    ///
    /// # Errors
    /// What the algorithm cannot do there.
    fn build(&Fabric) -> Plan;

    // One line per algorithm.
    /// Shortest paths only.
    Minimal => minimal::MinimalSpec,
    /// Valiant: through a random intermediate router.
    Valiant => valiant::ValiantSpec,
    /// Shortest paths in a dimension order that is drawn for every packet.
    #[serde(rename = "o1turn")]
    O1Turn => o1turn::O1TurnSpec,
    /// Shortest paths, in every router the dimension with the least queue.
    MinAd => min_ad::MinAdSpec,
    /// Minimal or Valiant, by the local queues.
    Ugal => ugal::UgalSpec,
    /// UGAL, and minimal only if the group's global link is not flagged as congested.
    Piggyback => piggyback::PiggybackSpec,
    /// UGAL, biased by counters of the router's own traffic.
    Tpr => tpr::TprSpec,
    /// UGAL, biased and with detours shortened by counters of the router's own traffic.
    Lian => lian::LianSpec,
    /// Minimal or Valiant within the dimensions not aligned, by the queues of all outputs.
    ClosAd => clos_ad::ClosAdSpec,
    /// Any dimension first, with one deroute in each, and a VC to escape through.
    Dal => dal::DalSpec,
    /// Dimension order, with a deroute in each dimension where it is shorter or emptier.
    Dimwar => dimwar::DimWarSpec,
    /// Any dimension first, with deroutes while hops are to spare.
    Omniwar => omniwar::OmniWarSpec,
    /// D-mod-K or S-mod-K: one path up a fat tree for each destination, or each source.
    ModK => mod_k::ModKSpec,
    /// Up a fat tree at random or in turn, whatever the queues are.
    UpOblivious => up_oblivious::UpObliviousSpec,
    /// Up a fat tree by a hash of source and destination.
    Ecmp => ecmp::EcmpSpec,
    /// Up a fat tree by the credits, with restrictions.
    UpAdaptive => up_adaptive::UpAdaptiveSpec,
    /// MAR-bP: minimal unless the output is paused.
    MarBp => mar_bp::MarBpSpec,
    /// By forwarding tables.
    Table => table::TableSpec,
    /// QCN-Switch: minimal with a probability that follows notifications of congestion.
    QcnSwitch => qcn_switch::QcnSwitchSpec,
    /// Switch AR: up a fat tree by the port with the least congestion that notifications tell of.
    SwitchAr => switch_ar::SwitchArSpec,
    /// In Python, by a file of the user's.
    Python => python::PythonSpec,
}

/// The next hop of a packet on its path: to the intermediate router in phase A, then to the destination.
#[inline]
pub fn follow(topology: &dyn Topology, ladder: &Ladder, at: RouterId, header: &Header) -> Hop {
    ladder.hop(topology.next_hop(at, header.target()), header.phase, header.position)
}

/// Refuses non-minimal paths where the topology has no intermediate routers.
fn require_intermediates(fabric: &Fabric, path: &str) -> Result<(), SpecError> {
    if !fabric.topology.policies().is_empty() {
        return Ok(());
    }
    let tree = fabric.topology.tree().map(|_| "routing.up_oblivious and routing.up_adaptive");
    Err(SpecError::new(path, "this topology has no intermediate routers to choose from")
        .choices(["routing.minimal", tree.unwrap_or("a topology with several routers")]))
}

/// Refuses an algorithm that moves in dimensions where there are none.
fn require_lattice<'a>(fabric: &'a Fabric, path: &str) -> Result<&'a Lattice, SpecError> {
    fabric.topology.lattice().ok_or_else(|| {
        let message = "the routers of this topology form no lattice";
        SpecError::new(path, message).choices(["network.topology.hyperx"])
    })
}

/// Refuses an algorithm that chooses the way up where there is none.
fn require_tree(fabric: &Fabric, path: &str) -> Result<(), SpecError> {
    if fabric.topology.tree().is_some() {
        return Ok(());
    }
    let message = "the routers of this topology form no fat tree";
    let trees = ["fat_tree", "rlft", "kary_tree", "folded_clos"];
    let choices = trees.map(|name| format!("network.topology.{name}"));
    Err(SpecError::new(path, message).choices(choices))
}

/// Refuses an algorithm that counts by group where there are no groups.
fn require_groups(fabric: &Fabric, path: &str) -> Result<(), SpecError> {
    if fabric.topology.groups() > 1 {
        return Ok(());
    }
    let message = "this topology has no groups to count the traffic of";
    Err(SpecError::new(path, message).choices(["a topology with groups"]))
}
