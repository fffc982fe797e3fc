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
//! With `phase_a` the alternative is not a fixed port: a switch with a programmable data path draws an intermediate
//! router, by a fixed policy, by ACOR with the trigger `notifications`, or by LIAN, whose counters see what the own
//! hosts send. Notifications may also be those of receivers that have got marked packets (ECN): they come by the
//! port of the minimal path, count as feedback 63, and those of packets on detours change no `P`.
//!
//! # Source
//! Thesis 4.6, equations 4-3 to 4-5; Benito et al., HiPINEB 2017, III, with its future work (IV.D):
//! other laws of increase and decrease, and several alternatives; decay: thesis 4.6.3. The law
//! `subtractive`, and `source_processing = "base"`: FOGSim. `phase_a`, marks and `endpoint`: our own, after the thesis'
//! future directions (8.2): LIAN and ACOR on programmable switches without credits, and congestion of endpoints told
//! from that of the network.
//!
//! # Parameters
//! `feedback`: `base` or `comparison` (default); `limit` L_f (default 1/64); `packets` PC_l (default 100);
//! `increase` PI in points of percent (default 1); `lower` Th1 (default 0) and `upper` Th2 (default 30);
//! `source_processing`: `off` (default), `same`, by the rule of `feedback`, or `base`, by the base rule whatever
//! that is, of `source_inputs`: `all` (default) or `local`, those of links within the group; `decrease_law`:
//! `multiplicative` (default), or `subtractive`, by so many points as the first would take of 100; `increase_law`: `additive` (default), or `multiplicative`, by `increase` percent of `P`; `least`, below
//! which `P` does not fall (default 0); `decay`, half-life of the last feedback of a port, in cycles or
//! as a time (default: none); `alternatives` of each host, of which one is drawn (default 1); `phase_a`, a policy as
//! that of Valiant (default: the alternatives of the host); `endpoint`: notifications of queues to hosts, which no
//! path avoids, `count` (default) or are `ignored`; `vc_use`.
//!
//! # Deadlock freedom
//! As Valiant with `-g-`: 3 local and 2 global VCs in a Dragonfly, 2 and 2 with `vc_use = "compact"`; with `phase_a` as
//! Valiant with that policy.
//!
//! # Limits
//! Needs `network.congestion_point.qcn`, or `network.nic.notification_point.cnp` for marks; with these take `feedback =
//! "base"`, since all ports hear the same number. A packet says whether it is on a detour by a bit that its notification
//! repeats. Notifications act when they are granted at the switch of their host, to
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
use super::phase_a::{DetourPlan, Detours, Policy};
use super::probability::{DecreaseLaw, FeedbackRule, IncreaseLaw, Probabilities, Rules};
use super::{
    Fabric, Follows, Header, Hop, Injection, Made, Notification, Place, Plan, Queue, RouterView,
    Routing, Watches,
};
use crate::ids::{Cycle, PortId, RouterId};
use crate::probe::PathKind;
use crate::spec::{Quantity, SpecError, VcUse, is_default};
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
    /// Which inputs these are. Default `all`.
    #[serde(skip_serializing_if = "is_default")]
    pub source_inputs: SourceInputs,
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
    /// Detours by a phase-A policy, drawn for every packet. Default: the alternatives of its host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_a: Option<Policy>,
    /// What notifications of queues to hosts do. Default `count`.
    #[serde(skip_serializing_if = "is_default")]
    pub endpoint: EndpointRule,
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
            source_inputs: SourceInputs::All,
            decrease_law: DecreaseLaw::Multiplicative,
            increase_law: IncreaseLaw::Additive,
            least: 0.0,
            decay: None,
            alternatives: 1,
            phase_a: None,
            endpoint: EndpointRule::Count,
            vc_use: VcUse::PathPosition,
        }
    }
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

/// Of which inputs a switch follows its own notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceInputs {
    /// Of all (thesis 4.6.4).
    #[default]
    All,
    /// Of those whose links come from routers of the same group (HiPINEB 2017, III.B).
    Local,
}

/// What notifications of queues to hosts do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndpointRule {
    /// What all others do.
    #[default]
    Count,
    /// Nothing: they are for the host that sends too much.
    Ignored,
}

/// What happened.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Count {
    decided: u64,
    diverted: u64,
    heard: u64,
    ignored: u64,
}

struct QcnSwitch {
    rules: Conditional,
    /// Where detours lead, if not by the alternative of the host.
    detours: Option<Detours>,
    probabilities: Probabilities,
    spec: QcnSwitchSpec,
    count: Count,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology without groups, and parameters out of range.
pub fn plan(spec: &QcnSwitchSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let path = "routing.qcn_switch";
    let mut rules = Conditional::new(fabric, path, spec.vc_use)?;
    let detours = spec.phase_a.as_ref().map(|policy| detours(policy, spec, fabric)).transpose()?;
    if let Some(detours) = &detours {
        rules = rules.with_ladder(detours.ladder(path, spec.vc_use)?);
    }
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
    let law = Rules {
        limit: spec.limit,
        decrease: spec.decrease_law,
        increase: spec.increase,
        increase_law: spec.increase_law,
        least: spec.least,
        lower: spec.lower,
        upper: spec.upper,
        packets: spec.packets,
        half_life,
    };
    let spec = spec.clone();
    let (topology, vcs) = (fabric.topology.clone(), rules.vcs());
    let agent = Box::new(move |first: RouterId, count: u32| -> Box<dyn Routing> {
        let routers = first.0..first.0 + count;
        let ports = routers.map(|router| topology.radix(RouterId(router))).max().unwrap_or(0);
        let is_host = |port: &u16| {
            matches!(topology.peer(first, PortId(*port)), crate::topology::Peer::Host(_))
        };
        let hosts = (0..topology.radix(first)).take_while(is_host).count();
        Box::new(QcnSwitch {
            rules: rules.clone(),
            detours: detours.as_ref().map(|plan| plan.agent(first, count)),
            probabilities: Probabilities::new(&law, (first, count), (ports.into(), hosts)),
            spec: spec.clone(),
            count: Count::default(),
        })
    });
    Ok(Plan { agent, vcs })
}

/// Detours by a policy.
fn detours(
    policy: &Policy,
    spec: &QcnSwitchSpec,
    fabric: &Fabric,
) -> Result<DetourPlan, SpecError> {
    let path = "routing.qcn_switch";
    if spec.alternatives != 1 {
        let message = "detours are drawn by phase_a, and not among the alternatives of a host";
        return Err(SpecError::new(format!("{path}.alternatives"), message).choices(["1"]));
    }
    // Only packets for other groups are diverted, and not through the own one.
    let detours = DetourPlan::new(fabric, path, (policy, false, None), [0, 0])?;
    if detours.redraws() {
        let message = "blocked attempts show credits and outputs, and a look-up is made once";
        let error = SpecError::new(format!("{path}.phase_a.acor.trigger"), message);
        return Err(error.choices(["notifications"]));
    }
    Ok(detours)
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
        let nth = match self.spec.alternatives {
            1 => 0,
            many => view.rng.below(many),
        };
        let drawn = f64::from(view.rng.below(100) + 1);
        let goes_minimally = drawn <= self.probabilities.of(at, minimal.port);
        let Some(detours) = &mut self.detours else {
            let Some(over) = self.rules.alternative(at, view.input, nth) else { return minimal };
            self.count.decided += 1;
            if goes_minimally {
                return minimal;
            }
            self.count.diverted += 1;
            return self.rules.divert(at, header, over);
        };
        self.count.decided += 1;
        if goes_minimally {
            return minimal;
        }
        let over = detours.draw(view, header);
        let hop = self.rules.detour(at, header, over);
        self.count.diverted += u64::from(header.kind() != PathKind::Minimal);
        hop
    }

    fn follows(&self) -> Option<Follows> {
        Some(self.rules.follows())
    }

    fn watches(&self) -> Watches {
        let own = Watches { notifications: true, departures: true, ..Watches::default() };
        let injections = self.detours.as_ref().is_some_and(|detours| detours.watches().injections);
        Watches { injections, ..own }
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        if let Some(detours) = &mut self.detours {
            detours.injection(queue, event, header.destination);
        }
    }

    fn notified(&mut self, told: &Notification) {
        let (rule, place) = (self.spec.feedback, told.about.place);
        if let Some(detours) = &mut self.detours {
            detours.notified(told);
        }
        if place == Place::Endpoint && self.spec.endpoint == EndpointRule::Ignored {
            self.count.ignored += u64::from(told.ends);
            return;
        }
        // What a receiver has to say of a detour says nothing of the port by which it comes.
        if place == Place::Unknown && told.about.diverted {
            return;
        }
        if told.made == Some(Made::AtInput) {
            let local = match self.spec.source_processing {
                SourceProcessing::Off => return,
                SourceProcessing::Same => rule,
                SourceProcessing::Base => FeedbackRule::Base,
            };
            let (to, _) = told.to;
            let counts = match self.spec.source_inputs {
                SourceInputs::All => true,
                SourceInputs::Local => !self.rules.leaves_group(told.router, told.port),
            };
            if counts && self.rules.is_conditional(told.router, to) {
                let port = self.rules.minimal(told.router, &mut Header::new(to)).port;
                self.count.heard += 1;
                self.probabilities.apply(told, port, local);
            }
        } else if told.ends && told.port.index() >= self.probabilities.hosts {
            self.count.heard += 1;
            self.probabilities.apply(told, told.port, rule);
        }
    }

    fn sent(&mut self, router: RouterId, port: PortId) {
        self.probabilities.sent(router, port);
    }

    fn gauges(&self) -> Vec<String> {
        let mut names = self.probabilities.gauges();
        names.extend(self.detours.iter().flat_map(Detours::gauges));
        names
    }

    fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        self.probabilities.read(router, values);
        if let Some(detours) = &mut self.detours {
            detours.read(router, now, values);
        }
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        let Count { decided, diverted, heard, ignored } = self.count;
        let Probabilities { lowered, raised, .. } = self.probabilities;
        let mut deeds = vec![
            ("diverted", diverted),
            ("decided", decided),
            ("notifications", heard),
            ("lowered", lowered),
            ("raised", raised),
        ];
        if self.spec.endpoint == EndpointRule::Ignored {
            deeds.push(("ignored", ignored));
        }
        deeds
    }

    fn bytes(&self) -> usize {
        let detours = self.detours.as_ref().map_or(0, Detours::bytes);
        self.probabilities.bytes() + detours
    }

    state! { keep probabilities, count; each detours; leave rules, spec; }
}
