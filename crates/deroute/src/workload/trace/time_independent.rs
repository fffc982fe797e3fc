//! Time-independent traces of SimGrid.
//!
//! # What it says
//! A file for each rank, with lines `R CALL ARGUMENTS`. `compute` counts floating-point operations, which `flops` turns into
//! time; sizes are counts of a type. The first request of a source, destination and tag is what `wait` waits for.
//!
//! # Source
//! Desprez, Markomanolis, Quinson and Suter 2011; what SMPI replays.
//!
//! # Limits
//! All ranks are in all collectives. `gatherv` and `scatterv` go by the block of each rank.

use std::collections::{BTreeMap, VecDeque};

use super::calls::Bytes;
use super::draft::{Draft, RankDraft};
use super::fault::Fault;
use super::files::{Files, Input};
use super::lines::{Lines, Words, number};
use crate::workload::actions::{Action, Then};
use crate::workload::collective::spec::CollectiveKind as Kind;
use crate::workload::matching::ANY;

/// Bytes of the types, by their numbers in SMPI.
const TYPES: [u8; 50] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8,
    16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 32, 1, 2, 4, 8, 16,
];

/// Numbers of a call that may follow those that are used: of a receive its count and type; the type of what is received,
/// where another one is before it; the count of requests.
fn unused(call: &str) -> usize {
    match call {
        "recv" | "irecv" => 2,
        "waitall" | "sendrecv" | "alltoall" | "alltoallv" | "allgather" | "allgatherv"
        | "gather" | "gatherv" | "scatter" | "scatterv" => 1,
        _ => 0,
    }
}

/// Whether a file begins so.
pub(super) fn begins(_: &str, first: &[u8]) -> bool {
    let text = String::from_utf8_lossy(first);
    let mut words = Words::new(text.lines().next().unwrap_or(""));
    words.number::<u32>("rank").is_ok() && words.next().is_some_and(|call| call == "init")
}

/// Reads a trace.
pub(super) fn read(files: &Files, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut ranks = 0;
    files.each(|input| {
        let mut lines = Lines::new(input);
        ranks += u64::from(lines.next()? && begins("", lines.text().as_bytes()));
        Ok(())
    })?;
    draft.size(ranks).map_err(|message| Fault::file(&files.name, message))?;
    files.each(|input| read_rank(input, draft))?;
    draft.require_all(files)
}

/// A rank while it is read.
struct Rank {
    draft: RankDraft,
    /// Nodes of requests that were not waited for, by source, destination and tag.
    requests: BTreeMap<(i64, i64, i64), VecDeque<u32>>,
    /// Bytes of what has no type.
    unit: u64,
    place: u32,
    /// Its last call has been read.
    ended: bool,
}

fn read_rank(input: Input<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut lines = Lines::new(input);
    if !lines.next()? || !begins("", lines.text().as_bytes()) {
        return Ok(());
    }
    let first = Words::new(lines.text()).number("rank").and_then(|rank| draft.begin(rank));
    let mut rank = Rank {
        draft: first.map_err(|message| lines.fault(message))?,
        requests: BTreeMap::new(),
        unit: 1,
        place: 0,
        ended: false,
    };
    loop {
        rank.place = lines.place();
        rank.line(lines.text(), draft).map_err(|message| lines.fault(message))?;
        if !lines.next()? {
            break;
        }
    }
    draft.end(rank.draft, &lines.file).map_err(|message| lines.fault(message))
}

/// The numbers that follow in a line.
struct Numbers(VecDeque<f64>);

impl Numbers {
    fn next(&mut self, what: &str) -> Result<f64, String> {
        self.0.pop_front().ok_or_else(|| format!("{what} is missing"))
    }

    fn whole(&mut self, what: &str) -> Result<i64, String> {
        let value = self.next(what)?;
        if value.fract() != 0.0 || value.abs() > 1e15 {
            return Err(format!("{value} is no {what}"));
        }
        Ok(value as i64)
    }

    fn size(&mut self) -> Result<u64, String> {
        let value = self.whole("size")?;
        u64::try_from(value).map_err(|_| format!("{value} is no size"))
    }

    /// The root, if the line has one.
    fn root(&mut self) -> Result<u32, String> {
        if self.0.is_empty() {
            return Ok(0);
        }
        let root = self.whole("root")?;
        u32::try_from(root).map_err(|_| format!("there is no rank {root}"))
    }

    fn sizes(&mut self, count: u32) -> Result<Vec<u64>, String> {
        (0..count).map(|_| self.size()).collect()
    }
}

impl Rank {
    fn line(&mut self, text: &str, draft: &mut Draft<'_>) -> Result<(), String> {
        let mut words = Words::new(text);
        let Some(rank) = words.next() else { return Ok(()) };
        if number::<u32>(rank, "rank")? != self.draft.rank {
            return Err(format!("rank {rank} in the file of rank {}", self.draft.rank));
        }
        let call = words.word("a call")?;
        if self.ended {
            return Err(format!("{call:?} stands after finalize"));
        }
        let mut values = VecDeque::new();
        while let Some(word) = words.next() {
            values.push_back(number::<f64>(word, "number")?);
        }
        let mut numbers = Numbers(values);
        match call {
            "init" => {
                self.unit = if numbers.0.is_empty() { 1 } else { 8 };
                return Ok(());
            }
            "finalize" | "location" | "comm_size" | "comm_split" | "comm_dup" => {
                self.ended = call == "finalize";
                return Ok(());
            }
            _ => self.action(call, &mut numbers, draft)?,
        }
        match numbers.0.get(unused(&call.to_ascii_lowercase())) {
            None => Ok(()),
            Some(more) => Err(format!("{more} is more than belongs to {call}")),
        }
    }

    fn action(
        &mut self,
        call: &str,
        numbers: &mut Numbers,
        draft: &mut Draft<'_>,
    ) -> Result<(), String> {
        match call {
            "compute" => {
                let flops = numbers.next("number of operations")?;
                self.operations(flops, draft)
            }
            "sleep" => {
                let seconds = numbers.next("time")?;
                self.compute(seconds * 1e9, draft)
            }
            "send" | "isend" | "recv" | "irecv" | "sendRecv" | "sendrecv" => {
                self.messages(call, numbers, draft)
            }
            "wait" | "test" => self.wait(numbers),
            "waitall" | "waitAll" => {
                let all = std::mem::take(&mut self.requests).into_values().flatten();
                let all: Vec<u32> = all.collect();
                self.join(&all)
            }
            _ => self.collective(call, numbers, draft),
        }
    }

    fn operations(&mut self, flops: f64, draft: &Draft<'_>) -> Result<(), String> {
        let Some(speed) = draft.amounts.flops else {
            return Err("operations take no time that is known: `flops` is missing".into());
        };
        self.compute(flops / speed * 1e9, draft)
    }

    fn compute(&mut self, nanoseconds: f64, draft: &Draft<'_>) -> Result<(), String> {
        let rank = self.draft.rank;
        let cycles = draft.amounts.cycles(rank, &mut self.draft.clock, nanoseconds)?;
        self.add(Action::Compute { cycles, stream: 0 }, Then::Ended)?;
        Ok(())
    }

    fn add(&mut self, action: Action, then: Then) -> Result<u32, String> {
        self.draft.push(action, then, self.place)
    }

    fn join(&mut self, others: &[u32]) -> Result<(), String> {
        let node = self.add(Action::Join, Then::Ended)?;
        others.iter().try_for_each(|other| self.draft.need(node, *other, false))
    }

    /// Bytes of a unit of a type, if the line has one.
    fn unit(&self, numbers: &mut Numbers) -> Result<u64, String> {
        if numbers.0.is_empty() {
            return Ok(self.unit);
        }
        let number = numbers.whole("type")?;
        let bytes = usize::try_from(number).ok().and_then(|number| TYPES.get(number));
        bytes.map(|bytes| u64::from(*bytes)).ok_or_else(|| format!("there is no type {number}"))
    }

    fn messages(
        &mut self,
        call: &str,
        numbers: &mut Numbers,
        draft: &Draft<'_>,
    ) -> Result<(), String> {
        let peer = |value: i64| {
            draft.rank(u64::try_from(value).map_err(|_| format!("there is no rank {value}"))?)
        };
        if call.eq_ignore_ascii_case("sendrecv") {
            let (count, to) = (numbers.size()?, peer(numbers.whole("rank")?)?);
            numbers.size()?;
            let from = peer(numbers.whole("rank")?)?;
            let phits = draft.amounts.phits(count.saturating_mul(self.unit(numbers)?))?;
            let receive = Action::Receive { from, tag: 0, comm: 0 };
            let send = Action::Send { to, phits, tag: 0, comm: 0, synchronous: false };
            let both = [self.add(receive, Then::Begun)?, self.add(send, Then::Begun)?];
            return self.join(&both);
        }
        let (other, tag) = (numbers.whole("rank")?, numbers.whole("tag")?);
        let begun = call.starts_with('i');
        let then = if begun { Then::Begun } else { Then::Ended };
        let me = i64::from(self.draft.rank);
        let tag_of = |tag: i64| u32::try_from(tag).map_err(|_| format!("{tag} is no tag"));
        let (action, key) = if call.ends_with("send") {
            let count = numbers.size()?;
            let phits = draft.amounts.phits(count.saturating_mul(self.unit(numbers)?))?;
            let (to, synchronous) = (peer(other)?, false);
            let send = Action::Send { to, phits, tag: tag_of(tag)?, comm: 0, synchronous };
            (send, (me, other, tag))
        } else {
            let from = if other == -1 { ANY } else { peer(other)? };
            let own = if tag == -1 { ANY } else { tag_of(tag)? };
            (Action::Receive { from, tag: own, comm: 0 }, (other, me, tag))
        };
        let node = self.add(action, then)?;
        if begun {
            self.requests.entry(key).or_default().push_back(node);
        }
        Ok(())
    }

    fn wait(&mut self, numbers: &mut Numbers) -> Result<(), String> {
        let key = (numbers.whole("rank")?, numbers.whole("rank")?, numbers.whole("tag")?);
        let found = self.requests.get_mut(&key).and_then(VecDeque::pop_front);
        let (from, to, tag) = key;
        let found = found.ok_or_else(|| {
            format!("there is no request from rank {from} to rank {to} with tag {tag}")
        })?;
        self.join(&[found])
    }

    /// A collective whose blocks have sizes of their own: what it is, its root, and their bytes.
    fn of_sizes(
        &self,
        call: &str,
        numbers: &mut Numbers,
        flops: &mut f64,
        ranks: u32,
    ) -> Result<(Kind, u32, Bytes), String> {
        let scaled = |counts: Vec<u64>, unit: u64| {
            counts.into_iter().map(|count| count.saturating_mul(unit)).collect()
        };
        Ok(match call {
            "alltoallv" | "allToAllV" => {
                numbers.size()?;
                let sent = numbers.sizes(ranks)?;
                numbers.size()?;
                numbers.sizes(ranks)?;
                (Kind::Alltoall, 0, Bytes::Row(scaled(sent, self.unit(numbers)?)))
            }
            "allgatherv" | "allGatherV" => {
                numbers.size()?;
                let counts = numbers.sizes(ranks)?;
                (Kind::Allgather, 0, Bytes::Blocks(scaled(counts, self.unit(numbers)?)))
            }
            "gatherv" | "gatherV" | "scatterv" | "scatterV" => {
                let gather = call.starts_with('g');
                let counts = match gather {
                    true => vec![numbers.size()?; ranks as usize],
                    false => numbers.sizes(ranks)?,
                };
                numbers.sizes(if gather { ranks } else { 1 })?;
                let root = numbers.root()?;
                let kind = if gather { Kind::Gather } else { Kind::Scatter };
                (kind, root, Bytes::Row(scaled(counts, self.unit(numbers)?)))
            }
            "reducescatter" | "reduceScatter" => {
                let counts = numbers.sizes(ranks)?;
                *flops = numbers.next("number of operations")?;
                (Kind::ReduceScatter, 0, Bytes::Blocks(scaled(counts, self.unit(numbers)?)))
            }
            _ => return Err(format!("{call:?} is no call that is known")),
        })
    }

    fn collective(
        &mut self,
        call: &str,
        numbers: &mut Numbers,
        draft: &mut Draft<'_>,
    ) -> Result<(), String> {
        let ranks = draft.ranks();
        let mut flops = 0.0;
        let (kind, root, bytes) = match call {
            "barrier" => (Kind::Barrier, 0, Bytes::Same(0)),
            "bcast" | "reduce" => {
                let count = numbers.size()?;
                let kind = if call == "bcast" { Kind::Broadcast } else { Kind::Reduce };
                if kind == Kind::Reduce {
                    flops = numbers.next("number of operations")?;
                }
                let root = numbers.root()?;
                (kind, root, Bytes::Same(count.saturating_mul(self.unit(numbers)?)))
            }
            "allreduce" | "allReduce" | "scan" | "exscan" => {
                let count = numbers.size()?;
                flops = numbers.next("number of operations")?;
                let kind = if call.ends_with("scan") { Kind::Scan } else { Kind::Allreduce };
                (kind, 0, Bytes::Same(count.saturating_mul(self.unit(numbers)?)))
            }
            "alltoall" | "allToAll" | "allgather" | "allGather" | "gather" | "scatter" => {
                let (count, _) = (numbers.size()?, numbers.size()?);
                let (kind, rooted) = match call {
                    "gather" => (Kind::Gather, true),
                    "scatter" => (Kind::Scatter, true),
                    "alltoall" | "allToAll" => (Kind::Alltoall, false),
                    _ => (Kind::Allgather, false),
                };
                let root = if rooted { numbers.root()? } else { 0 };
                (kind, root, Bytes::Same(count.saturating_mul(self.unit(numbers)?)))
            }
            _ => self.of_sizes(call, numbers, &mut flops, ranks)?,
        };
        let at = (self.draft.rank, draft.calls.world(self.draft.rank), self.place);
        let Draft { calls, amounts, .. } = draft;
        let action = calls.call(at, (kind, root, &bytes), amounts)?;
        self.add(action, Then::Ended)?;
        if flops > 0.0 { self.operations(flops, draft) } else { Ok(()) }
    }
}
