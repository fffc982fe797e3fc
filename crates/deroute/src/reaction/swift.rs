//! Swift: a window that follows the delay of acknowledgements.
//!
//! # What it does
//! The round trip of a packet, from the cycle in which it leaves its host to the last phit of its
//! acknowledgement, is held against a target. Below it a window of w packets grows by `increase` / w for
//! each packet acknowledged, below one packet by `increase`; at or above it, at most once in a round trip,
//! it shrinks by the share `decrease` (delay - target) / delay, but by no more than `most_cut`. The target is
//! `target`, and `hop` for each link between switches on the way, and with `flow_scaling`
//! a / sqrt(w) - b between 0 and `range`, where a and b make it 0 for `most` packets and `range` for `least`.
//! A window of less than a packet lets one packet leave in each round trip / w. A packet that is lost cuts the
//! window by `most_cut`, at most once in a round trip; after five timeouts in a row, as in htsim, each at least a round trip
//! after the one before, it is the smallest. Before it has seen a round trip a flow takes the target for one.
//!
//! # Source
//! Kumar et al., Swift: delay is simple and effective for congestion control in the datacenter, SIGCOMM
//! 2020, algorithm 1 and 3.1 to 3.5. A cut begins its round trip; the printed line would also have
//! acknowledgements that change nothing begin one.
//!
//! # Parameters
//! No defaults where the values of deployments are not published: `target`, a time; `increase`, in packets;
//! `decrease` and `most_cut`, shares; `least_window` and `largest_window`, phits or data, between which the
//! window stays; a flow begins with the largest. `hop`: a time (default none). `flow_scaling`: `range`, a time,
//! `least` and `most`, in packets (default none). A packet is the largest one of the run.
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), and receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`). Where packets can be lost it needs
//! `network.nic.retransmission`. Hosts take what arrives at once: there is no window for endpoints.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.swift]
//! target = "25 us"
//! increase = 1.0
//! decrease = 0.8
//! most_cut = 0.5
//! least_window = "100 B"
//! largest_window = "100 KB"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acknowledged, Allowance, Control, Law, Lost, ReactionPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of Swift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwiftSpec {
    /// Round trip that it aims at: cycles, or a time.
    pub target: Quantity,
    /// Packets by which a window grows in a round trip below the target.
    pub increase: f64,
    /// Share of the excess delay by which a window shrinks, 0 to 1.
    pub decrease: f64,
    /// Share of a window that a cut takes at the most, 0 to 1.
    pub most_cut: f64,
    /// Smallest window, which may be less than a packet: phits, or an amount of data.
    pub least_window: Quantity,
    /// Largest window, with which a flow begins: phits, or an amount of data.
    pub largest_window: Quantity,
    /// What each link between switches adds to the target. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop: Option<Quantity>,
    /// What small windows add to the target. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_scaling: Option<FlowScaling>,
}

/// What small windows add to the target of Swift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowScaling {
    /// The most: cycles, or a time.
    pub range: Quantity,
    /// Packets of the window that adds the most.
    pub least: f64,
    /// Packets of the window that adds nothing.
    pub most: f64,
}

const PATH: &str = "network.nic.reaction_point.swift";

/// Resolves the parameters.
pub(crate) fn plan(spec: &SwiftSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let period = setting.host_period(PATH)?;
    setting.acknowledged(PATH)?;
    let at = |key: &str| format!("{PATH}.{key}");
    let time = |key: &str, time: &Quantity| -> Result<f64, SpecError> {
        Ok(f64::from(setting.scale.duration(&at(key), time)?))
    };
    let most = f64::from(setting.window(&at("largest_window"), &spec.largest_window)?);
    let least = setting.scale.phits_down(&at("least_window"), &spec.least_window)?;
    if !(1..=most as u64).contains(&least) {
        let message = format!("{least} phits are no smallest window");
        let choices = [format!("1 to those of the largest, {most}")];
        return Err(SpecError::new(at("least_window"), message).choices(choices));
    }
    let scaling = match &spec.flow_scaling {
        None => (0.0, 0.0, 0.0),
        Some(scaling) => {
            let FlowScaling { range, least, most } = scaling;
            let range = time("flow_scaling.range", range)?;
            if !(0.0 < *least && least < most && most.is_finite()) {
                let message = format!("{least} to {most} packets are no range");
                return Err(SpecError::new(at("flow_scaling"), message)
                    .choices(["least above 0 and below most"]));
            }
            let a = range / (least.sqrt().recip() - most.sqrt().recip());
            (range, a, a / most.sqrt())
        }
    };
    Ok(ReactionPlan::of_destinations(Law::Swift(Plan {
        target: time("target", &spec.target)?,
        hop: spec.hop.as_ref().map_or(Ok(0.0), |hop| time("hop", hop))?,
        scaling,
        increase: super::positive(&at("increase"), spec.increase)?,
        decrease: super::share(&at("decrease"), spec.decrease)?,
        most_cut: super::share(&at("most_cut"), spec.most_cut)?,
        packet: setting.largest.into(),
        least: least as f64,
        most,
        period: f64::from(period),
    })))
}

/// Timeouts in a row after which a window is the smallest.
const RESET: u32 = 5;

/// The constants of Swift, in phits and cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    target: f64,
    hop: f64,
    /// The most that small windows add, and a and b of the term that does.
    scaling: (f64, f64, f64),
    increase: f64,
    decrease: f64,
    most_cut: f64,
    packet: f64,
    least: f64,
    most: f64,
    period: f64,
}

/// The window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SwiftWindow {
    /// Phits, and the share of the link with which packets follow each other.
    window: f64,
    rate: f64,
    /// When it was cut last, and the last round trip.
    cut_at: f64,
    round_trip: f64,
    /// Timeouts since the last acknowledgement, and when the last one was.
    timeouts: u32,
    late_at: f64,
}

impl Plan {
    fn target(&self, packets: f64, hops: u8) -> f64 {
        let (range, a, b) = self.scaling;
        self.target + f64::from(hops) * self.hop + (a / packets.sqrt() - b).clamp(0.0, range)
    }

    fn bound(&self, own: &mut SwiftWindow) {
        own.window = own.window.clamp(self.least, self.most);
        own.rate = match own.window < self.packet && own.round_trip > 0.0 {
            true => (own.window / own.round_trip * self.period).min(1.0),
            false => 1.0,
        };
    }
}

impl Allowance for SwiftWindow {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn window(&self) -> Option<f64> {
        Some(self.window)
    }
}

impl Control for Plan {
    type Flow = SwiftWindow;

    fn begin(&self) -> SwiftWindow {
        let never = f64::NEG_INFINITY;
        let (window, rate, round_trip) = (self.most, 1.0, 0.0);
        SwiftWindow { window, rate, cut_at: never, round_trip, timeouts: 0, late_at: never }
    }

    fn hear(&self, own: &mut SwiftWindow, heard: &Acknowledged<'_>) {
        let round_trip = heard.round_trip();
        (own.round_trip, own.timeouts) = (round_trip, 0);
        let packets = own.window / self.packet;
        let target = self.target(packets, heard.receipt.hops);
        let acknowledged = heard.newly / self.packet;
        if round_trip < target {
            let grown = self.increase * acknowledged / packets.max(1.0);
            own.window += grown * self.packet;
        } else if heard.now - own.cut_at >= round_trip {
            let share = self.decrease * (round_trip - target) / round_trip;
            let before = own.window;
            own.window *= 1.0 - share.min(self.most_cut);
            if own.window < before {
                own.cut_at = heard.now;
            }
        }
        self.bound(own);
    }

    /// A packet is lost, because its time is over or because its receiver asks for it.
    fn lose(&self, own: &mut SwiftWindow, lost: &Lost) {
        let now = f64::from(lost.now);
        let round_trip = if own.round_trip > 0.0 { own.round_trip } else { self.target };
        if !lost.late {
            own.timeouts = 0;
        } else if now - own.late_at >= round_trip {
            (own.timeouts, own.late_at) = (own.timeouts + 1, now);
        }
        if own.timeouts >= RESET {
            (own.window, own.cut_at) = (self.least, now);
        } else if now - own.cut_at >= round_trip {
            own.window *= 1.0 - self.most_cut;
            own.cut_at = now;
        }
        self.bound(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan {
        target: 1_000.0,
        hop: 50.0,
        scaling: (400.0, 800.0, 80.0),
        increase: 1.0,
        decrease: 0.8,
        most_cut: 0.5,
        packet: 20.0,
        least: 2.0,
        most: 2_000.0,
        period: 1.0,
    };

    fn lost(now: u32, late: bool) -> Lost {
        Lost { phits: 20, under_way: 0.0, now, late }
    }

    fn heard(now: f64, round_trip: f64) -> Acknowledged<'static> {
        Acknowledged::of(20, (now - round_trip) as u32, now)
    }

    /// Ten packets grow by a packet in ten acknowledgements; small windows have longer targets.
    #[test]
    fn it_grows_by_a_packet_in_a_round_trip_and_is_cut_by_the_excess_once() {
        let mut own = SwiftWindow { window: 200.0, ..PLAN.begin() };
        assert_eq!(PLAN.target(4.0, 2), 1_100.0 + 320.0);
        assert_eq!([PLAN.target(100.0, 0), PLAN.target(0.1, 0)], [1_000.0, 1_400.0]);
        PLAN.hear(&mut own, &heard(5_000.0, 900.0));
        assert_eq!(own.window, 202.0);
        let target = PLAN.target(10.1, 0);
        PLAN.hear(&mut own, &heard(5_001.0, 2_000.0));
        let cut = 202.0 * (1.0 - 0.8 * (2_000.0 - target) / 2_000.0);
        assert!((own.window - cut).abs() < 1e-9);
        PLAN.hear(&mut own, &heard(6_000.0, 2_000.0));
        assert!((own.window - cut).abs() < 1e-9, "within a round trip of the last cut");
        PLAN.hear(&mut own, &heard(90_000.0, 80_000.0));
        assert!((own.window - cut / 2.0).abs() < 1e-9, "by a half at the most");
    }

    /// Below a packet: one in each round trip / w.
    #[test]
    fn less_than_a_packet_is_a_pace() {
        let mut own = SwiftWindow { window: 20.0, ..PLAN.begin() };
        PLAN.hear(&mut own, &heard(100_000.0, 80_000.0));
        assert!((own.window, own.rate) == (10.0, 10.0 / 80_000.0), "{own:?}");
        PLAN.hear(&mut own, &heard(200_000.0, 500.0));
        assert_eq!((own.window, own.rate), (30.0, 1.0));
    }

    /// By the most that a cut takes, once in a round trip; after five timeouts in a row it is the smallest.
    #[test]
    fn losses_cut_it_and_timeouts_close_it() {
        let mut own = SwiftWindow { window: 200.0, ..PLAN.begin() };
        PLAN.hear(&mut own, &heard(5_000.0, 1_000.0));
        let before = own.window;
        PLAN.lose(&mut own, &lost(5_010, false));
        PLAN.lose(&mut own, &lost(5_500, false));
        assert_eq!(own.window, before / 2.0);
        (0..9).for_each(|n| PLAN.lose(&mut own, &lost(5_600 + n, true)));
        assert_eq!((own.window, own.timeouts), (before / 2.0, 1), "a burst is one timeout");
        (1..4).for_each(|n| PLAN.lose(&mut own, &lost(5_600 + 1_000 * n, true)));
        assert_eq!(own.window, before / 16.0);
        PLAN.lose(&mut own, &lost(9_600, true));
        assert_eq!((own.window, own.cut_at), (PLAN.least, 9_600.0));
        let mut own = PLAN.begin();
        (0..9).for_each(|n| PLAN.lose(&mut own, &lost(64_000 + n, true)));
        assert_eq!(own.window, PLAN.most / 2.0, "before it has seen a round trip");
    }
}
