//! Receivers of a router: when they tell their senders to be silent, and what their buffers take of shared memory.

use deroute::topology::Peer;

use super::Router;
use crate::reference::resolved::Resolved;

impl Router {
    /// Phits of the memory that ports share that are in use.
    pub(in crate::reference) fn charged(&self) -> u32 {
        self.inputs.iter().flat_map(|input| &input.lanes).map(|lane| lane.charged).sum()
    }

    /// Phits that the ports share: what the memory has beyond their own buffers.
    fn shared(&self, net: &Resolved, size: u32) -> u32 {
        let own = |peer: &Peer| match (net.links.limits(peer), net.links.class(peer)) {
            (Some((pauses, limits)), class) => {
                let vcs = class.or(net.links.nic.as_ref()).map_or(0, |class| class.vcs as u32);
                limits.capacity * if pauses.whole_link { 1 } else { vcs }
            }
            (None, Some(class)) => class.buffer * class.vcs as u32 + class.shared,
            (None, None) => 0,
        };
        size - self.peers.iter().map(own).sum::<u32>()
    }

    /// Phits of a buffer: of a VC, or of all where they are paused together.
    fn held(&self, port: usize, (vc, whole_link): (usize, bool)) -> u32 {
        let lanes = &self.inputs[port].lanes;
        if whole_link { lanes.iter().map(|lane| lane.held).sum() } else { lanes[vc].held }
    }

    /// Buffers give back of the shared memory what they have no more.
    pub(in crate::reference) fn settle(&mut self, net: &Resolved) {
        for port in 0..self.peers.len() {
            let Some((pauses, limits)) = net.links.limits(&self.peers[port]) else { continue };
            for vc in 0..if pauses.whole_link { 1 } else { self.inputs[port].lanes.len() } {
                let over = self.held(port, (vc, pauses.whole_link)).saturating_sub(limits.xoff);
                let charged = &mut self.inputs[port].lanes[vc].charged;
                *charged = over.min(*charged);
            }
        }
    }

    /// What a receiver wants to say: VCs, and whether they are to be silent.
    pub(in crate::reference) fn pauses(
        &mut self,
        net: &Resolved,
        port: usize,
        now: u32,
    ) -> Vec<(usize, bool)> {
        let (pauses, limits) = net.links.limits(&self.peers[port]).expect("a receiver that pauses");
        let voices = if pauses.whole_link { 1 } else { self.inputs[port].lanes.len() };
        let mut says = Vec::new();
        for vc in 0..voices {
            let (held, told) =
                (self.held(port, (vc, pauses.whole_link)), self.inputs[port].lanes[vc].told);
            let stops = match pauses.shared {
                None => held > if told.is_some() { limits.xon } else { limits.xoff },
                Some(shared) => {
                    let lane = &self.inputs[port].lanes[vc];
                    let over = held.saturating_sub(limits.xoff);
                    let goes = match told {
                        Some(_) => held <= limits.xon,
                        None => over <= lane.charged,
                    };
                    let more = if told.is_some() { limits.xoff - limits.xon } else { 0 };
                    let used = self.charged() - lane.charged + over;
                    let left = self.shared(net, shared.size).checked_sub(used);
                    let may = |left: u32| u64::from(over + more) <= shared.threshold(left);
                    let fits = !goes && left.is_some_and(may);
                    if fits {
                        self.inputs[port].lanes[vc].charged = over;
                    }
                    !goes && !fits
                }
            };
            // What is said for a time is said again when half of it is over.
            let half = pauses.duration.map(|cycles| (cycles / 2).max(1));
            let over = |told: u32| half.is_some_and(|half| now >= told + half);
            if stops != told.is_some() || (stops && told.is_some_and(over)) {
                says.push((vc, stops));
            }
        }
        says
    }
}
