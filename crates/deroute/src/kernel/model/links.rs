//! The links of the network, and the buffers at their ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::flow_control::Pauses;
use crate::control::{LinkClass, RetryPlan, retry};
use crate::ids::{Cycle, PortId, RouterId};
use crate::routing::{Fabric, VcNeed};
use crate::spec::{Quantity, Scale, Spec, SpecError, holds};
use crate::switch;
use crate::topology::{Peer, Topology};

/// The most VCs of a link; what stands for those that are not known yet.
const MOST: u8 = 64;

/// The link classes of the topology, in its order. Where the VCs follow from the routing, there are
/// [`MOST`] until [`settle`].
pub(super) fn resolve(
    spec: &Spec,
    scale: &Scale,
    topology: &dyn Topology,
    largest: u16,
) -> Result<Vec<LinkClass>, SpecError> {
    let within = switch::credits_wait_of(&spec.network.switch, *scale, largest);
    let names = topology.classes();
    if let Some(name) = spec.network.links.keys().find(|key| !names.contains(&key.as_str())) {
        let message = format!("the topology has no link class {name:?}");
        let choices = names.iter().copied();
        return Err(SpecError::new(format!("network.links.{name}"), message).choices(choices));
    }
    names
        .iter()
        .map(|name| {
            let path = format!("network.links.{name}");
            let Some(link) = spec.network.links.get(*name) else {
                let message = "missing: the topology has links of this class";
                return Err(SpecError::new(path, message).choices(["{ latency, vcs, buffer }"]));
            };
            let vcs = link.vcs.count().unwrap_or(MOST);
            if !(1..=MOST).contains(&vcs) {
                let message = format!("{vcs} virtual channels is out of range");
                let choices = ["1 to 64", "\"auto\""];
                return Err(SpecError::new(format!("{path}.vcs"), message).choices(choices));
            }
            let latency = scale.interval(&format!("{path}.latency"), &link.latency, 1)?;
            let period = period(scale, &format!("{path}.rate"), &link.rate)?;
            let reserve = match link.buffer.is_auto() {
                true => (within + 2 * latency).div_ceil(period) + 2 * u32::from(largest),
                false => scale.buffer(&format!("{path}.buffer"), &link.buffer)?,
            };
            let shared = match &link.shared {
                Some(shared) => scale.buffer(&format!("{path}.shared"), shared)?,
                None => 0,
            };
            Ok(LinkClass { latency, vcs, buffer: reserve + shared, shared, period })
        })
        .collect()
}

/// Gives links whose VCs follow from the routing as many as it needs, at least one for each class of the queuing
/// scheme; whether there are such links.
pub(super) fn settle(
    classes: &mut [LinkClass],
    spec: &Spec,
    topology: &dyn Topology,
    (needs, flows): (&[VcNeed], u8),
) -> bool {
    let mut any = false;
    for (name, class) in topology.classes().iter().zip(classes) {
        if spec.network.links[*name].vcs.count().is_none() {
            let needed = needs.iter().filter(|need| need.class == *name).map(|need| need.vcs);
            class.vcs = needed.fold(flows, u8::max).min(MOST);
            any = true;
        }
    }
    any
}

/// What [`resolve`] and [`settle`] found: paths and values, in VCs and phits.
pub(super) fn filled(
    spec: &Spec,
    topology: &dyn Topology,
    classes: &[LinkClass],
) -> Vec<(String, u32)> {
    let of = |(name, class): (&&'static str, &LinkClass)| {
        let link = &spec.network.links[*name];
        let path = |key: &str| format!("network.links.{name}.{key}");
        let vcs = link.vcs.count().is_none().then(|| (path("vcs"), u32::from(class.vcs)));
        let reserve = class.buffer - class.shared;
        let buffer = link.buffer.is_auto().then(|| (path("buffer"), reserve));
        [vcs, buffer].into_iter().flatten()
    };
    topology.classes().iter().zip(classes).flat_map(of).collect()
}

/// Cycles that a phit takes on a link.
fn period(scale: &Scale, path: &str, rate: &Option<Quantity>) -> Result<u32, SpecError> {
    rate.as_ref().map_or(Ok(1), |rate| scale.period(path, rate))
}

/// Cycles that a phit takes on the link of a host.
pub(super) fn host_period(spec: &Spec, scale: &Scale) -> Result<u32, SpecError> {
    let link = spec.network.nic.link.as_ref();
    link.map_or(Ok(1), |link| period(scale, "network.nic.link.rate", &link.rate))
}

/// The links of hosts, if they are more than a delay; with so many classes.
pub(super) fn nic(
    spec: &Spec,
    scale: &Scale,
    latency: Cycle,
    classes: u8,
) -> Result<Option<LinkClass>, SpecError> {
    let own = &spec.network.nic;
    if own.queues.is_some() && own.reaction_point.is_some() {
        let message = "a flow with a rate limiter has a queue of its own, and the others share one";
        let choices = ["nothing", "no network.nic.reaction_point"];
        return Err(SpecError::new("network.nic.queues", message).choices(choices));
    }
    let Some(link) = &own.link else { return Ok(None) };
    if latency == 0 {
        let message = "a link with a buffer at its end takes time";
        return Err(SpecError::new("network.nic.latency", message).choices(["at least 1 cycle"]));
    }
    let buffer = scale.buffer("network.nic.link.buffer", &link.buffer)?;
    let period = host_period(spec, scale)?;
    Ok(Some(LinkClass { latency, vcs: classes, buffer, shared: 0, period }))
}

/// Cycles to the last phit of a packet of so many phits at a host, over the longest of the shortest paths, and back to that of a
/// phit, without a wait, where switches have a pipeline; they may forward what is there whole.
pub(super) fn round_trip(
    (topology, classes, nic): (&dyn Topology, &[LinkClass], Option<LinkClass>),
    (pipeline, largest): (Cycle, u16),
    whole: bool,
) -> u64 {
    let way = way(topology, classes, pipeline);
    let host = nic.map_or((0, 1), |link| (link.latency, link.period));
    let sent = u64::from(largest) * u64::from(host.1);
    let again = if whole { way.hops + 1 } else { 0 };
    2 * (way.cycles + 2 * u64::from(host.0)) + sent + again * u64::from(largest) + 1
}

/// The longest of the shortest paths between routers.
pub(crate) struct Way {
    pub(crate) hops: u64,
    /// Cycles over its links and through pipelines, that of the first router and of the last one among them.
    pub(crate) cycles: u64,
}

/// The longest of the shortest paths, where routers have a pipeline.
pub(crate) fn way(topology: &dyn Topology, classes: &[LinkClass], pipeline: Cycle) -> Way {
    let (mut hops, mut links) = (0, 0);
    for kind in topology.hop_kinds().iter().filter(|kind| kind.most > 0) {
        hops += u64::from(kind.most);
        links += u64::from(kind.most) * u64::from(classes[usize::from(kind.class)].latency);
    }
    Way { hops, cycles: u64::from(pipeline) * (hops + 1) + links }
}

/// The links whose frames can break.
#[derive(Clone, Debug)]
pub(crate) struct Retries {
    /// By link class, hosts' last.
    links: Vec<Option<RetryPlan>>,
}

impl Retries {
    /// Those of a class of links; the links of hosts come after the last of them.
    pub(crate) fn of(&self, class: u8) -> Option<&RetryPlan> {
        self.links[usize::from(class).min(self.links.len() - 1)].as_ref()
    }

    /// Packets may have to wait.
    pub(super) fn wait(&self) -> bool {
        self.links.iter().flatten().any(RetryPlan::waits)
    }

    /// The most cycles from the end of a frame to its answer.
    pub(crate) fn answer(&self) -> Cycle {
        self.links.iter().flatten().map(|plan| plan.answer).max().unwrap_or(0)
    }
}

/// The links of a network that send broken frames again, if some do.
pub(super) fn retries(
    spec: &Spec,
    sizes: (Scale, u16),
    topology: &dyn Topology,
    (classes, nic): (&[LinkClass], Option<LinkClass>),
) -> Result<Option<Retries>, SpecError> {
    let mut links = Vec::new();
    for (name, class) in topology.classes().iter().zip(classes) {
        let asked = spec.network.links[*name].retry.as_ref();
        let path = format!("network.links.{name}.retry");
        links.push(asked.map(|asked| retry::plan(asked, &path, class, sizes)).transpose()?);
    }
    let asked = spec.network.nic.link.as_ref().and_then(|link| link.retry.as_ref());
    let host = asked.zip(nic);
    let host = host.map(|(asked, link)| retry::plan(asked, "network.nic.link.retry", &link, sizes));
    links.push(host.transpose()?);
    let any = links.iter().any(Option::is_some);
    Ok(any.then_some(Retries { links }))
}

/// Phits of packets out of order that a host can hold, if it puts them in order.
pub(super) fn resequencing(
    spec: &Spec,
    scale: &Scale,
    largest: u16,
    pause: Option<&Pauses>,
) -> Result<Option<u32>, SpecError> {
    let path = "network.nic.resequencing";
    let Some(resequencing) = &spec.network.nic.resequencing else { return Ok(None) };
    if pause.is_some_and(Pauses::lossy) && spec.network.nic.retransmission.is_none() {
        let message = "the packets after one that is lost would wait for it for ever";
        let choices = ["nothing", "a flow control that is not lossy", "network.nic.retransmission"];
        return Err(SpecError::new(path, message).choices(choices));
    }
    let Some(buffer) = &resequencing.buffer else { return Ok(Some(u32::MAX)) };
    let path = format!("{path}.buffer");
    let phits = scale.buffer(&path, buffer)?;
    holds(phits, largest, path)?;
    Ok(Some(phits))
}

/// Single links that are slower than their class, by router and port, both directions.
pub(super) fn slow(
    spec: &Spec,
    scale: &Scale,
    topology: &dyn Topology,
) -> Result<BTreeMap<(u32, u16), u32>, SpecError> {
    let mut slow = BTreeMap::new();
    for (index, link) in spec.network.slow_links.iter().enumerate() {
        let path = format!("network.slow_links[{index}]");
        let period = scale.period(&format!("{path}.rate"), &link.rate)?;
        let [from, to] = link.routers;
        if from.max(to) >= topology.routers() {
            let message = format!("there is no router {}", from.max(to));
            let choices = [format!("0 to {}", topology.routers() - 1)];
            return Err(SpecError::new(format!("{path}.routers"), message).choices(choices));
        }
        let found = (0..topology.radix(RouterId(from))).find_map(|port| {
            match topology.peer(RouterId(from), PortId(port)) {
                Peer::Router { router, port: other, .. }
                    if router.0 == to && !slow.contains_key(&(from, port)) =>
                {
                    Some(((from, port), (to, other.0)))
                }
                _ => None,
            }
        });
        let Some((one, other)) = found else {
            let message = format!("routers {from} and {to} have no link, or no other one");
            let choices = ["two neighbours"];
            return Err(SpecError::new(format!("{path}.routers"), message).choices(choices));
        };
        slow.extend([(one, period), (other, period)]);
    }
    Ok(slow)
}

/// What a routing is planned on.
pub(super) fn fabric(topology: &Arc<dyn Topology>, classes: &[LinkClass], scale: Scale) -> Fabric {
    Fabric {
        topology: Arc::clone(topology),
        latency: classes.iter().map(|class| class.latency).collect(),
        vcs: classes.iter().map(|class| class.vcs).collect(),
        buffers: classes.iter().map(|class| class.buffer).collect(),
        classes: 1,
        queues: 1,
        scale,
    }
}

/// Are there as many VCs as the paths need?
pub(super) fn enough_vcs(
    classes: &[LinkClass],
    topology: &dyn Topology,
    needs: &[VcNeed],
) -> Result<(), SpecError> {
    for need in needs {
        let index = topology.classes().iter().position(|name| *name == need.class);
        let Some(class) = index.map(|i| classes[i]) else { continue };
        if class.vcs < need.vcs {
            let path = format!("network.links.{}.vcs", need.class);
            let (have, want, why) = (class.vcs, need.vcs, &need.why);
            let message = format!("{have} is too few: this routing needs {want}, because {why}");
            return Err(SpecError::new(path, message).choices([format!("{want} to 64")]));
        }
    }
    Ok(())
}

/// Classes of VCs that a routing needs in each link class; all VCs where it says nothing.
pub(super) fn shared_by(
    classes: &[LinkClass],
    topology: &dyn Topology,
    needs: &[VcNeed],
) -> Vec<u8> {
    let of = |(name, class): (&&str, &LinkClass)| {
        let need = needs.iter().find(|need| need.class == *name);
        need.map_or(class.vcs, |need| need.vcs.max(1))
    };
    topology.classes().iter().zip(classes).map(of).collect()
}
