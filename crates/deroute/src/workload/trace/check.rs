//! What a trace has to be besides well written: every message is received, and nothing needs itself.

use super::fault::{Fault, Place};
use crate::workload::actions::{Action, Edge};
use crate::workload::matching::ANY;
use crate::workload::program::RankProgram;
use crate::workload::schedule::Schedule;

/// Receiver, communicator, sender, tag.
type Sent = (u32, u32, u32, u32);

/// What a rank receives beside what is sent to it: sums of digests, which are 0 if both are the same, in any order.
#[derive(Clone, Default)]
struct Account {
    /// It takes anything in some receive, so that only the number of messages is known.
    wild: bool,
    /// By communicator, sender and tag.
    exact: u128,
    /// By communicator.
    blind: u128,
}

/// What all ranks send and receive. Nothing of it grows with what they do.
pub(super) struct Books {
    /// By receiver.
    accounts: Vec<Account>,
    /// Messages and phits that are sent.
    pub(super) work: (u64, u64),
}

/// Numbers as one that looks random (the finaliser of SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn digest((comm, from, tag): (u32, u32, u32)) -> u128 {
    let half = |seed: u64| {
        let first = mixed(seed ^ (u64::from(comm) << 32 | u64::from(from)));
        mixed(first.wrapping_add(seed) ^ u64::from(tag))
    };
    u128::from(half(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(half(0xd1b5_4a32_d192_ed03))
}

impl Books {
    /// Of all ranks.
    pub(super) fn of(ranks: &[RankProgram], schedules: &[Schedule]) -> Result<Self, String> {
        let mut accounts = vec![Account::default(); ranks.len()];
        let mut collective: Vec<Option<(u64, u64)>> = vec![None; schedules.len()];
        let (mut messages, mut phits) = (0u64, 0u64);
        for (rank, program) in (0..).zip(ranks) {
            program.each(|node| {
                let more = match node.action {
                    Action::Send { to, tag, comm, phits, .. } => {
                        let account = &mut accounts[to as usize];
                        account.exact = account.exact.wrapping_add(digest((comm, rank, tag)));
                        account.blind = account.blind.wrapping_add(digest((comm, ANY, ANY)));
                        (1, u64::from(phits))
                    }
                    Action::Receive { from, tag, comm } => {
                        let account = &mut accounts[rank as usize];
                        account.wild |= from == ANY || tag == ANY;
                        account.exact = account.exact.wrapping_sub(digest((comm, from, tag)));
                        account.blind = account.blind.wrapping_sub(digest((comm, ANY, ANY)));
                        return;
                    }
                    // Of one member for all: what this is for is an estimate.
                    Action::Collective { schedule, member, .. } => {
                        let known = &mut collective[schedule as usize];
                        *known.get_or_insert_with(|| schedules[schedule as usize].sent(member))
                    }
                    Action::Join | Action::Compute { .. } | Action::Idle { .. } => return,
                };
                (messages, phits) = (messages + more.0, phits.saturating_add(more.1));
            })?;
        }
        Ok(Self { accounts, work: (messages, phits) })
    }

    /// Some receive takes more than one source or tag.
    pub(super) fn wildcards(&self) -> bool {
        self.accounts.iter().any(|account| account.wild)
    }

    /// Every message has to be received, and every receive needs a message.
    pub(super) fn check(
        &self,
        ranks: &[RankProgram],
        (name, files): (&str, &[String]),
        at: fn(u64) -> Place,
    ) -> Result<(), Fault> {
        let wrong = |account: &Account| match account.wild {
            true => account.blind != 0,
            false => account.exact != 0,
        };
        let Some(to) = self.accounts.iter().position(wrong) else { return Ok(()) };
        let found = mismatch(ranks, to as u32, self.accounts[to].wild);
        let Some((rank, place, message)) = found.map_err(|told| Fault::file(name, told))? else {
            return Ok(());
        };
        let file = files.get(rank as usize).map_or("", String::as_str);
        Err(Fault::at(file, at(place.into()), message))
    }
}

/// The first message to a rank that it does not receive, or the first that it receives and that is not sent: who has
/// that node, and where, and what is wrong. Only the numbers of messages count if it takes anything.
fn mismatch(
    ranks: &[RankProgram],
    receiver: u32,
    wild: bool,
) -> Result<Option<(u32, u32, String)>, String> {
    let mut sends: Vec<Sent> = Vec::new();
    let mut receives: Vec<Sent> = Vec::new();
    let seen = |comm, from, tag| match wild {
        true => (receiver, comm, ANY, ANY),
        false => (receiver, comm, from, tag),
    };
    for (rank, program) in (0..).zip(ranks) {
        program.each(|node| match node.action {
            Action::Send { to, tag, comm, .. } if to == receiver => {
                sends.push(seen(comm, rank, tag));
            }
            Action::Receive { from, tag, comm } if rank == receiver => {
                receives.push(seen(comm, from, tag));
            }
            _ => {}
        })?;
    }
    sends.sort_unstable();
    receives.sort_unstable();
    let differs = sends.iter().zip(&receives).position(|(sent, received)| sent != received);
    let at = differs.unwrap_or(sends.len().min(receives.len()));
    match (sends.get(at), receives.get(at)) {
        (None, None) => Ok(None),
        (Some(sent), received) if received.is_none_or(|received| sent < received) => {
            unreceived(ranks, *sent).map(Some)
        }
        (_, Some(received)) => unsent(ranks, *received).map(Some),
        (Some(_), None) => Ok(None),
    }
}

/// The place of the last of the nodes of a rank that fit; 0 if there is none.
fn last(program: &RankProgram, fits: impl Fn(Action) -> bool) -> Result<u32, String> {
    let mut last = 0;
    program.each(|node| {
        if fits(node.action) {
            last = node.place;
        }
    })?;
    Ok(last)
}

fn same(asked: u32, found: u32) -> bool {
    asked == ANY || found == ANY || asked == found
}

/// A message that nobody receives: the rank and place of its send.
fn unreceived(
    ranks: &[RankProgram],
    (to, comm, from, tag): Sent,
) -> Result<(u32, u32, String), String> {
    let fits = |action| {
        matches!(action, Action::Send { to: t, tag: own, comm: c, .. }
            if t == to && c == comm && same(tag, own))
    };
    let mut rank = from;
    if from == ANY {
        rank = 0;
        for (other, program) in (0..).zip(ranks) {
            if last(program, fits)? > 0 {
                rank = other;
                break;
            }
        }
    }
    let place = last(&ranks[rank as usize], fits)?;
    let tag = if tag == ANY { String::new() } else { format!(" with tag {tag}") };
    Ok((rank, place, format!("rank {to} does not receive all messages of rank {rank}{tag}")))
}

/// A receive that gets no message: its rank and place.
fn unsent(
    ranks: &[RankProgram],
    (rank, comm, from, tag): Sent,
) -> Result<(u32, u32, String), String> {
    let fits = |action| {
        matches!(action, Action::Receive { from: f, tag: own, comm: c }
            if c == comm && same(from, f) && same(tag, own))
    };
    let place = last(&ranks[rank as usize], fits)?;
    let from = if from == ANY { "anybody".into() } else { format!("rank {from} with tag {tag}") };
    let message = format!("rank {rank} receives more messages from {from} than there are");
    Ok((rank, place, message))
}

/// The nodes of a rank as a search for a cycle sees them.
#[derive(Default)]
pub(super) struct Shape {
    needs: Vec<u32>,
    /// The end of the edges of each node.
    ends: Vec<u32>,
    /// The node after it needs it.
    followed: Vec<bool>,
}

impl Shape {
    pub(super) fn add(&mut self, needs: u32, end: u32, followed: bool) {
        self.needs.push(needs);
        self.ends.push(end);
        self.followed.push(followed);
    }
}

/// A node that needs itself; `None` if there is none. The edges are there by the node that they begin at.
pub(super) fn cycle(shape: Shape, edges: &[(u32, Edge)]) -> Option<u32> {
    let Shape { mut needs, ends, followed } = shape;
    let from = |id: usize| if id == 0 { 0 } else { ends[id - 1] as usize };
    let mut free: Vec<usize> = (0..needs.len()).filter(|id| needs[*id] == 0).collect();
    let mut left = needs.len();
    while let Some(id) = free.pop() {
        left -= 1;
        let next = followed[id].then_some(id + 1);
        let own = edges[from(id)..ends[id] as usize].iter();
        for to in own.map(|(_, edge)| edge.to() as usize).chain(next) {
            let Some(count) = needs.get_mut(to) else { continue };
            *count -= 1;
            if *count == 0 {
                free.push(to);
            }
        }
    }
    (0..).zip(&needs).find(|(_, needs)| **needs > 0).map(|(id, _)| id).filter(|_| left > 0)
}
