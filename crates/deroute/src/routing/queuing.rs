//! Queuing schemes: which VCs a flow may use.
//!
//! # What it does
//! Puts every flow into one of several classes, and gives each class VCs of its own on every link, so that
//! a packet that waits holds up only those of its class. Combines with any routing and any switch: where a
//! routing needs `n` VCs, class `c` of `queues` has the VCs `c`, `c + queues`, ..., and the routing sees
//! these alone.
//! - `dbbm`: the destination host, modulo the number of classes.
//! - `vftree`: source and destination switch; to consecutive destination switches from one source switch
//!   lead different classes.
//! - `flow2sl`: source and destination group, of as many groups of consecutive hosts as there are classes.
//!
//! Without a scheme (1Q) all flows share the VCs.
//!
//! # Source
//! Nachiondo et al., Computer Communications 2006 (DBBM); Guay et al., IPDPS 2011 (vFtree);
//! Escudero-Sahuquillo et al., 2012 (Flow2SL); Rocher-Gonzalez et al. 2.3.
//!
//! # Parameters
//! `queues`: classes (default 3).
//!
//! # Deadlock freedom
//! That of the routing, in each class: a packet never changes its class.
//!
//! # Limits
//! vFtree and Flow2SL add the numbers of both ends modulo `queues`; the papers leave the function open.
//! Hosts and their links have no VCs. An algorithm that watches its queues from outside a packet, as
//! Piggyback does, sees the sum over the classes.
//!
//! # Example
//! ```toml
//! [network.queuing.dbbm]
//! queues = 3
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Fabric, Header, Injection, Message, Plan, Planner, Queue, Queues, RouterView, Routing, Watches,
};
use crate::ids::{Cycle, HostId, PortId, RouterId, VcId};
use crate::spec::SpecError;
use crate::topology::{Hop, Topology, VcNeed};

/// Which VCs a flow may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Queuing {
    /// By the destination host.
    Dbbm(Classes),
    /// By source and destination switch.
    Vftree(Classes),
    /// By source and destination group of hosts.
    Flow2sl(Classes),
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

impl Queuing {
    fn classes(&self) -> (u8, &'static str) {
        match self {
            Self::Dbbm(classes) => (classes.queues, "dbbm"),
            Self::Vftree(classes) => (classes.queues, "vftree"),
            Self::Flow2sl(classes) => (classes.queues, "flow2sl"),
        }
    }

    /// What source and destination add to the class of a flow, by host.
    fn shares(&self, topology: &dyn Topology) -> [Vec<u8>; 2] {
        let (queues, hosts) = (u32::from(self.classes().0), topology.hosts());
        let each = |share: &dyn Fn(u32) -> u32| (0..hosts).map(|h| share(h) as u8).collect();
        match self {
            Self::Dbbm(_) => [vec![0; hosts as usize], each(&|host| host % queues)],
            Self::Vftree(_) => {
                // Switches without hosts do not count.
                let mut shares: Vec<u8> = Vec::new();
                let (mut last, mut leaf) = (None, queues - 1);
                for router in (0..hosts).map(|host| topology.router_of(HostId(host))) {
                    if last != Some(router) {
                        (last, leaf) = (Some(router), (leaf + 1) % queues);
                    }
                    shares.push(leaf as u8);
                }
                [shares.clone(), shares]
            }
            Self::Flow2sl(_) => {
                let group = |host| (u64::from(host) * u64::from(queues) / u64::from(hosts)) as u32;
                let shares: Vec<u8> = each(&group);
                [shares.clone(), shares]
            }
        }
    }
}

/// The classes of all flows.
struct Flows {
    /// What a host adds as source and as destination.
    shares: [Vec<u8>; 2],
    /// First host of every router.
    firsts: Vec<u32>,
    classes: u8,
}

impl Flows {
    /// The class of a packet at the head of an injection queue.
    #[inline]
    fn class(&self, view: &RouterView<'_>, header: &Header) -> u8 {
        let host = |router: RouterId, port: PortId| {
            (self.firsts[router.index()] + u32::from(port.0)) as usize
        };
        let from = self.shares[0][host(view.router, view.input)];
        let to = self.shares[1][host(header.destination, view.port)];
        let sum = from + to;
        if sum < self.classes { sum } else { sum - self.classes }
    }
}

/// First host of every router.
fn first_hosts(topology: &dyn Topology) -> Vec<u32> {
    let mut firsts = vec![0; topology.routers() as usize];
    for host in (0..topology.hosts()).rev() {
        firsts[topology.router_of(HostId(host)).index()] = host;
    }
    firsts
}

/// A routing whose VCs are shared out among the classes.
struct Classified {
    inner: Box<dyn Routing>,
    flows: Arc<Flows>,
}

/// The queues of one class.
struct OwnQueues<'a> {
    queues: &'a dyn Queues,
    classes: u8,
    class: u8,
}

impl Queues for OwnQueues<'_> {
    fn port(&self, port: PortId) -> u32 {
        self.queues.port(port)
    }

    #[inline]
    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        self.queues.vc(port, self.own(vc))
    }

    fn class(&self, port: PortId, vc: VcId, classes: u8) -> u32 {
        self.queues.class(port, self.own(vc), classes * self.classes)
    }

    fn lane(&self, port: PortId, vc: VcId) -> u32 {
        self.queues.lane(port, self.own(vc))
    }

    fn classes(&self, first: PortId, vc: VcId, classes: u8, lengths: &mut [u32]) {
        self.queues.classes(first, self.own(vc), classes * self.classes, lengths);
    }

    fn lanes(&self, first: PortId, vc: VcId, lengths: &mut [u32]) {
        self.queues.lanes(first, self.own(vc), lengths);
    }

    #[inline]
    fn taken(&self, port: PortId, vc: VcId) -> u32 {
        self.queues.taken(port, self.own(vc))
    }

    fn fits(&self, port: PortId, vc: VcId, size: u16) -> bool {
        self.queues.fits(port, self.own(vc), size)
    }
}

impl OwnQueues<'_> {
    #[inline]
    fn own(&self, vc: VcId) -> VcId {
        VcId(vc.0 * self.classes + self.class)
    }
}

/// The queues of all classes.
struct AllQueues<'a> {
    queues: &'a dyn Queues,
    classes: u8,
}

impl Queues for AllQueues<'_> {
    fn port(&self, port: PortId) -> u32 {
        self.queues.port(port)
    }

    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        let first = vc.0 * self.classes;
        (first..first + self.classes).map(|vc| self.queues.vc(port, VcId(vc))).sum()
    }
}

impl Routing for Classified {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let classes = self.flows.classes;
        let class = match header.place {
            0 => self.flows.class(view, header),
            _ => view.vc.0 % classes,
        };
        let mut own = RouterView {
            router: view.router,
            input: view.input,
            vc: VcId(view.vc.0 / classes),
            port: view.port,
            class,
            now: view.now,
            size: view.size,
            queues: &OwnQueues { queues: view.queues, classes, class },
            rng: view.rng,
        };
        let hop = self.inner.route(&mut own, header);
        Hop { vc: VcId(hop.vc.0 * classes + class), ..hop }
    }

    fn watches(&self) -> Watches {
        self.inner.watches()
    }

    fn atomic(&self) -> bool {
        self.inner.atomic()
    }

    fn queues_changed(
        &mut self,
        router: RouterId,
        queues: &dyn Queues,
        messages: &mut Vec<Message>,
    ) {
        let all = AllQueues { queues, classes: self.flows.classes };
        self.inner.queues_changed(router, &all, messages);
    }

    fn message(&mut self, from: RouterId, content: u32) {
        self.inner.message(from, content);
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        self.inner.injection(queue, event, header);
    }

    fn gauges(&self) -> Vec<String> {
        self.inner.gauges()
    }

    fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        self.inner.read(router, now, values);
    }
}

/// Checks a routing against the network, with its VCs shared out as the queuing scheme says.
///
/// # Errors
/// What the routing cannot do there, and VCs that are too few.
pub fn plan(
    spec: &Option<Queuing>,
    mut fabric: Fabric,
    planner: &Planner<'_>,
) -> Result<Plan, SpecError> {
    let Some(queuing) = spec else { return planner(&fabric) };
    let (classes, name) = queuing.classes();
    if !(1..=64).contains(&classes) {
        let message = format!("{classes} classes are out of range");
        let path = format!("network.queuing.{name}.queues");
        return Err(SpecError::new(path, message).choices(["1 to 64"]));
    }
    for (class, vcs) in fabric.topology.classes().iter().zip(&mut fabric.vcs) {
        if *vcs < classes {
            let message = format!("{vcs} is too few: {name} has {classes} classes");
            let path = format!("network.links.{class}.vcs");
            return Err(SpecError::new(path, message).choices([format!("{classes} to 64")]));
        }
        *vcs /= classes;
    }
    fabric.classes = classes;
    let Plan { agent, vcs } = planner(&fabric)?;
    if agent(RouterId(0), 1).escape().is_some() {
        let message = "this routing keeps one VC to escape through, which classes cannot share";
        return Err(SpecError::new("network.queuing", message).choices(["no queuing scheme"]));
    }
    let topology = &*fabric.topology;
    let shares = queuing.shares(topology);
    let flows = Arc::new(Flows { shares, firsts: first_hosts(topology), classes });
    let agent = Box::new(move |first, count| -> Box<dyn Routing> {
        Box::new(Classified { inner: agent(first, count), flows: Arc::clone(&flows) })
    });
    let why = "its paths have to be free of deadlocks in each class of the queuing scheme";
    let each = |need: VcNeed| VcNeed { vcs: need.vcs.saturating_mul(classes), why, ..need };
    Ok(Plan { agent, vcs: vcs.into_iter().map(each).collect() })
}
