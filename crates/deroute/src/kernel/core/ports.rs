//! What a partition is made of: ports, queues, routers and hosts.

use super::packet::NONE;
use crate::ids::{Cycle, HostId, RouterId};
use crate::rng::Stream;
use crate::routing::Hop;
use crate::traffic::Source;
use serde::{Deserialize, Serialize};

/// One direction of a port: a buffer per VC. One cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Input {
    /// Until this cycle the crossbar reads a packet from the port.
    pub(crate) busy_until: Cycle,
    /// First queue in `Core::queues`.
    pub(crate) queues: u32,
    /// VCs that hold a packet.
    pub(crate) occupied: u64,
    /// Where credits go: partition, output port there, latency.
    pub(crate) upstream: Link,
    pub(crate) router: u32,
    /// First port of the router.
    pub(crate) base: u32,
    /// Round-robin pointer: a VC, or their number, which is the first one again.
    pub(crate) pointer: u8,
    pub(crate) vcs: u8,
    /// VC requested in this round.
    pub(crate) requested_vc: u8,
    /// The request of the packet that was sent last.
    pub(crate) sent: OutputRequest,
    /// Next requester of the same output, or `NONE`.
    pub(crate) next_request: u32,
    pub(crate) kind: PortKind,
    /// Class of its link.
    pub(crate) class: u8,
    /// Earliest cycle of a wake-up that is scheduled; in the past if none is.
    pub(crate) wakeup_at: Cycle,
}

/// The other end of a port.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) partition: u32,
    /// Port in that partition; for a host port, the host in this partition.
    pub(crate) port: u32,
    pub(crate) latency: Cycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PortKind {
    Host,
    Link,
    Unused,
}

/// Where an output leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LeadsTo {
    /// A host, or nowhere.
    Host,
    /// A router of the same partition.
    Local,
    /// A router of another partition.
    Remote,
}

impl LeadsTo {
    pub(crate) const ALL: [Self; 3] = [Self::Host, Self::Local, Self::Remote];
}

/// A queue of packets, and the output that its head requests.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) request: OutputRequest,
}

/// The output that a packet requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutputRequest {
    /// Phits of the packet.
    pub(crate) size: u16,
    /// Output port, VC and hop position that it requests, once `routed`.
    pub(crate) out: u16,
    pub(crate) vc: u8,
    pub(crate) hop_position: u8,
    pub(crate) routed: bool,
    /// It has been looked at since it became the head of its queue.
    pub(crate) seen: bool,
}

impl OutputRequest {
    /// A packet of so many phits takes this hop.
    pub(crate) fn new(size: u16, Hop { port, vc, position: hop_position }: Hop) -> Self {
        Self { size, out: port.0, vc: vc.0, hop_position, routed: true, seen: false }
    }
}

impl Queue {
    /// Nothing is in it.
    pub(crate) const EMPTY: Self = Self {
        head: NONE,
        tail: NONE,
        request: OutputRequest {
            size: 0,
            out: 0,
            vc: 0,
            hop_position: 0,
            routed: false,
            seen: false,
        },
    };
}

/// The other direction of a port: a buffer that its VCs share, and a link. One cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Output {
    /// Until this cycle the crossbar writes a packet to the port.
    pub(crate) busy_until: Cycle,
    /// From this cycle on the link is idle if nothing more is granted.
    pub(crate) link_free: Cycle,
    /// Phits granted whose credits have not come back.
    pub(crate) queued: u32,
    /// Phits free at the other end, for the first VCs; a host always has room.
    pub(crate) credits: [u32; NEAR],
    /// The same for the other VCs: first counter in `Core::credits`.
    pub(crate) more_credits: u32,
    pub(crate) downstream: Link,
    /// Phits sent in the measurement.
    pub(crate) sent: u32,
    pub(crate) router: u32,
    /// Round-robin pointer: a port, or their number, which is the first one again.
    pub(crate) pointer: u16,
    /// Input ports that request it in this round: a list through `Input::next_request`.
    pub(crate) first_request: u32,
    pub(crate) vcs: u8,
    pub(crate) class: u8,
    pub(crate) kind: PortKind,
    pub(crate) leads_to: LeadsTo,
    /// A head waits for credits of this port.
    pub(crate) awaited: bool,
    /// A global port: it leads out of the domain.
    pub(crate) global: bool,
}

/// VCs whose credits share a cache line with their output.
pub(crate) const NEAR: usize = 4;

impl Output {
    /// Phits free at the other end for one VC; `more` is `Core::credits`.
    #[inline]
    pub(crate) fn credits(&self, more: &[u32], vc: u8) -> u32 {
        match self.credits.get(usize::from(vc)) {
            Some(credits) => *credits,
            None => more[self.more_credits as usize + usize::from(vc) - NEAR],
        }
    }

    #[inline]
    pub(crate) fn credits_mut<'a>(&'a mut self, more: &'a mut [u32], vc: u8) -> &'a mut u32 {
        match self.credits.get_mut(usize::from(vc)) {
            Some(credits) => credits,
            None => &mut more[self.more_credits as usize + usize::from(vc) - NEAR],
        }
    }
}

const _: () = assert!(size_of::<Input>() == 64 && size_of::<Output>() == 64);

#[derive(Serialize, Deserialize)]
pub(crate) struct Router {
    pub(crate) id: RouterId,
    pub(crate) port_base: u32,
    pub(crate) ports: u16,
    pub(crate) rng: Stream,
}

/// One cache line.
#[derive(Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Host {
    pub(crate) id: HostId,
    pub(crate) source: Source,
    /// Cycle of its next packet.
    pub(crate) next: Cycle,
    /// Phits in its first injection queue, those on their way included.
    pub(crate) queued: u32,
    /// The same for the other ones: first counter in `Core::queued`.
    pub(crate) more_queued: u32,
    /// Its port in `Core::inputs` and `outputs`.
    pub(crate) port: u32,
    /// Phits that it has received in the measurement, at most one a cycle.
    pub(crate) accepted: u32,
    /// Phits that have left its injection queues in the measurement.
    pub(crate) injected: u64,
}

const _: () = assert!(size_of::<Host>() == 64);

impl Host {
    /// Phits in an injection queue; `more` is `Core::queued`.
    #[inline]
    pub(crate) fn queued(&self, more: &[u32], queue: u8) -> u32 {
        match queue {
            0 => self.queued,
            _ => more[self.more_queued as usize + usize::from(queue) - 1],
        }
    }

    #[inline]
    pub(crate) fn queued_mut<'a>(&'a mut self, more: &'a mut [u32], queue: u8) -> &'a mut u32 {
        match queue {
            0 => &mut self.queued,
            _ => &mut more[self.more_queued as usize + usize::from(queue) - 1],
        }
    }
}
