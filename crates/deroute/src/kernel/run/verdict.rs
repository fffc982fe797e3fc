//! What a result may be used for.

use super::precision::{Change, Changes};
use crate::kernel::model::Asked;
use crate::outcome::{Latency, Load, State, Verdict};

/// A network that accepts less than this share of what is attempted is saturated, unless it is
/// still filling.
pub(super) const SATURATION: f64 = 0.98;
/// Fewest packets of a result.
pub(super) const FEWEST: u64 = 1_000;
/// Widest relative confidence interval of a steady mean latency, and the largest relative change
/// of latencies and queues in a steady network, if it is certain.
const WIDEST: f64 = 0.05;
/// Fewest correlation times of a measurement whose interval is to be trusted.
pub(super) const FEWEST_TIMES: f64 = 4.0;

/// What is known of a run besides its means.
pub(super) struct Course {
    pub(super) warmed_up: bool,
    /// Not warmed up means that the latency never stopped growing.
    pub(super) growing: bool,
    /// The traffic changes while it is measured.
    pub(super) changing: bool,
    /// The means were to be known better, and are not.
    pub(super) unknown: Option<Asked>,
    /// Packets measured.
    pub(super) packets: u64,
    /// What changed; `None` if the measurement was too short to tell.
    pub(super) changes: Option<Changes>,
}

/// Judges a run of synthetic traffic.
pub(super) fn verdict(load: &Load, latency: &Latency, course: &Course) -> Verdict {
    if let Some(reasons) = saturation(load, course) {
        return Verdict { state: State::Saturated, reasons };
    }
    let mut reasons = unsteadiness(load, course);
    if course.changing {
        reasons.push("the traffic changes during the measurement".into());
    }
    if !course.warmed_up {
        reasons.push("the warm-up did not reach a steady latency within its limit".into());
    }
    if course.packets < FEWEST {
        let found = course.packets;
        reasons.push(format!("{found} packets were measured, fewer than {FEWEST}"));
    } else if latency.ci95 > WIDEST * latency.mean {
        let percent = 100.0 * latency.ci95 / latency.mean;
        reasons.push(format!("the mean latency is only known to {percent:.1}%"));
    }
    if course.packets >= FEWEST && latency.correlation_times < FEWEST_TIMES {
        let times = latency.correlation_times;
        reasons.push(format!(
            "the measurement is {times:.1} correlation times of the latency long, fewer than \
             {FEWEST_TIMES}: its interval may be too narrow"
        ));
    }
    if let Some(asked) = course.unknown {
        reasons.push(not_known(&asked, load, latency));
    }
    let state = if reasons.is_empty() { State::Steady } else { State::NotConverged };
    Verdict { state, reasons }
}

/// Why the network is saturated, if it is.
fn saturation(load: &Load, course: &Course) -> Option<Vec<String>> {
    let growth = course.changes.filter(|changes| matters(changes.in_flight));
    let grows = growth.is_some_and(|growth| growth.in_flight.rise > 0.0 && !growth.fading);
    let refuses = load.generated < SATURATION * load.attempted;
    if course.packets >= FEWEST && (grows || refuses && falls_short(load)) {
        let mut reasons = vec![accepts(load)];
        reasons.extend(growth.filter(|_| grows).map(|growth| {
            let Load { accepted, generated, .. } = *load;
            let rise = percent(growth.in_flight);
            format!(
                "the packets in it grow in number, by {rise} within the measurement, without \
                 slowing down: {accepted:.4} phits per host and cycle were accepted where \
                 {generated:.4} were generated"
            )
        }));
        return Some(reasons);
    }
    (!course.warmed_up && course.growing)
        .then(|| vec!["the latency was still growing at the limit of the warm-up".into()])
}

/// What changed during the measurement.
fn unsteadiness(load: &Load, course: &Course) -> Vec<String> {
    let mut reasons = Vec::new();
    if course.packets < FEWEST {
        return reasons;
    }
    let change = |changes: Changes| percent(changes.in_flight);
    if falls_short(load) {
        let known = course.changes.map_or(String::new(), |changes| {
            format!(", but its queues may only be filling: they change by {}", change(changes))
        });
        reasons.push(format!("{}{known}", accepts(load)));
    }
    let Some(changes) = course.changes else { return reasons };
    if matters(changes.in_flight) {
        let change = change(changes);
        reasons.push(format!("the packets in the network change in number by {change}"));
    }
    if matters(changes.latency) {
        let change = percent(changes.latency);
        reasons.push(format!("the latency changes by {change} within the measurement"));
    }
    reasons
}

/// What is less well known than it was to be.
fn not_known(asked: &Asked, load: &Load, latency: &Latency) -> String {
    let found = |asked: Option<f64>, what: &str, half_width: f64, mean: f64| {
        let known = 100.0 * half_width / mean.max(f64::MIN_POSITIVE);
        asked.map(|asked| format!("{what} to {known:.2}% ({}% was asked)", 100.0 * asked))
    };
    let latency = found(asked.latency, "the mean latency", latency.ci95, latency.mean);
    let accepted = found(asked.accepted, "the accepted load", load.accepted_ci95, load.accepted);
    let known: Vec<String> = latency.into_iter().chain(accepted).collect();
    let known = known.join(" and ");
    format!("`run.measure` ended before the means were known as asked: {known}")
}

fn falls_short(load: &Load) -> bool {
    load.accepted < SATURATION * load.attempted
}

fn accepts(load: &Load) -> String {
    let percent = 100.0 * load.accepted / load.attempted;
    format!("the network accepts {percent:.1}% of what the hosts attempt to send")
}

fn matters(change: Change) -> bool {
    change.certain && change.rise.abs() > WIDEST
}

fn percent(change: Change) -> String {
    format!("{:+.1}% +- {:.1}%", 100.0 * change.rise, 100.0 * change.half_width)
}
