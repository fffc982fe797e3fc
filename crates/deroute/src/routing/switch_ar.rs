//! Switch AR: adaptive routing of fat trees by the notifications of QCN.
//!
//! # What it does
//! Every switch keeps a level of congestion for each destination and each of its ports that lead up. A
//! notification that passes a switch, or that it makes, is about the port by which it came, or whose queue was too long,
//! and the destination of the packet that it tells of. Every packet goes up by the port with the least
//! level for its destination; of those with the same level by that of D-mod-K, or the next one after it. Down
//! there is one way. Packets of a flow can overtake each other.
//!
//! # Source
//! Anghel et al., the CEE paper, III.D and III.E, after Minkenberg et al., HOTI 2009; fractions of the traffic, and adaptation at
//! the source: its future work. With reaction points at hosts (`network.nic.reaction_point`) it is that paper's
//! Switch AR with rate limiters.
//!
//! # Parameters
//! `level`: the largest feedback, `max` (default), the `last` one, a `flag`, or the `recent` ones, by
//! which the port counts that was marked longest ago; `aging`: a level ends after the `timer` without a notification,
//! `expiry` (default), all end together at its multiples, `reset` (HOTI 2009), or `never`; `timer` in
//! cycles or as a time (default 250 us: with the 250 ms that the paper prints a run of 50 ms would never forget); `share` of
//! the packets that leave the port of D-mod-K while another one is better, 0 to 1, drawn for each (default 1); `at`: all
//! `switches` adapt (default), or that of the `source`, by the notifications for its hosts.
//!
//! # Deadlock freedom
//! Up and then down, on one VC.
//!
//! # Limits
//! Needs a fat tree and notifications: of `network.congestion_point.qcn`, whose `notifications.path = "random-up"`
//! lets switches on all paths see them, or of receivers (`network.nic.notification_point.cnp`). Hosts that need packets in order put them so (`network.nic.resequencing`).
//!
//! # Example
//! ```toml
//! [routing.switch_ar]
//! level = "max"
//! timer = "250 us"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::upward::{self, Climb, Rise};
use super::{Fabric, Header, Notification, Plan, RouterView};
use crate::ids::{Cycle, RouterId};
use crate::spec::{Quantity, SpecError};
use crate::state::{State, state};
use crate::topology::Tree;

/// Parameters of Switch AR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchArSpec {
    /// What the level of a port is. Default `max`.
    pub level: CongestionLevel,
    /// When it ends. Default `expiry`.
    pub aging: Aging,
    /// After how long: cycles or a time. Default `"250 us"`.
    pub timer: Quantity,
    /// Packets that leave the port of D-mod-K while another one is better, 0 to 1. Default 1.
    pub share: f64,
    /// Who adapts. Default `switches`.
    pub at: AdaptsAt,
}

impl Default for SwitchArSpec {
    fn default() -> Self {
        Self {
            level: CongestionLevel::Max,
            aging: Aging::Expiry,
            timer: "250 us".into(),
            share: 1.0,
            at: AdaptsAt::Switches,
        }
    }
}

/// What the level of congestion of a port is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionLevel {
    /// The largest feedback.
    Max,
    /// The last one.
    Last,
    /// One for all.
    Flag,
    /// When the last one came.
    Recent,
}

/// When a level ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Aging {
    /// Some time after its last notification.
    Expiry,
    /// With all others, at multiples of that time.
    Reset,
    /// It stays.
    Never,
}

/// Who adapts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AdaptsAt {
    /// All switches.
    Switches,
    /// That of the source.
    Source,
}

/// What is known of a port, for a destination.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Entry {
    /// 0 if there never was a notification.
    feedback: u8,
    heard: Cycle,
}

struct SwitchAr {
    spec: SwitchArSpec,
    timer: Cycle,
    first: RouterId,
    hosts: usize,
    /// Most ports that lead up from a switch.
    ups: usize,
    /// By router, destination and port.
    entries: Vec<Entry>,
    decided: u64,
    diverted: u64,
    heard: u64,
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no fat tree, a share that is none, and a timer of no cycles.
pub fn plan(spec: &SwitchArSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let path = "routing.switch_ar";
    let timer = fabric.scale.duration(&format!("{path}.timer"), &spec.timer)?;
    if !(0.0..=1.0).contains(&spec.share) {
        let message = format!("{} is no share", spec.share);
        return Err(SpecError::new(format!("{path}.share"), message).choices(["0 to 1"]));
    }
    let spec = spec.clone();
    upward::plan(fabric, path, move |tree, first, count| {
        let hosts = tree.hosts() as usize;
        let ups = (1..tree.levels()).map(|level| tree.ups(level)).max().unwrap_or(0) as usize;
        SwitchAr {
            spec: spec.clone(),
            timer,
            first,
            hosts,
            ups,
            entries: vec![Entry::default(); hosts * ups * count as usize],
            decided: 0,
            diverted: 0,
            heard: 0,
        }
    })
}

impl SwitchAr {
    fn cell(&self, router: RouterId, host: u32) -> usize {
        ((router.0 - self.first.0) as usize * self.hosts + host as usize) * self.ups
    }

    /// Does what was heard still count?
    fn holds(&self, entry: Entry, now: Cycle) -> bool {
        entry.feedback > 0
            && match self.spec.aging {
                Aging::Expiry => now - entry.heard < self.timer,
                Aging::Reset => now / self.timer == entry.heard / self.timer,
                Aging::Never => true,
            }
    }

    /// The level of a port, for a destination; 0 is none.
    fn level(&self, entry: Entry, now: Cycle) -> u32 {
        if !self.holds(entry, now) {
            return 0;
        }
        match self.spec.level {
            CongestionLevel::Max | CongestionLevel::Last => entry.feedback.into(),
            CongestionLevel::Flag => 1,
            CongestionLevel::Recent => entry.heard + 1,
        }
    }
}

impl State for SwitchAr {
    state! { keep entries, decided, diverted, heard; leave spec, timer, first, hosts, ups; }
}

impl Climb for SwitchAr {
    fn choose(
        &mut self,
        tree: &Tree,
        view: &mut RouterView<'_>,
        _header: &mut Header,
        rise: Rise,
    ) -> u32 {
        let usual = tree.share(rise.level, rise.host);
        if rise.ups == 1 || self.spec.at == AdaptsAt::Source && rise.level > 1 {
            return usual;
        }
        self.decided += 1;
        let first = self.cell(view.router, rise.host);
        let level = |way: u32| self.level(self.entries[first + way as usize], view.now);
        let ways = (0..rise.ups).map(|n| (usual + n) % rise.ups);
        // The first of those with the least.
        let best = ways.min_by_key(|way| level(*way)).unwrap_or(usual);
        if best == usual || self.spec.share < 1.0 && view.rng.unit() >= self.spec.share {
            return usual;
        }
        self.diverted += 1;
        best
    }

    fn follows_notifications(&self) -> bool {
        true
    }

    fn notified(&mut self, tree: &Tree, told: &Notification) {
        let level = tree.level(told.router);
        let (downs, ups) = (tree.downs(level), tree.ups(level));
        let away = self.spec.at == AdaptsAt::Source && !told.ends;
        let port = u32::from(told.port.0);
        if away || port < downs || port >= downs + ups {
            return;
        }
        self.heard += 1;
        let (router, at) = told.to;
        let host = tree.first_host(router) + u32::from(at.0);
        let cell = self.cell(told.router, host) + (port - downs) as usize;
        let before = self.entries[cell];
        let feedback = match self.spec.level {
            CongestionLevel::Max if self.holds(before, told.now) => {
                before.feedback.max(told.feedback)
            }
            _ => told.feedback,
        };
        self.entries[cell] = Entry { feedback, heard: told.now };
    }

    fn gauges(&self) -> Vec<String> {
        vec!["congested".to_owned()]
    }

    fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        let (first, last) = (self.cell(router, 0), self.cell(router, self.hosts as u32));
        let entries = &self.entries[first..last];
        values.push(entries.iter().filter(|entry| self.holds(**entry, now)).count() as f64);
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        vec![("diverted", self.diverted), ("decided", self.decided), ("notifications", self.heard)]
    }

    fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
    }
}
