//! Piggyback (PB).
//!
//! # What it does
//! Every router flags a global port as congested iff its queue exceeds `F` times the mean of its
//! other global ports plus `T`, and sends each change of a flag to the routers of its group. A
//! packet takes the minimal path iff the global link of that path is not flagged and UGAL's
//! inequality holds. Within a group, only the inequality counts.
//!
//! # Source
//! Thesis 2.3.4, equation 2-2, Table 3-1.
//!
//! # Parameters
//! `factor_percent` F (default 120), `flag_threshold` T in phits of a port (default 50),
//! `own_port_in_mean` (default false), `ugal`: the parameters of the inequality.
//!
//! # Deadlock freedom
//! As Valiant: 4 local and 2 global VCs in a Dragonfly.
//!
//! # Limits
//! A flag is as old as a local link is long. Flags compare a router's ports with each other: where
//! all of them are full, as at the router that owns the minimal links of ADVC, they say little. If
//! transit goes before injection, that router's hosts then get less than the others, and if `Q` is
//! that of a port, more (`docs/reproduced.md`, thesis-6.3.3-fair-adapt).
//!
//! # Example
//! ```toml
//! [routing.piggyback]
//! factor_percent = 120
//! flag_threshold = 50
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ugal::{Ugal, UgalPlan, UgalSpec};
use super::{
    Fabric, Follows, Header, Hop, Injection, Message, Plan, Queue, Queues, RouterView, Routing,
    Watches,
};
use crate::ids::{Cycle, PortId, RouterId};
use crate::spec::SpecError;
use crate::topology::Topology;

/// Parameters of Piggyback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PiggybackSpec {
    /// `F` of equation 2-2 in percent. Default 120.
    pub factor_percent: u32,
    /// `T` of equation 2-2 in phits per port. Default 50: five packets of 10 phits.
    pub flag_threshold: u32,
    /// The mean of equation 2-2 includes the tested port (FOGSim). Default `false`.
    pub own_port_in_mean: bool,
    /// The UGAL decision that a path must pass as well.
    pub ugal: UgalSpec,
}

impl Default for PiggybackSpec {
    fn default() -> Self {
        Self {
            factor_percent: 120,
            flag_threshold: 50,
            own_port_in_mean: false,
            ugal: UgalSpec::default(),
        }
    }
}

struct Piggyback {
    topology: Arc<dyn Topology>,
    spec: PiggybackSpec,
    ugal: Ugal,
    first: RouterId,
    /// Global ports of a router.
    ports: usize,
    /// Latency of a message in the group.
    delay: Cycle,
    /// What each router knows of its own ports: `[router][port]`.
    own: Vec<bool>,
    /// What the other routers of the group know of them.
    seen: Vec<bool>,
    /// Queues of the ports of one router, while they are looked at.
    lengths: Vec<u64>,
}

/// Checks the parameters against the network.
///
/// # Errors
/// Those of UGAL: a topology without intermediate routers, a phase-A policy that means nothing in it, and
/// parameters of ACOR out of range.
pub fn plan(spec: &PiggybackSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let ugal = UgalPlan::new(&spec.ugal, fabric, "routing.piggyback.ugal")?;
    let (fabric, spec) = (fabric.clone(), spec.clone());
    let vcs = ugal.vcs();
    let agent = Box::new(move |first, count| -> Box<dyn Routing> {
        let topology = Arc::clone(&fabric.topology);
        let ports = topology.global_ports(first).len();
        let flags = vec![false; ports * count as usize];
        Box::new(Piggyback {
            ugal: ugal.agent(first, count),
            topology,
            spec: spec.clone(),
            first,
            ports,
            delay: fabric.latency[0],
            own: flags.clone(),
            seen: flags,
            lengths: Vec::with_capacity(ports),
        })
    });
    Ok(Plan { agent, vcs })
}

impl Piggyback {
    fn cell(&self, router: RouterId, port: usize) -> usize {
        (router.0 - self.first.0) as usize * self.ports + port
    }

    /// Is the global link of the minimal path flagged, as far as this router knows?
    fn flagged(&self, at: RouterId, to: RouterId) -> bool {
        let Some((owner, port)) = self.topology.minimal_global_port(at, to) else { return false };
        let port = usize::from(port.0 - self.topology.global_ports(owner).start);
        let cell = self.cell(owner, port);
        if owner == at { self.own[cell] } else { self.seen[cell] }
    }

    /// Equation 2-2, in whole numbers: both sides times 100 times the number of ports averaged.
    fn congested(&self, queue: u64, total: u64) -> bool {
        let (sum, ports) = if self.spec.own_port_in_mean {
            (total, self.ports as u64)
        } else {
            (total - queue, self.ports as u64 - 1)
        };
        let factor = u64::from(self.spec.factor_percent);
        let threshold = 100 * u64::from(self.spec.flag_threshold);
        100 * queue * ports.max(1) > factor * sum + threshold * ports.max(1)
    }
}

impl Routing for Piggyback {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        if header.position == 0 {
            let flagged = self.flagged(view.router, header.destination);
            let threshold = (!flagged).then(|| self.ugal.threshold());
            return self.ugal.decide(view, header, threshold);
        }
        self.ugal.follow(view.router, header)
    }

    fn follows(&self) -> Option<Follows> {
        self.ugal.follows()
    }

    fn watches(&self) -> Watches {
        Watches { queues: true, ..self.ugal.watches() }
    }

    fn queues_changed(
        &mut self,
        router: RouterId,
        queues: &dyn Queues,
        messages: &mut Vec<Message>,
    ) {
        let mut lengths = std::mem::take(&mut self.lengths);
        let ports = self.topology.global_ports(router).map(PortId);
        lengths.extend(ports.map(|port| u64::from(queues.port(port))));
        let (total, first) = (lengths.iter().sum(), self.cell(router, 0));
        for (port, length) in lengths.drain(..).enumerate() {
            let flag = self.congested(length, total);
            let own = &mut self.own[first + port];
            if *own != flag {
                *own = flag;
                let content = (port as u32) << 1 | u32::from(flag);
                messages.push(Message { delay: self.delay, content });
            }
        }
        self.lengths = lengths;
    }

    fn message(&mut self, from: RouterId, content: u32) {
        let cell = self.cell(from, (content >> 1) as usize);
        self.seen[cell] = content & 1 == 1;
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        self.ugal.injection(queue, event, header);
    }

    fn gauges(&self) -> Vec<String> {
        self.ugal.gauges()
    }

    fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        self.ugal.read(router, now, values);
    }

    fn bytes(&self) -> usize {
        self.own.len() + self.seen.len() + self.ugal.bytes()
    }
}
