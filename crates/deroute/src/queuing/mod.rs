//! Queuing schemes: which VCs a flow may use.
//!
//! A scheme puts every flow into one of several classes, and gives each class VCs of its own on
//! every link and an injection queue of its own at every host, so that a packet that waits holds up
//! only those of its class. Combines with any routing and any switch: where a routing needs `n`
//! VCs, class `c` of `queues` has the VCs `c`, `c + queues`, ..., and the routing sees these alone.
//! Without a scheme (1Q) all flows share the VCs.
//!
//! The links from switches to hosts have no VCs. An algorithm that watches its queues from outside
//! a packet, as Piggyback does, sees the sum over the classes. DSBM (Olesinski, Eberle, Gura, ICC
//! 2009) is no scheme of this kind: it assigns what arrives to the least occupied buffer, so that
//! the queue depends on the state of the switch and not on the flow. `network.spare_vcs =
//! "emptiest"` does so with the VCs of a link.
//!
//! To add a scheme: a file with its parameters and its plan, and a line in the catalogue below.

mod classified;
pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::catalogue;
use crate::congestion::NoticePlan;
use crate::ids::HostId;
use crate::injection::{self, InjectionQueues, QueuePlan};
use crate::routing::{Fabric, Plan, Planner};
use crate::spec::{Network, SpecError};
use crate::topology::Topology;

/// Most classes: as many as a link can have VCs.
const MOST: u8 = 64;

/// The classes of all flows; all in class 0 without a scheme.
#[derive(Clone, Debug)]
pub struct Flows {
    /// What a host adds as source and as destination; empty if there is one class.
    shares: [Vec<u8>; 2],
    /// Classes of the queuing scheme, in each class of service.
    classes: u8,
    service: u8,
    /// Injection queues of each class.
    queues: QueuePlan,
}

impl Flows {
    /// Flows of so many classes: what each host adds as source, and as destination, modulo their
    /// number.
    fn new(classes: u8, shares: [Vec<u8>; 2]) -> Self {
        let shares = if classes > 1 { shares } else { Default::default() };
        Self { shares, classes, service: 1, queues: QueuePlan::ONE }
    }

    /// Flows whose class is that of their destination, modulo the number of classes.
    fn to(classes: u8, topology: &dyn Topology, class: impl Fn(u32) -> u32) -> Self {
        let hosts = topology.hosts();
        let shares = (0..hosts).map(|host| (class(host) % u32::from(classes)) as u8).collect();
        Self::new(classes, [vec![0; hosts as usize], shares])
    }

    /// Number of classes, those of service and of the queuing scheme together, at least 1.
    #[inline]
    pub fn classes(&self) -> u8 {
        self.classes * self.service
    }

    /// Number of classes of service, at least 1.
    #[inline]
    pub fn service(&self) -> u8 {
        self.service
    }

    /// Number of injection queues of a host, one or several for each class.
    #[inline]
    pub fn injection_queues(&self) -> u8 {
        self.classes() * self.queues.count()
    }

    /// The injection queue of packets of a class of service from one host to another; `label` is the number of
    /// their stream, or the tag of their message. Those of class 0 are 0, `classes`, `2 classes`, ...
    #[inline]
    pub fn queue(&self, service: u8, (from, to): (HostId, HostId), label: u32) -> u8 {
        let class = self.class_in(service, from, to);
        if self.queues.count() == 1 {
            return class;
        }
        self.queues.of(from, to, label) * self.classes() + class
    }

    /// The class of the packets in an injection queue.
    #[inline]
    pub fn class_of_queue(&self, queue: u8) -> u8 {
        if self.queues.count() == 1 { queue } else { queue % self.classes() }
    }

    /// The class of the packets of a class of service from one host to another.
    #[inline]
    pub fn class_in(&self, service: u8, from: HostId, to: HostId) -> u8 {
        service * self.classes + self.class(from, to)
    }

    /// The same in the first class of service.
    #[inline]
    pub fn class(&self, from: HostId, to: HostId) -> u8 {
        if self.classes == 1 {
            return 0;
        }
        let sum = self.shares[0][from.index()] + self.shares[1][to.index()];
        if sum < self.classes { sum } else { sum - self.classes }
    }
}

/// What a queuing scheme is planned for.
pub struct Setting<'a> {
    /// The path of its table in the spec.
    path: String,
    /// The wiring.
    pub topology: &'a dyn Topology,
}

impl Setting<'_> {
    /// The path of one of its keys.
    pub fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// Checks the number of classes, which the key `queues` gives.
    ///
    /// # Errors
    /// Anything but 1 to 64.
    pub fn queues(&self, queues: u8) -> Result<u8, SpecError> {
        if (1..=MOST).contains(&queues) {
            return Ok(queues);
        }
        let message = format!("{queues} classes are out of range");
        Err(SpecError::new(self.at("queues"), message).choices([format!("1 to {MOST}")]))
    }
}

/// Classes of a queuing scheme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Classes {
    /// Number of classes, 1 to 64. Default 3.
    pub queues: u8,
}

impl Default for Classes {
    fn default() -> Self {
        Self { queues: 3 }
    }
}

catalogue! {
    /// Which VCs a flow may use.
    enum Queuing;
    /// The classes that the spec asks for.
    ///
    /// # Errors
    /// Too many of them, or none.
    fn build(&Setting<'_>) -> Flows;

    // One line per queuing scheme.
    /// By the destination host.
    Dbbm => dbbm::DbbmSpec,
    /// By source and destination switch.
    Vftree => vftree::VftreeSpec,
    /// By source and destination group of hosts.
    Flow2sl => flow2sl::Flow2slSpec,
    /// By the block of consecutive hosts that the destination is in.
    Blocks => blocks::BlocksSpec,
    /// A class for each destination host.
    Voqnet => voqnet::VoqnetSpec,
}

/// What a spec says of the queues of flows.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The queuing scheme, if there is one.
    pub queuing: &'a Option<Queuing>,
    /// Injection queues of each class; one if absent.
    pub queues: &'a Option<InjectionQueues>,
    /// Classes of service, at least 1.
    pub service: u8,
}

impl<'a> Asked<'a> {
    /// What stands in the spec of a network with so many classes of service.
    pub fn of(network: &'a Network, service: u8) -> Self {
        Self { queuing: &network.queuing, queues: &network.nic.queues, service }
    }
}

/// The classes that a spec asks for, in each of its classes of service, their injection queues, and the routing with
/// its VCs shared out among them.
///
/// # Errors
/// What the scheme or the routing cannot do there, and VCs or queues that are too few or too many.
pub fn plan(
    asked: Asked<'_>,
    fabric: Fabric,
    planner: &Planner<'_>,
) -> Result<(Flows, Plan), SpecError> {
    plan_for(asked, None, fabric, planner)
}

/// The same where one of the classes of service may be that of notifications.
///
/// # Errors
/// As [`plan`], and paths of notifications that there are none of.
pub(crate) fn plan_for(
    Asked { queuing: spec, queues, service }: Asked<'_>,
    notices: Option<NoticePlan>,
    mut fabric: Fabric,
    planner: &Planner<'_>,
) -> Result<(Flows, Plan), SpecError> {
    let (name, mut flows) = match spec {
        Some(queuing) => {
            let path = format!("network.queuing.{}", queuing.name());
            let setting = Setting { path, topology: &*fabric.topology };
            (queuing.name(), build(queuing, &setting)?)
        }
        None => ("network.classes", Flows::new(1, Default::default())),
    };
    if flows.classes.checked_mul(service).is_none_or(|all| all > MOST) {
        let message = format!("{service} classes of {} queues each are too many", flows.classes);
        let choices = [format!("at most {MOST} queues together")];
        return Err(SpecError::new("network.classes.count", message).choices(choices));
    }
    flows.service = service;
    if let Some(queues) = queues {
        let setting =
            injection::Setting { hosts: fabric.topology.hosts(), classes: flows.classes() };
        flows.queues = injection::build(queues, &setting)?;
    }
    fabric.queues = flows.queues.count();
    let plan = match flows.classes() {
        1 if spec.is_none() => planner(&fabric)?,
        classes => {
            let first = |notices: &NoticePlan| notices.class * flows.classes;
            let own = notices.map(|plan| (first(&plan)..first(&plan) + flows.classes, plan));
            classified::plan((name, classes), own, fabric, planner)?
        }
    };
    Ok((flows, plan))
}
