//! Network signaled congestion control (NSCC) of Ultra Ethernet.
//!
//! # What it does
//! Each acknowledgement says whether its packet was marked, and how much longer than `base_rtt` its round
//! trip took: its queueing delay. Unmarked and below `target`, the window grows in proportion to what is
//! missing to the target; unmarked and above, by a fair share; marked and above, at most once in
//! `base_rtt`, it shrinks by 0.8 of the excess of the mean delay, no more than a half; marked and below,
//! nothing: another path will do. Increases are summed and take effect after 8 packets or `base_rtt`, each
//! of the latter with a small increase for all. Unmarked and with hardly any delay for a window's worth, it
//! grows by a quarter of what is acknowledged (fast increase). Where little has come in a round trip and the delay is
//! beyond four targets or a receiver has asked for a packet, the window becomes what has come (quick adapt), and marked
//! acknowledgements and requests for what was under way are ignored. Any other loss takes its packet off the window, as
//! does a packet whose time is over. A shorter round trip than `base_rtt` takes its place for its flow.
//!
//! # Source
//! Ultra Ethernet Specification 1.0, NSCC; constants and order of the rules as in uet-htsim, commit 40ccb05,
//! `sim/uec.cpp`: steps in parts of a round trip of 12 us at 100 Gb/s.
//!
//! # Parameters
//! `base_rtt`: the longest round trip without queues, a time; no default. `target`: queueing delay, a time
//! (default `base_rtt`, and 0.75 of it where switches trim packets). `quick_adapt` (default true). A window begins at its largest,
//! 1.5 times what the link of a host sends in `base_rtt`, and is never below the largest packet of the run.
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`) and marks (`network.congestion_point.ecn`; the source
//! marks between 0.2 and 0.8 of what a link sends in `base_rtt`). Paths are those of `network.nic.entropy`.
//! Where packets can be lost it needs `network.nic.retransmission`.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.nscc]
//! base_rtt = "6 us"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acknowledged, Allowance, Control, Law, Lost, ReactionPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of NSCC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NsccSpec {
    /// Longest round trip without queues: cycles, or a time.
    pub base_rtt: Quantity,
    /// Queueing delay that it aims at: cycles, or a time. Default: that of `base_rtt`, or 0.75 of it with trimming.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Quantity>,
    /// Sets the window to what has come when little does. Default true.
    #[serde(default = "yes")]
    pub quick_adapt: bool,
}

fn yes() -> bool {
    true
}

const PATH: &str = "network.nic.reaction_point.nscc";

/// The target with trimming, in round trips.
const TRIMMING: f64 = 0.75;

/// Resolves the parameters.
pub(crate) fn plan(spec: &NsccSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    let period = setting.host_period(PATH)?;
    setting.acknowledged(PATH)?;
    setting.marked(PATH)?;
    let scale = &setting.scale;
    let time = |key: &str, time: &Quantity| -> Result<f64, SpecError> {
        Ok(f64::from(scale.duration(&format!("{PATH}.{key}"), time)?))
    };
    let base_rtt = time("base_rtt", &spec.base_rtt)?;
    let usual = if setting.trims { TRIMMING * base_rtt } else { base_rtt };
    let target = spec.target.as_ref().map_or(Ok(usual), |target| time("target", target))?;
    // 12 us at 100 Gb/s.
    let reference = (12_000.0 / scale.cycle_ns(), 150_000.0 / scale.phit_bytes());
    let link = (f64::from(setting.largest), f64::from(period).recip());
    let mut plan = Plan::new((base_rtt, target), link, reference, 1_000.0 / scale.cycle_ns());
    plan.quick_adapt = spec.quick_adapt;
    Ok(ReactionPlan::of_destinations(Law::Nscc(plan)))
}

/// The share of the excess delay by which a window shrinks, and the most that a cut leaves.
const DECREASE: f64 = 0.8;
const LEAST_SHARE: f64 = 0.5;
/// The weight of a delay in the mean.
const WEIGHT: f64 = 0.0125;
/// The largest window in what the link sends in a round trip, and the part of it that is little.
const LARGEST: f64 = 1.5;
const LITTLE: f64 = 1.0 / 8.0;
/// The delay in targets that is far too long.
const FAR: f64 = 4.0;
/// Packets after which increases take effect.
const BATCH: f64 = 8.0;

/// The constants of NSCC, in phits and cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    base_rtt: f64,
    target: f64,
    quick_adapt: bool,
    packet: f64,
    /// Phits that the link sends in a cycle.
    speed: f64,
    /// What a phit adds for each cycle below the target, and above it, both over the window; what is added in each
    /// round trip; and what a phit adds in fast increase.
    proportional: f64,
    fair: f64,
    regular: f64,
    fast: f64,
    /// Hardly any delay.
    small: f64,
}

/// The window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct NsccWindow {
    window: f64,
    base_rtt: f64,
    /// Mean delay.
    mean: f64,
    /// Increases that have not taken effect, times the window, and phits since the last ones have; when these were.
    gathered: f64,
    received: f64,
    adjusted: f64,
    cut_at: f64,
    /// Phits in a row with hardly any delay; whether the window grows fast.
    clear: f64,
    fast: bool,
    /// Phits that have come in this period of quick adapt, and when it ends.
    achieved: f64,
    ends: Option<f64>,
    /// Phits whose marks are ignored, and those that have come of them.
    ignore: f64,
    ignored: f64,
    /// A receiver has asked for a packet since the last quick adapt.
    lost: bool,
}

impl Plan {
    /// With a round trip and a target in cycles, for packets of so many phits, a link that sends so many in a cycle,
    /// and the round trip of the reference, in cycles and in phits at its rate; a small delay.
    fn new(
        (base_rtt, target): (f64, f64),
        (packet, speed): (f64, f64),
        (reference, reference_phits): (f64, f64),
        small: f64,
    ) -> Self {
        let scale = base_rtt * speed / reference_phits;
        Self {
            base_rtt,
            target,
            quick_adapt: true,
            packet,
            speed,
            proportional: 4.0 * packet * scale / reference,
            fair: 5.0 * packet * scale,
            regular: 0.15 * packet * scale,
            fast: 0.25 * scale,
            small,
        }
    }

    fn largest(&self, own: &NsccWindow) -> f64 {
        (LARGEST * own.base_rtt * self.speed).max(self.packet)
    }

    fn bound(&self, own: &mut NsccWindow) {
        own.window = own.window.clamp(self.packet, self.largest(own));
    }

    /// Quick adapt, after a mark or a loss, and what was late. Says whether nothing else follows.
    fn adapts(
        &self,
        own: &mut NsccWindow,
        (now, under_way): (f64, f64),
        (congested, late): (bool, bool),
    ) -> bool {
        if !self.quick_adapt {
            return false;
        }
        let mut done = own.ignored < own.ignore && congested;
        if !done && own.ends.is_none_or(|ends| now > ends) {
            let little = own.achieved < LITTLE * self.largest(own);
            if own.ends.is_some() && (late || own.lost) && little {
                own.window = own.achieved.max(self.packet);
                (own.ignore, own.ignored) = (under_way, 0.0);
                own.lost = false;
                done = true;
            }
            own.achieved = 0.0;
            own.ends = Some(now + own.base_rtt + self.target);
        }
        if done {
            (own.gathered, own.received) = (0.0, 0.0);
        }
        done
    }

    /// Unmarked and below the target.
    fn raise(&self, own: &mut NsccWindow, newly: f64, delay: f64) {
        if delay < self.small {
            own.clear += newly;
            if own.clear > own.window || own.fast {
                own.window += self.fast * newly;
                own.fast = true;
                return;
            }
        } else {
            own.clear = 0.0;
        }
        own.fast = false;
        own.gathered += self.proportional * newly * (self.target - delay);
    }

    /// Marked and above the target.
    fn shrink(&self, own: &mut NsccWindow, now: f64) {
        (own.fast, own.clear) = (false, 0.0);
        if own.mean > self.target && now - own.cut_at > own.base_rtt {
            let share = DECREASE * (own.mean - self.target) / own.mean;
            own.window *= (1.0 - share).max(LEAST_SHARE);
            own.cut_at = now;
        }
    }
}

impl Allowance for NsccWindow {
    fn window(&self) -> Option<f64> {
        Some(self.window)
    }
}

impl Control for Plan {
    type Flow = NsccWindow;

    fn begin(&self) -> NsccWindow {
        NsccWindow {
            window: (LARGEST * self.base_rtt * self.speed).max(self.packet),
            base_rtt: self.base_rtt,
            mean: 0.0,
            gathered: 0.0,
            received: 0.0,
            adjusted: 0.0,
            cut_at: f64::NEG_INFINITY,
            clear: 0.0,
            fast: false,
            achieved: 0.0,
            ends: None,
            ignore: 0.0,
            ignored: 0.0,
            lost: false,
        }
    }

    fn hear(&self, own: &mut NsccWindow, heard: &Acknowledged<'_>) {
        own.base_rtt = own.base_rtt.min(heard.round_trip());
        let (delay, marked) = (heard.round_trip() - own.base_rtt, heard.receipt.marked);
        own.achieved += heard.newly;
        own.received += heard.newly;
        own.ignored += heard.newly;
        // Late and unmarked is taken for a quarter of a round trip.
        let unclear = !marked && delay > self.target;
        let sample = if unclear { own.base_rtt / 4.0 } else { delay };
        own.mean += WEIGHT * (sample - own.mean);
        let late = delay > FAR * self.target;
        if self.adapts(own, (heard.now, heard.under_way), (marked, late)) {
            return;
        }
        match (marked, delay < self.target) {
            (false, true) => self.raise(own, heard.newly, delay),
            (false, false) => own.gathered += self.fair * heard.newly,
            (true, true) => {}
            (true, false) => self.shrink(own, heard.now),
        }
        self.bound(own);
        let since = heard.now - own.adjusted;
        if own.received > BATCH * self.packet || since > self.base_rtt {
            own.window += own.gathered / own.window;
            if since >= self.base_rtt {
                own.window += self.regular;
                own.adjusted = heard.now;
            }
            (own.gathered, own.received) = (0.0, 0.0);
        }
        self.bound(own);
    }

    /// A packet of so many phits is lost, and so many are under way.
    fn lose(&self, own: &mut NsccWindow, lost: &Lost) {
        let (phits, now) = (f64::from(lost.phits), f64::from(lost.now));
        if !lost.late {
            own.ignored += phits;
            // As if it had waited for a round trip of the network.
            own.mean += WEIGHT * (self.base_rtt - own.mean);
            own.lost = true;
            if self.adapts(own, (now, lost.under_way), (true, true)) {
                return;
            }
        }
        own.window -= phits;
        self.bound(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference itself, in bytes and ns: 12.5 bytes a ns.
    fn reference() -> Plan {
        Plan::new((12e3, 12e3), (4096.0, 12.5), (12e3, 150e3), 1e3)
    }

    fn lost(under_way: f64, now: u32) -> Lost {
        Lost { phits: 4096, under_way, now, late: false }
    }

    fn heard(marked: bool, delay: f64, now: f64) -> Acknowledged<'static> {
        let mut heard = Acknowledged::of(4096, (now - 12e3 - delay) as u32, now);
        heard.receipt.marked = marked;
        heard
    }

    /// The four quadrants, from half of the largest window.
    #[test]
    fn delay_and_mark_decide() {
        let plan = Plan { quick_adapt: false, ..reference() };
        let begun = NsccWindow { window: 100e3, adjusted: 1e6, mean: 20e3, ..plan.begin() };
        let after = |marked: bool, delay: f64| {
            let mut own = begun;
            for n in 0..9 {
                plan.hear(&mut own, &heard(marked, delay, 1e6 + f64::from(n)));
            }
            own
        };
        let phits = 9.0 * 4096.0;
        let grown = after(false, 6e3).window;
        let expected = 100e3 + phits * (4.0 * 4096.0 / 12e3) * 6e3 / 100e3;
        assert!((grown - expected).abs() < 1e-6, "{grown} {expected}");
        let fair = after(false, 15e3).window;
        assert!((fair - (100e3 + 5.0 * 4096.0 * phits / 100e3)).abs() < 1e-6, "{fair}");
        assert_eq!(after(true, 6e3).window, 100e3, "another path");
        // The first of the nine has the mean of before, and its own part.
        let mean = 20e3 + WEIGHT * (15e3 - 20e3);
        let cut = 100e3 * (1.0 - 0.8 * (mean - 12e3) / mean);
        assert!((after(true, 15e3).window - cut).abs() < 1e-6);
    }

    /// Where an eighth of the largest window and less has come in a period with a delay of more than four targets.
    #[test]
    fn little_that_is_late_makes_a_window_of_itself() {
        let plan = reference();
        let mut own = plan.begin();
        assert_eq!(own.window, 225e3);
        plan.hear(&mut own, &heard(true, 50e3, 1e5));
        assert_eq!(own.window, 225e3, "the first period begins");
        plan.hear(&mut own, &heard(true, 50e3, 2e5));
        assert_eq!(own.window, 4096.0);
    }

    /// A loss takes its packet off the window; in the next period with little that has come the window becomes that, and
    /// losses of what was under way then change nothing more.
    #[test]
    fn losses_adapt_at_once() {
        let plan = reference();
        let mut own = plan.begin();
        plan.hear(&mut own, &heard(false, 2e3, 1e5));
        plan.lose(&mut own, &lost(100e3, 101_000));
        assert_eq!(own.window, 225e3 - 4096.0, "within the first period");
        plan.hear(&mut own, &Acknowledged { newly: 8192.0, ..heard(false, 2e3, 1.1e5) });
        plan.lose(&mut own, &lost(100e3, 130_000));
        assert_eq!(own.window, 8192.0);
        plan.lose(&mut own, &lost(96e3, 131_000));
        assert_eq!(own.window, 8192.0, "what was under way");
        let slow = Plan { quick_adapt: false, ..plan };
        let mut own = slow.begin();
        (0..3).for_each(|n| slow.lose(&mut own, &lost(0.0, 100_000 * n)));
        assert_eq!(own.window, 225e3 - 3.0 * 4096.0);
        let before = NsccWindow { window: 100e3, base_rtt: 6e3, ..plan.begin() };
        let (mut own, mut late) = (before, before);
        plan.lose(&mut own, &lost(0.0, 1_000));
        assert_eq!(own.mean, WEIGHT * 12e3, "the round trip of the network");
        plan.lose(&mut late, &Lost { late: true, ..lost(0.0, 1_000) });
        assert_eq!(late, NsccWindow { window: 100e3 - 4096.0, ..before }, "its time is over");
    }
}
