//! All-reduce over nodes and rails.
//!
//! # What it does
//! Consecutive members are a group. A reduce-scatter within each group leaves every member with the sum of one piece; the
//! members with the same piece, one of each group (a rail), add theirs up along a ring; an all-gather within each group
//! brings the pieces together.
//!
//! If groups do not divide the members, the last one is smaller, and its members have several pieces each: the members of
//! the first rails, as many as it has members, take one piece of each with them, then those of the next ones.
//!
//! # Limits
//! A piece has at least a phit. Adding takes no time.

use super::{Sizes, gather_all};
use crate::workload::ring;
use crate::workload::schedule::{Group, Schedule};

/// Of so many members and phits, in groups of so many.
pub(super) fn build(plan: Schedule, (n, phits): (u32, u32), group: u32) -> Schedule {
    let (full, rest) = (n / group, n % group);
    if full == 0 {
        // All are in the last group.
        let blocks = Sizes::Same(phits.div_ceil(n));
        let (down, up) = (gather_all::reduce_scatter(n, &blocks), gather_all::ring(n, &blocks));
        return plan.lane([(down, Group::All), (up, Group::All)]);
    }
    let piece = phits.div_ceil(group);
    let blocks = Sizes::Same(piece);
    let within = || (gather_all::reduce_scatter(group, &blocks), gather_all::ring(group, &blocks));
    let (down, up) = within();
    if rest == 0 {
        let near = Group::Strided { stride: 1, count: group };
        let far = Group::Strided { stride: group, count: full };
        return plan.lane([(down, near.clone()), (ring::build(full, piece), far), (up, near)]);
    }
    let first = full * group;
    let near = Group::listed(n, (0..full).map(|own| (own * group..(own + 1) * group).collect()));
    let last = Group::listed(n, std::iter::once((first..n).collect()));
    // Pieces of each member of the last group.
    let dealt = Sizes::Blocks((0..rest).map(|own| piece * (group - own).div_ceil(rest)).collect());
    let mut parts =
        vec![(down, near.clone()), (gather_all::reduce_scatter(rest, &dealt), last.clone())];
    for turn in 0..group.div_ceil(rest) {
        let rails = turn * rest..group.min((turn + 1) * rest);
        let rail = |rail: u32| {
            let of_groups = (0..full).map(|own| own * group + rail);
            of_groups.chain(std::iter::once(first + rail % rest)).collect()
        };
        parts.push((ring::build(full + 1, piece), Group::listed(n, rails.map(rail))));
    }
    parts.extend([(up, near), (gather_all::ring(rest, &dealt), last)]);
    plan.lane(parts)
}
