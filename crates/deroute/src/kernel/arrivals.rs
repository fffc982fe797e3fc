//! Packets that are routed when they arrive, and not when they become heads.
//!
//! All arrivals of a cycle are routed before anything is granted in it, ports in ascending order, so that
//! the order of events is irrelevant.

use super::fetch::touch;
use super::packet::{Buffer, Flight};
use super::partition::Partition;
use super::state::Wish;

/// A packet that has arrived and is yet to be routed.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub(super) port: u32,
    pub(super) packet: u32,
    pub(super) vc: u8,
    /// Its queue, one of those of the VC for each output; known once it is routed.
    pub(super) lane: u32,
}

impl Partition {
    /// A head arrives at an input port where a VC is one queue, and is to be routed.
    pub(super) fn enqueue_fresh(&mut self, flight: Flight) {
        let packet = self.enqueue::<false>(flight);
        self.note_fresh(packet, flight.to);
    }

    /// A head arrives at an input port with virtual output queues, and is to be routed.
    pub(super) fn land(&mut self, flight: Flight) {
        let packet = self.store::<false>(flight);
        self.note_fresh(packet, flight.to);
    }

    fn note_fresh(&mut self, packet: u32, to: Buffer) {
        self.fresh.push(Arrival { port: to.port(), packet, vc: to.vc(), lane: 0 });
    }

    /// Routes what has arrived in this cycle.
    pub(super) fn route_arrivals(&mut self) {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_unstable_by_key(|arrival| arrival.port);
        self.decided.resize(self.pool.slots(), Wish::default());
        touch(fresh.iter().map(|arrival| u32::from(self.decided[arrival.packet as usize].out)));
        for &Arrival { port, packet, vc, .. } in &fresh {
            self.decided[packet as usize] = self.route((port as usize, vc), packet, None);
        }
        if let Some(mut islip) = self.islip.take() {
            // Each lane, and the last packet in it, is far away: fetch them together.
            fresh.iter_mut().for_each(|arrival| arrival.lane = self.lane_of(arrival));
            touch(fresh.iter().map(|arrival| self.queues[arrival.lane as usize].head));
            touch(fresh.iter().map(|arrival| self.last_of(arrival)));
            fresh.iter().for_each(|arrival| islip.file(self, arrival));
            self.islip = Some(islip);
        }
        fresh.clear();
        self.fresh = fresh;
    }
}
