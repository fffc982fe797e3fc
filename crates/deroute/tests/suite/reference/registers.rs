//! Registers before the crossbar.

use deroute::ids::{PortId, VcId};
use deroute::routing::Queues;

use super::Model;
use super::queues::Queued;
use super::switch::Waiting;

impl Model {
    /// The first packet of each queue, if it has the credits that it needs, moves into a register.
    pub(super) fn fill_registers(&mut self, router: usize) {
        for port in 0..self.routers[router].inputs.len() {
            if self.net.injects(&self.routers[router].peers[port]) {
                continue;
            }
            for vc in 0..self.routers[router].inputs[port].lanes.len() {
                let mut seen = Vec::new();
                for place in 0..self.routers[router].inputs[port].lanes[vc].waiting.len() {
                    let lane = &self.routers[router].inputs[port].lanes[vc];
                    let Waiting { packet, wish } = lane.waiting[place];
                    let output = wish.expect("a routed packet").port;
                    let first = if self.net.voqs { !seen.contains(&output) } else { place == 0 };
                    seen.push(output);
                    if first && !lane.registered.contains(&packet) {
                        self.fill_register(router, (port, vc, place), packet);
                    }
                }
            }
        }
    }

    /// A packet, by its place in a VC of an input, moves into a register if it can.
    fn fill_register(
        &mut self,
        router: usize,
        (port, vc, place): (usize, usize, usize),
        packet: usize,
    ) {
        let size = self.packets[packet].size;
        let here = &self.routers[router];
        let wish = here.inputs[port].lanes[vc].waiting[place].wish.expect("a routed packet");
        let wish = self.emptiest(router, wish);
        let whole =
            !self.net.store_and_forward || here.is_whole((port, vc), (packet, size), self.now);
        let (net, atomic, now) = (&self.net, self.atomic, self.now);
        let queues = Queued { router: here, net, atomic, now };
        let room = queues.fits(PortId(wish.port as u16), VcId(wish.vc as u8), size as u16);
        let lane = &mut self.routers[router].inputs[port].lanes[vc];
        if whole {
            lane.waiting[place].wish = Some(wish);
        }
        if whole && room {
            lane.registered.push(packet);
            self.give_back(router, (port, vc), size);
        }
    }
}
