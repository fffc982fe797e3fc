//! Collectives along rings that share the data.
//!
//! # What it does
//! Each of so many rings (channels) has a part of the data, and goes on by itself. A ring has its members in the order of the
//! ranks, or in one that is given. Chunks of a message follow each other (`chunked.rs`).
//!
//! # Source
//! NCCL does so.
//!
//! # Limits
//! There are no more rings than the smallest block has phits, and no chunk is less than a phit.

use super::spec::{CollectiveKind as Kind, RingOrder};
use super::{Call, Sizes, chain, chunked, gather_all, share};
use crate::workload::ring;
use crate::workload::schedule::{Group, Schedule};

/// What is asked of them.
pub(super) struct Rings<'a> {
    pub(super) channels: u32,
    pub(super) chunks: u32,
    pub(super) order: Option<&'a RingOrder>,
}

impl Rings<'_> {
    /// A lane for each ring; none if a collective does not go by rings.
    pub(super) fn build(&self, plan: Schedule, call: &Call) -> Result<Option<Schedule>, String> {
        let n = call.members;
        let least = match (call.kind, &call.sizes) {
            (Kind::Allreduce | Kind::Broadcast | Kind::Reduce, Sizes::Same(phits)) => *phits,
            (Kind::Allgather | Kind::ReduceScatter, Sizes::Same(phits)) => *phits,
            (Kind::Allgather | Kind::ReduceScatter, Sizes::Blocks(all) | Sizes::Row(all)) => {
                all.iter().copied().min().unwrap_or(1)
            }
            _ => return Ok(None),
        };
        let orders = self.orders(n)?;
        let channels = self.channels.clamp(1, least);
        let mut plan = plan;
        for channel in 0..channels {
            let order = orders.get(channel as usize % orders.len().max(1));
            let group = match order {
                Some(order) => Group::ordered((*order).clone()),
                None => Group::All,
            };
            let root = group.place(call.root).unwrap_or(call.root);
            let sizes = part(&call.sizes, (channel, channels), order.copied());
            let (most, rounds) = match (call.kind, &sizes) {
                (Kind::Allreduce, Sizes::Same(phits)) => {
                    (phits.div_ceil(n), ring::build(n, *phits))
                }
                (Kind::Broadcast, Sizes::Same(phits)) => {
                    plan = plan.lane([(chain::broadcast(n, (root, *phits), self.chunks), group)]);
                    continue;
                }
                (Kind::Reduce, Sizes::Same(phits)) => {
                    plan = plan.lane([(chain::reduce(n, (root, *phits), self.chunks), group)]);
                    continue;
                }
                (Kind::Allgather, sizes) => (largest(n, sizes), gather_all::ring(n, sizes)),
                (_, sizes) => (largest(n, sizes), gather_all::reduce_scatter(n, sizes)),
            };
            let step = chunked::build(rounds, self.chunks.clamp(1, most))?;
            plan = plan.lane([(step, group)]);
        }
        Ok(Some(plan))
    }

    /// The members in the order of each ring, one after the other; none if they are as they are.
    fn orders(&self, n: u32) -> Result<Vec<&Vec<u32>>, String> {
        let Some(RingOrder::Members(orders)) = self.order else { return Ok(Vec::new()) };
        match orders.iter().find(|order| order.len() != n as usize) {
            Some(other) => Err(format!("a ring of {} members is not one of {n}", other.len())),
            None => Ok(orders.iter().collect()),
        }
    }
}

/// The largest block.
fn largest(n: u32, sizes: &Sizes) -> u32 {
    (0..n).map(|member| sizes.block(member)).max().unwrap_or(1)
}

/// What one of several rings has of the data, by the places of its members.
fn part(sizes: &Sizes, (channel, channels): (u32, u32), order: Option<&Vec<u32>>) -> Sizes {
    let own = |phits: u32| share(phits, channel, channels);
    match (sizes, order) {
        (Sizes::Same(phits), _) => Sizes::Same(own(*phits)),
        (Sizes::Blocks(all) | Sizes::Row(all), None) => {
            Sizes::Blocks(all.iter().map(|phits| own(*phits)).collect())
        }
        (Sizes::Blocks(all) | Sizes::Row(all), Some(order)) => {
            Sizes::Blocks(order.iter().map(|member| own(all[*member as usize])).collect())
        }
    }
}
