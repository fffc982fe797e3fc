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
//! `own_port_in_mean` (default false), `flags` (default `port`: one for each global port; `vc`: one for each of
//! its VCs, whose queue is compared with those of the same VC of the other ports), `broadcast` (default: the
//! latency of a local link): cycles until the group knows of a change, `ugal`: the parameters of the inequality.
//!
//! # Deadlock freedom
//! As Valiant: 4 local and 2 global VCs in a Dragonfly.
//!
//! # Limits
//! A flag is as old as its broadcast takes. Flags compare a router's ports with each other: where
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
    Fabric, Follows, Header, Hop, Injection, Message, Notification, Plan, Queue, Queues,
    RouterView, Routing, VcNeed, Watches,
};
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::spec::{Quantity, SpecError};
use crate::state::state;
use crate::topology::{Peer, Topology};

/// Parameters of Piggyback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PiggybackSpec {
    /// `F` of equation 2-2 in percent. Default 120.
    pub factor_percent: u32,
    /// `T` of equation 2-2 in phits of what a flag is for. Default 50: five packets of 10 phits.
    pub flag_threshold: u32,
    /// The mean of equation 2-2 includes the tested port (FOGSim). Default `false`.
    pub own_port_in_mean: bool,
    /// What has a flag of its own. Default `port`.
    #[serde(skip_serializing_if = "FlagScope::is_default")]
    pub flags: FlagScope,
    /// Cycles until the other routers of the group know of a changed flag, at least 1. Default: the latency
    /// of a local link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<Quantity>,
    /// The UGAL decision that a path must pass as well.
    pub ugal: UgalSpec,
}

impl Default for PiggybackSpec {
    fn default() -> Self {
        Self {
            factor_percent: 120,
            flag_threshold: 50,
            own_port_in_mean: false,
            flags: FlagScope::Port,
            broadcast: None,
            ugal: UgalSpec::default(),
        }
    }
}

/// What has a flag of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlagScope {
    /// A global port, by the queue over all its VCs.
    #[default]
    Port,
    /// A VC of a global port, by its queue: a packet looks at the VC that its minimal path takes (FOGSim).
    Vc,
}

impl FlagScope {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

struct Piggyback {
    topology: Arc<dyn Topology>,
    spec: PiggybackSpec,
    ugal: Ugal,
    first: RouterId,
    /// Global ports of a router.
    ports: usize,
    /// Flags of a global port.
    flags: usize,
    /// VCs of each global port.
    vcs: Vec<u8>,
    /// Latency of a message in the group.
    delay: Cycle,
    /// What each router knows of its own ports: `[router][port][flag]`.
    own: Vec<bool>,
    /// What the other routers of the group know of them.
    seen: Vec<bool>,
    /// Queues that the flags of one router are for, while they are looked at: `[port][flag]`.
    lengths: Vec<u64>,
}

/// Checks the parameters against the network.
///
/// # Errors
/// Those of UGAL: a topology without intermediate routers, a phase-A policy that means nothing in it, and
/// parameters of ACOR out of range; a broadcast that takes no time, or longer than any link.
pub fn plan(spec: &PiggybackSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let ugal = UgalPlan::new(&spec.ugal, fabric, "routing.piggyback.ugal")?;
    let (fabric, spec) = (fabric.clone(), spec.clone());
    let vcs = ugal.vcs();
    let delay = delay(&spec, &fabric)?;
    let vcs_of_ports = vcs_of_ports(&*fabric.topology, &vcs);
    let per_port = match spec.flags {
        FlagScope::Port => 1,
        FlagScope::Vc => vcs_of_ports.iter().copied().max().unwrap_or(1).max(1).into(),
    };
    let agent = Box::new(move |first, count| -> Box<dyn Routing> {
        let topology = Arc::clone(&fabric.topology);
        let ports = topology.global_ports(first).len();
        let flags = vec![false; ports * per_port * count as usize];
        Box::new(Piggyback {
            ugal: ugal.agent(first, count),
            topology,
            spec: spec.clone(),
            first,
            ports,
            flags: per_port,
            vcs: vcs_of_ports.clone(),
            delay,
            own: flags.clone(),
            seen: flags,
            lengths: Vec::with_capacity(ports * per_port),
        })
    });
    Ok(Plan { agent, vcs })
}

/// The VCs of each global port that paths take: none where no router has a link.
fn vcs_of_ports(topology: &dyn Topology, needs: &[VcNeed]) -> Vec<u8> {
    let mut vcs = vec![0; topology.global_ports(RouterId(0)).len()];
    for router in (0..topology.routers()).map(RouterId) {
        for (vcs, port) in vcs.iter_mut().zip(topology.global_ports(router)) {
            if let Peer::Router { class, .. } = topology.peer(router, PortId(port)) {
                let name = topology.classes()[usize::from(class)];
                let need = needs.iter().find(|need| need.class == name);
                *vcs = need.map_or(0, |need| need.vcs);
            }
        }
    }
    vcs
}

/// Cycles until the group knows of a flag.
fn delay(spec: &PiggybackSpec, fabric: &Fabric) -> Result<Cycle, SpecError> {
    let Some(broadcast) = &spec.broadcast else { return Ok(fabric.latency[0]) };
    let at = "routing.piggyback.broadcast";
    let (cycles, most) =
        (fabric.scale.cycles(at, broadcast)?, fabric.latency.iter().copied().max().unwrap_or(1));
    Cycle::try_from(cycles).ok().filter(|cycles| (1..=most).contains(cycles)).ok_or_else(|| {
        let message = format!("{broadcast} is {cycles} cycles");
        SpecError::new(at, message).choices([format!("1 to {most} cycles, as the longest link")])
    })
}

impl Piggyback {
    /// Where the flags of a router begin.
    fn begin(&self, router: RouterId) -> usize {
        (router.0 - self.first.0) as usize * self.ports * self.flags
    }

    /// Is the global link of the minimal path flagged, as far as this router knows?
    fn flagged(&self, at: RouterId, header: &Header) -> bool {
        let to = header.destination;
        let Some((owner, port)) = self.topology.minimal_global_port(at, to) else { return false };
        let first = self.topology.global_ports(owner).start;
        let vc = if self.flags > 1 { self.vc_over(at, owner, header) } else { VcId(0) };
        let flag = usize::from(port.0 - first) * self.flags + usize::from(vc.0);
        let cell = self.begin(owner) + flag;
        if owner == at { self.own[cell] } else { self.seen[cell] }
    }

    /// The VC in which a packet that goes minimally crosses the global link of another router or its own.
    fn vc_over(&self, at: RouterId, owner: RouterId, header: &Header) -> VcId {
        let mut header = *header;
        header.go_minimally();
        let first = self.ugal.follow(at, &header);
        if owner == at {
            return first.vc;
        }
        header.position = first.position;
        self.ugal.follow(owner, &header).vc
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
            let flagged = self.flagged(view.router, header);
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
        lengths.clear();
        for (port, &vcs) in self.topology.global_ports(router).map(PortId).zip(&self.vcs) {
            match self.spec.flags {
                FlagScope::Port => lengths.push(u64::from(queues.port(port))),
                FlagScope::Vc => lengths.extend((0..self.flags as u8).map(|vc| match vc < vcs {
                    true => u64::from(queues.lane(port, VcId(vc))),
                    false => 0,
                })),
            }
        }
        let begin = self.begin(router);
        for alike in 0..self.flags {
            let total = match self.flags {
                1 => lengths.iter().sum(),
                flags => lengths.iter().skip(alike).step_by(flags).sum(),
            };
            for cell in (alike..lengths.len()).step_by(self.flags) {
                let flag = self.congested(lengths[cell], total);
                let own = &mut self.own[begin + cell];
                if *own != flag {
                    *own = flag;
                    let content = (cell as u32) << 1 | u32::from(flag);
                    messages.push(Message { delay: self.delay, content });
                }
            }
        }
        self.lengths = lengths;
    }

    fn message(&mut self, from: RouterId, content: u32) {
        let cell = self.begin(from) + (content >> 1) as usize;
        self.seen[cell] = content & 1 == 1;
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        self.ugal.injection(queue, event, header);
    }

    fn notified(&mut self, told: &Notification) {
        self.ugal.notified(told);
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

    state! { keep ugal, own, seen; leave topology, spec, first, ports, flags, vcs, delay, lengths; }
}
