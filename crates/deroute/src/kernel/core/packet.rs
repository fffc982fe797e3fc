//! Packets and their pool.

use crate::ids::{Cycle, PortId, RouterId};
use crate::routing::Header;
use serde::{Deserialize, Serialize};

/// End of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// A packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Packet {
    pub(crate) generated: Cycle,
    /// The hosts' own: the cycle of the first grant, or a handle of the packet's cargo.
    pub(crate) host_word: u32,
    pub(crate) header: Header,
    /// Port of the destination host on its router.
    pub(crate) port: PortId,
    /// Phits.
    pub(crate) size: u16,
}

/// Fills memory that waits for a packet.
impl Default for Packet {
    fn default() -> Self {
        let header = Header::new(RouterId(0));
        Self { generated: 0, host_word: 0, header, port: PortId(0), size: 0 }
    }
}

/// A packet in a queue: half a cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct Slot {
    pub(crate) packet: Packet,
    /// Next in the queue or in the free list.
    pub(crate) next: u32,
    /// Cycle in which the head reached the input buffer. In a queue of an output, the one from which the next packet may
    /// leave.
    pub(crate) arrival: Cycle,
}

/// A packet on its way to an input buffer: half a cache line.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct Flight {
    pub(crate) packet: Packet,
    pub(crate) to: BufferId,
    /// Cycle in which its head reaches the buffer.
    pub(crate) at: Cycle,
}

/// A VC of an input port: 26 bits for the port in its partition, and 6 for the VC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BufferId(u32);

impl BufferId {
    /// Ports that a partition may have.
    pub(crate) const PORTS: u64 = (1 << 26) - 1;

    /// None: no partition has so many ports.
    pub(crate) const NOWHERE: Self = Self(u32::MAX);

    pub(crate) fn new(port: u32, vc: u8) -> Self {
        Self(port << 6 | u32::from(vc))
    }

    pub(crate) fn port(self) -> u32 {
        self.0 >> 6
    }

    pub(crate) fn vc(self) -> u8 {
        self.0 as u8 & 63
    }
}

const _: () = assert!(size_of::<Slot>() == 32 && size_of::<Flight>() == 32);

/// Packets in the queues of one partition. Slots are reused last in, first out, so that few stay
/// in the cache.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pool {
    slots: Vec<Slot>,
    free: u32,
    live: u32,
}

impl Pool {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: NONE, live: 0 }
    }

    /// Stores a packet that arrives now, at the end of its queue.
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet, arrival: Cycle) -> u32 {
        if self.free == NONE {
            self.grow();
        }
        let index = self.free;
        let slot = &mut self.slots[index as usize];
        self.free = slot.next;
        self.live += 1;
        *slot = Slot { packet, next: NONE, arrival };
        index
    }

    /// Adds a free slot.
    #[cold]
    fn grow(&mut self) {
        self.free = self.slots.len() as u32;
        self.slots.push(Slot { packet: Packet::default(), next: NONE, arrival: 0 });
    }

    /// Takes a packet out, which stays where it is until another one is stored: what is next, and when the
    /// packet arrived.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> (u32, Cycle) {
        let slot = &mut self.slots[index as usize];
        let next = std::mem::replace(&mut slot.next, self.free);
        self.free = index;
        self.live -= 1;
        (next, slot.arrival)
    }

    /// As [`Pool::remove`], and the phits of the packet.
    #[inline(always)]
    pub(crate) fn take(&mut self, index: u32) -> (u32, Cycle, u16) {
        let slot = &mut self.slots[index as usize];
        let next = std::mem::replace(&mut slot.next, self.free);
        self.free = index;
        self.live -= 1;
        (next, slot.arrival, slot.packet.size)
    }

    /// Takes a packet off the head of its queue, but keeps it: what is next, and when the packet arrived.
    #[inline]
    pub(crate) fn unlink(&mut self, index: u32) -> (u32, Cycle) {
        let slot = &self.slots[index as usize];
        (slot.next, slot.arrival)
    }

    /// Something of each cache line.
    pub(crate) fn lines(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().step_by(2).map(|slot| slot.next)
    }

    /// Places for packets, free or not.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Packets in the pool.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }
}

impl std::ops::Index<u32> for Pool {
    type Output = Slot;

    #[inline]
    fn index(&self, index: u32) -> &Slot {
        &self.slots[index as usize]
    }
}

impl std::ops::IndexMut<u32> for Pool {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Slot {
        &mut self.slots[index as usize]
    }
}
