//! What the streams of the traffic did.

use std::collections::BTreeMap;

use deroute::outcome::Outcome;

use super::Packet;
use super::report::Report;
use super::resolved::Resolved;

/// Counts of a stream.
#[derive(Clone, Debug, Default)]
struct Counts {
    hosts: f64,
    generated: u64,
    refused: u64,
    delivered: u64,
    attempted_phits: u64,
    /// Of what was consumed in the measurement: latencies, phits, and packets that a later one came before.
    latencies: Vec<u64>,
    phits: u64,
    late: u64,
    /// The last packet of each source and destination that was consumed, in the order of generation.
    last: BTreeMap<(u32, u32), usize>,
}

/// Counts of all of them.
#[derive(Debug)]
pub(super) struct StreamRecord {
    from: u32,
    to: u32,
    streams: Vec<Counts>,
}

impl StreamRecord {
    pub(super) fn new(net: &Resolved) -> Self {
        let streams = net.workload.streams().iter();
        let counts = streams
            .map(|stream| Counts { hosts: stream.hosts().len() as f64, ..Counts::default() });
        Self { from: net.from, to: net.to, streams: counts.collect() }
    }

    /// A packet is generated, which the injection queue accepts or refuses.
    pub(super) fn attempt(&mut self, stream: Option<usize>, (now, size): (u32, u32), fits: bool) {
        let Some(index) = stream else { return };
        let (measured, counts) = ((self.from..self.to).contains(&now), &mut self.streams[index]);
        counts.attempted_phits += u64::from(measured) * u64::from(size);
        counts.generated += u64::from(fits);
        counts.refused += u64::from(!fits);
    }

    /// The last phit of a packet, by its number in the order of generation, is consumed.
    pub(super) fn consume(&mut self, now: u32, (number, packet): (usize, &Packet)) {
        let Some(index) = packet.stream else { return };
        let (measured, counts) = ((self.from..self.to).contains(&now), &mut self.streams[index]);
        counts.delivered += 1;
        let last = counts.last.entry((packet.source.0, packet.destination.0)).or_insert(number);
        let late = number < *last;
        *last = number.max(*last);
        if measured {
            counts.latencies.push(u64::from(now + 1 - packet.generated));
            counts.phits += u64::from(packet.size);
            counts.late += u64::from(late);
        }
    }

    pub(super) fn compare(&self, outcome: &Outcome, report: &mut Report) {
        report.exact("streams", outcome.streams.len(), self.streams.len());
        for (engine, model) in outcome.streams.iter().zip(&self.streams) {
            let cycles = f64::from(self.to - self.from) * model.hosts;
            let rate = |phits: u64| phits as f64 / cycles;
            report.exact("of a stream generated", engine.packets.generated, model.generated);
            report.exact("of a stream refused", engine.packets.refused, model.refused);
            report.exact("of a stream delivered", engine.packets.delivered, model.delivered);
            let measured = model.latencies.len() as u64;
            report.exact("of a stream measured", engine.packets.measured, measured);
            report.exact("stream attempted", engine.load.attempted, rate(model.attempted_phits));
            report.exact("stream accepted", engine.load.accepted, rate(model.phits));
            let sum: u64 = model.latencies.iter().sum();
            let mean = if measured == 0 { 0.0 } else { sum as f64 / measured as f64 };
            report.exact("latency of a stream", engine.latency.mean, mean);
            let most = model.latencies.iter().copied().max().unwrap_or(0);
            report.exact("longest of a stream", engine.latency.max, most);
            report.exact("out of order", engine.out_of_order, model.late);
        }
    }
}
