//! Adversarial traffic: ADV+i, ADVL and ADVC.
//!
//! # What it does
//! Every packet goes to a random host of a small set that depends on the source: ADV+i the group
//! `offset` groups ahead, ADVC the next `groups` groups, ADVL the next router of the same group. A
//! single link of the minimal paths carries it all.
//!
//! # Source
//! Thesis 3.2.2.1.2 to 3.2.2.1.4.
//!
//! # Parameters
//! ADV+i: `offset` in groups, negative is behind. ADVC: `groups`, default the global links of a
//! router (h); FOGSim has h - 1. ADVL: none.
//!
//! # Limits
//! Needs a topology with groups, or with neighbours inside a group.
//!
//! # Example
//! ```toml
//! pattern = { adversarial = { offset = 1 } }
//! ```

use std::ops::Range;

use super::{Pattern, Setting};
use crate::ids::HostId;
use crate::rng::Stream;
use crate::spec::SpecError;
use crate::topology::Topology;

/// Each host draws from one of several ranges of the same size.
struct Sets {
    /// `sets[(host / share) * choices + choice]` is the first host of a range.
    first: Vec<u32>,
    /// Consecutive hosts with the same ranges.
    share: u32,
    choices: u32,
    /// Hosts in a range.
    size: u32,
}

impl Pattern for Sets {
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId {
        let choice = if self.choices == 1 { 0 } else { rng.below(self.choices) };
        let first = self.first[(source.0 / self.share * self.choices + choice) as usize];
        HostId(first + rng.below(self.size))
    }
}

fn sets(
    topology: &dyn Topology,
    share: u32,
    choices: u32,
    range: impl Fn(HostId, u32) -> Option<Range<u32>>,
) -> Option<Box<dyn Pattern>> {
    let mut first = Vec::new();
    let mut size = 0;
    for host in (0..topology.hosts()).step_by(share as usize) {
        for choice in 0..choices {
            let range = range(HostId(host), choice)?;
            size = range.len() as u32;
            first.push(range.start);
        }
    }
    Some(Box::new(Sets { first, share, choices, size }))
}

fn groups(path: &str, setting: &Setting<'_>) -> Result<u32, SpecError> {
    match setting.topology.groups() {
        1 => {
            let message = "this topology has no groups to be adversarial between";
            Err(SpecError::new(path, message).choices(["uniform", "permutation"]))
        }
        groups => Ok(groups),
    }
}

pub(super) fn shift(
    offset: i64,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let (topology, groups) = (setting.topology, groups(path, setting)?);
    if offset == 0 || offset.unsigned_abs() >= u64::from(groups) {
        let message = format!("{offset} is no other group of {groups}");
        let choices = [format!("1 to {}", groups - 1), format!("-1 to -{}", groups - 1)];
        return Err(SpecError::new(format!("{path}.adversarial.offset"), message).choices(choices));
    }
    let share = topology.hosts() / groups;
    sets(topology, share, 1, |host, _| topology.hosts_ahead(host, offset))
        .ok_or_else(|| SpecError::new(path, "this topology has no groups"))
}

pub(super) fn consecutive(
    ahead: Option<u32>,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let (topology, groups) = (setting.topology, groups(path, setting)?);
    let ahead = ahead.unwrap_or_else(|| topology.global_links().min(groups - 1));
    if ahead == 0 || ahead >= groups {
        let message = format!("{ahead} groups ahead do not exist beside the source's");
        return Err(SpecError::new(format!("{path}.adversarial_consecutive.groups"), message)
            .choices([format!("1 to {}", groups - 1)]));
    }
    let share = topology.hosts() / groups;
    sets(topology, share, ahead, |host, n| topology.hosts_ahead(host, i64::from(n) + 1))
        .ok_or_else(|| SpecError::new(path, "this topology has no groups"))
}

pub(super) fn local(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let topology = setting.topology;
    // Where there is a next router, every router has hosts.
    let share = (topology.hosts() / topology.routers()).max(1);
    sets(topology, share, 1, |host, _| topology.hosts_of_next_router(host)).ok_or_else(|| {
        let message = "this topology has no second router in a group";
        SpecError::new(path, message).choices(["uniform", "permutation"])
    })
}
