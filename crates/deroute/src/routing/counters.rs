//! Counters of the traffic that a router's own hosts offer to each other group: what TPR and LIAN
//! share.
//!
//! A counter is a whole number of hundredths of a packet, so every sum is exact. A packet is
//! entered when it reaches its injection queue, moved into the window when it leaves it, and
//! forgotten when its router's counters are next asked for after the window has passed: each in
//! constant time. Packets for the own group are not counted.
//!
//! Groups are numbered by their offset from the router's group; 0 is the own group.

use std::collections::VecDeque;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Injection, Queue};
use crate::ids::{Cycle, RouterId};
use crate::spec::{Quantity, SpecError};
use crate::state::{State, state};

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
        super::require_groups(fabric, path)?;
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
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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

impl State for GroupCounters {
    state! { keep values, departures; leave plan, first; }
}

impl GroupCounters {
    pub(super) fn plan(&self) -> &CounterPlan {
        &self.plan
    }

    /// See [`super::Routing::bytes`].
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.values) + size_of_val(&*self.departures)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::ids::PortId;

    const WINDOW: Cycle = 20;

    /// Four groups of one router.
    fn plan((sent, stored): (u32, u32)) -> CounterPlan {
        let group_of = [0, 1, 2, 3].into();
        CounterPlan { window: WINDOW, sent, stored, low: 300, high: 500, groups: 4, group_of }
    }

    /// Cycles since the event before, the router, its queue, and where the next packet of that
    /// queue goes; the packet at the head leaves with even odds, if there is one.
    type Step = (Cycle, u32, u16, u32, bool);

    /// What a router knows of its packets if it remembers all of them.
    #[derive(Default)]
    struct Ledger {
        stored: Vec<(u32, PortId, u32)>,
        left: Vec<(Cycle, u32, u32)>,
    }

    impl Ledger {
        /// Hundredths of packets from one router for another.
        fn count(&self, (sent, stored): (u32, u32), now: Cycle, from: u32, to: u32) -> u32 {
            let waiting = self.stored.iter().filter(|p| (p.0, p.2) == (from, to)).count() as u32;
            let recent = |p: &&(Cycle, u32, u32)| p.0 + WINDOW > now && (p.1, p.2) == (from, to);
            sent * self.left.iter().filter(recent).count() as u32 + stored * waiting
        }
    }

    fn replay(weights: (u32, u32), steps: &[Step]) {
        let plan = plan(weights);
        let mut agent = plan.agent(RouterId(0), 4);
        let mut ledger = Ledger::default();
        // The sum of all changes that were told.
        let mut told = [[0i64; 4]; 4];
        let mut now = 0;
        for &(pause, router, port, to, leaves) in steps {
            now += pause;
            let queue = Queue { router: RouterId(router), port: PortId(port), number: 0, now };
            let head = ledger.stored.iter().position(|p| (p.0, p.1) == (router, queue.port));
            let (event, to) = match head.filter(|_| leaves) {
                Some(head) => (Injection::Left, ledger.stored.remove(head).2),
                None => {
                    ledger.stored.push((router, queue.port, to));
                    (Injection::Entered, to)
                }
            };
            if event == Injection::Left {
                ledger.left.push((now, router, to));
            }
            let told = &mut told[router as usize];
            let mut tell = |offset: u16, change: i64| told[usize::from(offset)] += change;
            agent.record(queue, event, RouterId(to), &mut tell);
            agent.record(queue, Injection::Blocked, RouterId(to), &mut tell);
            agent.expire(queue.router, now, &mut tell);
            let counted = agent.of(queue.router);
            assert_eq!(counted[0], 0, "the own group is not counted");
            for to in (0..4).filter(|&to| to != router) {
                let offset = plan.offset(queue.router, RouterId(to));
                assert_eq!(u32::from(offset), (to + 4 - router) % 4);
                let value = counted[usize::from(offset)];
                assert_eq!(value, ledger.count(weights, now, router, to), "cycle {now}");
                assert_eq!(told[usize::from(offset)], i64::from(value));
            }
        }
    }

    /// The counters are a recount of all packets at any time, whenever they are looked at.
    #[test]
    fn counters_are_a_recount() {
        let step = (0..9u32, 0..4u32, 0..2u16, 0..4u32, any::<bool>());
        let modes = prop::sample::select(vec![(100, 0), (0, 100), (100, 10), (100, 1000)]);
        let steps = prop::collection::vec(step, 1..300);
        let outcome = TestRunner::deterministic().run(&(modes, steps), |(weights, steps)| {
            replay(weights, &steps);
            Ok(())
        });
        outcome.unwrap();
    }

    #[test]
    fn regions() {
        let mut agent = plan((100, 10)).agent(RouterId(0), 4);
        let at = |agent: &GroupCounters| agent.region(RouterId(0), 1);
        let send = |agent: &mut GroupCounters, stored: u32| {
            let queue = Queue { router: RouterId(0), port: PortId(0), number: 0, now: 0 };
            agent.record(queue, Injection::Entered, RouterId(1), |_, _| ());
            if stored == 0 {
                agent.record(queue, Injection::Left, RouterId(1), |_, _| ());
            }
        };
        let mut seen = Vec::new();
        // Five packets leave, one stays.
        for stored in [0, 0, 0, 0, 0, 1] {
            send(&mut agent, stored);
            seen.push(at(&agent));
        }
        let (benign, mixed, adversarial) = (Region::Benign, Region::Mixed, Region::Adversarial);
        assert_eq!(seen, [benign, benign, mixed, mixed, mixed, adversarial]);
        assert_eq!(agent.gauges(), ["G-1", "G+1", "G+2"]);
        let mut values = Vec::new();
        agent.read(RouterId(0), &mut values);
        assert_eq!(values, [0.0, 5.1, 0.0]);
    }
}
