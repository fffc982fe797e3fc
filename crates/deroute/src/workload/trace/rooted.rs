//! Collectives of formats in which only the record of the root says who that is.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::calls::{Bytes, Comm};
use super::draft::{Draft, RankDraft};
use super::fault::{Fault, Place};
use crate::workload::actions::{Action, Then};
use crate::workload::collective::spec::CollectiveKind as Kind;
use crate::workload::spill::Long;

/// A collective whose root may not be known yet.
#[derive(Serialize, Deserialize)]
struct Part {
    rank: u32,
    comm: Comm,
    /// Number among those of its rank in the communicator.
    index: u32,
    node: u32,
    kind: Kind,
    bytes: Bytes,
    place: u32,
}

/// What a record says of a collective besides its kind.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    /// Bytes sent.
    pub(super) sent: u64,
    /// Bytes received.
    pub(super) received: u64,
    /// Blocks have sizes of their own, and those of an all-to-all are given as a sum.
    pub(super) unequal: bool,
    pub(super) is_root: bool,
}

/// All collectives of a trace until their roots are known.
#[derive(Default)]
pub(super) struct Rooted {
    parts: Long<Part>,
    /// Collectives so far, by communicator and rank.
    counts: BTreeMap<(u32, u32), u32>,
    /// Roots, by communicator and number.
    roots: BTreeMap<(u32, u32), u32>,
}

impl Rooted {
    /// A rank takes part in a collective. Says which node that is.
    pub(super) fn add(
        &mut self,
        own: &mut RankDraft,
        (comm, members): (Comm, u32),
        (kind, record): (Kind, &Record),
        (then, place): (Then, u32),
    ) -> Result<u32, String> {
        let &Record { sent, received: got, unequal, is_root } = record;
        let each = sent.max(got) / u64::from(members);
        let bytes = match kind {
            Kind::Barrier => 0,
            Kind::Broadcast | Kind::Reduce | Kind::Allreduce | Kind::Scan => sent.max(got),
            Kind::Gather => sent,
            Kind::Scatter => got,
            Kind::Alltoall if unequal => each,
            // One block is sent to each; what is received is one, or all of them, by the version of Extrae.
            Kind::Allgather | Kind::Alltoall => sent.min(got),
            Kind::ReduceScatter => each,
        };
        let vector = match kind {
            Kind::Gather | Kind::Scatter => true,
            Kind::Alltoall => unequal,
            _ => false,
        };
        let bytes = if vector { Bytes::Own(bytes) } else { Bytes::Same(bytes) };
        let count = self.counts.entry((comm.index, own.rank)).or_default();
        let index = *count;
        *count += 1;
        let rooted = [Kind::Broadcast, Kind::Reduce, Kind::Gather, Kind::Scatter].contains(&kind);
        if rooted && is_root {
            self.roots.insert((comm.index, index), comm.member);
        }
        let node = own.push(Action::Join, then, place)?;
        let part = Part { rank: own.rank, comm, index, node, kind, bytes, place };
        own.add_to(&mut self.parts, part)?;
        Ok(node)
    }

    /// Everything has been read: the nodes get what they do.
    pub(super) fn finish(
        self,
        draft: &mut Draft<'_>,
        ranks: &mut [RankDraft],
        file: &str,
    ) -> Result<(), Fault> {
        let Self { parts, roots, .. } = self;
        let spill = Arc::clone(&draft.spill);
        for parts in parts.parts(&spill) {
            for part in parts.map_err(|told| Fault::file(file, told))? {
                let root = roots.get(&(part.comm.index, part.index)).copied().unwrap_or(0);
                give(part, root, draft, ranks)
                    .map_err(|(place, told)| Fault::at(file, place, told))?;
            }
        }
        Ok(())
    }
}

/// A node becomes a collective with this root.
fn give(
    part: Part,
    root: u32,
    draft: &mut Draft<'_>,
    ranks: &mut [RankDraft],
) -> Result<(), (Place, String)> {
    let Part { rank, comm, node, kind, bytes, place, .. } = part;
    let Draft { calls, amounts, .. } = draft;
    let action = calls.call((rank, comm, place), (kind, root, &bytes), amounts);
    let action = action.map_err(|told| (Place::Line(place.into()), told))?;
    ranks[rank as usize].set(node, action).map_err(|told| (Place::File, told))
}
