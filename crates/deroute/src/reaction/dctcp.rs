//! DCTCP (Data Center TCP): a window that is cut by the fraction of packets that are marked.
//!
//! # What it does
//! A flow begins with `initial_window` and adds what is acknowledged (slow start) until the first cut; later it adds a
//! packet in each window (congestion avoidance), marked or not, as in the model of the paper (RFC 3168, 6.1.2, would have
//! marked acknowledgements add nothing). Once in each window of data, alpha = (1 - `gain`) alpha + `gain` F,
//! where F is the fraction of what was acknowledged since the last time that was marked; alpha begins with 1. The first
//! marked packet takes alpha / 2 off the window, no later one does until all that was under way then is acknowledged.
//! A packet that its receiver asks for takes the half, once in the same time; one whose time is over leaves one packet,
//! and slow start to the half. A cut leaves two packets.
//!
//! # Source
//! RFC 8257, 3.3 to 3.5; Alizadeh et al., Data center TCP (DCTCP), SIGCOMM 2010. Slow start, congestion avoidance and the
//! window of two packets: RFC 5681, 3.1. The initial window is that of Linux. Every packet is acknowledged on its own, so that a
//! receiver has nothing to remember.
//!
//! # Parameters
//! `largest_window` (required), of the receiver: phits or data. `initial_window`: likewise (default: ten of the largest
//! packets of the run, or `largest_window`). `gain`, above 0, up to 1 (default 1/16).
//!
//! # Limits
//! Hosts need a link of their own (`network.nic.link`), receivers that acknowledge packets
//! (`network.nic.notification_point.acknowledgement`) and marks (`network.congestion_point.ecn`; the source has a step:
//! `kmin` and `kmax` the same). Where packets can be lost it needs `network.nic.retransmission`.
//!
//! # Example
//! ```toml
//! [network.nic.reaction_point.dctcp]
//! largest_window = "256 KB"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acknowledged, Allowance, Control, Law, Lost, ReactionPlan, Setting};
use crate::spec::{Quantity, SpecError};

/// Parameters of DCTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DctcpSpec {
    /// Largest window, that of the receiver: phits, or an amount of data.
    pub largest_window: Quantity,
    /// Window with which a flow begins: phits, or an amount of data. Default: ten of the largest packets of the run, or
    /// the largest window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<Quantity>,
    /// Weight of a window of data in alpha, above 0, up to 1. Default 1/16.
    #[serde(default = "sixteenth")]
    pub gain: f64,
}

fn sixteenth() -> f64 {
    1.0 / 16.0
}

const PATH: &str = "network.nic.reaction_point.dctcp";

/// Packets of the default initial window.
const INITIAL: u32 = 10;

/// Resolves the parameters.
pub(crate) fn plan(spec: &DctcpSpec, setting: &Setting) -> Result<ReactionPlan, SpecError> {
    setting.host_period(PATH)?;
    setting.acknowledged(PATH)?;
    setting.marked(PATH)?;
    let at = |key: &str| format!("{PATH}.{key}");
    let most = setting.window(&at("largest_window"), &spec.largest_window)?;
    let initial = match &spec.initial_window {
        None => most.min(INITIAL * u32::from(setting.largest)),
        Some(given) => setting.window(&at("initial_window"), given)?,
    };
    if initial > most {
        let message = format!("{initial} phits are more than the largest window");
        return Err(SpecError::new(at("initial_window"), message)
            .choices([format!("{} to {most}", setting.largest)]));
    }
    Ok(ReactionPlan::of_destinations(Law::Dctcp(Plan {
        packet: setting.largest.into(),
        initial: initial.into(),
        most: most.into(),
        gain: super::share(&at("gain"), spec.gain)?,
    })))
}

/// Packets that a cut leaves.
const LEAST: f64 = 2.0;

/// The constants of DCTCP, in phits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    packet: f64,
    initial: f64,
    most: f64,
    gain: f64,
}

/// The window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DctcpWindow {
    window: f64,
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

impl Plan {
    fn shrink(&self, own: &mut DctcpWindow, share: f64, under_way: f64) {
        let least = (LEAST * self.packet).min(self.most);
        own.window = (own.window * (1.0 - share)).max(least);
        own.threshold = own.window;
        own.whole = under_way;
    }
}

impl Allowance for DctcpWindow {
    fn window(&self) -> Option<f64> {
        Some(self.window)
    }
}

impl Control for Plan {
    type Flow = DctcpWindow;

    fn begin(&self) -> DctcpWindow {
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

    fn hear(&self, own: &mut DctcpWindow, heard: &Acknowledged<'_>) {
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
            self.shrink(own, own.alpha / 2.0, heard.under_way);
        } else {
            let slow = own.window < own.threshold;
            own.window += heard.newly * if slow { 1.0 } else { self.packet / own.window };
        }
        own.window = own.window.min(self.most);
    }

    /// A packet is lost, and so many phits are under way: because its time is over or because its receiver asks for it.
    fn lose(&self, own: &mut DctcpWindow, lost: &Lost) {
        if own.whole <= 0.0 {
            self.shrink(own, 0.5, lost.under_way);
        }
        if lost.late {
            own.window = self.packet;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan { packet: 20.0, initial: 200.0, most: 1e4, gain: 1.0 / 16.0 };

    fn lost(under_way: f64, late: bool) -> Lost {
        Lost { phits: 20, under_way, now: 0, late }
    }

    fn heard(marked: bool, under_way: f64) -> Acknowledged<'static> {
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
        PLAN.lose(&mut own, &lost(380.0, false));
        PLAN.lose(&mut own, &lost(360.0, false));
        assert_eq!(own.window, 200.0);
        PLAN.lose(&mut own, &lost(340.0, true));
        assert_eq!((own.window, own.threshold), (20.0, 200.0));
        (0..9).for_each(|_| PLAN.hear(&mut own, &heard(false, 0.0)));
        assert_eq!(own.window, 200.0);
        PLAN.hear(&mut own, &heard(false, 0.0));
        assert_eq!(own.window, 202.0);
    }
}
