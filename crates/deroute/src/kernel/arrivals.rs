//! Packets that are routed when they arrive, and not when they become heads.
//!
//! All arrivals of a cycle are routed before anything is granted in it, ports in ascending order, so that
//! the order of events is irrelevant.

use super::packet::Flight;
use super::partition::Partition;
use super::state::{Input, Wish};

impl Partition {
    /// A packet has arrived at an input port that is to be routed in this cycle.
    #[inline]
    pub(super) fn announce(&mut self, port: u32, vc: u8, packet: u32) {
        let input = &mut self.inputs[port as usize];
        (input.fresh, input.fresh_vc) = (packet, vc);
        let (router, word, bit) = (input.router, input.word, input.bit);
        self.waits[word as usize].fresh |= 1 << bit;
        self.wake(router);
    }

    /// A head arrives at an input port where a VC is one queue, and waits to be routed.
    pub(super) fn enqueue_fresh(&mut self, flight: Flight) {
        let packet = self.enqueue(flight);
        self.announce(flight.port, flight.vc, packet);
    }

    /// Routes what has arrived at a router, where a VC is one queue.
    pub(super) fn route_queues(&mut self, router: u32) {
        self.route_arrivals(router, |_, _| {});
    }

    /// Routes what has arrived at a router in this cycle, and says at which ports.
    #[inline]
    pub(super) fn route_arrivals(&mut self, router: u32, mut then: impl FnMut(&mut Self, usize)) {
        let state = &self.routers[router as usize];
        let (base, words) = (state.port_base, state.words as usize);
        for word in 0..usize::from(state.ports).div_ceil(64) {
            let mut bits = std::mem::take(&mut self.waits[words + word].fresh);
            while bits != 0 {
                let port = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let index = (base + port) as usize;
                let Input { fresh, fresh_vc, .. } = self.inputs[index];
                if self.decided.len() <= fresh as usize {
                    self.decided.resize(fresh as usize + 1, Wish::default());
                }
                self.route((router, base), (index, fresh_vc), fresh, None);
                then(self, index);
            }
        }
    }
}
