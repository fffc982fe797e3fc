//! Traffic pattern-based routing (TPR).
//!
//! # What it does
//! UGAL whose `T` follows the traffic. Every router counts the packets that its own hosts send to
//! each other group. Where the counter of the destination group is below `low` the traffic is
//! benign, up to `high` mixed, above it adversarial; each region has its `T`.
//!
//! # Source
//! Thesis 6.1.1, 6.3.1 and Table 6-1, after Faizian et al.; only the counters of traffic for other
//! groups are used there.
//!
//! # Parameters
//! `window` HW (default 200 cycles), `count`: packets that left the injection queues within the
//! window (default `injected`), that wait in them (`stored`), or the first plus `stored_percent`
//! (default 10) of the second (`extended`), `low` and `high` LI in packets (default 3 and 5),
//! `thresholds` T in phits for benign, mixed and adversarial traffic (default 1500, -300, -1500: Table 6-1 in flits of 10 phits),
//! `ugal`: the parameters of the inequality; its `threshold` must be 0. Traffic within the group is
//! not counted, and benign.
//!
//! # Deadlock freedom
//! As Valiant: 4 local and 2 global VCs in a Dragonfly.
//!
//! # Limits
//! `injected` measures the traffic that was carried: above saturation it falls, calls the pattern
//! more benign than it is, and throughput falls with it. The unit of `low` and `high` is the
//! packet, so they go with `window`, the hosts of a router and the size of a packet.
//!
//! # Example
//! ```toml
//! [routing.tpr]
//! window = 200
//! thresholds = [1500, -300, -1500]
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counters::{CountMode, CounterPlan, Counting, GroupCounters};
use super::ugal::{Ugal, UgalPlan, UgalSpec};
use super::{
    Fabric, Follows, Header, Hop, Injection, Notification, Plan, Queue, RouterView, Routing,
    Watches,
};
use crate::ids::{Cycle, RouterId};
use crate::spec::{Quantity, SpecError};
use crate::state::state;

/// Parameters of TPR.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TprSpec {
    /// History window HW. Default 200 cycles.
    pub window: Quantity,
    /// What a counter counts. Default `injected`.
    pub count: CountMode,
    /// Percent of a packet that a stored one counts in `extended` counters. Default 10.
    pub stored_percent: u32,
    /// LI_l: packets below which traffic is benign. Default 3.
    pub low: u32,
    /// LI_h: packets above which traffic is adversarial. Default 5.
    pub high: u32,
    /// `T` of equation 2-1 in phits under benign, mixed and adversarial traffic. Default 1500, -300,
    /// -1500: 150, -30 and -150 flits of 10 phits (decision 4).
    pub thresholds: [i32; 3],
    /// The decision that `T` modulates; its own `threshold` must be 0.
    pub ugal: UgalSpec,
}

impl Default for TprSpec {
    fn default() -> Self {
        Self {
            window: 200.into(),
            count: CountMode::Injected,
            stored_percent: 10,
            low: 3,
            high: 5,
            thresholds: [1500, -300, -1500],
            ugal: UgalSpec::default(),
        }
    }
}

struct Tpr {
    counters: GroupCounters,
    thresholds: [i32; 3],
    ugal: Ugal,
}

/// Checks the parameters against the network.
///
/// # Errors
/// Those of UGAL, a `threshold` of UGAL, a topology without groups, and counters out of range.
pub fn plan(spec: &TprSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let ugal = UgalPlan::new(&spec.ugal, fabric, "routing.tpr.ugal")?;
    if spec.ugal.threshold != 0 {
        let message =
            format!("{} has no effect: `thresholds` of TPR takes its place", spec.ugal.threshold);
        return Err(SpecError::new("routing.tpr.ugal.threshold", message).choices(["0"]));
    }
    let TprSpec { ref window, count, stored_percent, low, high, thresholds, .. } = *spec;
    let counting = Counting { window, count, stored_percent, low, high };
    let counters = CounterPlan::new(&counting, fabric, "routing.tpr")?;
    let vcs = ugal.vcs();
    let agent = Box::new(move |first, routers| -> Box<dyn Routing> {
        let (counters, ugal) = (counters.agent(first, routers), ugal.agent(first, routers));
        Box::new(Tpr { counters, thresholds, ugal })
    });
    Ok(Plan { agent, vcs })
}

impl Routing for Tpr {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        if header.position > 0 {
            return self.ugal.follow(view.router, header);
        }
        self.counters.expire(view.router, view.now, |_, _| ());
        let offset = self.counters.plan().offset(view.router, header.destination);
        let region = self.counters.region(view.router, offset);
        self.ugal.decide(view, header, Some(self.thresholds[region as usize]))
    }

    fn follows(&self) -> Option<Follows> {
        self.ugal.follows()
    }

    fn watches(&self) -> Watches {
        Watches { injections: true, ..self.ugal.watches() }
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        self.counters.record(queue, event, header.destination, |_, _| ());
        self.ugal.injection(queue, event, header);
    }

    fn notified(&mut self, told: &Notification) {
        self.ugal.notified(told);
    }

    fn gauges(&self) -> Vec<String> {
        let mut names = self.counters.gauges();
        names.extend(self.ugal.gauges());
        names
    }

    fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        self.counters.expire(router, now, |_, _| ());
        self.counters.read(router, values);
        self.ugal.read(router, now, values);
    }

    fn bytes(&self) -> usize {
        self.counters.bytes() + self.ugal.bytes()
    }

    state! { keep counters, ugal; leave thresholds; }
}
