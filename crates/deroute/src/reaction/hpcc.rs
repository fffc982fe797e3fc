//! Reaction point of HPCC (high precision congestion control): windows by in-band telemetry.
//!
//! # What it does
//! Each flow has a window W, the data of its link in `base_rtt` at first, and a rate, W over `base_rtt`. An
//! acknowledgement brings back what its packet has met at each output. With what the one before it brought, that gives
//! the use of each link: the shorter of both queues over what the link carries in `base_rtt`, plus the share of the time
//! between both in which it was busy. U follows the largest of the uses, with the weight of that time in `base_rtt`. Where
//! U is `utilisation` or more, or after `stages` round trips with less, W is W_c `utilisation` / U + `increase`; otherwise
//! W_c + `increase`. W_c becomes W once a round trip: with the acknowledgement of the first packet that was sent after the
//! last time.
//!
//! # Source
//! Li et al., HPCC: High precision congestion control, SIGCOMM 2019, algorithm 1 and 3.3.
//!
//! # Parameters
//! `base_rtt` (required): round-trip time of an idle network, the longest there is; `increase` (required), W_AI, in phits or
//! as an amount of data: of the data of the link in `base_rtt` the 20th part, 1 - `utilisation`, over as many flows as are
//! expected to share a link; `utilisation` eta (default 0.95); `stages` (default 5).
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`), and switches that write what packets meet
//! (`network.congestion_point.int`). Packets of a flow that take different paths tell of different links: each tells only
//! by the packet before it that took the same. A window is no less than `increase`, and one packet may always be under way.
//! Where packets can be lost it needs `network.nic.retransmission`; a loss changes no window.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.hpcc]
//! base_rtt = "13 us"
//! increase = "80 B"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acknowledged, Allowance, Control, Law, ReactionPlan, Setting};
use crate::congestion::Trail;
use crate::spec::{Quantity, SpecError};

/// Parameters of the reaction point of HPCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HpccSpec {
    /// Round-trip time of an idle network: cycles or a time.
    pub base_rtt: Quantity,
    /// Step of the window: phits, or an amount of data.
    pub increase: Quantity,
    /// Use of links that flows aim at, above 0, up to 1. Default 0.95.
    #[serde(default = "utilisation")]
    pub utilisation: f64,
    /// Round trips in which a window only takes steps, from 0. Default 5.
    #[serde(default = "stages")]
    pub stages: u32,
}

fn utilisation() -> f64 {
    0.95
}

fn stages() -> u32 {
    5
}

const PATH: &str = "network.nic.reaction_point.hpcc";

/// Resolves the parameters.
pub(crate) fn plan(spec: &HpccSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let period = f64::from(setting.host_period(PATH)?);
    setting.acknowledged(PATH)?;
    if !setting.telemetry {
        let message = "no switch writes what packets meet";
        return Err(SpecError::new(PATH, message).choices(["network.congestion_point.int"]));
    }
    let at = |key: &str| format!("{PATH}.{key}");
    if !(spec.utilisation > 0.0 && spec.utilisation <= 1.0) {
        let message = format!("{} is no use of a link", spec.utilisation);
        return Err(SpecError::new(at("utilisation"), message).choices(["above 0, up to 1"]));
    }
    let base = f64::from(setting.scale.duration(&at("base_rtt"), &spec.base_rtt)?);
    let increase = setting.cycle_of_phits(&at("increase"), &spec.increase)?;
    let most = base / period;
    if increase > most {
        let message = format!("{increase} phits are more than the link carries in base_rtt");
        return Err(SpecError::new(at("increase"), message).choices([format!("up to {most:.0}")]));
    }
    let HpccSpec { utilisation, stages, .. } = *spec;
    let plan = Plan { base, most, increase, utilisation, stages };
    Ok(ReactionPlan::of_destinations(Law::Hpcc(plan)))
}

/// The constants of a window. Times are in cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) base: f64,
    /// Phits of the link of the host in that time, and of a step.
    pub(crate) most: f64,
    pub(crate) increase: f64,
    pub(crate) utilisation: f64,
    pub(crate) stages: u32,
}

/// The window of a flow, in phits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HpccWindow {
    window: f64,
    /// As a share of the link of the host.
    rate: f64,
    reference: f64,
    /// Round trips in which it only took steps.
    stage: u32,
    /// Use of the busiest link.
    used: f64,
    /// What the last packet met.
    met: Trail,
    /// Phits of the flow that have come when all have that were under way as the reference was set.
    set_at: u32,
}

impl HpccWindow {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            window: plan.most,
            rate: 1.0,
            reference: plan.most,
            stage: 0,
            used: 1.0,
            met: Trail::default(),
            set_at: 0,
        }
    }

    /// A packet has come, with so many phits of its flow and of so many that have left, and has met this.
    pub(super) fn hear(&mut self, plan: &Plan, (come, sent): (u32, u32), met: &Trail) {
        let before = std::mem::replace(&mut self.met, *met);
        let Some((used, time)) = busiest(plan, &before, met) else { return };
        let weight = (time / plan.base).min(1.0);
        self.used = (1.0 - weight) * self.used + weight * used;
        // Since it was set, a packet has been there and back.
        let sets = come.wrapping_sub(self.set_at) as i32 > 0;
        let falls = self.used >= plan.utilisation || self.stage >= plan.stages;
        let share = if falls { plan.utilisation / self.used } else { 1.0 };
        let window = self.reference * share + plan.increase;
        self.window = window.clamp(plan.increase, plan.most);
        self.rate = self.window / plan.most;
        if sets {
            self.stage = if falls { 0 } else { self.stage + 1 };
            (self.reference, self.set_at) = (self.window, sent);
        }
    }
}

impl Allowance for HpccWindow {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn window(&self) -> Option<f64> {
        Some(self.window)
    }
}

impl Control for Plan {
    // It keeps much.
    type Flow = Box<HpccWindow>;

    const BOXED: u64 = size_of::<HpccWindow>() as u64 + 16;

    fn begin(&self) -> Box<HpccWindow> {
        Box::new(HpccWindow::new(self))
    }

    fn hear(&self, own: &mut Box<HpccWindow>, heard: &Acknowledged<'_>) {
        if let Some(met) = heard.met {
            own.hear(self, (heard.receipt.come, heard.sent), met);
        }
    }
}

/// The use of the busiest link of a path, and the time in which it was; none if two packets took different ones.
fn busiest(plan: &Plan, before: &Trail, met: &Trail) -> Option<(f64, f64)> {
    if !met.same_path(before) {
        return None;
    }
    let uses = met.hops().iter().zip(before.hops()).filter_map(|(now, last)| {
        let time = f64::from(now.at.checked_sub(last.at).filter(|time| *time > 0)?);
        let period = f64::from(now.period);
        let queue = f64::from(now.queue.min(last.queue)) * period / plan.base;
        let sent = f64::from(now.sent.wrapping_sub(last.sent));
        Some((queue + sent * period / time, time))
    });
    uses.max_by(|(one, _), (other, _)| one.total_cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Met;

    /// 100 phits in a round trip of 200 cycles.
    const PLAN: Plan =
        Plan { base: 200.0, most: 100.0, increase: 1.0, utilisation: 0.95, stages: 5 };

    /// What a packet meets at an output that is as fast as the host: a queue, phits sent, and when.
    fn trail(queue: u32, sent: u32, at: u32) -> Trail {
        let mut trail = Trail::default();
        trail.add(Met { router: 3, port: 1, period: 2, queue, sent, at });
        trail
    }

    /// U of a link: the shorter queue over what it carries in a round trip, and the share of the time in which it was busy.
    #[test]
    fn the_use_of_a_link_is_queue_and_rate() {
        let (before, met) = (trail(50, 1_000, 500), trail(20, 1_060, 700));
        assert_eq!(busiest(&PLAN, &before, &met), Some((0.2 + 0.6, 200.0)));
        // The busiest one counts, and another path tells nothing.
        let (mut one, mut other) = (before, met);
        one.add(Met { router: 4, port: 1, period: 2, queue: 0, sent: 0, at: 510 });
        other.add(Met { router: 4, port: 1, period: 2, queue: 9, sent: 90, at: 710 });
        assert_eq!(busiest(&PLAN, &one, &other), Some((0.9, 200.0)));
        assert_eq!(busiest(&PLAN, &before, &other), None);
    }

    /// A window follows the use at once, and its reference once a round trip.
    #[test]
    fn a_window_follows_the_use() {
        let mut window = HpccWindow::new(&PLAN);
        window.hear(&PLAN, (10, 100), &trail(0, 0, 0));
        assert_eq!(window.window, 100.0, "one packet tells no rate");
        // Twice as busy as a link can be: 100 phits wait.
        window.hear(&PLAN, (20, 100), &trail(0, 0, 0));
        window.hear(&PLAN, (30, 100), &trail(100, 100, 200));
        assert_eq!(
            (window.used, window.window),
            (1.0, 96.0),
            "it is the shorter queue that counts"
        );
        assert_eq!((window.reference, window.set_at), (96.0, 100));
        window.hear(&PLAN, (40, 100), &trail(100, 200, 400));
        let fallen = 96.0 * 0.95 / 2.0 + 1.0;
        assert_eq!((window.used, window.window, window.reference), (2.0, fallen, 96.0));
        assert_eq!(window.rate, fallen / 100.0);
        // What was sent after the reference was set has come.
        window.hear(&PLAN, (110, 100), &trail(100, 300, 600));
        assert_eq!((window.reference, window.stage), (fallen, 0));
    }

    /// An idle link: steps for five round trips, then as far as the use allows.
    #[test]
    fn a_window_takes_steps_and_then_a_leap() {
        let mut window = HpccWindow { window: 20.0, reference: 20.0, ..HpccWindow::new(&PLAN) };
        window.used = 0.4;
        let mut found = Vec::new();
        for turn in 0..8 {
            window.hear(&PLAN, (1 + turn, 100), &trail(0, 40 * turn, 200 * turn));
            found.push(window.window);
            window.set_at = 0;
        }
        assert_eq!(found[..6], [20.0, 21.0, 22.0, 23.0, 24.0, 25.0]);
        let leap = 25.0 * 0.95 / 0.4;
        let off = |found: f64, wanted: f64| (found / wanted - 1.0).abs();
        assert!(
            off(found[6], leap + 1.0) < 1e-12 && off(found[7], leap + 2.0) < 1e-12,
            "{found:?}"
        );
    }
}
