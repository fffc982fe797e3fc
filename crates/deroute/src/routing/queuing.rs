//! Queuing schemes: which VCs a flow may use.
//!
//! # What it does
//! Puts every flow into one of several classes, and gives each class VCs of its own on every link and an
//! injection queue of its own at every host, so that a packet that waits holds up only those of its class.
//! Combines with any routing and any switch: where a routing needs `n` VCs, class `c` of `queues` has the
//! VCs `c`, `c + queues`, ..., and the routing sees these alone.
//! - `dbbm`: the destination host, modulo the number of classes.
//! - `vftree`: source and destination switch; to consecutive destination switches from one source switch
//!   lead different classes.
//! - `flow2sl`: source and destination group, of as many groups of consecutive hosts as there are classes.
//! - `blocks`: the destination alone, in blocks of consecutive hosts, modulo the number of classes.
//! - `voqnet`: a class for every destination host.
//!
//! Without a scheme (1Q) all flows share the VCs.
//!
//! # Source
//! Nachiondo et al., Computer Communications 2006 (DBBM); Guay et al., IPDPS 2011 (vFtree);
//! Escudero-Sahuquillo et al., 2012 (Flow2SL); Dally, Carvey, Dennison, Hot Interconnects 1998 (VOQnet);
//! Rocher-Gonzalez et al. 2.3. `blocks` is what their section 5.3 leaves to future work, a mapping that
//! holds where routing adapts: a congested destination never has more than one class, wherever its packets
//! turn. With blocks of `hosts / queues` it separates on the way up exactly what Flow2SL does. With blocks
//! of Delta hosts it is independent of the ports to which K/Delta confines a destination: both together
//! keep `queues * Delta` sets of destinations apart.
//!
//! # Parameters
//! `queues`: classes (default 3). `block` of `blocks`: hosts (default 3, the paper's Delta).
//!
//! # Deadlock freedom
//! That of the routing, in each class: a packet never changes its class.
//!
//! # Limits
//! vFtree and Flow2SL add the numbers of both ends modulo `queues`; the papers leave the function open.
//! VOQnet needs as many VCs as there are hosts, at most 64: a reference for small networks. The links from
//! switches to hosts have no VCs. An algorithm that watches its queues from outside a packet, as Piggyback
//! does, sees the sum over the classes. DSBM (Olesinski, Eberle, Gura, ICC 2009) is no scheme of this kind:
//! it assigns what arrives to the least occupied buffer, so that the queue depends on the state of the
//! switch and not on the flow. `network.spare_vcs = "emptiest"` does so with the VCs of a link.
//!
//! # Example
//! ```toml
//! [network.queuing.dbbm]
//! queues = 3
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Fabric, Header, Hop, Injection, Message, Plan, Planner, Queue, Queues, RouterView, Routing,
    VcNeed, Watches,
};
use crate::ids::{Cycle, HostId, PortId, RouterId, VcId};
use crate::spec::SpecError;
use crate::topology::Topology;

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
    /// By the block of consecutive hosts that the destination is in.
    Blocks(Blocks),
    /// A class for each destination host.
    Voqnet(Voqnet),
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

/// Classes by blocks of destinations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Blocks {
    /// Number of classes, 1 to 64. Default 3.
    pub queues: u8,
    /// Consecutive hosts that share a class, at least 1. Default 3.
    pub block: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { queues: 3, block: 3 }
    }
}

/// A class for each destination host: there is nothing to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Voqnet {}

/// Most classes: as many as a link can have VCs.
const MOST: u32 = 64;

impl Queuing {
    /// Its key in a spec.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dbbm(_) => "dbbm",
            Self::Vftree(_) => "vftree",
            Self::Flow2sl(_) => "flow2sl",
            Self::Blocks(_) => "blocks",
            Self::Voqnet(_) => "voqnet",
        }
    }

    fn classes(&self, topology: &dyn Topology) -> u32 {
        match self {
            Self::Dbbm(classes) | Self::Vftree(classes) | Self::Flow2sl(classes) => {
                classes.queues.into()
            }
            Self::Blocks(blocks) => blocks.queues.into(),
            Self::Voqnet(_) => topology.hosts(),
        }
    }

    /// The number of classes, if the network can have them.
    fn check(&self, topology: &dyn Topology) -> Result<u8, SpecError> {
        let (classes, at) = (self.classes(topology), format!("network.queuing.{}", self.name()));
        if let Self::Blocks(Blocks { block: 0, .. }) = self {
            let error = SpecError::new(format!("{at}.block"), "a block of 0 hosts");
            return Err(error.choices(["1 or more"]));
        }
        match (u8::try_from(classes), self) {
            (Ok(classes), _) if (1..=MOST).contains(&classes.into()) => Ok(classes),
            (_, Self::Voqnet(_)) => {
                let message = format!("a class for each of {classes} hosts");
                let choices = [format!("at most {MOST} hosts"), "another scheme".into()];
                Err(SpecError::new(at, message).choices(choices))
            }
            _ => {
                let message = format!("{classes} classes are out of range");
                let choices = [format!("1 to {MOST}")];
                Err(SpecError::new(format!("{at}.queues"), message).choices(choices))
            }
        }
    }

    /// What source and destination add to the class of a flow, by host.
    fn shares(&self, topology: &dyn Topology) -> [Vec<u8>; 2] {
        let (queues, hosts) = (self.classes(topology), topology.hosts());
        let each = |share: &dyn Fn(u32) -> u32| (0..hosts).map(|h| share(h) as u8).collect();
        let alone = |share: &dyn Fn(u32) -> u32| [vec![0; hosts as usize], each(share)];
        match self {
            Self::Dbbm(_) => alone(&|host| host % queues),
            Self::Blocks(Blocks { block, .. }) => alone(&|host| host / block % queues),
            Self::Voqnet(_) => alone(&|host| host),
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

/// The classes of all flows; all in class 0 without a scheme.
#[derive(Clone, Debug)]
pub struct Flows {
    /// What a host adds as source and as destination; empty if there is one class.
    shares: [Vec<u8>; 2],
    classes: u8,
}

impl Flows {
    /// The classes that a scheme makes, which [`plan`] has accepted.
    pub fn new(spec: &Option<Queuing>, topology: &dyn Topology) -> Self {
        let classes = spec.as_ref().map_or(1, |queuing| queuing.classes(topology) as u8);
        let shares = match spec {
            Some(queuing) if classes > 1 => queuing.shares(topology),
            _ => Default::default(),
        };
        Self { shares, classes }
    }

    /// Number of classes, at least 1.
    #[inline]
    pub fn classes(&self) -> u8 {
        self.classes
    }

    /// The class of the packets from one host to another: the VC of their injection queue.
    #[inline]
    pub fn class(&self, from: HostId, to: HostId) -> u8 {
        if self.classes == 1 {
            return 0;
        }
        let sum = self.shares[0][from.index()] + self.shares[1][to.index()];
        if sum < self.classes { sum } else { sum - self.classes }
    }
}

/// A routing whose VCs are shared out among the classes.
struct Classified {
    inner: Box<dyn Routing>,
    classes: u8,
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
        let classes = self.classes;
        // A host's VC is the class itself.
        let class = view.vc.0 % classes;
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
        let all = AllQueues { queues, classes: self.classes };
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
    let (classes, name) = (queuing.check(&*fabric.topology)?, queuing.name());
    for (class, vcs) in fabric.topology.classes().iter().zip(&mut fabric.vcs) {
        if *vcs < classes {
            let message = format!("{vcs} is too few: {name} has {classes} classes");
            let path = format!("network.links.{class}.vcs");
            return Err(SpecError::new(path, message).choices([format!("{classes} to {MOST}")]));
        }
        *vcs /= classes;
    }
    fabric.classes = classes;
    let Plan { agent, vcs } = planner(&fabric)?;
    if agent(RouterId(0), 1).escape().is_some() {
        let message = "this routing keeps one VC to escape through, which classes cannot share";
        return Err(SpecError::new("network.queuing", message).choices(["no queuing scheme"]));
    }
    let agent = Box::new(move |first, count| -> Box<dyn Routing> {
        Box::new(Classified { inner: agent(first, count), classes })
    });
    let why = "its paths have to be free of deadlocks in each class of the queuing scheme";
    let each =
        |need: VcNeed| VcNeed { vcs: need.vcs.saturating_mul(classes), why: why.into(), ..need };
    Ok(Plan { agent, vcs: vcs.into_iter().map(each).collect() })
}
