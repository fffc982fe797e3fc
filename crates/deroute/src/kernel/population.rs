//! How much is in a network at once: at the most, while it keeps up with its traffic, and when it is full.
//!
//! What is likely follows from the traffic: Little's law for what is on its way, queues as of packets that come at
//! random (M/D/1), and full queues at the sources beyond saturation. `tools/memory.py` compares with runs.

use super::extent::Extent;
use super::hosts::ahead;
use super::machines::Choice;
use super::model::Model;
use super::survey::Survey;
use crate::switch::Crossbar;

/// The utilization of a link beyond which queues are no longer those of a network that keeps up.
const BUSY: f64 = 0.9;
/// The share of the buffers behind links that are full beyond saturation, on a path and beside it: most VCs of a
/// ladder are hardly used.
const FULL: f64 = 0.3;
const BESIDE: f64 = 0.05;
/// The share of what its links have room for that a network accepts beyond saturation.
const EFFICIENCY: f64 = 0.8;

/// What is in the network.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Population {
    /// Packets in queues.
    pub(super) packets: u64,
    /// Packets whose heads are between two routers, or behind a crossbar.
    pub(super) flights: u64,
    /// Packets granted within the latency of a link, during which partitions may run alone: as many are in
    /// the mail, and as many signals of flow control on their way.
    pub(super) crossing: u64,
    /// Events of ports and of hosts that are to come.
    pub(super) ports: u64,
    pub(super) hosts: u64,
}

impl Population {
    /// As much as there can be; none if injection queues have no end.
    pub(super) fn most(model: &Model, all: &Extent) -> Option<Self> {
        let smallest = u64::from(model.packet_sizes().0);
        let registers = if model.registers { all.queues } else { 0 };
        let in_network = (all.memory.div_ceil(smallest) + registers).min(entered(model, all));
        let queue = queue(model);
        if queue == u32::MAX {
            return None;
        }
        let queues = u64::from(model.flows.injection_queues());
        let queued = u64::from(queue).div_ceil(smallest);
        let injecting = (all.hosts * queues).saturating_mul(queued);
        let mut packets = in_network.saturating_add(injecting);
        if let Some(jobs) = model.jobs.as_ref().filter(|_| model.traffic.is_silent()) {
            // Every message has at most one packet that is not full.
            let (messages, phits) = jobs.work();
            let full = packets.min(phits) / u64::from(jobs.packet);
            packets = packets.min(full.saturating_add(messages));
        }
        // Packets follow each other on a link, and leave an input as fast as the crossbar lets them.
        let latency = u64::from(model.classes.iter().map(|c| c.latency).max().unwrap_or(0));
        let speed = match model.crossbar {
            Crossbar::Speed(speed) => u64::from(speed),
            Crossbar::Ideal => smallest,
        };
        let per_link = |cycles: u64| all.links.saturating_mul(cycles / smallest + 2);
        let crossing = in_network.min(per_link(latency * speed));
        let departed = per_link(model.horizon().into());
        let entering = match model.host_latency {
            0 => 0,
            latency => injecting.min(all.hosts * (u64::from(latency) + 1)),
        };
        let flights = packets.min(departed.saturating_add(entering));
        // An input that waits for several things wakes up for each of them; a rank has two events.
        Some(Self { packets, flights, crossing, ports: 4 * all.ports, hosts: 3 * all.hosts })
    }

    /// While every packet arrives about as soon as it can. A program sends as fast as it can: it fills its queues.
    pub(super) fn flowing(model: &Model, all: &Extent) -> Self {
        let demand = Demand::of(model, all);
        if demand.at_once {
            return Self::saturated(model, all);
        }
        Self::on_its_way(model, all, &demand, &Survey::of(model, demand.of_a_host()))
    }

    /// While the queues of all sources are full, or as full as they can be at the end of the run.
    pub(super) fn saturated(model: &Model, all: &Extent) -> Self {
        let offered = Demand::of(model, all);
        let survey = Survey::of(model, offered.of_a_host());
        let accepted = Demand { load: offered.load * survey.accepted * EFFICIENCY, ..offered };
        let time = model.times.most() as f64;
        let room =
            f64::from(queue(model).min(there(model))) * f64::from(model.flows.injection_queues());
        let refused =
            if offered.at_once { offered.total } else { (offered.load - accepted.load) * time };
        let waiting = (room * offered.hosts).min(refused);
        let used = (accepted.load * survey.hops / all.links.max(1) as f64).min(1.0);
        let beside = BESIDE * offered.hosts / all.hosts.max(1) as f64;
        let buffered = (all.memory as f64 * (beside + FULL * used)).min(offered.total);
        let moving = Self::on_its_way(model, all, &accepted, &survey);
        Self { packets: moving.packets + ((waiting + buffered) / offered.size) as u64, ..moving }
    }

    /// Packets that follow each other over so many links.
    fn on_its_way(model: &Model, all: &Extent, demand: &Demand, path: &Survey) -> Self {
        let Demand { load, size, .. } = *demand;
        let rate = load / size;
        let wait = |busy: f64| busy.min(BUSY) / (2.0 * (1.0 - busy.min(BUSY))) * size;
        let (links, own) = (load * path.hops / all.links.max(1) as f64, demand.of_a_host());
        let queued = (path.hops + 1.0) * (size + wait(links)) + wait(own);
        let pipelines = (path.hops + 1.0) * f64::from(model.pipeline);
        let flying = path.latency + pipelines + f64::from(model.host_latency);
        Self {
            packets: (rate * queued) as u64,
            flights: (rate * flying) as u64,
            crossing: (rate * path.latency) as u64,
            ports: (2.0 * rate * (path.hops + 1.0) * size) as u64,
            hosts: all.hosts,
        }
    }
}

/// Packets that have left their hosts at the end of a run, at the most: as many as the links of the hosts can carry,
/// and one a cycle where they have none; nor more than hosts generate, which is twice the mean and some more
/// less often than anybody could see, but for traffic in bursts.
fn entered(model: &Model, all: &Extent) -> u64 {
    if model.jobs.is_some() || model.egress.notices.is_some() {
        return u64::MAX;
    }
    let each = match model.egress.nic {
        Some(link) => u64::from(link.period) * u64::from(model.packet_sizes().0),
        None => 1,
    };
    let carried = all.hosts.saturating_mul(model.times.most() / each + 1);
    if model.traffic.has_bursts() {
        return carried;
    }
    let packets = Demand::of(model, all).total / f64::from(model.packet_sizes().0);
    carried.min((2.0 * packets) as u64 + 64 * all.hosts)
}

/// Phits in the injection queue of a host, for each class; `u32::MAX` is unlimited.
fn queue(model: &Model) -> u32 {
    match &model.jobs {
        Some(_) if model.traffic.is_silent() => model.nic_queue(),
        _ => model.injection_queue,
    }
}

/// Phits in an injection queue that are there as packets, at the most.
fn there(model: &Model) -> u32 {
    let whole = Choice::of(model, false, false) != Choice::PlainLoaded;
    if model.jobs.is_none() || whole || model.flows.injection_queues() > 1 {
        return u32::MAX;
    }
    ahead(model)
}

/// What hosts want to send.
#[derive(Clone, Copy, Debug)]
struct Demand {
    /// Hosts that send.
    hosts: f64,
    /// Phits in a cycle, of all of them.
    load: f64,
    /// Phits of a packet.
    size: f64,
    /// Phits in all; of a program, those that are under way at a time.
    total: f64,
    /// Messages are sent whole.
    at_once: bool,
}

impl Demand {
    fn of(model: &Model, all: &Extent) -> Self {
        if let Some(jobs) = model.jobs.as_ref().filter(|_| model.traffic.is_silent()) {
            let ((messages, phits), hosts) =
                (jobs.work(), f64::from(jobs.ranks()).min(all.hosts as f64));
            let mean = phits as f64 / messages.max(1) as f64;
            let size = mean.clamp(1.0, f64::from(jobs.packet));
            // A rank waits about as long as it sends.
            let load = hosts / 2.0;
            return Self { hosts, load, size, total: jobs.at_once().1 as f64, at_once: true };
        }
        let most = model.times.most().clamp(1, u64::from(u32::MAX)) as u32;
        let load = model.traffic.offered(0, most) * all.hosts as f64;
        let (size, total) = (model.traffic.mean_size(), load * f64::from(most));
        Self { hosts: all.hosts as f64, load, size, total, at_once: false }
    }

    fn of_a_host(&self) -> f64 {
        self.load / self.hosts.max(1.0)
    }
}
