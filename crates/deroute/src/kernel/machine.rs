//! What a run is made of: stages, each of which has an interface, and what they do together is written once.
//!
//! The stages are known when the engine is compiled, so that a run has no questions to ask about what it does not
//! use. The interfaces of those that act on the others stand here, because each is defined by means of all.

use super::agents::Agents;
use super::books::Books;
use super::control::Control;
use super::core::Core;
use super::core::grant::{Grant, Room};
use super::core::mail::Signal;
use super::core::packet::Flight;
use super::core::ports::{Output, OutputRequest, Queue};
use super::egress::{SilenceBins, SilenceRecord};
use super::hosts::{Entering, Hosts};
use super::model::Model;
use crate::ids::Cycle;
use crate::probe::limits::Limits;
use crate::probe::marks::MarkRecord;
use crate::probe::notices::NoticeRecord;
use crate::probe::retry::RetryRecord;
use crate::state::{State, state};

/// A combination of stages.
pub(crate) trait Machine: Sized + Send + 'static {
    /// Matches inputs and outputs of a switch.
    type Matching: Matching<Self>;
    /// Sends over a link what was granted.
    type Egress: Egress;
    /// Knows whether there is room at the other end of a link.
    type Control: Control;
    /// Generates packets and takes them off the network.
    type Hosts: Hosts;
    /// What is kept beside what every run needs.
    type Books: Books;
    /// Heads keep what they have decided, and take the VC that the routing chose.
    const ROUTE_FIXED: bool;
}

/// All stages of a partition but the one that matches inputs and outputs.
pub(crate) struct Datapath<M: Machine> {
    pub(crate) core: Core,
    pub(crate) agents: Agents,
    pub(crate) control: M::Control,
    pub(crate) egress: M::Egress,
    pub(crate) hosts: M::Hosts,
    pub(crate) books: M::Books,
}

impl<M: Machine> State for Datapath<M> {
    state! { keep core, agents, control, egress, hosts, books; }
}

/// Looks at the inputs that may have a head that can go, and grants outputs.
pub(crate) trait Matching<M: Machine>: State + Sized + Send {
    /// Queues of a VC of an input: one for each output, or one.
    const VOQS: bool;

    /// For the ports of a partition, as they are built.
    fn new(model: &Model, core: &Core) -> Self;

    /// Heads arrive at input ports.
    fn arrive(&mut self, path: &mut Datapath<M>, flights: &[Flight]);

    /// All heads of this cycle have arrived.
    fn all_arrived(&mut self, path: &mut Datapath<M>);

    /// Input ports are to be looked at.
    fn wake(&mut self, core: &Core, ports: &[u32]);

    /// Credits that were awaited have arrived at an output.
    fn wake_credit_blocked(&mut self, core: &Core, output: u32);

    /// Grants what can be granted in this cycle.
    fn allocate(&mut self, path: &mut Datapath<M>);

    /// What a packet has requested that is in a queue, if packets request an output when they arrive.
    fn decided(&self, packet: u32) -> Option<OutputRequest>;

    /// Queue from which an input sent last, of those of the VC that it requested for.
    fn sending<'a>(&self, core: &'a Core, input: usize) -> &'a Queue;

    /// Recounts what it knows of a router. Says what is wrong.
    fn check(&self, core: &Core, router: u32) -> Result<(), String>;
}

/// A packet that has been granted and has not left, or that has not left its host.
pub(crate) struct Departing {
    /// Its output in the partition (hosts come after all outputs), and its VC at the other end.
    pub(crate) out: u32,
    pub(crate) vc: u8,
    /// Its place in the pool.
    pub(crate) packet: u32,
    /// The input and VC whose memory it still has.
    pub(crate) held: Option<(u32, u8)>,
}

/// The output side of a switch.
pub(crate) trait Egress: State + Sized + Send {
    /// Packets stay in the pool until they leave.
    const QUEUED: bool;

    /// For the outputs and hosts of a partition.
    fn new(model: &Model, core: &Core) -> Self;

    /// Fetches its state, which other partitions have driven out of the cache: with what it has for each packet, or not.
    fn sweep(&self, packets: bool);

    /// Fetches what a look at some outputs finds, and a grant of each for a VC at its other end.
    #[inline(always)]
    fn fetch(&self, _core: &Core, _requested: impl Iterator<Item = (u32, u8)> + Clone) {}

    /// Is there space in an output for what a head requests?
    fn space(
        &self,
        model: &Model,
        output: &Output,
        at: (u32, Cycle),
        request: OutputRequest,
    ) -> Room;

    /// A packet of so many phits cannot be granted an output before this cycle, whatever happens meanwhile.
    #[inline(always)]
    fn not_before(_model: &Model, output: &Output, _size: u16) -> Cycle {
        output.busy_until
    }

    /// Takes a packet that the crossbar begins to bring; returns the cycle in which it leaves, if that is known.
    fn take<M: Machine<Egress = Self>>(path: &mut Datapath<M>, grant: &Grant) -> Option<Cycle>;

    /// A packet has arrived at an input, in a VC, and is not in its queue yet.
    #[inline(always)]
    fn arrived<M: Machine<Egress = Self>>(_path: &mut Datapath<M>, _at: (u32, u8), _packet: u32) {}

    /// Takes a packet from a host, if hosts have a link of their own.
    fn inject<M: Machine<Egress = Self>>(path: &mut Datapath<M>, entering: Entering);

    /// A signal that is for the output itself: it may not send, or it may again. Says whether it was one.
    fn hear(&mut self, core: &mut Core, signal: Signal) -> bool;

    /// Sends a frame of so many phits through an output, before all packets, if its link is free; returns the cycle in
    /// which it has left.
    fn send_frame(&mut self, core: &Core, port: u32, phits: u32) -> Option<Cycle>;

    /// Phits in a queue of a port, as the space in its output counts them.
    fn length(&self, core: &Core, port: u32, queue: u8) -> u32;

    /// Forgets what was measured.
    fn forget(&mut self);

    /// Records bins of the time in which queues are told to be silent.
    fn record_silences(&mut self, bins: SilenceBins);

    /// When each queue of a port was told to be silent; the link has so many VCs.
    fn silences(&self, core: &Core, port: u32, vcs: u8) -> Vec<SilenceRecord>;

    /// What was recorded of the frames of a port, if they can break.
    fn retry(&self, _port: u32) -> Option<RetryRecord> {
        None
    }

    /// Since when the queue of a port for a VC at its other end has been told to be silent, if it has.
    fn silent_since(&self, port: u32, vc: u8) -> Option<Cycle>;

    /// Is the queue of a port for a VC at its other end told to be silent in this cycle?
    fn is_silent(&self, port: u32, vc: u8, now: Cycle) -> bool;

    /// What left an output by class, where there are congestion points.
    fn marks(&self, port: u32) -> &[MarkRecord];

    /// What the samples of an output found by class, where congestion points send notifications.
    fn notices(&self, port: u32) -> Vec<NoticeRecord>;

    /// The rate limiters of hosts, if there are any.
    fn limits(&self) -> Option<&dyn Limits> {
        None
    }

    /// Sends what can leave in this cycle; `freed` learns of outputs with room that somebody awaits.
    fn run<M: Machine<Egress = Self>>(path: &mut Datapath<M>, freed: impl FnMut(&Core, u32));

    /// The run has ended: what has been granted leaves, and what leaves for its host arrives.
    fn finish<M: Machine<Egress = Self>>(path: &mut Datapath<M>);

    /// The first cycle of `from..to` in which something is due though no packet waits, or `to`.
    fn due(&self, _from: Cycle, to: Cycle) -> Cycle {
        to
    }

    /// Packets that have been granted the output to their host and have not left.
    fn leaving(&self) -> u64;

    /// Packets that have been granted and have not left, or that have not left their hosts.
    fn departing(&self, core: &Core) -> Vec<Departing>;
}
