//! Packets and their pool.

use crate::ids::{Cycle, PortId};
use crate::routing::Header;

/// End of a list.
pub(super) const NONE: u32 = u32::MAX;

/// A packet in a queue or on a link: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Next in the queue or in the free list.
    pub(super) next: u32,
    /// Cycle in which the head reached the current input buffer.
    pub(super) arrival: Cycle,
    pub(super) generated: Cycle,
    /// Cycle of the first grant.
    pub(super) injected: Cycle,
    pub(super) header: Header,
    /// Port of the destination host on its router.
    pub(super) port: PortId,
    /// Phits.
    pub(super) size: u16,
}

const _: () = assert!(size_of::<Packet>() == 32);

/// Packets in the queues of one partition. Slots are reused last in, first out, so that few stay
/// in the cache.
#[derive(Default)]
pub(super) struct Pool {
    packets: Vec<Packet>,
    free: Option<u32>,
    live: u32,
}

impl Pool {
    #[inline]
    pub(super) fn insert(&mut self, packet: Packet) -> u32 {
        self.live += 1;
        match self.free {
            Some(index) => {
                let slot = &mut self.packets[index as usize];
                self.free = (slot.next != NONE).then_some(slot.next);
                *slot = packet;
                index
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, index: u32) -> Packet {
        self.live -= 1;
        let slot = &mut self.packets[index as usize];
        let packet = *slot;
        slot.next = self.free.unwrap_or(NONE);
        self.free = Some(index);
        packet
    }

    /// Packets in the pool.
    pub(super) fn live(&self) -> u32 {
        self.live
    }
}

impl std::ops::Index<u32> for Pool {
    type Output = Packet;

    #[inline]
    fn index(&self, index: u32) -> &Packet {
        &self.packets[index as usize]
    }
}

impl std::ops::IndexMut<u32> for Pool {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Packet {
        &mut self.packets[index as usize]
    }
}
