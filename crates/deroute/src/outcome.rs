//! What a simulation returns. Plain data; times in cycles (with the cycle's length beside them),
//! loads in phits per host and cycle.

mod adaptation;
mod credits;
mod entropies;
mod flows;
mod notices;
mod queues;
mod rates;
mod replay;
mod retransmission;
mod retry;
mod streams;

pub use queues::{PauseRow, PauseSeries, QueuePlace, QueueSeries, QueueSide};
pub use rates::{RateSeries, RatedFlow};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::adaptation::AdaptationUse;
pub use self::credits::CreditUse;
pub use self::entropies::EntropyUse;
pub use self::flows::{FlowBin, FlowSlowdown, FlowTimes, FlowsOutcome};
pub use self::notices::{NotificationUse, PortSamples, ReactionPointUse, SampledQueues, WindowUse};
pub use self::replay::{CollectiveUse, CriticalPath, PathPart, ReplayOutcome};
pub use self::retransmission::RetransmissionUse;
pub use self::retry::{RetryLinks, RetryUse};
pub use self::streams::{
    ResequencingUse, Slowdown, SlowdownPercentile, StreamLoad, StreamOutcome, StreamPackets,
};
use crate::probe::PathKind;

/// The result of one simulation point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Whether the numbers describe a steady state, and why.
    pub verdict: Verdict,
    /// Length of a cycle in nanoseconds.
    pub cycle_ns: f64,
    /// Bytes in a phit.
    pub phit_bytes: f64,
    /// Size of the network.
    pub size: Size,
    /// First cycle of the measurement.
    pub measured_from: u64,
    /// Cycles measured.
    pub measured_cycles: u64,
    /// Loads, in phits per host and cycle.
    pub load: Load,
    /// Packets counted over the whole run.
    pub packets: Packets,
    /// Latency of the packets delivered in the measurement, in cycles.
    pub latency: Latency,
    /// How latency and queues changed during the measurement; none of a run with a workload, or of
    /// one of a few cycles.
    #[serde(default)]
    pub trend: Option<Trend>,
    /// How a run that ends when enough is known came to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// Mean router-to-router hops of the delivered packets.
    pub hops_mean: f64,
    /// Fairness of the injected load over routers and hosts.
    pub fairness: Fairness,
    /// Packets that left the injection queues in the measurement, per path kind.
    pub paths: Vec<PathShare>,
    /// Utilisation of the links, per class.
    pub links: Vec<LinkUse>,
    /// Cycles in which a packet at the head of an injection queue was not granted, per packet
    /// injected.
    pub blocked_attempts_mean: f64,
    /// Largest queue seen by the cheap checks and work done; identical for any partitioning.
    pub work: Work,
    /// Per-host and per-router arrays.
    pub arrays: Arrays,
    /// Time series, if asked for.
    pub series: Option<Series>,
    /// What the jobs of the workload did, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadOutcome>,
    /// State of the routing agents in time, if asked for.
    pub agents: Option<AgentSeries>,
    /// What each stream of the traffic did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamOutcome>,
    /// What receiving hosts did to put packets in order, where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resequencing: Option<ResequencingUse>,
    /// What the flow control did, where it pauses, loses packets, or has credits in messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_control: Option<FlowControlUse>,
    /// What links did that send broken frames again, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryUse>,
    /// What hosts sent again, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmission: Option<RetransmissionUse>,
    /// What the congestion points did, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_point: Option<CongestionPointUse>,
    /// What congestion or notification points that send notifications did, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications: Option<NotificationUse>,
    /// What the entropies that hosts gave packets did, if they gave any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<EntropyUse>,
    /// What the reaction points of hosts did, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction_point: Option<ReactionPointUse>,
    /// What the routing did by what it was told, if it is one that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptation: Option<AdaptationUse>,
    /// Congestion trees in time, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<CongestionSeries>,
    /// Lengths of queues in time, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueueSeries>,
    /// Rates of rate limiters in time, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<RateSeries>,
    /// Pauses and losses of every link and VC, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<PauseSeries>,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Whether the numbers describe a steady state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The verdict.
    pub state: State,
    /// Its reasons, one sentence each; empty when steady.
    pub reasons: Vec<String>,
}

/// The verdict's states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Stationary as far as the measurement tells, with enough packets.
    Steady,
    /// The network accepts less than it is offered: hosts are refused, or packets in the network
    /// grow in number, so that latencies grow with time. Throughput is the plateau.
    Saturated,
    /// Not warmed up, changing, too short for its correlations, or too few packets.
    NotConverged,
    /// Every rank of the workload has ended.
    Completed,
    /// Some had not at the limit.
    Unfinished,
}

/// Size of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Size {
    /// Hosts.
    pub hosts: u32,
    /// Routers.
    pub routers: u32,
    /// Links between routers, each direction counted.
    pub links: u32,
}

/// How a run with `run.precision` came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stopping {
    /// The means were known as well as was asked by the end of `run.measure`.
    pub reached: bool,
    /// How often that was looked at.
    pub looks: u32,
    /// How often all that had been measured was dropped, because it showed a trend.
    pub restarts: u32,
}

/// Loads over the measurement, in phits per host and cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// What the spec asks for; a host that has nobody to send to offers nothing.
    pub offered: f64,
    /// What the hosts tried to generate.
    pub attempted: f64,
    /// What entered the injection queues.
    pub generated: f64,
    /// What left the injection queues.
    pub injected: f64,
    /// What the destinations consumed.
    pub accepted: f64,
    /// Half-width of the 95% confidence interval of `accepted`, which takes into account that what
    /// happens in a network depends on what happened before.
    pub accepted_ci95: f64,
}

/// Packets over the whole run, warm-up included. `generated = delivered + lost + in_flight`; where packets are sent again, what
/// is lost is in flight as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Packets {
    /// Entered an injection queue.
    pub generated: u64,
    /// Found the injection queue full.
    pub refused: u64,
    /// Won the switch of their source router.
    pub injected: u64,
    /// Consumed by their destination.
    pub delivered: u64,
    /// Lost for want of room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// In queues or on links at the end.
    pub in_flight: u64,
    /// Delivered in the measurement: the sample behind `latency`.
    pub measured: u64,
}

/// Latency from generation to the consumption of the last phit, in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Mean; NaN-free: 0 when nothing was delivered.
    pub mean: f64,
    /// Half-width of the 95% confidence interval of the mean, which takes into account that
    /// latencies depend on earlier ones.
    pub ci95: f64,
    /// Length of the measurement in correlation times of the latency, roughly: 50 and more are not
    /// told apart. With fewer than 4 the interval may be too narrow.
    #[serde(default)]
    pub correlation_times: f64,
    /// Mean time in the injection queue, until the first grant.
    pub injection_mean: f64,
    /// Mean time from the first grant to the end.
    pub network_mean: f64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Percentiles from a histogram.
    pub percentiles: Vec<Percentile>,
    /// Relative error of the histogram: a percentile is at most this fraction too high.
    pub histogram_error: f64,
}

/// What changed from the beginning to the end of the measurement: the rise of straight lines that
/// are fitted to it, as fractions of the means. Both are near 0 in a steady network; a warm-up that
/// was too short, or a network that collapses, shows here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Rise of the latency.
    pub latency: f64,
    /// Half-width of its 95% confidence interval.
    pub latency_ci95: f64,
    /// Rise of the number of packets in the network.
    pub in_flight: f64,
    /// Half-width of its 95% confidence interval.
    pub in_flight_ci95: f64,
}

/// One percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// Percent of the packets that are not slower.
    pub percent: f64,
    /// Cycles.
    pub cycles: u64,
}

/// Fairness of the load that left the injection queues in the measurement. Hosts to which the traffic gives
/// nobody to send to do not count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Jain's index over hosts: 1 is fair, 1/N is one host taking all.
    pub jain_hosts: f64,
    /// Jain's index over routers.
    pub jain_routers: f64,
    /// Largest over smallest host; 0 when the smallest is 0.
    pub max_min_hosts: f64,
    /// Largest over smallest router; 0 when the smallest is 0.
    pub max_min_routers: f64,
}

/// Share of one path kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathShare {
    /// Path kind.
    pub kind: PathKind,
    /// Packets.
    pub packets: u64,
    /// Fraction of all packets injected.
    pub share: f64,
}

/// Utilisation of the links of one class, in the fraction of the link rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkUse {
    /// Link class of the topology, or `ejection`.
    pub class: String,
    /// Links of the class, each direction counted.
    pub links: u32,
    /// Mean over the links.
    pub mean: f64,
    /// Least used link.
    pub min: f64,
    /// Most used link.
    pub max: f64,
}

/// What a flow control did that has more than the credits of a machine's own links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowControlUse {
    /// What acted and what did not, one sentence each.
    pub says: Vec<String>,
    /// By link class, and `host` for the links of hosts, where these are paused or lose packets.
    pub links: Vec<PauseUse>,
    /// The same where credits come back in messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<CreditUse>,
    /// Memory that the ports of a switch share, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedUse>,
}

/// Memory that the ports of a switch share beyond their own buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedUse {
    /// Phits that are shared in the switch that shares most.
    pub size: u32,
    /// Most phits in use at once in one switch, over the whole run.
    pub used_max: u32,
}

/// Pauses and losses on the links of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PauseUse {
    /// Link class of the topology, or `host`.
    pub class: String,
    /// Links of the class, each direction counted.
    pub links: u32,
    /// What receivers said over the whole run, each time of a VC: a frame may say several things.
    pub frames: u64,
    /// How often they told a sender to be silent.
    pub stops: u64,
    /// Fraction of the measurement in which a queue was told to be silent, mean over all queues of all
    /// links of the class.
    pub paused_mean: f64,
    /// The same for the link that was silent longest, mean over its queues.
    pub paused_max: f64,
    /// Most phits that a buffer held over the whole run: of a VC, or of the port where the whole link is
    /// paused.
    pub buffer_max: u32,
    /// What it may hold, without what ports of a switch share.
    pub buffer: u32,
    /// Phits beyond which the sender is told to be silent, or memory is taken that ports share; none if it never is.
    pub xoff: Option<u32>,
    /// Packets lost over the whole run for want of room.
    pub lost_packets: u64,
    /// Their phits.
    pub lost_phits: u64,
    /// Packets of which only the header found room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trimmed_packets: u64,
}

/// What the congestion points did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CongestionPointUse {
    /// What acted and what did not, one sentence each.
    pub says: Vec<String>,
    /// Packets delivered in the measurement that carried a mark.
    pub marked: u64,
    /// Fraction of all packets delivered in the measurement.
    pub marked_share: f64,
    /// By link class and class of service; `ejection` are the outputs to hosts.
    pub queues: Vec<MarkUse>,
    /// By output and class of service, if `probes.links` asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortMarks>,
}

/// What left the outputs of one link class in the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MarkUse {
    /// Link class of the topology, or `ejection`.
    pub class: String,
    /// Class of service.
    pub service: u32,
    /// Packets that left; a packet counts at every switch.
    pub packets: u64,
    /// Those of them that were marked there.
    pub marked: u64,
    /// Largest fraction that an output marked.
    pub share_max: f64,
    /// Longest queue that a packet left behind, in phits, over the whole run.
    pub queue_max: u32,
}

/// What left one output in the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortMarks {
    /// Router.
    pub router: u32,
    /// Its port.
    pub port: u32,
    /// Class of service.
    pub service: u32,
    /// Packets that left.
    pub packets: u64,
    /// Those of them that were marked there.
    pub marked: u64,
}

/// Work done by the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Cycles simulated.
    pub cycles: u64,
    /// Switch traversals (grants).
    pub grants: u64,
}

/// Per-host and per-router arrays over the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrays {
    /// Load that left the injection queue of each host.
    pub injected_by_host: Vec<f64>,
    /// Load consumed by each host.
    pub accepted_by_host: Vec<f64>,
    /// Mean over the hosts of each router of `injected_by_host`.
    pub injected_by_router: Vec<f64>,
    /// Packets injected per router and path kind: row-major, `routers` x `path_kinds`.
    pub paths_by_router: Vec<u32>,
    /// Columns of `paths_by_router`.
    pub path_kinds: Vec<PathKind>,
    /// Utilisation of every link between routers, if asked for.
    pub link_use: Vec<f64>,
    /// `[router, port]` of each entry of `link_use`, flattened.
    pub link_at: Vec<u32>,
}

/// What the jobs of a workload did. Times of a job are counted from its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadOutcome {
    /// Cycle in which the last job ended: its last rank, and its last message.
    pub makespan: u64,
    /// The jobs.
    pub jobs: Vec<JobOutcome>,
}

/// What one job did. Times are in cycles, counted from its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobOutcome {
    /// Name of the job.
    pub name: String,
    /// Ranks.
    pub ranks: u32,
    /// All of them ended.
    pub finished: bool,
    /// Cycle in which it began.
    pub start: u64,
    /// Time until the last rank had ended and the last message had arrived.
    pub time: u64,
    /// Iterations that some rank ended.
    pub iterations: u64,
    /// Mean time of an iteration: the end of the last one over their number.
    pub iteration_mean: f64,
    /// Time that a rank computed, mean over the ranks.
    pub compute_mean: f64,
    /// Time that a rank waited for messages, mean over the ranks.
    pub communication_mean: f64,
    /// The same for the rank that waited longest.
    pub communication_max: u64,
    /// Its messages.
    pub messages: Messages,
    /// What it did beyond that, if it follows a trace or has collectives by named algorithms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayOutcome>,
    /// How long its flows took, if these are what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowsOutcome>,
    /// What its time is made of, if that is asked for and the job has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_path: Option<CriticalPath>,
    /// Per iteration and per rank.
    pub arrays: JobArrays,
}

/// Messages of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    /// Handed to the network interfaces.
    pub sent: u64,
    /// Arrived whole.
    pub received: u64,
    /// Phits of those.
    pub phits: u64,
    /// Packets that arrived.
    pub packets: u64,
    /// Packets that arrived before an earlier one of their message, and had to wait for it.
    pub resequenced: u64,
    /// Fraction of the packets.
    pub resequenced_share: f64,
    /// Most phits that waited so at one host.
    pub resequencing_buffer_max: u32,
    /// From the send to the consumption of the last phit, in cycles.
    pub latency: MessageLatency,
}

/// Latency of messages, in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageLatency {
    /// Mean; 0 when none has arrived.
    pub mean: f64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Percentiles from a histogram.
    pub percentiles: Vec<Percentile>,
    /// Relative error of the histogram: a percentile is at most this fraction too high.
    pub histogram_error: f64,
}

/// Times of a job, in cycles from its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobArrays {
    /// When the last rank ended each iteration.
    pub iteration_end: Vec<u64>,
    /// When each rank ended.
    pub rank_end: Vec<u64>,
    /// Time that each rank computed.
    pub rank_computed: Vec<u64>,
    /// Time that each rank was in a collective and computed nothing.
    #[serde(default)]
    pub rank_collective: Vec<u64>,
    /// Beside that, time that a receive held it up,
    #[serde(default)]
    pub rank_receive: Vec<u64>,
    /// a send,
    #[serde(default)]
    pub rank_send: Vec<u64>,
    /// or a wait for what it had begun.
    #[serde(default)]
    pub rank_wait: Vec<u64>,
    /// If the job keeps its timeline: where the activities of each rank begin in the next two lists, and where the last
    /// ones end;
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline_ranks: Vec<u64>,
    /// when each began; it lasts until the next one of its rank, or the rank's end;
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline_begin: Vec<u64>,
    /// which it was: 0 it computes, 1 takes part in a collective, 2 is held up by a receive, 3 by a send, 4 waits, 5 is
    /// not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline_activity: Vec<u8>,
    /// If the critical path is asked for: what each part of it is, 0 to 4 as `CriticalPath` lists them,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_what: Vec<u8>,
    /// the rank, of a message the one that it is for,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_rank: Vec<u32>,
    /// the rank that began it, of a message its sender,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_from: Vec<u32>,
    /// when it began,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_begin: Vec<u64>,
    /// and when it ended, which is when the next one began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_end: Vec<u64>,
    /// If the job keeps a table of its flows: the rank that sends each,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_source: Vec<u32>,
    /// the one that receives it,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_destination: Vec<u32>,
    /// its phits,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_phits: Vec<u32>,
    /// when it begins,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_start: Vec<u64>,
    /// how long it takes, 0 if it has not ended,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_time: Vec<u64>,
    /// and how long it would take alone in the network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_alone: Vec<u64>,
}

/// Time series. Bin `i` covers `[start + i * width, start + (i + 1) * width)` cycles relative to
/// the beginning of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// First cycle, relative to the beginning of the measurement (negative is before).
    pub start: i64,
    /// Cycles in a bin.
    pub width: u64,
    /// By the cycle in which a packet was generated (only packets that were delivered).
    pub by_generation: SeriesColumns,
    /// By the cycle in which a packet was delivered.
    pub by_delivery: SeriesColumns,
}

/// Columns of a time series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesColumns {
    /// Packets.
    pub packets: Vec<u64>,
    /// Phits.
    pub phits: Vec<u64>,
    /// Sum of the latencies, in cycles.
    pub latency_sum: Vec<u64>,
    /// Packets that took a non-minimal path.
    pub nonminimal: Vec<u64>,
}

/// State of the routing agents in time. Sample `i` is taken at the beginning of cycle
/// `start + i * width`, relative to the beginning of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSeries {
    /// Cycle of the first sample, relative to the beginning of the measurement (negative is before).
    pub start: i64,
    /// Cycles between samples.
    pub width: u64,
    /// What is sampled, in the words of the routing algorithm.
    pub names: Vec<String>,
    /// Routers given one by one.
    pub routers: Vec<u32>,
    /// Row-major, samples x `routers` x `names`.
    pub values: Vec<f64>,
    /// Mean over all routers of the network: row-major, samples x `names`.
    pub mean: Vec<f64>,
}

/// Congestion trees in time. Sample `i` is taken at the beginning of cycle `start + i * width`, relative
/// to the beginning of the measurement. Buffers are the VCs of input ports, and injection queues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CongestionSeries {
    /// Cycle of the first sample, relative to the beginning of the measurement (negative is before).
    pub start: i64,
    /// Cycles between samples.
    pub width: u64,
    /// Trees in each sample.
    pub trees: Vec<u32>,
    /// Links between a root and the farthest buffer of its tree, at most.
    pub depth: Vec<u32>,
    /// Buffers of VCs that are part of a tree.
    pub buffers: Vec<u32>,
    /// Injection queues that are part of a tree.
    pub hosts: Vec<u32>,
    /// Phits in all buffers.
    pub queued: Vec<u64>,
    /// Phits in buffers that are part of a tree.
    pub held: Vec<u64>,
    /// Phits that suffer from head-of-line blocking.
    pub blocked: Vec<u64>,
    /// All trees, sample by sample.
    pub roots: Vec<TreeRoot>,
    /// Their buffers, if asked for.
    pub members: Vec<TreeMember>,
}

/// A congestion tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeRoot {
    /// Sample.
    pub sample: u32,
    /// Router of the root.
    pub router: u32,
    /// Output port that is the root.
    pub port: u32,
    /// Host to which the root leads, if it does.
    pub host: Option<u32>,
    /// Links between the root and the farthest buffer.
    pub depth: u32,
    /// Routers with a buffer or an injection queue in the tree.
    pub routers: u32,
    /// Buffers of VCs.
    pub buffers: u32,
    /// Injection queues.
    pub hosts: u32,
    /// Phits in them.
    pub phits: u32,
}

/// A buffer of a congestion tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeMember {
    /// Its tree: an element of `roots`.
    pub tree: u32,
    /// Router.
    pub router: u32,
    /// Input port.
    pub port: u32,
    /// VC.
    pub vc: u32,
    /// Links between it and the root.
    pub level: u32,
    /// Phits in it.
    pub phits: u32,
}
