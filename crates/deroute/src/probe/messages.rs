//! What one partition records of the messages of a job. Whole numbers only, as in `collect.rs`.

use serde::{Deserialize, Serialize};

use super::histogram::Latencies;
use crate::ids::Cycle;

/// A message that has arrived whole.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Cycle in which it was sent.
    pub(crate) issued: Cycle,
    /// Cycle after the consumption of its last phit.
    pub(crate) arrived: Cycle,
    pub(crate) phits: u32,
}

/// A job in one partition.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Messages that ranks have handed over, and that have arrived whole.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Of those that have arrived, the ones that carry no data.
    pub(crate) control: u64,
    pub(crate) phits: u64,
    pub(crate) latency: u64,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) histogram: Latencies,
    /// Packets that have arrived, and their phits.
    pub(crate) packets: u64,
    pub(crate) arrived_phits: u64,
    /// Packets that had to wait for one before them, and the most phits that one host held.
    pub(crate) held: u64,
    pub(crate) most_held: u32,
    /// Cycle in which the last rank ended each iteration.
    pub(crate) iterations: Vec<Cycle>,
    /// Ranks that have ended.
    pub(crate) ended: u32,
    /// Cycle of the last end of a rank or arrival of a message.
    pub(crate) last: Cycle,
    /// Cycles that ranks which have ended computed.
    pub(crate) computed: u64,
    /// Flows that have arrived whole, by their place among those of the job, and when.
    pub(crate) flows: Vec<(u32, Cycle)>,
    /// Parts that ranks took in collectives, by what these count as.
    pub(crate) collectives: Box<[Parts]>,
}

/// Parts that ranks took in collectives of one kind, and how long.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) count: u64,
    pub(crate) cycles: u64,
    pub(crate) min: Cycle,
    pub(crate) max: Cycle,
}

impl Parts {
    /// One more, of so many cycles.
    pub(crate) fn count(&mut self, cycles: Cycle) {
        let one = Self { count: 1, cycles: cycles.into(), min: cycles, max: cycles };
        self.merge(&one);
    }

    fn merge(&mut self, other: &Self) {
        if other.count > 0 {
            self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        }
        self.count += other.count;
        self.cycles += other.cycles;
        self.max = self.max.max(other.max);
    }
}

impl Record {
    /// Of a job whose collectives count as so many.
    pub(crate) fn new(collectives: usize) -> Self {
        Self {
            sent: 0,
            received: 0,
            control: 0,
            phits: 0,
            latency: 0,
            min: u32::MAX,
            max: 0,
            histogram: Latencies::new(),
            packets: 0,
            arrived_phits: 0,
            held: 0,
            most_held: 0,
            iterations: Vec::new(),
            ended: 0,
            last: 0,
            computed: 0,
            flows: Vec::new(),
            collectives: vec![Parts::default(); collectives].into(),
        }
    }

    /// A message has arrived, with data or without.
    pub(crate) fn receive(&mut self, message: &Message, data: bool) {
        let latency = message.arrived - message.issued;
        self.received += 1;
        self.last = self.last.max(message.arrived);
        if !data {
            self.control += 1;
            return;
        }
        self.phits += u64::from(message.phits);
        self.latency += u64::from(latency);
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.histogram.record(latency);
    }

    /// A packet has to wait; the host holds so many phits now.
    pub(crate) fn hold(&mut self, phits: u32) {
        self.held += 1;
        self.most_held = self.most_held.max(phits);
    }

    /// A rank has ended an iteration.
    pub(crate) fn end_iteration(&mut self, iteration: u32, now: Cycle) {
        let index = iteration as usize;
        if index >= self.iterations.len() {
            self.iterations.resize(index + 1, 0);
        }
        self.iterations[index] = self.iterations[index].max(now);
    }

    /// A rank has ended.
    pub(crate) fn end_rank(&mut self, now: Cycle, computed: u64) {
        self.ended += 1;
        self.last = self.last.max(now);
        self.computed += computed;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.control += other.control;
        self.phits += other.phits;
        self.latency += other.latency;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.histogram.merge(&other.histogram);
        self.packets += other.packets;
        self.arrived_phits += other.arrived_phits;
        self.held += other.held;
        self.most_held = self.most_held.max(other.most_held);
        for (index, end) in other.iterations.iter().enumerate() {
            self.end_iteration(index as u32, *end);
        }
        self.ended += other.ended;
        self.last = self.last.max(other.last);
        self.computed += other.computed;
        self.flows.extend_from_slice(&other.flows);
        for (own, other) in self.collectives.iter_mut().zip(&other.collectives) {
            own.merge(other);
        }
    }
}
