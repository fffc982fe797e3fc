//! LIAN: latency-improved adaptive non-minimal routing.
//!
//! # What it does
//! Every router counts the packets that its own hosts offer to each other group (`G`) and derives
//! what these would put on the local links of the groups in between if detours had no second local
//! hop (`IL`). A detour takes the second local hop iff an `IL` counter to which its packet adds
//! exceeds `ilc_threshold`, and the first iff more than `sgc_threshold` of the groups wired to the
//! router have a `G` above `gcs_threshold`: the policy is `-g-`, `-gl`, `lg-` or `lgl`. Then UGAL
//! chooses between the minimal path and the detour, with the `T` of the region of the destination
//! group's `G` (see TPR). A packet for the own group counts nowhere, is benign, and its detour
//! stays in the group.
//!
//! # Source
//! Thesis 6.2, equations 6-1 and 6-2, and Table 6-1. `decide = "counters"` and `whole_path` are our
//! own, after two of its suggestions for future work.
//!
//! # Parameters
//! `window`, `count` (default `extended`), `stored_percent`, `low`, `high`, `thresholds` as TPR;
//! `ilc_threshold` ILCth, `gcs_threshold` GCSth (default 20 and 5 packets), `sgc_threshold` SGCth
//! (default 3 groups); `restricted`, `recompute` (default true: the packet is decided anew in every
//! cycle in which it waits), `queue`, `hops`, `vc_use` as UGAL; and
//!
//! - `decide`: `ugal` (default), or `counters`: the path is minimal iff the destination group's `G`
//!   is below `low`. No queue is looked at.
//! - `whole_path` (default false): the intermediate router also shapes phase B. The second local
//!   hop is taken iff the very local link that the packet would need is loaded. There is none if
//!   the packet lands on the router that owns the next global link, so l2 and l3 are both saved
//!   there. Where it is loaded, the intermediate router is neither of its two ends, so that l2 and
//!   l3 avoid it, and both are taken. With the first local hop, which leaves the choice of the
//!   group free, only groups wired to the destination router are drawn, and l4 is saved.
//!
//! The local links of `IL` are told apart by how many positions in the group they lead on. In a
//! full palmtree the counters are those of equation 6-2. In other wirings the same sum has the
//! shares of that wiring: of the group's global links that land where such a local link is, those
//! from which the way leads over it.
//!
//! # Deadlock freedom
//! As Valiant: every policy's paths are among l1 g1 l2 - l3 g2 l4.
//!
//! # Limits
//! A router knows its own traffic only: it takes for granted that the others do the same. The
//! thresholds are in packets per window, so they go with `window`, the hosts of a router and the
//! size of a packet. `lgl` may draw a router of the source group. In the counters, parallel links
//! of a trunk share their group's traffic equally. Small `thresholds` next to the queue of a busy
//! link on which nothing waits bring the minimal paths back: with 150, -30 and -150 phits, under
//! ADV+1 at 0.3 (h=6), 4.6% of the packets are minimal and fill their global link; with the default
//! 0.2%.
//!
//! # Example
//! ```toml
//! [routing.lian]
//! count = "extended"
//! ilc_threshold = 20
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counters::{CountMode, CounterPlan, Counting, Region};
use super::lian_detours::{LianDetours, LianPlan, Limits};
use super::phase_a::Policy;
use super::ugal::{HopCount, QueueMetric, Ugal, UgalPlan, UgalSpec};
use super::{Fabric, Follows, Header, Hop, Injection, Plan, Queue, RouterView, Routing, Watches};
use crate::ids::{Cycle, RouterId};
use crate::spec::{Quantity, SpecError, VcUse};
use crate::state::state;

/// Parameters of LIAN.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LianSpec {
    /// History window HW. Default 200 cycles.
    pub window: Quantity,
    /// What a counter counts. Default `extended`.
    pub count: CountMode,
    /// Percent of a packet that a stored one counts in `extended` counters: `w` of equation 6-1.
    /// Default 10.
    pub stored_percent: u32,
    /// LI_l: packets below which traffic is benign. Default 3.
    pub low: u32,
    /// LI_h: packets above which traffic is adversarial. Default 5.
    pub high: u32,
    /// `T` of equation 2-1 in phits under benign, mixed and adversarial traffic. Default 1500, -300,
    /// -1500: 150, -30 and -150 flits of 10 phits (decision 4).
    pub thresholds: [i32; 3],
    /// ILCth: packets of an `IL` counter above which detours take the second local hop. Default 20.
    pub ilc_threshold: u32,
    /// GCSth: packets above which a `G` counter is saturated. Default 5.
    pub gcs_threshold: u32,
    /// SGCth: saturated groups among those wired to the router, above which detours take the first
    /// local hop. Default 3.
    pub sgc_threshold: u32,
    /// What chooses between the minimal path and the detour. Default `ugal`.
    pub decide: Decision,
    /// The intermediate router also shapes phase B. Default `false`.
    pub whole_path: bool,
    /// The intermediate router of a packet that stays in its partition (a Dragonfly's group) is
    /// drawn there (thesis 5.2). Default `true`.
    pub restricted: bool,
    /// Decide and draw again in every cycle in which the packet waits at the head of its injection
    /// queue (thesis 5.3). Default `true`.
    pub recompute: bool,
    /// What `Q` measures. Default `vc`.
    pub queue: QueueMetric,
    /// What `H` of the minimal path counts. Default `path`.
    pub hops: HopCount,
    /// How the VC follows from the position on the path. Default `path-position`.
    pub vc_use: VcUse,
}

impl Default for LianSpec {
    fn default() -> Self {
        Self {
            window: 200.into(),
            count: CountMode::Extended,
            stored_percent: 10,
            low: 3,
            high: 5,
            thresholds: [1500, -300, -1500],
            ilc_threshold: 20,
            gcs_threshold: 5,
            sgc_threshold: 3,
            decide: Decision::Ugal,
            whole_path: false,
            restricted: true,
            recompute: true,
            queue: QueueMetric::Vc,
            hops: HopCount::Path,
            vc_use: VcUse::PathPosition,
        }
    }
}

/// What chooses between the minimal path and the detour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Equation 2-1, with the `T` of the destination group's region.
    #[default]
    Ugal,
    /// The path is minimal iff the destination group's region is benign.
    Counters,
}

struct Lian {
    spec: LianSpec,
    detours: LianDetours,
    ugal: Ugal,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology without intermediate routers or without groups, and counters out of range.
pub fn plan(spec: &LianSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let LianSpec { ref window, count, stored_percent, low, high, .. } = *spec;
    let LianSpec { ilc_threshold, gcs_threshold, sgc_threshold, .. } = *spec;
    let LianSpec { recompute, queue, hops, vc_use, whole_path, restricted, .. } = *spec;
    let choice =
        UgalSpec { phase_a: Policy::Lgl, recompute, queue, hops, vc_use, ..UgalSpec::default() };
    let ugal = UgalPlan::new(&choice, fabric, "routing.lian")?;
    let counting = Counting { window, count, stored_percent, low, high };
    let counters = CounterPlan::new(&counting, fabric, "routing.lian")?;
    let own_group = true;
    let limits =
        Limits { ilc_threshold, gcs_threshold, sgc_threshold, whole_path, restricted, own_group };
    let detours = LianPlan::new(&fabric.topology, counters, limits);
    let (vcs, spec) = (ugal.vcs(), spec.clone());
    let agent = Box::new(move |first: RouterId, routers: u32| -> Box<dyn Routing> {
        Box::new(Lian {
            spec: spec.clone(),
            detours: detours.agent(first, routers),
            ugal: ugal.agent(first, routers),
        })
    });
    Ok(Plan { agent, vcs })
}

impl Routing for Lian {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let at = view.router;
        if header.position > 0 {
            return self.ugal.follow(at, header);
        }
        self.detours.expire(at, view.now);
        let counters = &self.detours.counters;
        let offset = counters.plan().offset(at, header.destination);
        let region = counters.region(at, offset);
        let threshold = match self.spec.decide {
            Decision::Ugal => Some(self.spec.thresholds[region as usize]),
            Decision::Counters if region == Region::Benign => {
                header.go_minimally();
                return self.ugal.follow(at, header);
            }
            Decision::Counters => None,
        };
        let detour = self.detours.detour(view, header.destination, offset);
        self.ugal.choose(view, header, detour, threshold)
    }

    fn follows(&self) -> Option<Follows> {
        self.ugal.follows()
    }

    fn watches(&self) -> Watches {
        Watches { injections: true, ..self.ugal.watches() }
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        self.detours.record(queue, event, header.destination);
    }

    fn gauges(&self) -> Vec<String> {
        self.detours.gauges()
    }

    fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        self.detours.read(router, now, values);
    }

    fn bytes(&self) -> usize {
        self.detours.bytes() + self.ugal.bytes()
    }

    state! { keep detours, ugal; leave spec; }
}
