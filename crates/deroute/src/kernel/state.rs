//! What a partition is made of: ports, queues, routers, hosts, and what travels between them.

use super::nic::Parcel;
use super::packet::{Flight, NONE};
use crate::ids::{Cycle, HostId, RouterId};
use crate::rng::Stream;
use crate::topology::Hop;
use crate::traffic::Source;

/// One direction of a port: a buffer per VC. One cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Input {
    /// Until this cycle the crossbar reads a packet from the port.
    pub(super) busy_until: Cycle,
    /// First queue in `Partition::queues`.
    pub(super) queues: u32,
    /// VCs that hold a packet.
    pub(super) occupied: u64,
    /// Where credits go: partition, output port there, latency.
    pub(super) upstream: Link,
    pub(super) router: u32,
    /// First port of the router.
    pub(super) base: u32,
    /// Round-robin pointer: a VC, or their number, which is the first one again.
    pub(super) pointer: u8,
    pub(super) vcs: u8,
    /// VC requested in this round.
    pub(super) request: u8,
    /// What the packet had decided that was sent last.
    pub(super) sent: Wish,
    /// Next requester of the same output, or `NONE`.
    pub(super) next_request: u32,
    pub(super) kind: PortKind,
    /// Earliest cycle in which it is to become ripe; in the past if none is set.
    pub(super) ripe_at: Cycle,
}

/// The other end of a port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    pub(super) partition: u32,
    /// Port in that partition; for a host port, the host in this partition.
    pub(super) port: u32,
    pub(super) latency: Cycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortKind {
    Host,
    Link,
    Unused,
}

/// Where an output leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A host, or nowhere.
    Host,
    /// A router of the same partition.
    Inside,
    /// A router of another partition.
    Outside,
}

impl Way {
    pub(super) const ALL: [Self; 3] = [Self::Host, Self::Inside, Self::Outside];
}

/// A queue of packets, and what its head has decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) wish: Wish,
}

/// What a packet has decided.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wish {
    /// Phits of the packet.
    pub(super) size: u16,
    /// Output port, VC and place on the path that it requests, once `routed`.
    pub(super) out: u16,
    pub(super) vc: u8,
    pub(super) place: u8,
    pub(super) routed: bool,
    /// It has been looked at since it became the head of its queue.
    pub(super) seen: bool,
}

impl Wish {
    /// A packet of so many phits takes this hop.
    pub(super) fn new(size: u16, Hop { port, vc, place }: Hop) -> Self {
        Self { size, out: port.0, vc: vc.0, place, routed: true, seen: false }
    }
}

impl Queue {
    /// Nothing is in it.
    pub(super) const EMPTY: Self = Self {
        head: NONE,
        tail: NONE,
        wish: Wish { size: 0, out: 0, vc: 0, place: 0, routed: false, seen: false },
    };
}

/// The other direction of a port: a buffer that its VCs share, and a link. One cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Output {
    /// Until this cycle the crossbar writes a packet to the port.
    pub(super) busy_until: Cycle,
    /// From this cycle on the link is idle if nothing more is granted.
    pub(super) link_free: Cycle,
    /// Phits granted whose credits have not come back.
    pub(super) queued: u32,
    /// Phits free at the other end, for the first VCs; a host always has room.
    pub(super) credits: [u32; NEAR],
    /// The same for the other VCs: first counter in `Partition::credits`.
    pub(super) more_credits: u32,
    pub(super) downstream: Link,
    /// Phits sent in the measurement.
    pub(super) sent: u32,
    pub(super) router: u32,
    /// Round-robin pointer: a port, or their number, which is the first one again.
    pub(super) pointer: u16,
    /// Input ports that request it in this round: a list through `Input::next_request`.
    pub(super) first_request: u32,
    pub(super) vcs: u8,
    pub(super) class: u8,
    pub(super) kind: PortKind,
    pub(super) way: Way,
    /// A head waits for credits of this port.
    pub(super) awaited: bool,
    /// Leads out of the domain.
    pub(super) exit: bool,
}

/// VCs whose credits share a cache line with their output.
pub(super) const NEAR: usize = 4;

impl Output {
    /// Phits free at the other end for one VC; `more` is `Partition::credits`.
    #[inline]
    pub(super) fn credits(&self, more: &[u32], vc: u8) -> u32 {
        match self.credits.get(usize::from(vc)) {
            Some(credits) => *credits,
            None => more[self.more_credits as usize + usize::from(vc) - NEAR],
        }
    }

    #[inline]
    pub(super) fn credits_mut<'a>(&'a mut self, more: &'a mut [u32], vc: u8) -> &'a mut u32 {
        match self.credits.get_mut(usize::from(vc)) {
            Some(credits) => credits,
            None => &mut more[self.more_credits as usize + usize::from(vc) - NEAR],
        }
    }
}

const _: () = assert!(size_of::<Input>() == 64 && size_of::<Output>() == 64);

pub(super) struct Router {
    pub(super) id: RouterId,
    pub(super) port_base: u32,
    pub(super) ports: u16,
    /// On the dirty list.
    pub(super) dirty: bool,
    pub(super) rng: Stream,
}

/// One cache line.
#[repr(align(64))]
pub(super) struct Host {
    pub(super) id: HostId,
    pub(super) source: Source,
    /// Cycle of its next packet.
    pub(super) next: Cycle,
    /// Phits in its injection queue of class 0, those on their way included.
    pub(super) queued: u32,
    /// The same for the other classes: first counter in `Partition::queued`.
    pub(super) more_queued: u32,
    /// Its port in `Partition::inputs` and `outputs`.
    pub(super) port: u32,
    /// Phits that it has received in the measurement, at most one a cycle.
    pub(super) accepted: u32,
    /// Phits that have left its injection queues in the measurement.
    pub(super) injected: u64,
}

const _: () = assert!(size_of::<Host>() == 64);

impl Host {
    /// Phits in the injection queue of a class; `more` is `Partition::queued`.
    #[inline]
    pub(super) fn queued(&self, more: &[u32], class: u8) -> u32 {
        match class {
            0 => self.queued,
            _ => more[self.more_queued as usize + usize::from(class) - 1],
        }
    }

    #[inline]
    pub(super) fn queued_mut<'a>(&'a mut self, more: &'a mut [u32], class: u8) -> &'a mut u32 {
        match class {
            0 => &mut self.queued,
            _ => &mut more[self.more_queued as usize + usize::from(class) - 1],
        }
    }
}

/// Events for another partition.
#[derive(Default)]
pub(super) struct Mail {
    pub(super) arrivals: Vec<Flight>,
    /// Those of the arrivals, in a run with a workload.
    pub(super) parcels: Vec<Parcel>,
    /// Time and event.
    pub(super) credits: Vec<(Cycle, u64)>,
}

impl Mail {
    pub(super) fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.credits.is_empty()
    }
}

/// Credits: port (26 bits), VC (6 bits), phits (16 bits).
pub(super) fn credit(port: u32, vc: u8, size: u16) -> u64 {
    u64::from(port) << 38 | u64::from(vc) << 32 | u64::from(size)
}

pub(super) fn read_credit(event: u64) -> (u32, u8, u32) {
    ((event >> 38) as u32, (event >> 32) as u8 & 63, event as u32)
}
