//! How long a network takes until its state is that of its traffic.

use super::model::{Model, WarmupTimes, way};

/// What a fixed warm-up is to be compared with, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ramp {
    /// The warm-up that was asked for.
    pub warmup: u64,
    /// There and back over the longest of the shortest paths, pipelines and links, without a wait.
    pub round_trip: u64,
    /// Until a link has filled the largest buffer of a VC at its end.
    pub fill: u64,
}

/// Of the network of this model; `None` if nobody has fixed a warm-up, as with a workload.
pub(crate) fn of(model: &Model) -> Option<Ramp> {
    let WarmupTimes::Fixed(warmup) = model.times.warmup else { return None };
    if model.jobs.is_some() {
        return None;
    }
    let (round_trip, fill) = lengths(model);
    Some(Ramp { warmup: u64::from(warmup), round_trip, fill })
}

/// Cycles before which a network is hardly in the state of its traffic: there and back over a detour, and until
/// a link has filled a buffer.
pub(crate) fn least(model: &Model) -> u64 {
    let (round_trip, fill) = lengths(model);
    (2 * round_trip).max(fill)
}

/// The round trip and the time to fill a buffer, as in [`Ramp`].
fn lengths(model: &Model) -> (u64, u64) {
    let way = way(&*model.topology, &model.classes, model.pipeline);
    let one_way = way.cycles + 2 * u64::from(model.host_latency);
    let buffers = model.classes.iter().chain(&model.egress.nic);
    let fill = buffers.map(|link| u64::from(link.buffer) * u64::from(link.period));
    (2 * one_way, fill.max().unwrap_or(0))
}
