//! Which stages a run is made of.
//!
//! The stages are known when the engine is compiled, so that a run has no questions to ask about what it does not
//! use: each combination below is an engine of its own, and [`super::Simulation::run`] takes the first that fits.

use super::books::{AllBooks, Books, NoBooks};
use super::control::{AnyControl, AnyCredits, Control, Credits};
use super::egress::{Egress, Fixed, Queued};
use super::hosts::{AnyHosts, Hosts, Open};
use super::matching::{Islip, Matching, Separable};
use super::model::Model;
use crate::ids::RouterId;
use crate::routing::Watches;

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

/// Synthetic traffic, one queue a VC, and a routing that decides once by what it sees when it does.
pub(crate) struct Plain;

impl Machine for Plain {
    type Matching = Separable;
    type Egress = Fixed;
    type Control = Credits;
    type Hosts = Open;
    type Books = NoBooks;
    const ROUTE_FIXED: bool = true;
}

/// One queue a VC, and everything else.
pub(crate) struct General;

impl Machine for General {
    type Matching = Separable;
    type Egress = Fixed;
    type Control = AnyCredits;
    type Hosts = AnyHosts;
    type Books = AllBooks;
    const ROUTE_FIXED: bool = false;
}

/// Virtual output queues.
pub(crate) struct Voq;

impl Machine for Voq {
    type Matching = Islip;
    type Egress = Fixed;
    type Control = AnyCredits;
    type Hosts = AnyHosts;
    type Books = AllBooks;
    const ROUTE_FIXED: bool = false;
}

/// Queues at the outputs, as Ethernet switches have them, and any flow control.
pub(crate) struct Ethernet;

impl Machine for Ethernet {
    type Matching = Separable;
    type Egress = Queued;
    type Control = AnyControl;
    type Hosts = AnyHosts;
    type Books = AllBooks;
    const ROUTE_FIXED: bool = false;
}

/// The same with virtual output queues.
pub(crate) struct EthernetVoq;

impl Machine for EthernetVoq {
    type Matching = Islip;
    type Egress = Queued;
    type Control = AnyControl;
    type Hosts = AnyHosts;
    type Books = AllBooks;
    const ROUTE_FIXED: bool = false;
}

/// The machines, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Plain,
    General,
    Voq,
    Ethernet,
    EthernetVoq,
}

impl Choice {
    /// The machine with the fewest questions that can run this model; `record` says that the dependencies
    /// between channels are recorded, `queued` that packets
    /// wait at the outputs though nothing needs that.
    pub(crate) fn of(model: &Model, record: bool, queued: bool) -> Self {
        let Watches { reconsiders, queues, injections, blocked, transit: _, lengths: _ } =
            (model.routing.agent)(RouterId(0), 1).watches();
        let watches = reconsiders || queues || injections || blocked;
        let kept = record || model.lengths || model.shares() || model.times.congestion.is_some();
        let late = model.on_arrival || !model.shared_by.is_empty();
        let queued = queued || model.egress.needed;
        match () {
            () if queued && model.voqs => Self::EthernetVoq,
            () if queued => Self::Ethernet,
            () if model.voqs => Self::Voq,
            () if watches || kept || late || model.jobs.is_some() => Self::General,
            () => Self::Plain,
        }
    }
}
