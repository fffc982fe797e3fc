//! Flows of a host whose packets wait for what they may send: each in a queue of its own.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::resending::Resending;
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::packet::NONE;
use crate::probe::limits::LimitRecord;
use crate::reaction::{Acknowledged, Law, Limit, Receipt};
use crate::rng::Stream;

/// What has a limit: a queue of a host, and router and port of the destination if these matter.
pub(super) type FlowId = (u8, u32, u16);

/// A host with flows that have limits.
#[derive(Serialize, Deserialize)]
pub(super) struct PacedHost {
    pub(super) flows: BTreeMap<FlowId, Flow>,
    /// What flows had whose limits have gone, if that is remembered.
    gone: BTreeMap<FlowId, Limit>,
    /// Flows whose first packet only waits for its time, the earliest of a queue first.
    ready: BTreeSet<Ready>,
    pub(super) rng: Stream,
    /// Queues in which a packet with a limit is put before all others.
    pub(super) staged: u64,
    /// Queues from which such a packet was sent last.
    pub(super) served: u64,
    /// For each queue, the cycle of the next look at its flows.
    pub(super) looks: Box<[Cycle]>,
    /// Timers that were begun.
    pub(super) timers: u32,
}

/// A queue, the time (the bits of a number that is not negative are in its order), and the flow.
type Ready = (u8, u64, FlowId);

/// A flow with a limit, and the queue of its packets.
#[derive(Serialize, Deserialize)]
pub(super) struct Flow {
    pub(super) limit: Limit,
    pub(super) head: u32,
    tail: u32,
    /// When its last packet was due, and the phits of that packet.
    last: f64,
    size: u16,
    /// Which timer counts.
    pub(super) timer: u32,
    /// Phits that have left the host, and those that have come, as far as it knows.
    pub(super) sent: u32,
    come: u32,
    /// Its first packet does not fit into the window.
    held: bool,
    /// Its time among those that are ready.
    listed: Option<u64>,
    /// What it keeps, where packets are sent again.
    pub(super) again: Option<Box<Resending>>,
}

impl PacedHost {
    /// No flow has a limit; so many queues.
    pub(super) fn new(rng: Stream, queues: usize) -> Self {
        Self {
            flows: BTreeMap::new(),
            gone: BTreeMap::new(),
            ready: BTreeSet::new(),
            rng,
            staged: 0,
            served: 0,
            looks: vec![0; queues].into(),
            timers: 0,
        }
    }

    /// Something of a flow has changed: is its first packet to wait for its time?
    pub(super) fn list(
        &mut self,
        core: &Core,
        (id, period): (FlowId, f64),
        record: &mut LimitRecord,
    ) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let first = flow.first();
        let fits = first.is_some_and(|first| flow.fits(core.pool[first].packet.size));
        let held = first.is_some() && !fits;
        record.windows.held += u64::from(held && !flow.held);
        flow.held = held;
        let due = fits.then(|| flow.due(period).to_bits());
        if flow.listed == due {
            return;
        }
        if let Some(old) = std::mem::replace(&mut flow.listed, due) {
            self.ready.remove(&(id.0, old, id));
        }
        if let Some(new) = due {
            self.ready.insert((id.0, new, id));
        }
    }

    /// The flow of a queue whose first packet is due first, and when.
    pub(super) fn first(&self, queue: u8) -> Option<(f64, FlowId)> {
        let own = (queue, 0, (0, 0, 0))..=(queue, u64::MAX, (u8::MAX, u32::MAX, u16::MAX));
        self.ready.range(own).next().map(|(_, due, id)| (f64::from_bits(*due), *id))
    }

    /// The limit that a flow begins with.
    pub(super) fn limit(&mut self, law: &Law, id: FlowId) -> Limit {
        let before = self.gone.remove(&id);
        before.map_or_else(|| law.begin(), |before| law.begin_again(&before))
    }

    /// A flow has a limit no more.
    pub(super) fn remove(&mut self, law: &Law, id: FlowId) -> Option<Flow> {
        let flow = self.flows.remove(&id)?;
        if law.remembers() {
            self.gone.insert(id, flow.limit.clone());
        }
        if let Some(due) = flow.listed {
            self.ready.remove(&(id.0, due, id));
        }
        Some(flow)
    }
}

impl Flow {
    /// With these packets, from now on.
    pub(super) fn new(limit: Limit, (head, tail): (u32, u32), now: Cycle) -> Self {
        let last = f64::from(now);
        Self {
            limit,
            head,
            tail,
            last,
            size: 0,
            timer: 0,
            sent: 0,
            come: 0,
            held: false,
            listed: None,
            again: None,
        }
    }

    /// When its next packet may leave, for all that it may send at once.
    fn due(&self, period: f64) -> f64 {
        self.last + f64::from(self.size) * period / self.limit.rate()
    }

    /// Phits under way.
    pub(super) fn under_way(&self) -> u32 {
        self.sent.wrapping_sub(self.come)
    }

    /// May a packet be under way beside what is?
    fn fits(&self, size: u16) -> bool {
        let under_way = self.under_way();
        let room = |window| f64::from(under_way) + f64::from(size) <= window;
        under_way == 0 || self.limit.window().is_none_or(room)
    }

    /// A packet leaves the host.
    pub(super) fn leaves(&mut self, size: u16, (now, period): (Cycle, f64)) {
        // Who waits for others may make up for a packet.
        let duration = f64::from(size) * period;
        self.last = self.due(period).max(f64::from(now) - duration);
        self.size = size;
        self.sent = self.sent.wrapping_add(size.into());
    }

    /// The host hears of a packet and how much has come. Reports may overtake each other.
    pub(super) fn comes(&mut self, receipt: Receipt, now: Cycle) -> Acknowledged<'static> {
        let newly = receipt.come.wrapping_sub(self.come);
        let newly = if newly <= self.under_way() { newly } else { 0 };
        self.come = self.come.wrapping_add(newly);
        let (newly, under_way) = (f64::from(newly), f64::from(self.under_way()));
        Acknowledged { receipt, newly, under_way, sent: self.sent, now: now.into(), met: None }
    }

    /// The same where packets are sent again: so many phits have come that the host has not known of.
    pub(super) fn comes_once(
        &mut self,
        receipt: Receipt,
        newly: u16,
        now: Cycle,
    ) -> Acknowledged<'static> {
        self.come = self.come.wrapping_add(newly.into());
        let (newly, under_way) = (f64::from(newly), f64::from(self.under_way()));
        Acknowledged { receipt, newly, under_way, sent: self.sent, now: now.into(), met: None }
    }

    /// Its next packet: what is sent again comes first.
    fn first(&self) -> Option<u32> {
        let again = self.again.as_ref().and_then(|again| again.first());
        again.or_else(|| (self.head != NONE).then_some(self.head))
    }

    pub(super) fn add(&mut self, core: &mut Core, packet: u32) {
        core.pool[packet].next = NONE;
        if self.head == NONE {
            self.head = packet;
        } else {
            core.pool[self.tail].next = packet;
        }
        self.tail = packet;
    }

    pub(super) fn take(&mut self, core: &Core) -> Option<u32> {
        if let Some(packet) = self.again.as_mut().and_then(|again| again.take()) {
            return Some(packet);
        }
        let packet = self.head;
        if packet == NONE {
            return None;
        }
        self.head = core.pool[packet].next;
        Some(packet)
    }
}
