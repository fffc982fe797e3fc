//! ACOR: adaptive congestion-oblivious routing.
//!
//! # What it does
//! Chooses the phase-A policy of non-minimal paths: short paths while they are free, longer and
//! better balanced ones where packets are blocked. A sequence of policies is climbed one level at a
//! time. *ACOR-Packet* starts every packet at the first level and raises it with every cycle in which
//! the packet is blocked at the head of its injection queue. *ACOR-Switch* keeps one level per
//! router: it counts blocked attempts, raises the level at once when they exceed `raise`, and lowers
//! it at the end of an interval with fewer than `lower`.
//!
//! It is a policy, not a decision: `routing.valiant` with it is ACOR, `routing.piggyback.ugal` with it
//! is PB-ACOR, `routing.ugal` with it is UGAL-ACOR. Intermediate routers are drawn anew in every cycle
//! in which a packet waits, and are restricted to the partition unless `restricted = false`.
//!
//! # Source
//! Thesis 5.4, Tables 5-2 and 5-3; PB-ACOR: 5.5.
//!
//! # Parameters
//! `per` (default `switch`), `sequence` (default `3L`), `interval` HI (default 500 cycles), `raise`
//! IT1 and IT2 (default 15 and 500; 15 and 50 where a path may be minimal), `lower` DT1 and DT2
//! (default 5 and 15). The first of two thresholds belongs to the step from `-g-` to the next policy
//! and back, the second to the step from `-gl`.
//!
//! `trigger`: `blocked` (default) counts blocked attempts, once a cycle; `rounds` counts them in every round of
//! allocation (as FOGSim does); `notifications`, with levels of switches alone, notifications of congestion (QCN, or of receivers that have got marks) which reach the hosts of the router and tell of packets on
//! detours, but not of queues to hosts. `raise` has to be given then, and `interval` and `lower` should: a
//! notification is rarer than a blocked attempt by orders (our own, after the thesis' 8.2: switches without credits).
//!
//! A blocked attempt is a cycle in which a packet at the head of an injection queue could be granted
//! by its input port, but was not: no credits, no room, a busy output or a lost arbitration. Attempts
//! on a minimal path that UGAL or Piggyback chose do not count. A raise clears the counter; the
//! interval goes on.
//!
//! # Deadlock freedom
//! As Valiant: every policy's paths are among l1 g1 l2 - l3 g2 l4.
//!
//! # Limits
//! The counter says that packets are blocked, not where: a level is raised by endpoint congestion as
//! well.
//!
//! # Example
//! ```toml
//! [routing.valiant]
//! phase_a = { acor = { sequence = "3L" } }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Notification, Place, Queue, RouterView};
use crate::ids::{Cycle, PortId, RouterId};
use crate::spec::{PhaseA, Quantity, SpecError};
use crate::state::state;

/// Parameters of ACOR.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AcorSpec {
    /// Who has a level. Default `switch`.
    pub per: AcorScope,
    /// What raises it. Default `blocked`.
    #[serde(skip_serializing_if = "AcorTrigger::is_blocked")]
    pub trigger: AcorTrigger,
    /// Policies in the order of the levels. Default `3L`.
    pub sequence: AcorSequence,
    /// Hysteresis interval HI of ACOR-Switch. Default 500 cycles.
    pub interval: Quantity,
    /// IT1 and IT2: blocked attempts in an interval above which the level rises. Default 15 and 500;
    /// 15 and 50 where the algorithm may choose a minimal path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raise: Option<Thresholds>,
    /// DT1 and DT2: blocked attempts in an interval below which the level falls. Default 5 and 15.
    pub lower: Thresholds,
}

impl Default for AcorSpec {
    fn default() -> Self {
        Self {
            per: AcorScope::Switch,
            trigger: AcorTrigger::Blocked,
            sequence: AcorSequence::Three,
            interval: 500.into(),
            raise: None,
            lower: [5, 15],
        }
    }
}

/// Thresholds of the step from `-g-` to the next policy, and of the step from `-gl`.
pub type Thresholds = [u32; 2];

/// Who has a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AcorScope {
    /// Every router (ACOR-Switch).
    #[default]
    Switch,
    /// Every packet at the head of an injection queue (ACOR-Packet).
    Packet,
}

/// What raises a level of ACOR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AcorTrigger {
    /// Cycles with a blocked attempt, which shows outputs without room or credits.
    #[default]
    Blocked,
    /// Blocked attempts in every round of allocation: as many as `network.switch.allocator.iterations` in a cycle.
    Rounds,
    /// Notifications of congestion that reach the hosts of the router, of packets on detours.
    Notifications,
}

impl AcorTrigger {
    fn is_blocked(&self) -> bool {
        *self == Self::Blocked
    }
}

/// Policies in the order of the levels (thesis Table 5-2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AcorSequence {
    /// `-g-`, `lgl`.
    #[serde(rename = "2L-A")]
    TwoA,
    /// `-gl`, `lgl`.
    #[serde(rename = "2L-B")]
    TwoB,
    /// `-g-`, `-gl`, `lgl`.
    #[default]
    #[serde(rename = "3L")]
    Three,
}

impl AcorSequence {
    fn policies(self) -> &'static [PhaseA] {
        match self {
            Self::TwoA => &[PhaseA::G, PhaseA::Lgl],
            Self::TwoB => &[PhaseA::Gl, PhaseA::Lgl],
            Self::Three => &[PhaseA::G, PhaseA::Gl, PhaseA::Lgl],
        }
    }
}

/// One level of ACOR-Switch.
#[derive(Clone, Copy, Debug)]
struct Level {
    policy: PhaseA,
    /// More blocked attempts lead to the next level; none above the last.
    raise: u32,
    /// Fewer lead to the level before; none below the first.
    lower: u32,
}

/// ACOR, checked.
#[derive(Clone)]
pub(super) struct AcorPlan {
    scope: AcorScope,
    trigger: AcorTrigger,
    levels: Vec<Level>,
    interval: Cycle,
    /// Ports of a router, classes of the queuing scheme, and injection queues of a host.
    ports: usize,
    classes: usize,
    queues: usize,
}

impl AcorPlan {
    pub(super) fn new(
        spec: &AcorSpec,
        fabric: &Fabric,
        path: &str,
        raise: Thresholds,
    ) -> Result<Self, SpecError> {
        refuse_unknown(spec, path)?;
        let at = format!("{path}.interval");
        let cycles = fabric.scale.cycles(&at, &spec.interval)?;
        let interval = Cycle::try_from(cycles).ok().filter(|&cycles| cycles > 0);
        let interval = interval.ok_or_else(|| {
            let message = format!("{} is {cycles} cycles", spec.interval);
            SpecError::new(at, message).choices([format!("1 to {} cycles", Cycle::MAX)])
        })?;
        // The thresholds of the step from a policy to the next.
        let step =
            |policy, [short, long]: Thresholds| if policy == PhaseA::G { short } else { long };
        let policies = spec.sequence.policies();
        let level = |index: usize| Level {
            policy: policies[index],
            raise: match index + 1 < policies.len() {
                true => step(policies[index], spec.raise.unwrap_or(raise)),
                false => u32::MAX,
            },
            lower: index.checked_sub(1).map_or(0, |before| step(policies[before], spec.lower)),
        };
        let ports = usize::from(fabric.topology.radix(RouterId(0)));
        let levels = (0..policies.len()).map(level).collect();
        let classes = usize::from(fabric.classes);
        let queues = classes * usize::from(fabric.queues);
        let (scope, trigger) = (spec.per, spec.trigger);
        Ok(Self { scope, trigger, levels, interval, ports, classes, queues })
    }

    /// Levels rise where packets are blocked.
    pub(super) fn counts_blocked(&self) -> bool {
        self.trigger != AcorTrigger::Notifications
    }

    /// In every round of allocation.
    pub(super) fn counts_rounds(&self) -> bool {
        self.trigger == AcorTrigger::Rounds
    }

    /// Policies of all levels.
    pub(super) fn policies(&self) -> Vec<PhaseA> {
        self.levels.iter().map(|level| level.policy).collect()
    }

    pub(super) fn agent(&self, first: RouterId, count: u32) -> Acor {
        let fresh = State { level: 0, blocked: 0, until: self.interval };
        let states = match self.scope {
            AcorScope::Switch => count as usize,
            AcorScope::Packet => count as usize * self.ports * self.queues,
        };
        Acor { plan: self.clone(), first, states: vec![fresh; states] }
    }
}

/// Refuses what notifications do not say, and thresholds that nobody has published.
fn refuse_unknown(spec: &AcorSpec, path: &str) -> Result<(), SpecError> {
    if spec.trigger != AcorTrigger::Notifications {
        return Ok(());
    }
    if spec.per == AcorScope::Packet {
        let message = "a notification is of packets that have left";
        let error = SpecError::new(format!("{path}.per"), message);
        return Err(error.choices(["switch", "trigger = \"blocked\""]));
    }
    let Some(raise) = spec.raise else {
        let message = "by notifications there are no usual thresholds";
        let choices = ["two numbers of notifications in an interval, such as [2, 2]"];
        return Err(SpecError::new(format!("{path}.raise"), message).choices(choices));
    };
    if spec.lower.iter().zip(raise).any(|(lower, raise)| *lower > raise + 1) {
        let message =
            format!("fewer than {:?} lower a level that more than {raise:?} raise", spec.lower);
        let choices = [format!("up to {:?}", raise.map(|raise| raise + 1))];
        return Err(SpecError::new(format!("{path}.lower"), message).choices(choices));
    }
    Ok(())
}

/// A level and what it follows from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct State {
    level: u8,
    /// Blocked attempts in this interval.
    blocked: u32,
    /// End of the interval.
    until: Cycle,
}

/// ACOR in some consecutive routers.
pub(super) struct Acor {
    plan: AcorPlan,
    first: RouterId,
    /// By router, or by router, port and injection queue.
    states: Vec<State>,
}

impl crate::state::State for Acor {
    state! { keep states; leave plan, first; }
}

impl Acor {
    /// Levels belong to packets, so it must be told which ones leave.
    pub(super) fn follows_packets(&self) -> bool {
        self.plan.scope == AcorScope::Packet
    }

    /// The policy of the packet at the head of an injection queue.
    pub(super) fn policy_of(&mut self, view: &RouterView<'_>) -> PhaseA {
        let number = view.injection_queue(self.plan.classes);
        let RouterView { router, input: port, now, .. } = *view;
        self.policy(Queue { router, port, number, now })
    }

    fn policy(&mut self, queue: Queue) -> PhaseA {
        let (levels, state) = self.settle(queue);
        levels[usize::from(state.level)].policy
    }

    pub(super) fn blocked(&mut self, queue: Queue) {
        let per_packet = self.follows_packets();
        let (levels, state) = self.settle(queue);
        state.blocked += 1;
        let level = usize::from(state.level);
        if level + 1 < levels.len() && (per_packet || state.blocked > levels[level].raise) {
            (state.level, state.blocked) = (state.level + 1, 0);
        }
    }

    /// A notification of congestion reaches its host, or passes.
    pub(super) fn notified(&mut self, told: &Notification) {
        let Notification { router, port, now, .. } = *told;
        if told.ends && told.about.diverted && told.about.place != Place::Endpoint {
            self.blocked(Queue { router, port, number: 0, now });
        }
    }

    /// The head of an injection queue has left: the next packet starts at the first level.
    pub(super) fn left(&mut self, queue: Queue) {
        if self.follows_packets() {
            self.settle(queue).1.level = 0;
        }
    }

    /// The levels, and the state of a queue with all intervals closed that are over.
    fn settle(&mut self, queue: Queue) -> (&[Level], &mut State) {
        let (plan, router) = (&self.plan, (queue.router.0 - self.first.0) as usize);
        if plan.scope == AcorScope::Packet {
            let port = router * plan.ports + queue.port.index();
            let state = &mut self.states[port * plan.queues + usize::from(queue.number)];
            return (&plan.levels, state);
        }
        let state = &mut self.states[router];
        while queue.now >= state.until {
            if state.blocked < plan.levels[usize::from(state.level)].lower {
                state.level -= 1;
            }
            state.blocked = 0;
            state.until = state.until.saturating_add(plan.interval);
        }
        (&plan.levels, state)
    }

    /// See [`super::Routing::bytes`].
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.states)
    }

    pub(super) fn gauges(&self) -> Vec<String> {
        if self.follows_packets() {
            return Vec::new();
        }
        vec!["level".into(), "blocked".into()]
    }

    pub(super) fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        if self.follows_packets() {
            return;
        }
        let (_, state) = self.settle(Queue { router, port: PortId(0), number: 0, now });
        values.extend([f64::from(state.level) + 1.0, f64::from(state.blocked)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The level of a packet is that of its queue: packets of another class, or behind another port, do not
    /// change it.
    #[test]
    fn a_level_for_every_queue() {
        let policies = [PhaseA::G, PhaseA::Gl, PhaseA::Lgl];
        let level = |policy| Level { policy, raise: u32::MAX, lower: 0 };
        let plan = AcorPlan {
            scope: AcorScope::Packet,
            trigger: AcorTrigger::Blocked,
            levels: policies.map(level).to_vec(),
            interval: 500,
            ports: 2,
            classes: 3,
            queues: 3,
        };
        let mut acor = plan.agent(RouterId(7), 2);
        let queue = |n: u16| Queue {
            router: RouterId(7 + u32::from(n) / 6),
            port: PortId(n / 3 % 2),
            number: (n % 3) as u8,
            now: 0,
        };
        for n in 0..12 {
            (0..n % 3).for_each(|_| acor.blocked(queue(n)));
        }
        for n in 0..12 {
            assert_eq!(acor.policy(queue(n)), policies[usize::from(n % 3)]);
        }
    }
}
