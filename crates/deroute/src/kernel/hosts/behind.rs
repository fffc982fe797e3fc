//! Packets in an injection queue of which nothing is there yet but their message.
//!
//! A queue counts all packets that were cut for it. Only those at its head are there, as many as the router could take
//! before the next one has come; one behind them is made when there is room among these, and nobody notices.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::outgoing::Outgoing;
use crate::kernel::model::Model;
use crate::switch::Crossbar;

/// Phits at the head of an injection queue that are there as packets: what a router takes while the next packet comes,
/// and the packets that do not quite fit.
pub(crate) fn ahead(model: &Model) -> u32 {
    let largest = u32::from(model.packet_sizes().1);
    let each_cycle = match model.crossbar {
        Crossbar::Speed(speed) => speed,
        Crossbar::Ideal => largest,
    };
    (model.host_latency + 2).saturating_mul(each_cycle).saturating_add(3 * largest)
}

/// What is behind the head of the injection queue of a host.
#[derive(Default, Serialize, Deserialize)]
#[repr(C)]
pub(super) struct Behind {
    phits: u32,
    packets: u32,
    /// Parts of messages, each with where it ends.
    parts: VecDeque<(Outgoing, u32)>,
}

impl Behind {
    /// Packets that are not there.
    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    /// Phits of these.
    #[inline]
    pub(super) fn phits(&self) -> u32 {
        self.phits
    }

    /// Phits of the first one, if there is one.
    pub(super) fn first(&self, largest: u16) -> Option<u32> {
        self.parts.front().map(|(message, end)| (end - message.cut).min(largest.into()))
    }

    /// Adds a packet of so many phits, which is the next one of a message.
    pub(super) fn push(&mut self, message: Outgoing, size: u32) {
        self.phits += size;
        self.packets += 1;
        let end = message.cut + size;
        match self.parts.back_mut() {
            Some((last, until)) if last.serial == message.serial && *until == message.cut => {
                *until = end;
            }
            _ => self.parts.push_back((message, end)),
        }
    }

    /// Takes the first packet, if it has no more phits than there is room for: its message, cut so far, and its phits.
    pub(super) fn take(&mut self, room: u32, largest: u16) -> Option<(Outgoing, u32)> {
        let size = self.first(largest).filter(|size| *size <= room)?;
        let (part, end) = self.parts.front_mut()?;
        let message = *part;
        part.cut += size;
        if part.cut == *end {
            self.parts.pop_front();
        }
        self.phits -= size;
        self.packets -= 1;
        Some((message, size))
    }
}
