//! Counters of the traffic that a router's own hosts offer to each other group: what TPR and LIAN
//! share.
//!
//! A counter is a whole number of hundredths of a packet, so every sum is exact. A packet is entered
//! when it reaches its injection queue, moved into the window when it leaves it, and forgotten when
//! its router's counters are next asked for after the window has passed: each in constant time.
//! Packets for the own group are not counted.
//!
//! Groups are numbered by their offset from the router's group; 0 is the own group.

use std::collections::VecDeque;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Injection, Queue};
use crate::ids::{Cycle, RouterId};
use crate::spec::{Quantity, SpecError};

/// What a counter of the packets for a group counts (thesis 6.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountMode {
    /// Packets that left the injection queues during the window.
    Injected,
    /// Packets that are in the injection queues.
    Stored,
    /// The first, and a share of the second (equation 6-1).
    Extended,
}

/// Hundredths of a packet.
pub(super) const PACKET: u32 = 100;

/// The parameters of the counters and of their regions, as TPR and LIAN have them.
pub(super) struct Counting<'a> {
    pub window: &'a Quantity,
    pub count: CountMode,
    pub stored_percent: u32,
    pub low: u32,
    pub high: u32,
}

/// What a counter says of the traffic for its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    Benign,
    Mixed,
    Adversarial,
}

/// The counters, checked.
#[derive(Clone)]
pub(super) struct CounterPlan {
    window: Cycle,
    /// What a packet counts while its departure is in the window, and while it is stored.
    sent: u32,
    stored: u32,
    /// The mixed region.
    low: u64,
    high: u64,
    groups: u32,
    /// Group of every router.
    group_of: Arc<[u16]>,
}

impl CounterPlan {
    /// `path` is where the parameters stand in the spec.
    pub(super) fn new(spec: &Counting<'_>, fabric: &Fabric, path: &str) -> Result<Self, SpecError> {
        let at = |key: &str| format!("{path}.{key}");
        let cycles = fabric.scale.cycles(&at("window"), spec.window)?;
        let window = Cycle::try_from(cycles).ok().filter(|&cycles| cycles > 0);
        let window = window.ok_or_else(|| {
            let message = format!("{} is {cycles} cycles", spec.window);
            SpecError::new(at("window"), message).choices([format!("1 to {} cycles", Cycle::MAX)])
        })?;
        if spec.stored_percent > 1000 {
            let message = format!("{} is out of range", spec.stored_percent);
            return Err(SpecError::new(at("stored_percent"), message).choices(["0 to 1000"]));
        }
        if spec.low > spec.high {
            let message = format!("{} is more than high = {}", spec.low, spec.high);
            let choices = [format!("0 to {}", spec.high)];
            return Err(SpecError::new(at("low"), message).choices(choices));
        }
        let (sent, stored) = match spec.count {
            CountMode::Injected => (PACKET, 0),
            CountMode::Stored => (0, PACKET),
            CountMode::Extended => (PACKET, spec.stored_percent),
        };
        let topology = &*fabric.topology;
        let group = |router| topology.domain(RouterId(router)) as u16;
        Ok(Self {
            window,
            sent,
            stored,
            low: packets(spec.low),
            high: packets(spec.high),
            groups: topology.groups(),
            group_of: (0..topology.routers()).map(group).collect(),
        })
    }

    /// The counters of the routers `first..first + count`.
    pub(super) fn agent(&self, first: RouterId, count: u32) -> GroupCounters {
        let values = vec![0; (self.groups * count) as usize];
        let departures = vec![VecDeque::new(); count as usize];
        GroupCounters { plan: self.clone(), first, values, departures }
    }

    /// Groups from the group of one router to that of another, upwards and around.
    #[inline]
    pub(super) fn offset(&self, from: RouterId, to: RouterId) -> u16 {
        let (from, to) = (self.group_of[from.index()], self.group_of[to.index()]);
        if to >= from { to - from } else { to + (self.groups as u16 - from) }
    }

    /// An offset and its name, by the shorter way around, from behind to ahead.
    fn named(&self) -> impl Iterator<Item = (u32, i64)> {
        let (groups, ahead) = (self.groups, self.groups / 2);
        let behind = (ahead + 1..groups).map(move |n| (n, i64::from(n) - i64::from(groups)));
        behind.chain((1..=ahead).map(|n| (n, i64::from(n))))
    }
}

/// Packets as counters count them.
pub(super) fn packets(number: u32) -> u64 {
    u64::from(number) * u64::from(PACKET)
}

/// A packet that left an injection queue.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Cycle,
    offset: u16,
}

/// The counters of some consecutive routers.
pub(super) struct GroupCounters {
    plan: CounterPlan,
    first: RouterId,
    /// Hundredths of packets: `[router][offset]`.
    values: Vec<u32>,
    /// Departures within the window, of each router. They grow to the most that a window holds and
    /// stay.
    departures: Vec<VecDeque<Departure>>,
}

impl GroupCounters {
    pub(super) fn plan(&self) -> &CounterPlan {
        &self.plan
    }

    /// The counters of a router by offset, as of its last [`GroupCounters::expire`].
    #[inline]
    pub(super) fn of(&self, router: RouterId) -> &[u32] {
        let groups = self.plan.groups as usize;
        let begin = (router.0 - self.first.0) as usize * groups;
        &self.values[begin..begin + groups]
    }

    /// The region of a counter. Traffic within the group is benign: there is no counter.
    #[inline]
    pub(super) fn region(&self, router: RouterId, offset: u16) -> Region {
        let value = u64::from(self.of(router)[usize::from(offset)]);
        if offset == 0 || value < self.plan.low {
            Region::Benign
        } else if value <= self.plan.high {
            Region::Mixed
        } else {
            Region::Adversarial
        }
    }

    /// Forgets what left before the window: a packet counts in the cycle in which it leaves and in
    /// the `window - 1` cycles after it. Tells of every change.
    #[inline]
    pub(super) fn expire(
        &mut self,
        router: RouterId,
        now: Cycle,
        mut changed: impl FnMut(u16, i64),
    ) {
        let (plan, index) = (&self.plan, (router.0 - self.first.0) as usize);
        let departures = &mut self.departures[index];
        while let Some(&Departure { at, offset }) = departures.front()
            && now - at >= plan.window
        {
            departures.pop_front();
            self.values[index * plan.groups as usize + usize::from(offset)] -= plan.sent;
            changed(offset, -i64::from(plan.sent));
        }
    }

    /// Something happened to a packet for `to` in an injection queue. Tells of every change.
    #[inline]
    pub(super) fn record(
        &mut self,
        queue: Queue,
        event: Injection,
        to: RouterId,
        mut changed: impl FnMut(u16, i64),
    ) {
        let Queue { router, now, .. } = queue;
        let offset = self.plan.offset(router, to);
        if offset == 0 || event == Injection::Blocked {
            return;
        }
        let index = (router.0 - self.first.0) as usize;
        let value = &mut self.values[index * self.plan.groups as usize + usize::from(offset)];
        let stored = self.plan.stored;
        if event == Injection::Entered {
            *value += stored;
            changed(offset, i64::from(stored));
            return;
        }
        *value = *value - stored + self.plan.sent;
        changed(offset, i64::from(self.plan.sent) - i64::from(stored));
        if self.plan.sent > 0 {
            self.departures[index].push_back(Departure { at: now, offset });
            self.expire(router, now, changed);
        }
    }

    /// `G` and the signed offset, for every other group.
    pub(super) fn gauges(&self) -> Vec<String> {
        self.plan.named().map(|(_, signed)| format!("G{signed:+}")).collect()
    }

    /// The counters in packets, as of the last [`GroupCounters::expire`].
    pub(super) fn read(&self, router: RouterId, values: &mut Vec<f64>) {
        let counters = self.of(router);
        let packets = |(n, _): (u32, _)| f64::from(counters[n as usize]) / f64::from(PACKET);
        values.extend(self.plan.named().map(packets));
    }
}
