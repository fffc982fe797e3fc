//! What a user asks for, as plain data.
//!
//! Every struct here is one table of a TOML file. Nothing is resolved: quantities still carry their
//! units, counts may still be impossible. [`crate::Simulation::build`] turns a [`Spec`] into a wired
//! network or says what is wrong with it.

mod error;
mod link;
mod nic;
mod probes;
mod quantity;
mod rate;
mod run;
mod service;

pub use error::SpecError;
pub use link::{Auto, Link, SlowLink, Vcs};
pub use nic::{Forwarding, Nic, NicLink, Resequencing};
pub use probes::{ProbedFlows, ProbedPorts, QueueDetail, QueueProbe, RateProbe};
pub(crate) use quantity::holds;
pub use quantity::{Quantity, Scale};
pub use run::{AutomaticWarmup, Precision, Run, Warmup, WarmupRule};
pub use service::{ClassSchedule, ServiceClasses};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::congestion::spec::*;
pub use crate::control::spec::*;
pub use crate::entropy::spec::*;
pub use crate::injection::spec::*;
pub use crate::notification::spec::*;
pub use crate::queuing::spec::*;
pub use crate::reaction::spec::*;
pub use crate::routing::spec::*;
pub use crate::switch::spec::*;
pub use crate::topology::spec::*;
pub use crate::traffic::spec::*;
pub use crate::workload::spec::*;

/// One simulation point: a network, a routing, a workload, and how long to look at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Physical size of a cycle and of a phit.
    #[serde(default)]
    pub units: Units,
    /// Topology, links, switches and network interfaces.
    pub network: Network,
    /// The routing algorithm and its parameters.
    pub routing: Routing,
    /// Who sends how much to whom. Optional beside a workload.
    #[serde(default, skip_serializing_if = "Traffic::is_silent")]
    pub traffic: Traffic,
    /// Programs that send messages and wait for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// Seed, warm-up and measurement.
    #[serde(default)]
    pub run: Run,
    /// What is recorded beyond the standard result.
    #[serde(default)]
    pub probes: Probes,
    /// Self-checks that cost time.
    #[serde(default)]
    pub checks: Checks,
}

/// Physical size of a cycle and of a phit: every link carries one phit a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Units {
    /// Duration of a cycle. Default `"1 ns"`.
    pub cycle: String,
    /// Data in a phit. Default `"25 B"`, which makes a link of 200 Gb/s at 1 ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phit: Option<String>,
    /// Rate of a link, such as `"200 Gb/s"`, in place of `phit`: what it carries in a cycle is a phit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_rate: Option<String>,
}

impl Default for Units {
    fn default() -> Self {
        Self { cycle: "1 ns".into(), phit: None, link_rate: None }
    }
}

impl Units {
    /// What they make of quantities.
    ///
    /// # Errors
    /// What is no positive quantity, and a rate beside a phit.
    pub fn scale(&self) -> Result<Scale, SpecError> {
        match (&self.phit, &self.link_rate) {
            (None, None) => Scale::new(&self.cycle, "25 B"),
            (Some(phit), None) => Scale::new(&self.cycle, phit),
            (None, Some(rate)) => Scale::of_rate(&self.cycle, rate),
            (Some(_), Some(_)) => {
                let message =
                    "says what a phit is, and so does `units.phit`: leave out one of them";
                Err(SpecError::new("units.link_rate", message))
            }
        }
    }
}

/// The machine that is simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Wiring.
    pub topology: Topology,
    /// One entry per link class of the topology (a Dragonfly has `local` and `global`).
    #[serde(default)]
    pub links: BTreeMap<String, Link>,
    /// Classes of service; one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ServiceClasses>,
    /// Links that are slower than their class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_links: Vec<SlowLink>,
    /// When a switch passes a packet on. Default `cut-through`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub forwarding: Forwarding,
    /// How the VCs of a link are shared out among the flows; all to everyone when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queuing: Option<Queuing>,
    /// Switch architecture.
    pub switch: Switch,
    /// When a packet may go to the next router, over links that say nothing else. Default `{ credits = {} }`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flow_control: FlowControl,
    /// What a switch does with packets whose queue is long; nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_point: Option<CongestionPoint>,
    /// Hosts' network interfaces.
    #[serde(default)]
    pub nic: Nic,
    /// What a switch takes for the length of a queue when it routes. Default `both`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sensing: Sensing,
    /// What the VCs are for that a routing has no need of. Default `unused`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spare_vcs: SpareVcs,
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What the length of a queue is, of a VC and of a port (McDonald et al., SC 2019, do not say which).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sensing {
    /// Phits granted whose credits have not come back, wherever they are.
    #[default]
    Both,
    /// Of these, the packets that have not begun to leave: the output buffer and the crossbar.
    Output,
    /// Of these, the packets that have: the link, the buffer at its other end, and credits on
    /// their way.
    Downstream,
    /// Of these, the packets that have left whole: as where a switch counts packets and not phits, and one when it has been sent.
    Sent,
    /// Only what is late: the time that a packet granted now would wait for the link, and the packets
    /// whose credits would be back had they not waited at the other end. Phits that merely
    /// travel do not count.
    Waiting,
}

/// The VCs of a link beyond those that a routing needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpareVcs {
    /// Left to the routing; most have no use for them.
    #[default]
    Unused,
    /// Shared out among the classes of VCs that the routing needs, one by one: of `n` classes, `c` has
    /// the VCs `c`, `c + n`, `c + 2 n`, ... A head takes the emptiest of its class when it is granted. (DAL uses all VCs anyway.)
    Emptiest,
}

/// What is recorded beyond the standard result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Probes {
    /// Width of a bin of the time series; no series when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Quantity>,
    /// Start of the time series before the measurement begins. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_before: Option<Quantity>,
    /// Record the utilisation of every link, not only the summary per class. Default `false`.
    pub links: bool,
    /// Record the state of the routing agents in time; not recorded when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<AgentProbe>,
    /// Record congestion trees and head-of-line blocking in time; not recorded when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<CongestionProbe>,
    /// Record the lengths of queues in time; not recorded when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueProbe>,
    /// Record the rates of rate limiters in time; not recorded when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<RateProbe>,
    /// Record pauses, losses and the most that buffers held of every link and VC, not only the summary per class;
    /// with a time series also the time in which each was paused, by its bins. Default `false`.
    #[serde(skip_serializing_if = "is_default")]
    pub pauses: bool,
}

/// Samples of the congestion trees: what waits for an output, directly or through other routers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CongestionProbe {
    /// Cycles between samples. The first is taken where the time series would begin.
    pub every: Quantity,
    /// Record every buffer of every tree, not only the size of the trees. Default `false`.
    #[serde(default)]
    pub members: bool,
}

/// Samples of the state of the routing agents: the level of ACOR, the counters of LIAN.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentProbe {
    /// Cycles between samples. The first is taken where the time series would begin.
    pub every: Quantity,
    /// Domain (group of a Dragonfly) whose routers are given one by one; of the others only the mean
    /// is kept. Default 0.
    #[serde(default)]
    pub domain: u32,
}

/// Self-checks that cost time. The cheap ones are always on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Checks {
    /// Recount every packet, buffer and credit of the network now and then. Default `false`.
    pub full: bool,
    /// Record every dependency between channels and fail if they form a cycle. Default `false`.
    pub dependencies: bool,
    /// Cycles a packet may stay at the head of a queue before the watchdog looks for a cycle of
    /// waits. Default 20000 cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<Quantity>,
}
