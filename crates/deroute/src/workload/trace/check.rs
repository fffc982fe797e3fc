//! What a trace has to be besides well written: every message is received, and nothing needs itself.

use super::fault::{Fault, Place};
use crate::workload::matching::ANY;
use crate::workload::program::{Action, RankProgram, Then};
use crate::workload::schedule::Schedule;

/// Receiver, communicator, sender, tag; and the sender or receiver with the place of its node.
type Sent = (u32, u32, u32, u32);

/// Every message has to be received, and every receive needs a message.
pub(super) fn messages(ranks: &[RankProgram], files: &[String]) -> Result<(), Fault> {
    let mut sends: Vec<Sent> = Vec::new();
    let mut receives: Vec<Sent> = Vec::new();
    // Where a receive takes anything, only the number of messages is known.
    let mut wild = vec![false; ranks.len()];
    for (rank, program) in (0..).zip(ranks) {
        for node in &program.nodes {
            match node.node().action {
                Action::Send { to, tag, comm, .. } => sends.push((to, comm, rank, tag)),
                Action::Receive { from, tag, comm } => {
                    wild[rank as usize] |= from == ANY || tag == ANY;
                    receives.push((rank, comm, from, tag));
                }
                _ => {}
            }
        }
    }
    let blind = |(to, comm, from, tag): Sent| match wild[to as usize] {
        true => (to, comm, ANY, ANY),
        false => (to, comm, from, tag),
    };
    let prepare = |list: &mut Vec<Sent>| {
        list.iter_mut().for_each(|sent| *sent = blind(*sent));
        list.sort_unstable();
    };
    prepare(&mut sends);
    prepare(&mut receives);
    let differs = sends.iter().zip(&receives).position(|(sent, received)| sent != received);
    let at = differs.unwrap_or(sends.len().min(receives.len()));
    let (sent, received) = (sends.get(at), receives.get(at));
    let fault = match (sent, received) {
        (None, None) => return Ok(()),
        (Some(sent), None) => unreceived(ranks, *sent),
        (None, Some(received)) => unsent(ranks, *received),
        (Some(sent), Some(received)) => match sent < received {
            true => unreceived(ranks, *sent),
            false => unsent(ranks, *received),
        },
    };
    let (rank, place, message) = fault;
    let file = files.get(rank as usize).map_or("", String::as_str);
    Err(Fault::at(file, Place::Line(place.into()), message))
}

/// The last of the nodes of a rank that fit.
fn last(program: &RankProgram, fits: impl Fn(Action) -> bool) -> u32 {
    let nodes = program.nodes.iter().map(|node| node.node());
    nodes.filter(|node| fits(node.action)).last().map_or(0, |node| node.place)
}

fn same(asked: u32, found: u32) -> bool {
    asked == ANY || found == ANY || asked == found
}

/// A message that nobody receives: the rank and place of its send.
fn unreceived(ranks: &[RankProgram], (to, comm, from, tag): Sent) -> (u32, u32, String) {
    let fits = |action| {
        matches!(action, Action::Send { to: t, tag: own, comm: c, .. }
            if t == to && c == comm && same(tag, own))
    };
    let any = (0..ranks.len() as u32).find(|rank| last(&ranks[*rank as usize], fits) > 0);
    let rank = if from == ANY { any.unwrap_or(0) } else { from };
    let place = last(&ranks[rank as usize], fits);
    let tag = if tag == ANY { String::new() } else { format!(" with tag {tag}") };
    (rank, place, format!("rank {to} does not receive all messages of rank {rank}{tag}"))
}

/// A receive that gets no message: its rank and place.
fn unsent(ranks: &[RankProgram], (rank, comm, from, tag): Sent) -> (u32, u32, String) {
    let fits = |action| {
        matches!(action, Action::Receive { from: f, tag: own, comm: c }
            if c == comm && same(from, f) && same(tag, own))
    };
    let place = last(&ranks[rank as usize], fits);
    let from = if from == ANY { "anybody".into() } else { format!("rank {from} with tag {tag}") };
    (rank, place, format!("rank {rank} receives more messages from {from} than there are"))
}

/// Messages and phits that are sent.
pub(super) fn work(ranks: &[RankProgram], schedules: &[Schedule]) -> (u64, u64) {
    let mut collective: Vec<Option<(u64, u64)>> = vec![None; schedules.len()];
    let (mut messages, mut phits) = (0u64, 0u64);
    for program in ranks {
        for node in &program.nodes {
            let more = match node.node().action {
                Action::Send { phits, .. } => (1, u64::from(phits)),
                // Of one member for all: what this is for is an estimate.
                Action::Collective { schedule, member, .. } => {
                    let known = &mut collective[schedule as usize];
                    *known.get_or_insert_with(|| schedules[schedule as usize].sent(member))
                }
                _ => continue,
            };
            (messages, phits) = (messages + more.0, phits.saturating_add(more.1));
        }
    }
    (messages, phits)
}

/// A node that needs itself, by its place; `None` if there is none.
pub(super) fn cycle(program: &RankProgram) -> Option<u32> {
    let (nodes, edges) = (&program.nodes, &program.edges);
    let from = |id: usize| if id == 0 { 0 } else { nodes[id - 1].edges_end as usize };
    let of = |id: usize| &edges[from(id)..nodes[id].edges_end as usize];
    if (0..nodes.len()).all(|id| of(id).iter().all(|edge| edge.to() as usize > id)) {
        return None;
    }
    let mut needs: Vec<u32> = nodes.iter().map(|node| node.needs).collect();
    let mut free: Vec<usize> = (0..nodes.len()).filter(|id| needs[*id] == 0).collect();
    let mut left = nodes.len();
    while let Some(id) = free.pop() {
        left -= 1;
        let next = (nodes[id].node().then != Then::Nothing).then_some(id + 1);
        for to in of(id).iter().map(|edge| edge.to() as usize).chain(next) {
            let Some(count) = needs.get_mut(to) else { continue };
            *count -= 1;
            if *count == 0 {
                free.push(to);
            }
        }
    }
    let stuck = (0..nodes.len()).find(|id| needs[*id] > 0);
    stuck.filter(|_| left > 0).map(|id| nodes[id].node().place)
}
