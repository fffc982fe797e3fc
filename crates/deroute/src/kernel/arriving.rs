//! Packets that arrive where there may be no room.

use super::control::Control;
use super::core::cargo::PartOf;
use super::core::packet::{BufferId, Flight};
use super::hosts::Hosts;
use super::machine::{Datapath, Machine};
use crate::routing::Header;

impl<M: Machine> Datapath<M> {
    /// Is there room for a packet that arrives at an input port? If not, it is trimmed or lost.
    #[inline(always)]
    pub(crate) fn admit(&mut self, flight: &Flight) -> bool {
        self.control.arrive(&self.core, flight.to, flight.packet.size)
    }

    /// What is left of a packet that finds no room at an input port: its header, if there is room for that.
    #[inline(never)]
    pub(crate) fn trim(&mut self, flight: &Flight) -> Option<Flight> {
        let Self { core, control, hosts, .. } = self;
        let (input, mut left) = (flight.to.port(), *flight);
        let class = core.inputs[input as usize].class;
        if let Some((header, vc)) = core.model.trims(class, flight.to.vc())
            && let Some(cargo) = hosts.cargo_mut()
        {
            cargo.get_mut(left.packet.host_word).part_of = PartOf::Trimmed;
            left.packet.header = Header::new(left.packet.header.destination);
            left.packet.size = left.packet.size.min(header);
            left.to = BufferId::new(input, vc);
            core.collector.retransmission.trimmed += 1;
            core.collector.notices.sent += 1;
            if control.arrive(core, left.to, left.packet.size) {
                return Some(left);
            }
        }
        match hosts.lose(&left.packet) {
            true => core.collector.lost += 1,
            false => core.collector.notices.lost += 1,
        }
        None
    }
}
