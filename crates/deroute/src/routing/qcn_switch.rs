//! QCN-Switch: adaptive routing by the notifications of QCN.
//!
//! # What it does
//! Flow rules with a probability, in percent, for each port to another router: a packet that enters the network
//! for another group draws a number from 1 to 100, and takes the minimal path unless the number exceeds the
//! probability `P` of its output; then it takes the alternative of its host, as MAR-bP does (`-g-`).
//!
//! The switch of a host sees the notifications for it. One of feedback `f` that came by a port lowers the
//! `P` of that port; one that the switch made itself, of a queue at an output, that of the output. `base`: `P` is multiplied
//! by `1 - limit f`. `comparison`: with the mean `a` of the last feedback of all ports, `P` is multiplied
//! by `1 - limit (f - a)` if `f > a + upper`, and rises by `increase` if `f < a - lower`. `P` rises by
//! `increase` after each `packets` that left by the port since the last notification. With `source_processing` a
//! switch that makes a notification of a queue at an input also lowers the `P` of the output of the minimal
//! path of the packet that it tells of, if that is for another group.
//!
//! # Source
//! Thesis 4.6, equations 4-3 to 4-5; Benito et al., HiPINEB 2017, III, with its future work (IV.D):
//! other laws of increase and decrease, and several alternatives; decay: thesis 4.6.3. The law
//! `subtractive`, and `source_processing = "base"`: FOGSim.
//!
//! # Parameters
//! `feedback`: `base` or `comparison` (default); `limit` L_f (default 1/64); `packets` PC_l (default 100);
//! `increase` PI in points of percent (default 1); `lower` Th1 (default 0) and `upper` Th2 (default 30);
//! `source_processing`: `off` (default), `same`, by the rule of `feedback`, or `base`, by the base rule whatever
//! that is; `decrease_law`: `multiplicative` (default), or `subtractive`, by so many points as the first would take of
//! 100; `increase_law`: `additive` (default), or `multiplicative`, by `increase` percent of `P`; `least`, below
//! which `P` does not fall (default 0); `decay`, half-life of the last feedback of a port, in cycles or
//! as a time (default: none); `alternatives` of each host, of which one is drawn (default 1); `vc_use`.
//!
//! # Deadlock freedom
//! As Valiant with `-g-`: 3 local and 2 global VCs in a Dragonfly, 2 and 2 with `vc_use = "compact"`.
//!
//! # Limits
//! Needs `network.congestion_point.qcn`. Notifications act when they are granted at the switch of their host, to
//! which they go on.
//!
//! # Example
//! ```toml
//! [routing.qcn_switch]
//! feedback = "comparison"
//! limit = 0.015625
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditional::Conditional;
use super::{Fabric, Follows, Header, Hop, Made, Notification, Plan, RouterView, Routing, Watches};
use crate::ids::{Cycle, PortId, RouterId};
use crate::spec::{Quantity, SpecError, VcUse};
use crate::state::state;

/// Parameters of QCN-Switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QcnSwitchSpec {
    /// What a notification does. Default `comparison`.
    pub feedback: FeedbackRule,
    /// `L_f`, by which feedback is multiplied, above 0, up to 1. Default 1/64.
    pub limit: f64,
    /// `PC_l`: packets through a port after which its probability rises, from 1. Default 100.
    pub packets: u32,
    /// `PI`: points of percent by which it rises, 0 to 100. Default 1.
    pub increase: f64,
    /// `Th1`: the probability rises if feedback is by more than this below the mean, 0 to 63. Default 0.
    pub lower: f64,
    /// `Th2`: it falls if feedback is by more than this above the mean, 0 to 63. Default 30.
    pub upper: f64,
    /// A switch follows the notifications that it makes of its inputs. Default `off`.
    pub source_processing: SourceProcessing,
    /// How the probability falls. Default `multiplicative`.
    pub decrease_law: DecreaseLaw,
    /// How it rises. Default `additive`.
    pub increase_law: IncreaseLaw,
    /// Points of percent below which it does not fall, 0 to 100. Default 0.
    pub least: f64,
    /// Half-life of the last feedback of a port: cycles or a time. Default: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay: Option<Quantity>,
    /// Alternatives of each host, of which one is drawn for every packet, from 1. Default 1.
    pub alternatives: u32,
    /// How the VC follows from the position on the path. Default `path-position`.
    pub vc_use: VcUse,
}

impl Default for QcnSwitchSpec {
    fn default() -> Self {
        Self {
            feedback: FeedbackRule::Comparison,
            limit: 1.0 / 64.0,
            packets: 100,
            increase: 1.0,
            lower: 0.0,
            upper: 30.0,
            source_processing: SourceProcessing::Off,
            decrease_law: DecreaseLaw::Multiplicative,
            increase_law: IncreaseLaw::Additive,
            least: 0.0,
            decay: None,
            alternatives: 1,
            vc_use: VcUse::PathPosition,
        }
    }
}

/// What a notification does to the probability of its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeedbackRule {
    /// It falls.
    Base,
    /// It falls or rises, as feedback is above or below the mean of all ports.
    Comparison,
}

/// Does a switch follow the notifications that it makes of its inputs?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceProcessing {
    /// No.
    Off,
    /// As all others.
    Same,
    /// By the base rule.
    Base,
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

/// The arithmetic, which all ports share.
#[derive(Clone)]
struct Rules {
    spec: QcnSwitchSpec,
    half_life: Option<Cycle>,
}

impl Rules {
    fn lower(&self, state: &mut PortState, excess: f64) {
        let share = (self.spec.limit * excess).min(1.0);
        let next = match self.spec.decrease_law {
            DecreaseLaw::Multiplicative => state.probability * (1.0 - share),
            DecreaseLaw::Subtractive => state.probability - 100.0 * share,
        };
        state.probability = next.max(self.spec.least);
    }

    fn raise(&self, state: &mut PortState) {
        let points = match self.spec.increase_law {
            IncreaseLaw::Additive => self.spec.increase,
            IncreaseLaw::Multiplicative => self.spec.increase / 100.0 * state.probability,
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

/// What happened.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Count {
    decided: u64,
    diverted: u64,
    heard: u64,
    lowered: u64,
    raised: u64,
}

struct QcnSwitch {
    rules: Conditional,
    law: Rules,
    first: RouterId,
    /// Ports of a router, and those of them that lead to hosts.
    ports: usize,
    hosts: usize,
    states: Vec<PortState>,
    count: Count,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology without groups, and parameters out of range.
pub fn plan(spec: &QcnSwitchSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let path = "routing.qcn_switch";
    let rules = Conditional::new(fabric, path, spec.vc_use)?;
    let within = |key: &str, value: f64, most: f64, from: f64| {
        if value >= from && value <= most {
            return Ok(());
        }
        let message = format!("{value} is out of range");
        Err(SpecError::new(format!("{path}.{key}"), message).choices([format!("{from} to {most}")]))
    };
    within("limit", spec.limit, 1.0, f64::MIN_POSITIVE)?;
    within("increase", spec.increase, 100.0, 0.0)?;
    within("lower", spec.lower, 63.0, 0.0)?;
    within("upper", spec.upper, 63.0, 0.0)?;
    within("least", spec.least, 100.0, 0.0)?;
    for (key, value) in [("packets", spec.packets), ("alternatives", spec.alternatives)] {
        if value == 0 {
            let message = "0 is none";
            return Err(SpecError::new(format!("{path}.{key}"), message).choices(["1 and more"]));
        }
    }
    let decay = |decay| fabric.scale.interval(&format!("{path}.decay"), decay, 1);
    let half_life = spec.decay.as_ref().map(decay).transpose()?;
    let law = Rules { spec: spec.clone(), half_life };
    let (topology, vcs) = (fabric.topology.clone(), rules.vcs());
    let agent = Box::new(move |first: RouterId, count: u32| -> Box<dyn Routing> {
        let routers = first.0..first.0 + count;
        let ports = routers.map(|router| topology.radix(RouterId(router))).max().unwrap_or(0);
        let is_host = |port: &u16| {
            matches!(topology.peer(first, PortId(*port)), crate::topology::Peer::Host(_))
        };
        let hosts = (0..topology.radix(first)).take_while(is_host).count();
        let fresh = PortState { probability: 100.0, feedback: 0.0, heard: 0, sent: 0 };
        Box::new(QcnSwitch {
            rules: rules.clone(),
            law: law.clone(),
            first,
            ports: ports.into(),
            hosts,
            states: vec![fresh; usize::from(ports) * count as usize],
            count: Count::default(),
        })
    });
    Ok(Plan { agent, vcs })
}

impl QcnSwitch {
    fn cell(&self, router: RouterId, port: PortId) -> usize {
        (router.0 - self.first.0) as usize * self.ports + port.index()
    }

    /// The states of the ports of a router to other routers.
    fn transit(&self, router: RouterId) -> std::ops::Range<usize> {
        let first = self.cell(router, PortId(0));
        first + self.hosts..first + self.ports
    }

    /// A notification tells of the queue that packets through a port go to.
    fn apply(&mut self, told: &Notification, port: PortId, rule: FeedbackRule) {
        let (cell, now) = (self.cell(told.router, port), told.now);
        let feedback = f64::from(told.feedback);
        let Self { law, count, .. } = self;
        let state = &mut self.states[cell];
        (state.feedback, state.heard, state.sent) = (feedback, now, 0);
        if rule == FeedbackRule::Base {
            law.lower(state, feedback);
            count.lowered += 1;
            return;
        }
        let ports = self.transit(told.router);
        let all = &self.states[ports.clone()];
        let sum: f64 = all.iter().map(|state| self.law.last(state, now)).sum();
        let mean = sum / ports.len() as f64;
        let (state, QcnSwitchSpec { lower, upper, .. }) = (&mut self.states[cell], &self.law.spec);
        if feedback > mean + upper {
            self.law.lower(state, feedback - mean);
            self.count.lowered += 1;
        } else if feedback < mean - lower {
            self.law.raise(state);
            self.count.raised += 1;
        }
    }
}

impl Routing for QcnSwitch {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let at = view.router;
        if header.position > 0 {
            return self.rules.follow(at, header);
        }
        let minimal = self.rules.minimal(at, header);
        if !self.rules.is_conditional(at, header.destination) {
            return minimal;
        }
        let nth = match self.law.spec.alternatives {
            1 => 0,
            many => view.rng.below(many),
        };
        let drawn = f64::from(view.rng.below(100) + 1);
        let Some(over) = self.rules.alternative(at, view.input, nth) else { return minimal };
        self.count.decided += 1;
        if drawn <= self.states[self.cell(at, minimal.port)].probability {
            return minimal;
        }
        self.count.diverted += 1;
        self.rules.divert(at, header, over)
    }

    fn follows(&self) -> Option<Follows> {
        Some(self.rules.follows())
    }

    fn watches(&self) -> Watches {
        Watches { notifications: true, departures: true, ..Watches::default() }
    }

    fn notified(&mut self, told: &Notification) {
        let rule = self.law.spec.feedback;
        if told.made == Some(Made::AtInput) {
            let local = match self.law.spec.source_processing {
                SourceProcessing::Off => return,
                SourceProcessing::Same => rule,
                SourceProcessing::Base => FeedbackRule::Base,
            };
            let (to, _) = told.to;
            if self.rules.is_conditional(told.router, to) {
                let port = self.rules.minimal(told.router, &mut Header::new(to)).port;
                self.count.heard += 1;
                self.apply(told, port, local);
            }
        } else if told.ends && told.port.index() >= self.hosts {
            self.count.heard += 1;
            self.apply(told, told.port, rule);
        }
    }

    fn sent(&mut self, router: RouterId, port: PortId) {
        let cell = self.cell(router, port);
        let state = &mut self.states[cell];
        state.sent += 1;
        if state.sent == self.law.spec.packets {
            state.sent = 0;
            // What cannot rise any more has not risen.
            self.count.raised += u64::from(state.probability < 100.0);
            self.law.raise(state);
        }
    }

    fn gauges(&self) -> Vec<String> {
        let mut names = vec!["probability_min".to_owned(), "probability_mean".to_owned()];
        names.extend((self.hosts..self.ports).map(|port| format!("probability_{port}")));
        names
    }

    fn read(&mut self, router: RouterId, _now: Cycle, values: &mut Vec<f64>) {
        let states = &self.states[self.transit(router)];
        let each = || states.iter().map(|state| state.probability);
        values.push(each().fold(100.0, f64::min));
        values.push(each().sum::<f64>() / states.len() as f64);
        values.extend(each());
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        let Count { decided, diverted, heard, lowered, raised } = self.count;
        vec![
            ("diverted", diverted),
            ("decided", decided),
            ("notifications", heard),
            ("lowered", lowered),
            ("raised", raised),
        ]
    }

    fn bytes(&self) -> usize {
        self.states.len() * size_of::<PortState>()
    }

    state! { keep states, count; leave rules, law, first, ports, hosts; }
}
