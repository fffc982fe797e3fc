//! The state machine of DCTCP: the window of a flow.

use super::receipt::Acknowledged;
use serde::{Deserialize, Serialize};

/// Packets that a cut leaves.
const LEAST: f64 = 2.0;

/// The constants of DCTCP, in phits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DctcpPlan {
    pub(super) packet: f64,
    pub(super) initial: f64,
    pub(super) most: f64,
    pub(super) gain: f64,
}

/// The window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DctcpWindow {
    pub(super) window: f64,
    /// Where slow start ends.
    threshold: f64,
    alpha: f64,
    /// Phits that have been acknowledged in this window of data, those of them that were marked, and those that are
    /// to come until it ends.
    acknowledged: f64,
    marked: f64,
    ends: f64,
    /// Phits that are to come until the window may be cut again.
    whole: f64,
}

impl DctcpPlan {
    pub(super) fn begin(&self) -> DctcpWindow {
        DctcpWindow {
            window: self.initial,
            threshold: f64::INFINITY,
            alpha: 1.0,
            acknowledged: 0.0,
            marked: 0.0,
            ends: 0.0,
            whole: 0.0,
        }
    }

    pub(super) fn hear(&self, own: &mut DctcpWindow, heard: &Acknowledged) {
        let (phits, marked) = (f64::from(heard.receipt.phits), heard.receipt.marked);
        own.acknowledged += phits;
        own.marked += if marked { phits } else { 0.0 };
        own.ends -= heard.newly;
        own.whole -= heard.newly;
        if own.ends <= 0.0 {
            own.alpha += self.gain * (own.marked / own.acknowledged - own.alpha);
            (own.acknowledged, own.marked, own.ends) = (0.0, 0.0, heard.under_way);
        }
        if marked && own.whole <= 0.0 {
            self.cut(own, own.alpha / 2.0, heard.under_way);
        } else {
            let slow = own.window < own.threshold;
            own.window += heard.newly * if slow { 1.0 } else { self.packet / own.window };
        }
        own.window = own.window.min(self.most);
    }

    /// A packet is lost, and so many phits are under way: because its time is over or because its receiver asks for it.
    pub(super) fn lose(&self, own: &mut DctcpWindow, under_way: f64, late: bool) {
        if own.whole <= 0.0 {
            self.cut(own, 0.5, under_way);
        }
        if late {
            own.window = self.packet;
        }
    }

    fn cut(&self, own: &mut DctcpWindow, share: f64, under_way: f64) {
        let least = (LEAST * self.packet).min(self.most);
        own.window = (own.window * (1.0 - share)).max(least);
        own.threshold = own.window;
        own.whole = under_way;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: DctcpPlan = DctcpPlan { packet: 20.0, initial: 200.0, most: 1e4, gain: 1.0 / 16.0 };

    fn heard(marked: bool, under_way: f64) -> Acknowledged {
        let mut heard = Acknowledged::of(20, 0, 100.0);
        heard.receipt.marked = marked;
        Acknowledged { under_way, ..heard }
    }

    /// Slow start doubles a window in a window; after a cut it adds a packet.
    #[test]
    fn it_begins_fast_and_goes_on_by_a_packet() {
        let mut own = PLAN.begin();
        (0..10).for_each(|_| PLAN.hear(&mut own, &heard(false, 180.0)));
        assert_eq!(own.window, 400.0);
        let quiet = (15.0_f64 / 16.0).powi(2);
        assert_eq!(own.alpha, quiet, "with the first, and with the tenth of the others");
        PLAN.hear(&mut own, &heard(true, 380.0));
        assert_eq!((own.window, own.threshold), (400.0 * (1.0 - quiet / 2.0), own.window));
        let before = own.window;
        PLAN.hear(&mut own, &heard(false, 380.0));
        assert_eq!(own.window, before + 20.0 * 20.0 / before);
        assert_eq!(DctcpWindow { window: PLAN.most, ..own }.window, {
            let mut full = DctcpWindow { window: PLAN.most, ..own };
            PLAN.hear(&mut full, &heard(false, 0.0));
            full.window
        });
    }

    /// The second mark of a window of data cuts nothing; alpha follows the fraction that is marked.
    #[test]
    fn a_window_of_data_cuts_once_and_moves_alpha_once() {
        let mut own = DctcpWindow { window: 400.0, alpha: 0.5, ..PLAN.begin() };
        PLAN.hear(&mut own, &heard(true, 380.0));
        let alpha = 0.5 + (1.0 - 0.5) / 16.0;
        assert_eq!((own.alpha, own.window), (alpha, 400.0 * (1.0 - alpha / 2.0)));
        let mut cuts = 0;
        for n in 1..=19 {
            let before = own.window;
            PLAN.hear(&mut own, &heard(n % 4 == 0, 380.0));
            cuts += u32::from(own.window < before);
        }
        assert_eq!(cuts, 0, "380 phits were under way");
        let expected = alpha + (4.0 / 19.0 - alpha) / 16.0;
        assert!((own.alpha - expected).abs() < 1e-12);
        PLAN.hear(&mut own, &heard(true, 380.0));
        assert!(own.window < own.threshold + 1e-9 && own.alpha == own.alpha.min(expected));
    }

    /// Two packets at the least; a loss takes the half, once; a timeout leaves one packet, which grows to the half.
    #[test]
    fn losses_halve_and_timeouts_close() {
        let mut own = DctcpWindow { window: 30.0, ..PLAN.begin() };
        PLAN.hear(&mut own, &heard(true, 0.0));
        assert_eq!(own.window, 40.0);
        own = DctcpWindow { window: 400.0, ..PLAN.begin() };
        PLAN.lose(&mut own, 380.0, false);
        PLAN.lose(&mut own, 360.0, false);
        assert_eq!(own.window, 200.0);
        PLAN.lose(&mut own, 340.0, true);
        assert_eq!((own.window, own.threshold), (20.0, 200.0));
        (0..9).for_each(|_| PLAN.hear(&mut own, &heard(false, 0.0)));
        assert_eq!(own.window, 200.0);
        PLAN.hear(&mut own, &heard(false, 0.0));
        assert_eq!(own.window, 202.0);
    }
}
