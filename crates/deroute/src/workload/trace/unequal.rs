//! How large a collective is whose members have sizes of their own: each of them says what it sends, or has to send.
//!
//! An all-to-all is as large as the most that one member sends or receives in all, its own block included: what nccl-tests
//! call the size of `alltoallv_perf` (2.19.6, `AlltoAllvGetBw`). A gather is as large as all blocks together, a scatter as what
//! its root has.

use std::collections::{BTreeMap, BTreeSet};

use crate::workload::collective::spec::CollectiveKind as Kind;
use crate::workload::schedule::Schedule;
use crate::workload::uses::{Unequal, Uses};

/// What one member says of a call.
pub(super) struct Part<'a> {
    /// Communicator and first tag: which call it is.
    pub(super) call: (u32, u32),
    pub(super) kind: Kind,
    pub(super) root: u32,
    pub(super) member: u32,
    /// Phits for each member.
    pub(super) row: &'a [u32],
    pub(super) schedule: u32,
}

/// What is known of a call.
#[derive(Default)]
struct Known {
    schedule: u32,
    /// Phits that somebody sends, or that all send.
    sent: u64,
    /// Phits that each member receives, of an all-to-all.
    received: Box<[u64]>,
}

/// All such calls of a trace.
#[derive(Default)]
pub(super) struct Rows {
    calls: BTreeMap<(u32, u32), Known>,
    /// Schedules of single members.
    schedules: BTreeSet<u32>,
}

impl Rows {
    /// A member takes part in a call.
    pub(super) fn note(&mut self, part: &Part<'_>) {
        let &Part { call, kind, root, member, row, schedule } = part;
        self.schedules.insert(schedule);
        let own = self.calls.entry(call).or_default();
        own.schedule = schedule;
        let all: u64 = row.iter().map(|phits| u64::from(*phits)).sum();
        match kind {
            Kind::Gather => own.sent += u64::from(row[member as usize]),
            Kind::Scatter if member != root => {}
            Kind::Alltoall => {
                own.sent = own.sent.max(all);
                if own.received.is_empty() {
                    own.received = vec![0; row.len()].into();
                }
                let received = own.received.iter_mut().zip(row);
                received.for_each(|(sum, phits)| *sum += u64::from(*phits));
            }
            _ => own.sent = own.sent.max(all),
        }
    }

    /// What all collectives of a trace count as.
    pub(super) fn uses(&self, schedules: &[Schedule]) -> Uses {
        let calls: Vec<Unequal> = self
            .calls
            .iter()
            .map(|(&(comm, first_tag), known)| {
                let phits = known.received.iter().copied().fold(known.sent, u64::max);
                Unequal { comm, first_tag, schedule: known.schedule, phits }
            })
            .collect();
        Uses::with(schedules, |index| !self.schedules.contains(&(index as u32)), &calls)
    }
}
