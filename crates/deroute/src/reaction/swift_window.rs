//! The state machine of Swift: the window of a flow.

use super::receipt::Acknowledged;
use serde::{Deserialize, Serialize};

/// Timeouts in a row after which a window is the smallest.
const RESET: u32 = 5;

/// The constants of Swift, in phits and cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SwiftPlan {
    pub(super) target: f64,
    pub(super) hop: f64,
    /// The most that small windows add, and a and b of the term that does.
    pub(super) scaling: (f64, f64, f64),
    pub(super) increase: f64,
    pub(super) decrease: f64,
    pub(super) most_cut: f64,
    pub(super) packet: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) period: f64,
}

/// The window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SwiftWindow {
    /// Phits, and the share of the link with which packets follow each other.
    pub(super) window: f64,
    pub(super) rate: f64,
    /// When it was cut last, and the last round trip.
    cut_at: f64,
    round_trip: f64,
    /// Timeouts since the last acknowledgement.
    timeouts: u32,
}

impl SwiftPlan {
    pub(super) fn begin(&self) -> SwiftWindow {
        let cut_at = f64::NEG_INFINITY;
        SwiftWindow { window: self.most, rate: 1.0, cut_at, round_trip: 0.0, timeouts: 0 }
    }

    fn target(&self, packets: f64, hops: u8) -> f64 {
        let (range, a, b) = self.scaling;
        self.target + f64::from(hops) * self.hop + (a / packets.sqrt() - b).clamp(0.0, range)
    }

    pub(super) fn hear(&self, own: &mut SwiftWindow, heard: &Acknowledged) {
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
    pub(super) fn lose(&self, own: &mut SwiftWindow, now: f64, late: bool) {
        own.timeouts = if late { own.timeouts + 1 } else { 0 };
        if own.timeouts >= RESET {
            own.window = self.least;
        } else if now - own.cut_at >= own.round_trip {
            own.window *= 1.0 - self.most_cut;
            own.cut_at = now;
        }
        self.bound(own);
    }

    fn bound(&self, own: &mut SwiftWindow) {
        own.window = own.window.clamp(self.least, self.most);
        own.rate = match own.window < self.packet && own.round_trip > 0.0 {
            true => (own.window / own.round_trip * self.period).min(1.0),
            false => 1.0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: SwiftPlan = SwiftPlan {
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

    fn heard(now: f64, round_trip: f64) -> Acknowledged {
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
        PLAN.lose(&mut own, 5_010.0, false);
        PLAN.lose(&mut own, 5_500.0, false);
        assert_eq!(own.window, before / 2.0);
        (0..4).for_each(|n| PLAN.lose(&mut own, 5_600.0 + f64::from(n), true));
        assert_eq!(own.window, before / 2.0);
        PLAN.lose(&mut own, 5_700.0, true);
        assert_eq!(own.window, PLAN.least);
    }
}
