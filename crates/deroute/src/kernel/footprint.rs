//! What a run needs of memory.
//!
//! Every term follows what builds it, which is named beside it; `tests/memory.rs` compares the sum with
//! what is allocated.

mod records;

use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::Arc;

use super::RunOptions;
use super::control::{Messages, Pause};
use super::core::cargo::Cargo;
use super::core::mail::{Mail, Signal};
use super::core::packet::{Flight, Slot};
use super::core::ports::{Host, Input, Output, OutputRequest, Queue, Router};
use super::core::registers::Registers;
use super::core::wheel::Wheel;
use super::egress::Queued;
use super::extent::Extent;
use super::hosts::{Entropies, Interface, Loaded, Receivers, ScaleUp, Streams, Worker};
use super::machines::{
    Choice, Ethernet, EthernetVoq, General, NotifiedEthernet, Plain, PlainEthernet, PlainLoaded,
    Voq,
};
use super::matching::{islip_footprint, separable_footprint};
use super::model::Model;
use super::partition::Partition;
use super::population::Population;
use super::run::partitions;
use crate::ids::RouterId;
use crate::probe::PathKind;
use crate::probe::collect::{Batch, batches};
use crate::probe::histogram;
use crate::probe::messages::Record;
use crate::spec::Sensing;
use crate::workload::matching::Matching;
use crate::workload::process::{Causes, Course, Process};

/// Memory that a run needs, in bytes, with default [`RunOptions`], the tables of paths of a graph, and traces. What a
/// [`super::Simulation`] holds beside these is a few percent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Before the first packet.
    pub fixed_bytes: u64,
    /// As a run is likely to take while the network keeps up with its traffic.
    pub flowing_bytes: u64,
    /// As a run is likely to take beyond saturation, once the queues of all sources are full.
    pub saturated_bytes: u64,
    /// With every injection queue and buffer full; `u64::MAX` if injection queues are unlimited. What checks and most
    /// probes record is not counted (time series, queues, rates and pauses are), nor messages of a program that is
    /// more than an iteration ahead of their arrival, nor packets that wait at their hosts for an earlier one.
    pub worst_bytes: u64,
    /// Of a temporary file, which is there already: what traces have beyond their room in memory.
    pub file_bytes: u64,
    /// Phits of all messages of the workload: what the time of a run follows.
    pub message_phits: u64,
    /// Flows of the workload.
    pub flows: u64,
    /// Phits of the largest packet.
    pub packet_phits: u64,
}

/// The memory that a run of this model needs.
pub(crate) fn of(model: &Arc<Model>) -> Footprint {
    let firsts = partitions(model, &model.port_bases(), &RunOptions::default());
    let parts: Vec<Extent> =
        firsts.windows(2).map(|ends| Extent::of(model, ends[0]..ends[1])).collect();
    let all = Extent::of(model, 0..model.topology.routers());
    let fixed = model.topology.table_bytes() as u64
        + model.jobs.as_ref().map_or(0, |jobs| jobs.bytes())
        + core(model, &all)
        + stages(model, &all)
        + parts.len() as u64 * partition(model)
        + parts.iter().map(|part| hosts(model, part)).sum::<u64>()
        + records::fixed(model);
    let parts = parts.len() as u64;
    let worst = Population::most(model, &all).map_or(u64::MAX, |there| {
        let moving = moving(model, &all, parts, &there);
        let record = records::growing(model).saturating_add(records::series(model, parts));
        fixed.saturating_add(moving).saturating_add(record)
    });
    let with = |there| fixed.saturating_add(likely(model, &all, parts, &there)).min(worst);
    Footprint {
        fixed_bytes: fixed,
        flowing_bytes: with(Population::flowing(model, &all)),
        saturated_bytes: with(Population::saturated(model, &all)),
        worst_bytes: worst,
        file_bytes: model.jobs.as_ref().map_or(0, |jobs| jobs.file_bytes()),
        message_phits: model.jobs.as_ref().map_or(0, |jobs| jobs.work().1),
        flows: model.jobs.as_ref().map_or(0, |jobs| jobs.flows()),
        packet_phits: model.packet_sizes().1.into(),
    }
}

/// Bytes of so many things.
fn bytes<T>(count: u64) -> u64 {
    count.saturating_mul(size_of::<T>() as u64)
}

/// The room of a vector to which so many elements have been added one by one.
fn grown(count: u64) -> u64 {
    if count == 0 { 0 } else { count.next_power_of_two().max(4) }
}

/// The vectors of `Core`, which `Division::build` makes.
fn core(model: &Model, all: &Extent) -> u64 {
    let more_queues = u64::from(model.flows.injection_queues()) - 1;
    bytes::<Router>(all.routers)
        + bytes::<[u32; PathKind::ALL.len()]>(all.routers)
        + bytes::<Input>(all.ports)
        + bytes::<Output>(all.ports)
        + bytes::<Queue>(all.queues)
        + bytes::<u32>(all.credits)
        + bytes::<Host>(all.hosts)
        + bytes::<u32>(all.hosts * more_queues)
}

/// What stages keep for each port or router: `Islip::new` or `Separable::new`, `Sharing::new`,
/// `Occupancy::new`, `Agents::new`.
fn stages(model: &Model, all: &Extent) -> u64 {
    let agents = all.routers * (model.routing.agent)(RouterId(0), 1).bytes() as u64;
    let matching = match model.voqs {
        true => islip_footprint(model) + all.routers / 8,
        false => separable_footprint(model, all.ports),
    };
    let row = bytes::<u32>(all.ports);
    let rows = u64::from(model.most_vcs());
    let sharing = if model.shares() { rows * row } else { 0 };
    let waiting = if model.sensing == Sensing::Waiting { row } else { 0 };
    let occupancy = if model.lengths { rows * row + waiting } else { 0 };
    let egress = if model.egress.needed { outputs(model, all) } else { 0 };
    matching + sharing + occupancy + egress + agents + all.routers / 8
}

/// `Queued::new` and `Pause::new`, and `Core::periods`.
fn outputs(model: &Model, all: &Extent) -> u64 {
    let hosts = if model.egress.nic.is_some() { all.hosts } else { 0 };
    let queued = Queued::bytes(model, all.ports, hosts);
    let paused =
        if model.pause.is_some() { Pause::bytes(model, all.routers, all.ports) } else { 0 };
    let messages = if model.messages.is_some() { Messages::bytes(model, all.ports) } else { 0 };
    let periods = if model.egress.rated { bytes::<u32>(all.ports) } else { 0 };
    queued + paused + messages + periods
}

/// What a partition has, however large it is: itself, its part of `Post::new`, `Collector::new` and
/// `Collector::open`, wheels.
fn partition(model: &Model) -> u64 {
    let own = match Choice::of(model, false, false) {
        Choice::Plain => size_of::<Partition<Plain>>(),
        Choice::PlainLoaded => size_of::<Partition<PlainLoaded>>(),
        Choice::General => size_of::<Partition<General>>(),
        Choice::Voq => size_of::<Partition<Voq>>(),
        Choice::PlainEthernet => size_of::<Partition<PlainEthernet>>(),
        Choice::NotifiedEthernet => size_of::<Partition<NotifiedEthernet>>(),
        Choice::Ethernet => size_of::<Partition<Ethernet>>(),
        Choice::EthernetVoq => size_of::<Partition<EthernetVoq>>(),
    };
    let post = size_of::<Mail>();
    let horizon = model.horizon();
    // Of `Core` and `Agents`.
    let wheels = 5 * Wheel::<u32>::bytes(horizon);
    let delayed = match (model.lengths, model.sensing) {
        (false, _) => 0,
        (true, Sensing::Both) => Wheel::<Signal>::bytes(0),
        (true, _) => Wheel::<Signal>::bytes(horizon),
    };
    let batches = bytes::<Batch>(batches(model.times.measure).1.into());
    (own + post) as u64 + histogram_bytes() + batches + wheels + delayed
}

fn histogram_bytes() -> u64 {
    bytes::<u64>(histogram::new().distinct_values() as u64)
}

/// What a partition has where packets have cargo: `Loaded`.
fn hosts(model: &Model, part: &Extent) -> u64 {
    if !model.loads_packets() {
        return 0;
    }
    let streams = if model.numbers_packets() { Streams::bytes(model, part) } else { 0 };
    let entropies = Entropies::bytes(model, part);
    size_of::<Loaded<Cargo>>() as u64 + streams + interfaces(model, part) + entropies
}

/// What a partition has for programs: `Interfaces::new` and `Interfaces::add`.
fn interfaces(model: &Model, part: &Extent) -> u64 {
    let Some(jobs) = &model.jobs else { return 0 };
    let hosts = u64::from(model.topology.hosts());
    let ranks = (part.hosts * u64::from(jobs.ranks())).div_ceil(hosts);
    let records = jobs.jobs.len() as u64 * (size_of::<Record>() as u64 + histogram_bytes());
    let kept = jobs.jobs.iter().filter(|job| job.kept > 0).map(|job| Course::bytes(job.kept));
    let kept = kept.max().unwrap_or(0);
    let backlogs = u64::from(model.flows.injection_queues()) * bytes::<VecDeque<u32>>(ranks);
    let nodes = if model.has_nodes() { ScaleUp::bytes(ranks) } else { 0 };
    Wheel::<u32>::bytes(model.horizon())
        + records
        + nodes
        + bytes::<Interface>(grown(ranks))
        + bytes::<Worker>(ranks)
        + ranks * (Process::bytes() + kept)
        + backlogs
        + bytes::<u32>(grown(part.hosts))
}

/// What so many packets take besides, in so many partitions.
fn moving(model: &Model, all: &Extent, parts: u64, there: &Population) -> u64 {
    let Population { packets, flights, crossing, .. } = *there;
    let horizon = model.horizon();
    // A vector that grows has up to twice the room that it needs.
    let slot = 2 * size_of::<Slot>() as u64;
    let requested = if model.on_arrival { 2 * size_of::<OutputRequest>() as u64 } else { 0 };
    let cargo = Choice::cargo_bytes(model);
    let registers = if model.registers { Registers::bytes(packets) } else { 0 };
    let delayed = if model.sensing == Sensing::Both { 0 } else { flights };
    // What is written in a window, and what was written in the one before, with room to spare.
    let mails = if parts > 1 { 4 } else { 0 };
    let all = [
        packets.saturating_mul(slot + requested + 2 * cargo),
        2 * registers,
        Wheel::<Flight>::most_bytes(parts, horizon, flights),
        Wheel::<Signal>::most_bytes(parts, horizon, crossing),
        Wheel::<Signal>::most_bytes(parts, horizon, delayed),
        Wheel::<u32>::most_bytes(parts, horizon, there.ports),
        Wheel::<u32>::most_bytes(parts, horizon, there.hosts),
        Wheel::<u32>::most_bytes(parts, horizon, messages_of_agents(model)),
        crossing.saturating_mul(mails * (size_of::<(Flight, u32, Signal)>() as u64 + cargo)),
        lists(model, all, parts, u64::MAX),
        programs(model, all),
        causes(model),
        if all.generators > 0 { Streams::most_bytes(model, all, parts) } else { 0 },
        Queued::most_bytes(model, (all.ports, all.hosts), packets),
        Queued::silence_bytes(model, all.ports, all.hosts),
        Pause::most_bytes(model, all.ports),
        Entropies::most_bytes(model, all.hosts.saturating_mul(all.hosts), packets),
        Receivers::most_bytes(model, all.hosts.saturating_mul(all.hosts), packets),
    ];
    all.into_iter().fold(0, u64::saturating_add)
}

/// What a vector that has grown leaves behind of its former self, for which the system has given room.
const GROWN: f64 = 1.2;

/// What so many packets are likely to take besides. Memory that nobody has touched does not count.
fn likely(model: &Model, all: &Extent, parts: u64, there: &Population) -> u64 {
    let Population { packets, flights, crossing, ports, hosts } = *there;
    let requested = if model.on_arrival { size_of::<OutputRequest>() as u64 } else { 0 };
    let cargo = Choice::cargo_bytes(model);
    let latency = model.classes.iter().map(|class| class.latency).max().unwrap_or(0);
    let ahead = u64::from(model.pipeline + latency) + u64::from(model.packet_sizes().1);
    let delayed = if model.sensing == Sensing::Both { 0 } else { flights };
    let mail = if parts > 1 { size_of::<(Flight, u32, Signal)>() as u64 + cargo } else { 0 };
    let moved = packets * (size_of::<Slot>() as u64 + requested + cargo)
        + Wheel::<Flight>::likely_bytes(parts, ahead, flights)
        + Wheel::<Signal>::likely_bytes(parts, ahead, crossing + delayed)
        + Wheel::<u32>::likely_bytes(parts, ahead, ports + hosts)
        + crossing * mail;
    let hosts = all.hosts.saturating_mul(all.hosts);
    let others = [
        lists(model, all, parts, packets) / 2,
        likely_programs(model, all),
        causes(model) / 3,
        if all.generators > 0 { Streams::most_bytes(model, all, parts) } else { 0 },
        records::growing(model),
        // How long a program runs is not known.
        if model.jobs.is_some() { 0 } else { records::series(model, parts) },
        Queued::silence_bytes(model, all.ports, all.hosts),
        Pause::most_bytes(model, all.ports),
        Entropies::most_bytes(model, hosts, packets),
        Receivers::most_bytes(model, hosts, packets),
    ];
    others.into_iter().fold((GROWN * moved as f64) as u64, u64::saturating_add)
}

/// Messages of routing agents that are on their way: each global port may change in every cycle.
fn messages_of_agents(model: &Model) -> u64 {
    if !(model.routing.agent)(RouterId(0), 1).watches().queues {
        return 0;
    }
    let topology = &*model.topology;
    let ports = |router| topology.global_ports(RouterId(router)).len() as u64;
    let latency = u64::from(model.classes.iter().map(|c| c.latency).max().unwrap_or(0));
    (0..topology.routers()).map(ports).sum::<u64>() * latency
}

/// What a cycle lists, where so many packets are in queues, and the arrays of the result.
fn lists(model: &Model, all: &Extent, parts: u64, packets: u64) -> u64 {
    let heads = if model.voqs { 0 } else { all.ports + all.queues.min(packets) };
    let arrivals = if model.on_arrival { 64 * all.ports } else { 0 };
    let told = (model.routing.agent)(RouterId(0), 1).watches();
    let told = if told.injections || told.blocked || told.queues { 64 * 3 * all.hosts } else { 0 };
    let each_cycle = bytes::<(u32, u32)>(2 * heads) + arrivals + told + 32 * all.ports;
    let kinds = size_of::<[u32; PathKind::ALL.len()]>() as u64;
    let result = 32 * all.hosts + (16 + 2 * kinds) * all.routers + 32 * all.links;
    // And the least room of each vector and wheel of a partition.
    each_cycle + result + 4 * histogram_bytes() + 8192 * parts
}

/// Bytes of a message: its place with its sender, those of its packets out of order, and its place among
/// the ones that have arrived.
const MESSAGE: u64 = 320;
/// Bytes of the lists of a rank that are not empty.
const RANK: u64 = 1024;

/// Bytes of the numbers of messages between two ranks, at both of them.
const PAIR: u64 = 40;

/// What is kept of what made ranks go on.
fn causes(model: &Model) -> u64 {
    let Some(jobs) = &model.jobs else { return 0 };
    let asked = jobs.jobs.iter().filter(|job| job.critical_path);
    let bytes = asked.map(|job| {
        let nodes: u64 = (0..job.ranks()).map(|rank| u64::from(job.program.size(rank))).sum();
        // A message may ask first, and be answered.
        let messages = job.work().0.saturating_mul(3 * Causes::MESSAGE_BYTES);
        messages.saturating_add((nodes + u64::from(job.ranks())) * Causes::TIMER_BYTES)
    });
    bytes.fold(0, u64::saturating_add)
}

/// What programs are likely to have under way, if half of their lists is in use.
fn likely_programs(model: &Model, all: &Extent) -> u64 {
    let Some(jobs) = &model.jobs else { return 0 };
    let messages = jobs.at_once().0;
    let ranks = u64::from(jobs.ranks());
    let ranks = RANK * ranks + Matching::unseen_bytes(ranks, messages);
    let most = MESSAGE.saturating_mul(messages).saturating_add(ranks);
    (programs(model, all).min(most) / 2).saturating_add(PAIR * jobs.pairs())
}

/// What programs have under way: messages of two iterations, of which one is ahead.
fn programs(model: &Model, all: &Extent) -> u64 {
    let Some(jobs) = &model.jobs else { return 0 };
    let under_way = jobs.jobs.iter().map(|job| {
        let iterations = u64::from(job.iterations());
        let messages = job.work().0 / iterations * iterations.min(2);
        // A trace has more messages than are under way; flows wait for nobody.
        if job.steps() > 0 || job.flows.is_some() {
            messages
        } else {
            messages.min(256 * u64::from(job.ranks()))
        }
    });
    let messages = under_way.fold(0, u64::saturating_add);
    let ends: u64 =
        jobs.jobs.iter().map(|job| u64::from(job.iterations()) + u64::from(job.ranks())).sum();
    let unseen = Matching::unseen_bytes(jobs.ranks().into(), messages);
    MESSAGE.saturating_mul(messages).saturating_add(RANK * all.hosts + 32 * ends + unseen)
}
