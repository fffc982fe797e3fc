//! The probabilities of QCN-Switch: how they fall and rise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Notification;
use crate::ids::{Cycle, PortId, RouterId};
use crate::state::{State, state};

/// What a notification does to the probability of its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeedbackRule {
    /// It falls.
    Base,
    /// It falls or rises, as feedback is above or below the mean of all ports.
    Comparison,
}

/// How a probability falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecreaseLaw {
    /// By a share of itself.
    Multiplicative,
    /// By that share of 100.
    Subtractive,
}

/// How a probability rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IncreaseLaw {
    /// By so many points.
    Additive,
    /// By so many percent of itself.
    Multiplicative,
}

/// The state of a port to another router.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct PortState {
    /// In percent.
    probability: f64,
    /// The last feedback, and when it came.
    feedback: f64,
    heard: Cycle,
    /// Packets that left since a notification, or since the probability rose.
    sent: u32,
}

impl PortState {
    /// Of a port that nobody has told of.
    const FRESH: Self = Self { probability: 100.0, feedback: 0.0, heard: 0, sent: 0 };
}

/// The arithmetic, which all ports share.
#[derive(Clone)]
pub(super) struct Rules {
    /// By which feedback is multiplied.
    pub(super) limit: f64,
    pub(super) decrease: DecreaseLaw,
    /// Points of percent, or percent, by which a probability rises.
    pub(super) increase: f64,
    pub(super) increase_law: IncreaseLaw,
    /// Below which it does not fall.
    pub(super) least: f64,
    /// How far from the mean feedback has to be, below and above.
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// Packets through a port after which its probability rises.
    pub(super) packets: u32,
    /// Of the last feedback.
    pub(super) half_life: Option<Cycle>,
}

impl Rules {
    /// A port has so much more feedback than it may have.
    fn fall(&self, state: &mut PortState, excess: f64) {
        let share = (self.limit * excess).min(1.0);
        let next = match self.decrease {
            DecreaseLaw::Multiplicative => state.probability * (1.0 - share),
            DecreaseLaw::Subtractive => state.probability - 100.0 * share,
        };
        state.probability = next.max(self.least);
    }

    /// Enough packets have left since it was told of, or its feedback is low.
    fn rise(&self, state: &mut PortState) {
        let points = match self.increase_law {
            IncreaseLaw::Additive => self.increase,
            IncreaseLaw::Multiplicative => self.increase / 100.0 * state.probability,
        };
        state.probability = (state.probability + points).min(100.0);
    }

    /// The last feedback of a port, as far as it still counts.
    fn last(&self, state: &PortState, now: Cycle) -> f64 {
        match self.half_life {
            None => state.feedback,
            Some(life) => state.feedback * (-f64::from(now - state.heard) / f64::from(life)).exp2(),
        }
    }
}

/// The probabilities of some consecutive routers.
pub(super) struct Probabilities {
    law: Rules,
    first: RouterId,
    /// Ports of a router, and those of them that lead to hosts.
    ports: usize,
    pub(super) hosts: usize,
    states: Vec<PortState>,
    /// How often one fell, and rose.
    pub(super) lowered: u64,
    pub(super) raised: u64,
}

impl State for Probabilities {
    state! { keep states, lowered, raised; leave law, first, ports, hosts; }
}

impl Probabilities {
    /// Those of so many routers from the first on, with so many ports and, of these, ports to hosts.
    pub(super) fn new(
        law: &Rules,
        (first, count): (RouterId, u32),
        (ports, hosts): (usize, usize),
    ) -> Self {
        let states = vec![PortState::FRESH; ports * count as usize];
        Self { law: law.clone(), first, ports, hosts, states, lowered: 0, raised: 0 }
    }

    fn cell(&self, router: RouterId, port: PortId) -> usize {
        (router.0 - self.first.0) as usize * self.ports + port.index()
    }

    /// The states of the ports of a router to other routers.
    fn transit(&self, router: RouterId) -> std::ops::Range<usize> {
        let first = self.cell(router, PortId(0));
        first + self.hosts..first + self.ports
    }

    /// That of a port, in percent.
    #[inline]
    pub(super) fn of(&self, router: RouterId, port: PortId) -> f64 {
        self.states[self.cell(router, port)].probability
    }

    /// A notification tells of the queue that packets through a port go to.
    pub(super) fn apply(&mut self, told: &Notification, port: PortId, rule: FeedbackRule) {
        let (cell, now) = (self.cell(told.router, port), told.now);
        let feedback = f64::from(told.feedback);
        let state = &mut self.states[cell];
        (state.feedback, state.heard, state.sent) = (feedback, now, 0);
        if rule == FeedbackRule::Base {
            self.law.fall(state, feedback);
            self.lowered += 1;
            return;
        }
        let ports = self.transit(told.router);
        let all = &self.states[ports.clone()];
        let sum: f64 = all.iter().map(|state| self.law.last(state, now)).sum();
        let mean = sum / ports.len() as f64;
        let state = &mut self.states[cell];
        if feedback > mean + self.law.upper {
            self.law.fall(state, feedback - mean);
            self.lowered += 1;
        } else if feedback < mean - self.law.lower {
            self.law.rise(state);
            self.raised += 1;
        }
    }

    /// A packet has left by a port.
    #[inline]
    pub(super) fn sent(&mut self, router: RouterId, port: PortId) {
        let cell = self.cell(router, port);
        let state = &mut self.states[cell];
        state.sent += 1;
        if state.sent == self.law.packets {
            state.sent = 0;
            // What cannot rise any more has not risen.
            self.raised += u64::from(state.probability < 100.0);
            self.law.rise(state);
        }
    }

    /// See [`super::Routing::gauges`].
    pub(super) fn gauges(&self) -> Vec<String> {
        let mut names = vec!["probability_min".to_owned(), "probability_mean".to_owned()];
        names.extend((self.hosts..self.ports).map(|port| format!("probability_{port}")));
        names
    }

    /// See [`super::Routing::read`].
    pub(super) fn read(&self, router: RouterId, values: &mut Vec<f64>) {
        let states = &self.states[self.transit(router)];
        let each = || states.iter().map(|state| state.probability);
        values.push(each().fold(100.0, f64::min));
        values.push(each().sum::<f64>() / states.len() as f64);
        values.extend(each());
    }

    /// See [`super::Routing::bytes`].
    pub(super) fn bytes(&self) -> usize {
        self.states.len() * size_of::<PortState>()
    }
}
