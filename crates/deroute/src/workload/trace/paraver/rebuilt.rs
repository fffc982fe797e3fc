//! The program of a rank, from its calls and the ends of its messages.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::{COLLECTIVE, Call, End, Task};
use crate::workload::actions::{Action, Then};
use crate::workload::collective::spec::CollectiveKind as Kind;
use crate::workload::spill::Long;
use crate::workload::trace::draft::{Draft, RankDraft};
use crate::workload::trace::rooted::Rooted;

/// A rank while its program is put together.
pub(super) struct Rebuilt {
    pub(super) own: RankDraft,
    /// Receives that have not ended: when their message was there, and their node.
    pending: VecDeque<(u64, u32)>,
    /// Sends and collectives that have not ended.
    sending: VecDeque<u32>,
}

impl Rebuilt {
    pub(super) fn new(own: RankDraft) -> Self {
        Self { own, pending: VecDeque::new(), sending: VecDeque::new() }
    }

    /// Puts all calls of a task together. What is wrong comes with its line.
    pub(super) fn calls(
        &mut self,
        task: Task,
        (names, comms): (&[String], &BTreeMap<u64, Vec<u32>>),
        rooted: &mut Rooted,
        draft: &mut Draft<'_>,
    ) -> Result<(), (u32, String)> {
        let Task { calls, sends, receives, .. } = task;
        let spill = Arc::clone(&draft.spill);
        let sorted = |ends: Long<End>| {
            let mut ends = ends.all(&spill).map_err(|told| (0, told))?;
            ends.sort_by_key(|end| end.at);
            Ok(ends)
        };
        let (sends, receives) = (sorted(sends)?, sorted(receives)?);
        let (mut sends, mut receives) = (sends.iter().peekable(), receives.iter().peekable());
        let (mut clock, mut last) = (0, 1);
        for call in &calls.all(&spill).map_err(|told| (0, told))? {
            last = call.place;
            let told = |message| (call.place, message);
            let own = &mut self.own;
            let ns = (call.entered - clock) as f64;
            clock = call.left;
            if ns > 0.0 {
                let cycles = draft.amounts.cycles(own.rank, &mut own.clock, ns).map_err(told)?;
                let compute = Action::Compute { cycles, stream: 0 };
                own.push(compute, Then::Ended, call.place).map_err(told)?;
            }
            let name = names.get(call.name).map_or("", String::as_str);
            let (received, sent) = (self.pending.len(), self.sending.len());
            while let Some(end) = receives.next_if(|end| end.at <= call.left) {
                let action = Action::Receive { from: end.peer, tag: end.number, comm: 0 };
                let node = begin(&mut self.own, (action, end), call, draft)?;
                self.pending.push_back((end.amount, node));
            }
            let synchronous = name.ends_with("ssend") || name == "Ssend";
            let buffered = name == "Bsend" || name == "Ibsend";
            while let Some(end) = sends.next_if(|end| end.at <= call.left) {
                let phits = draft.amounts.phits(end.amount).map_err(|told| (end.place, told))?;
                let (to, tag) = (end.peer, end.number);
                let action = Action::Send { to, phits, tag, comm: 0, synchronous };
                let mut node = begin(&mut self.own, (action, end), call, draft)?;
                if buffered {
                    // Whoever waits for it has nothing to wait for.
                    node = self.own.push(Action::Join, Then::Ended, call.place).map_err(told)?;
                }
                self.sending.push_back(node);
            }
            let kind = (call.kind == COLLECTIVE).then(|| collective(name)).flatten();
            match kind {
                Some((kind, begun)) => {
                    let node = self.collective(call, (kind, begun), comms, (rooted, draft));
                    let node = node.map_err(told)?;
                    self.sending.extend(begun.then_some(node));
                }
                None => self.end(name, call, (received, sent)).map_err(told)?,
            }
        }
        if let Some(end) = sends.next().or_else(|| receives.next()) {
            return Err((end.place, format!("no call of task {} has this", self.own.rank + 1)));
        }
        let all: Vec<u32> =
            self.pending.drain(..).map(|(_, node)| node).chain(self.sending.drain(..)).collect();
        join(&mut self.own, &all, last).map_err(|message| (last, message))
    }

    /// What a call ends: of what it began itself, and of what was under way before.
    fn end(
        &mut self,
        name: &str,
        call: &Call,
        (received, sent): (usize, usize),
    ) -> Result<(), String> {
        let ended: Vec<u32> = match name {
            "Send" | "Ssend" | "Bsend" | "Rsend" => self.sending.drain(sent..).collect(),
            "Recv" => self.pending.drain(received..).map(|(_, node)| node).collect(),
            "Sendrecv" | "Sendrecv_replace" => {
                let received = self.pending.drain(received..).map(|(_, node)| node);
                received.chain(self.sending.drain(sent..)).collect()
            }
            "Wait" | "Waitall" | "Waitany" | "Waitsome" | "Test" | "Testall" | "Testany"
            | "Testsome" => {
                let there = self.pending.iter().filter(|(at, _)| *at <= call.left);
                let mut ended: Vec<u32> = there.map(|(_, node)| *node).collect();
                self.pending.retain(|(at, _)| *at > call.left);
                match (name.ends_with("all"), ended.is_empty()) {
                    (true, _) => ended.extend(self.sending.drain(..)),
                    (false, true) => ended.extend(self.sending.pop_front()),
                    _ => {}
                }
                ended
            }
            _ => Vec::new(),
        };
        join(&mut self.own, &ended, call.place)
    }

    fn collective(
        &mut self,
        call: &Call,
        (kind, begun): (Kind, bool),
        comms: &BTreeMap<u64, Vec<u32>>,
        (rooted, draft): (&mut Rooted, &mut Draft<'_>),
    ) -> Result<u32, String> {
        let members = comms.get(&call.comm);
        let members = members.ok_or_else(|| format!("there is no communicator {}", call.comm))?;
        let all = members.iter().copied().eq(0..draft.ranks());
        let id = if all { 0 } else { call.comm };
        let comm = draft.calls.comm(id, members.clone(), self.own.rank)?;
        let then = if begun { Then::Begun } else { Then::Ended };
        let members = members.len() as u32;
        rooted.add(&mut self.own, (comm, members), (kind, &call.record), (then, call.place))
    }
}

/// Begins a send or a receive in a call.
fn begin(
    own: &mut RankDraft,
    (action, end): (Action, &End),
    call: &Call,
    draft: &Draft<'_>,
) -> Result<u32, (u32, String)> {
    if end.at < call.entered {
        let message = format!("no call of task {} of {} has this", own.rank + 1, draft.ranks());
        return Err((end.place, message));
    }
    own.push(action, Then::Begun, call.place).map_err(|message| (call.place, message))
}

/// A node that needs the ends of others, if there are any.
fn join(own: &mut RankDraft, others: &[u32], place: u32) -> Result<(), String> {
    if others.is_empty() {
        return Ok(());
    }
    let node = own.push(Action::Join, Then::Ended, place)?;
    others.iter().try_for_each(|other| own.need(node, *other, false))
}

/// The collective that a call is, and whether it only begins it.
fn collective(name: &str) -> Option<(Kind, bool)> {
    let begun = name.starts_with('I');
    let name = name.trim_start_matches('I').to_ascii_lowercase();
    let kind = match name.as_str() {
        "barrier" => Kind::Barrier,
        "bcast" => Kind::Broadcast,
        "reduce" => Kind::Reduce,
        "allreduce" => Kind::Allreduce,
        "gather" | "gatherv" => Kind::Gather,
        "scatter" | "scatterv" => Kind::Scatter,
        "allgather" | "allgatherv" => Kind::Allgather,
        "alltoall" | "alltoallv" | "alltoallw" => Kind::Alltoall,
        "reduce_scatter" | "reduce_scatter_block" => Kind::ReduceScatter,
        "scan" | "exscan" => Kind::Scan,
        _ => return None,
    };
    Some((kind, begun))
}
