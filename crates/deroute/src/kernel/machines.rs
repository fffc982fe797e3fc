//! The machines: each combination of stages is an engine of its own, and [`super::Simulation::run`] takes the first
//! that fits.

use super::books::{AllBooks, NoBooks};
use super::control::{AnyControl, AnyCredits, Credits};
use super::core::cargo::Cargo;
use super::core::light::Light;
use super::core::sender::Sender;
use super::egress::{Fixed, Queued};
use super::hosts::{AnyHosts, Loaded, Notified, Open};
use super::machine::Machine;
use super::matching::{Islip, Separable};
use super::model::Model;
use crate::ids::RouterId;
use crate::routing::Watches;
use crate::spec::Arbiter;

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

/// The same with packets that carry something for hosts: of messages or streams.
pub(crate) struct PlainLoaded;

impl Machine for PlainLoaded {
    type Matching = Separable;
    type Egress = Fixed;
    type Control = Credits;
    type Hosts = AnyHosts<Light>;
    type Books = NoBooks;
    const ROUTE_FIXED: bool = true;
}

/// One queue a VC, and everything else.
pub(crate) struct General;

impl Machine for General {
    type Matching = Separable;
    type Egress = Fixed;
    type Control = AnyCredits;
    type Hosts = AnyHosts<Cargo>;
    type Books = AllBooks;
    const ROUTE_FIXED: bool = false;
}

/// Virtual output queues.
pub(crate) struct Voq;

impl Machine for Voq {
    type Matching = Islip;
    type Egress = Fixed;
    type Control = AnyCredits;
    type Hosts = AnyHosts<Cargo>;
    type Books = AllBooks;
    const ROUTE_FIXED: bool = false;
}

/// Queues at the outputs, as Ethernet switches have them, and any flow control.
pub(crate) struct Ethernet;

impl Machine for Ethernet {
    type Matching = Separable;
    type Egress = Queued;
    type Control = AnyControl;
    type Hosts = AnyHosts<Cargo>;
    type Books = AllBooks;
    const ROUTE_FIXED: bool = false;
}

/// The same with virtual output queues.
pub(crate) struct EthernetVoq;

impl Machine for EthernetVoq {
    type Matching = Islip;
    type Egress = Queued;
    type Control = AnyControl;
    type Hosts = AnyHosts<Cargo>;
    type Books = AllBooks;
    const ROUTE_FIXED: bool = false;
}

/// Queues at the outputs and any flow control, for synthetic traffic, one queue a VC, and a routing that decides
/// once by what it sees when it does.
pub(crate) struct PlainEthernet;

impl Machine for PlainEthernet {
    type Matching = Separable;
    type Egress = Queued;
    type Control = AnyControl;
    type Hosts = Open;
    type Books = NoBooks;
    const ROUTE_FIXED: bool = true;
}

/// The same where switches tell sources of congestion.
pub(crate) struct NotifiedEthernet;

impl Machine for NotifiedEthernet {
    type Matching = Separable;
    type Egress = Queued;
    type Control = AnyControl;
    type Hosts = Notified;
    type Books = NoBooks;
    const ROUTE_FIXED: bool = true;
}

/// The machines, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Plain,
    PlainLoaded,
    General,
    Voq,
    PlainEthernet,
    NotifiedEthernet,
    Ethernet,
    EthernetVoq,
}

impl Choice {
    /// Bytes of what a packet carries for hosts.
    pub(crate) fn cargo_bytes(model: &Model) -> u64 {
        let own = match Self::of(model, false, false) {
            Self::PlainLoaded => size_of::<Light>(),
            Self::NotifiedEthernet => size_of::<Sender>(),
            _ => size_of::<Cargo>(),
        };
        // And a place in the list of those that are free.
        let all = (own + size_of::<u32>()) as u64 + Loaded::<Cargo>::beside(model);
        if model.loads_packets() { all } else { 0 }
    }

    /// The machine with the fewest questions that can run this model; `record` says that the dependencies
    /// between channels are recorded, `queued` that packets
    /// wait at the outputs though nothing needs that.
    pub(crate) fn of(model: &Model, record: bool, queued: bool) -> Self {
        let Watches { reconsiders, queues, injections, blocked, .. } =
            (model.routing.agent)(RouterId(0), 1).watches();
        let watches = reconsiders || queues || injections || blocked;
        let kept = record || model.lengths || model.shares() || model.times.congestion.is_some();
        let late = model.on_arrival || !model.shared_by.is_empty() || model.store_and_forward;
        let arbiter = model.allocator.arbiter;
        let late = late || matches!(arbiter, Arbiter::Random | Arbiter::LeastRecentlyServed);
        let loaded = model.loads_packets();
        let told = model.egress.notices.is_some() || model.entropy.is_some();
        let long = told || !model.jobs.as_ref().is_none_or(Light::holds);
        let queued = queued || model.egress.needed;
        match () {
            () if queued && model.voqs => Self::EthernetVoq,
            () if model.voqs => Self::Voq,
            () if queued && (watches || kept || late) => Self::Ethernet,
            () if queued && !loaded => Self::PlainEthernet,
            () if queued && model.only_tells_sources() => Self::NotifiedEthernet,
            () if queued => Self::Ethernet,
            () if watches || kept || late || long => Self::General,
            () if loaded => Self::PlainLoaded,
            () => Self::Plain,
        }
    }
}
