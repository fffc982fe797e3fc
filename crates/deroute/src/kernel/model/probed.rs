//! The queues whose lengths are recorded, and the flows whose rates are.

mod rated;

use std::collections::BTreeSet;

use self::rated::RatePlan;
use super::{Model, Pauses};
use crate::control::PauseLimits;
use crate::ids::{Cycle, HostId, PortId, RouterId};
use crate::outcome::{QueuePlace, QueueSide};
use crate::spec::{ProbedPorts, QueueDetail, QueueProbe, Spec, SpecError};
use crate::switch::Crossbar;
use crate::topology::{Peer, Topology};

/// Values in a record, at most: 64 MB.
const MOST_VALUES: u64 = 1 << 24;

/// The name of links of hosts.
const HOST: &str = "host";

/// What is recorded in time, if anything is.
#[derive(Default)]
pub(crate) struct Probed {
    pub(crate) queues: Option<QueuePlan>,
    pub(crate) rates: Option<RatePlan>,
}

impl Probed {
    /// The records that a spec asks for. That of pauses is checked as well.
    ///
    /// # Errors
    /// Queues and flows that are not there, a record that is too large, and one of pauses that nothing makes.
    pub(super) fn new(spec: &Spec, model: &Model) -> Result<Self, SpecError> {
        check_pauses(model)?;
        Ok(Self { queues: queues(spec, model)?, rates: rated::rates(spec, model)? })
    }
}

/// Samples of queues, resolved.
pub(crate) struct QueuePlan {
    pub(crate) every: Cycle,
    pub(crate) ports: Vec<ProbedPort>,
}

/// A port whose queues are recorded.
pub(crate) struct ProbedPort {
    pub(crate) router: RouterId,
    pub(crate) port: PortId,
    /// What is recorded of its input, and of its output.
    pub(crate) input: Queues,
    pub(crate) output: Queues,
}

/// The queues of a side of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queues {
    /// There are none.
    None,
    /// All together.
    Sum(u8),
    /// Each of so many.
    Each(u8),
}

impl Queues {
    fn of(count: u8, by: QueueDetail) -> Self {
        match (count, by) {
            (0, _) => Self::None,
            (_, QueueDetail::Port) => Self::Sum(count),
            (_, QueueDetail::Vc) => Self::Each(count),
        }
    }

    /// Values that are recorded.
    fn values(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Sum(_) => 1,
            Self::Each(count) => count.into(),
        }
    }

    /// The number of each, or none for all of them.
    fn names(self) -> impl Iterator<Item = Option<u8>> {
        let (sum, count) = match self {
            Self::None => (false, 0),
            Self::Sum(_) => (true, 0),
            Self::Each(count) => (false, count),
        };
        sum.then_some(None).into_iter().chain((0..count).map(Some))
    }
}

impl QueuePlan {
    /// Samples between two cycles.
    pub(crate) fn samples(&self, from: Cycle, to: Cycle) -> u64 {
        u64::from(to.saturating_sub(from).div_ceil(self.every))
    }

    /// Values in a sample.
    pub(crate) fn values(&self) -> u64 {
        self.ports.iter().map(|port| port.input.values() + port.output.values()).sum()
    }

    /// The queues in the order of their values.
    pub(crate) fn places(&self, model: &Model) -> Vec<QueuePlace> {
        let mut places = Vec::with_capacity(self.values() as usize);
        for port in &self.ports {
            let sides = [(QueueSide::Input, port.input), (QueueSide::Output, port.output)];
            for (side, queues) in sides {
                let names = queues.names();
                places.extend(names.map(|vc| place(model, port, (side, queues), vc)));
            }
        }
        places
    }
}

/// A queue, or the sum of those of a side of a port, with the limits that it is held against.
fn place(
    model: &Model,
    port: &ProbedPort,
    (side, queues): (QueueSide, Queues),
    vc: Option<u8>,
) -> QueuePlace {
    let peer = model.topology.peer(port.router, port.port);
    let alone = matches!(queues, Queues::Sum(1) | Queues::Each(1));
    let (capacity, limits) = match side {
        QueueSide::Input => input_limits(model, peer, alone, vc.is_some()),
        QueueSide::Output => (output_capacity(model, peer, alone, vc.is_some()), None),
    };
    let limits = limits.filter(|limits| limits.xoff < u32::MAX);
    QueuePlace {
        router: port.router.0,
        port: port.port.0.into(),
        host: match peer {
            Peer::Host(host) => Some(host.0),
            _ => None,
        },
        side,
        vc: vc.map(u32::from),
        capacity,
        xoff: limits.map(|limits| limits.xoff),
        xon: limits.map(|limits| limits.xon),
    }
}

/// What an input buffer, or a VC of it, can hold, and when its sender is told to be silent.
fn input_limits(
    model: &Model,
    peer: Peer,
    alone: bool,
    one_vc: bool,
) -> (Option<u32>, Option<PauseLimits>) {
    let class = match peer {
        Peer::Router { class, .. } => Some(usize::from(class)),
        _ => None,
    };
    let plan = model.pause.as_ref().and_then(|pauses| pauses.at(peer));
    let Some(plan) = plan else {
        let capacity = match class.map(|class| &model.classes[class]) {
            Some(link) if alone || one_vc => Some(link.buffer),
            Some(link) => u32::try_from(link.memory()).ok(),
            None if alone || one_vc => finite(model.injection_queue),
            None => None,
        };
        return (capacity, None);
    };
    // The limits are those of a VC, or of the whole port.
    let own = alone || one_vc != plan.whole_link;
    if own { (Some(plan.limits.capacity), Some(plan.limits)) } else { (None, None) }
}

/// What the queues at an output, or one of them, can hold.
fn output_capacity(model: &Model, peer: Peer, alone: bool, one: bool) -> Option<u32> {
    // With PFC each VC of a link has an output buffer of its own.
    let each = matches!(peer, Peer::Router { class, .. } if queue_per_vc(model, class));
    if alone || one == each { finite(model.output_buffer) } else { None }
}

fn queue_per_vc(model: &Model, class: u8) -> bool {
    model.pause.as_ref().is_some_and(|pauses| pauses.queue_per_vc(class))
}

fn finite(phits: u32) -> Option<u32> {
    (phits < u32::MAX).then_some(phits)
}

/// The record of queues that a spec asks for.
fn queues(spec: &Spec, model: &Model) -> Result<Option<QueuePlan>, SpecError> {
    let Some(probe) = &spec.probes.queues else { return Ok(None) };
    let every = model.scale.duration("probes.queues.every", &probe.every)?;
    let ports = chosen(&probe.ports, &*model.topology)?;
    let ports = ports.into_iter().map(|(router, port)| probed(model, probe, router, port));
    let plan = QueuePlan { every, ports: ports.collect() };
    let before = model.times.series.map_or(0, |(_, before)| before);
    let span = u64::from(before) + u64::from(model.times.measure);
    let values = plan.values();
    if span.div_ceil(every.into()).saturating_mul(values) > MOST_VALUES {
        let message = format!(
            "{values} queues every {every} of {span} cycles are more than {MOST_VALUES} values"
        );
        let most = MOST_VALUES / values;
        let least = (most > 0).then(|| format!("{} cycles or more", span.div_ceil(most)));
        let limit = model.jobs.is_some().then(|| "a lower workload.limit".to_owned());
        let choices = least.into_iter().chain(["fewer ports".to_owned()]).chain(limit);
        return Err(SpecError::new("probes.queues.every", message).choices(choices));
    }
    Ok(Some(plan))
}

/// A record of pauses has to have some, and not too many bins.
///
/// # Errors
/// A flow control that pauses nobody, and a record that is too large.
fn check_pauses(model: &Model) -> Result<(), SpecError> {
    if !model.pause_probe {
        return Ok(());
    }
    let Some(pauses) = &model.pause else {
        let message = "credits pause nobody, and lose nothing";
        let choices = ["pfc", "pause", "lossy"].map(|name| format!("network.flow_control.{name}"));
        return Err(SpecError::new("probes.pauses", message).choices(choices));
    };
    let (rows, bins) = (pause_rows(model, pauses), model.times.pause_bins());
    if rows == 0 {
        let message =
            "hosts without links of their own are not paused, and there are no other links";
        return Err(SpecError::new("probes.pauses", message).choices(["network.nic.link"]));
    }
    if rows.saturating_mul(bins) > MOST_VALUES {
        let message =
            format!("{bins} bins of {rows} VCs of links are more than {MOST_VALUES} values");
        let choices = [format!("at most {} bins in probes.series", MOST_VALUES / rows)];
        return Err(SpecError::new("probes.pauses", message).choices(choices));
    }
    Ok(())
}

/// Rows of a record of pauses.
pub(crate) fn pause_rows(model: &Model, pauses: &Pauses) -> u64 {
    let links = |(router, port): (RouterId, PortId)| {
        let peer = model.topology.peer(router, port);
        match (pauses.at(peer), peer) {
            (None, _) => 0,
            (Some(plan), _) if plan.whole_link => 1,
            (_, Peer::Router { class, .. }) => model.classes[usize::from(class)].vcs.into(),
            _ => model.flows.classes().into(),
        }
    };
    of_classes(&*model.topology, |_| true).into_iter().map(links).sum()
}

/// A port with its queues.
fn probed(model: &Model, probe: &QueueProbe, router: RouterId, port: PortId) -> ProbedPort {
    let peer = model.topology.peer(router, port);
    let (class, vcs) = match peer {
        Peer::Router { class, .. } => (class, model.classes[usize::from(class)].vcs),
        _ => (u8::MAX, model.host_vcs()),
    };
    let egress = &model.egress;
    let outputs = match (egress.needed, queue_per_vc(model, class)) {
        // A crossbar no faster than the links passes a packet when the link has sent the one before.
        (false, _) => u8::from(model.crossbar != Crossbar::Speed(1)),
        (true, true) if class == u8::MAX => model.flows.classes(),
        (true, true) => vcs,
        (true, false) => egress.flows / egress.schemes,
    };
    let (input, output) = (Queues::of(vcs, probe.by), Queues::of(outputs, probe.by));
    ProbedPort { router, port, input, output }
}

/// The ports that are asked for, each once.
fn chosen(
    ports: &ProbedPorts,
    topology: &dyn Topology,
) -> Result<Vec<(RouterId, PortId)>, SpecError> {
    let path = "probes.queues.ports";
    let found = match ports {
        ProbedPorts::All => of_classes(topology, |_| true),
        ProbedPorts::Classes(names) => {
            let known = || topology.classes().iter().copied().chain([HOST]);
            for (index, name) in names.iter().enumerate() {
                if !known().any(|class| class == name) {
                    let message = format!("the topology has no link class {name:?}");
                    let path = format!("{path}.classes[{index}]");
                    return Err(SpecError::new(path, message).choices(known()));
                }
            }
            of_classes(topology, |class| names.iter().any(|name| name == class))
        }
        ProbedPorts::Hosts(hosts) => {
            for (index, host) in hosts.iter().enumerate() {
                if *host >= topology.hosts() {
                    let message = format!("there is no host {host}");
                    let choices = [format!("0 to {}", topology.hosts() - 1)];
                    let path = format!("{path}.hosts[{index}]");
                    return Err(SpecError::new(path, message).choices(choices));
                }
            }
            hosts.iter().map(|host| topology.home_of(HostId(*host))).collect()
        }
        ProbedPorts::List(list) => {
            for (index, place) in list.iter().enumerate() {
                leads_somewhere(&format!("{path}.list[{index}]"), *place, topology)?;
            }
            list.iter().map(|[router, port]| (RouterId(*router), PortId(*port as u16))).collect()
        }
    };
    let mut seen = BTreeSet::new();
    if let Some((router, port)) = found.iter().find(|(router, port)| !seen.insert((router, port))) {
        let message = format!("port {} of router {} is there twice", port.0, router.0);
        return Err(SpecError::new(path, message).choices(["each port once"]));
    }
    if found.is_empty() {
        return Err(SpecError::new(path, "there is no port").choices(["some ports", "all"]));
    }
    Ok(found)
}

/// The ports of links of some classes, in order.
fn of_classes(topology: &dyn Topology, wanted: impl Fn(&str) -> bool) -> Vec<(RouterId, PortId)> {
    let routers = (0..topology.routers()).map(RouterId);
    let ports = routers.flat_map(|r| (0..topology.radix(r)).map(move |p| (r, PortId(p))));
    let class = |(router, port): (RouterId, PortId)| match topology.peer(router, port) {
        Peer::Router { class, .. } => Some(topology.classes()[usize::from(class)]),
        Peer::Host(_) => Some(HOST),
        Peer::Unused => None,
    };
    ports.filter(|place| class(*place).is_some_and(&wanted)).collect()
}

/// A router has the port, and it leads somewhere.
fn leads_somewhere(
    path: &str,
    [router, port]: [u32; 2],
    topology: &dyn Topology,
) -> Result<(), SpecError> {
    if router >= topology.routers() {
        let message = format!("there is no router {router}");
        let choices = [format!("0 to {}", topology.routers() - 1)];
        return Err(SpecError::new(path, message).choices(choices));
    }
    let radix = u32::from(topology.radix(RouterId(router)));
    if port >= radix {
        let message = format!("router {router} has no port {port}");
        return Err(SpecError::new(path, message).choices([format!("0 to {}", radix - 1)]));
    }
    if topology.peer(RouterId(router), PortId(port as u16)) == Peer::Unused {
        let message = format!("port {port} of router {router} leads nowhere");
        return Err(SpecError::new(path, message).choices(["a port with a link"]));
    }
    Ok(())
}
