//! Packets that are routed when they arrive, and not when they become heads.
//!
//! All arrivals of a cycle are routed before anything is granted in it, ports in ascending order, so that
//! the order of events is irrelevant.

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

    /// Routes what has arrived at a router in this cycle, and passes on, port by port, what was decided.
    #[inline]
    pub(super) fn route_arrivals(
        &mut self,
        router: u32,
        mut then: impl FnMut(&mut Self, u16, Wish),
    ) {
        let state = &self.routers[router as usize];
        let (base, words) = (state.port_base, state.words as usize);
        for word in 0..usize::from(state.ports).div_ceil(64) {
            let mut bits = std::mem::take(&mut self.waits[words + word].fresh);
            while bits != 0 {
                let port = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let index = (base + port) as usize;
                let Input { fresh, fresh_vc, .. } = self.inputs[index];
                let wish = self.route(router, base, (index, fresh_vc), fresh);
                then(self, port as u16, wish);
            }
        }
    }

    /// Keeps what a packet has decided until it is the head of its queue.
    #[inline]
    pub(super) fn remember(&mut self, packet: u32, wish: Wish) {
        if self.decided.len() <= packet as usize {
            self.decided.resize(packet as usize + 1, Wish::default());
        }
        self.decided[packet as usize] = wish;
    }

    /// The packet that has arrived at an input, where a VC is one queue, has decided.
    pub(super) fn keep(&mut self, base: u32, port: u16, wish: Wish) {
        let Input { queues, fresh, fresh_vc, .. } = self.inputs[(base + u32::from(port)) as usize];
        let queue = &mut self.queues[(queues + u32::from(fresh_vc)) as usize];
        if queue.head == fresh {
            queue.wish = wish;
        } else {
            self.remember(fresh, wish);
        }
    }
}
