//! DUMPI.
//!
//! # What it says
//! A binary file `PREFIX-RANK.bin` for each rank, numbers with their largest byte first: eight bytes that name the format,
//! u32 seconds that all CPU times and all wall times are counted from, the calls, other sections, and an index at the
//! end. A call: u16 what it is, u8 which fields follow, the thread, CPU and wall times of its beginning and its end (u16
//! seconds, u32 nanoseconds), counters, arguments. The first section of the index has the bytes of each data type.
//! A `.meta` file names the number of ranks (`numprocs=`).
//!
//! # Source
//! DUMPI (Sandia National Laboratories): the description of its format, and its sample.
//!
//! # Limits
//! Computations are the wall time between calls (CPU time, where that is all there is). Communicators are those of all
//! ranks, their duplicates and grids, and of the rank itself: a file does not say who is in another one. Persistent
//! requests, one-sided calls and MPI-IO are not read. A peer below 0 is nobody, but -1 is any source. A rank of a scatterv
//! knows its own block only: the root is taken to send blocks of its own size.

mod record;

use std::collections::HashMap;
use std::io::Read;

use self::record::{Bytes, MAGIC, Record};
use super::calls::{self, Comm};
use super::draft::{Draft, RankDraft};
use super::fault::Fault;
use super::files::{Files, Input};
use super::spec::Wildcards;
use crate::workload::actions::{Action, Then};
use crate::workload::collective::spec::CollectiveKind as Kind;
use crate::workload::matching::ANY;

/// Most bytes of the file of a rank, which is kept in memory while it is read.
const LARGEST: u64 = 1 << 30;
/// Numbers of communicators and requests that every program has.
const WORLD: i32 = 2;
const SELF: i32 = 3;
const FIRST_REQUEST: i32 = 2;

/// Whether a file begins so.
pub(super) fn begins(name: &str, first: &[u8]) -> bool {
    first.starts_with(MAGIC) || name.ends_with(".meta") && find_ranks(first).is_some()
}

/// `numprocs=N` of a `.meta` file.
fn find_ranks(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.lines().find_map(|line| line.strip_prefix("numprocs="))?.trim().parse().ok()
}

/// The rank that a file is of: the number at the end of its name.
fn rank_of(name: &str) -> Option<u64> {
    let stem = name.trim_end_matches(".gz").strip_suffix(".bin")?;
    stem.rsplit('-').next()?.parse().ok()
}

/// Reads a trace.
pub(super) fn read(files: &Files, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let (mut ranks, mut found) = (None, 0);
    files.each(|Input { name, bytes }| {
        found += u64::from(rank_of(&name).is_some());
        if name.ends_with(".meta") {
            let mut text = Vec::new();
            let read = bytes.take(1 << 16).read_to_end(&mut text);
            read.map_err(|error| Fault::file(&name, error.to_string()))?;
            ranks = ranks.or(find_ranks(&text));
        }
        Ok(())
    })?;
    let ranks = ranks.unwrap_or(found);
    draft.size(ranks).map_err(|message| Fault::file(&files.name, message))?;
    files.each(|input| match rank_of(&input.name) {
        Some(rank) => read_rank(rank, input, draft),
        None => Ok(()),
    })?;
    draft.require_all(files)
}

/// A rank while it is read.
struct Rank {
    own: RankDraft,
    /// Bytes of each data type.
    sizes: Vec<u32>,
    comms: HashMap<i32, Comm>,
    /// Duplicates of the communicator of all ranks so far.
    duplicates: u64,
    /// Nodes of requests that were not waited for.
    requests: HashMap<i32, u32>,
    place: u32,
}

fn read_rank(rank: u64, input: Input<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let Input { name: file, bytes } = input;
    let mut content = Vec::new();
    let read = bytes.take(LARGEST + 1).read_to_end(&mut content);
    read.map_err(|error| Fault::file(&file, error.to_string()))?;
    if content.len() as u64 > LARGEST {
        return Err(Fault::file(&file, format!("has more than {LARGEST} bytes")));
    }
    if !content.starts_with(MAGIC) {
        return Err(Fault::file(&file, "begins like no file of DUMPI"));
    }
    let own = draft.begin(rank).map_err(|message| Fault::file(&file, message))?;
    let mut bytes = Bytes { file: &file, bytes: &content, at: 0, tags: true };
    let sizes = index(&mut bytes)?;
    let comms = HashMap::from([(WORLD, draft.calls.world(own.rank))]);
    let requests = HashMap::new();
    let mut rank = Rank { own, sizes, comms, duplicates: 0, requests, place: 0 };
    bytes.at = MAGIC.len() + 8;
    let mut clock = None;
    while let Some(record) = bytes.record()? {
        let told = |message: String| {
            let place = super::fault::Place::Byte(record.at as u64);
            Fault::at(&file, place, message)
        };
        rank.place = u32::try_from(record.at).unwrap_or(u32::MAX);
        rank.compute(record.times, &mut clock, draft).map_err(told)?;
        rank.call(&record, draft).map_err(told)?;
    }
    draft.end(rank.own, &file).map_err(|message| Fault::file(&file, message))
}

/// Follows the index at the end of a file to what calls need: whether statuses have tags; the bytes of each data type.
fn index(bytes: &mut Bytes<'_>) -> Result<Vec<u32>, Fault> {
    let all = bytes.bytes;
    // What begins it says how long it is: files of older versions have fewer sections.
    let found = (5..=7).find(|sections| {
        let start = all.len().checked_sub(8 * (sections + 1));
        start.is_some_and(|start| start >= 16 && all[start..].starts_with(MAGIC))
    });
    let Some(sections) = found else {
        bytes.at = all.len();
        return Err(bytes.fault("the file has no index at its end"));
    };
    let section = |bytes: &mut Bytes<'_>, from_end: usize| {
        bytes.at = all.len() - 8 * from_end;
        let at = bytes.number(8)?;
        let fits = usize::try_from(at).ok().filter(|at| *at <= all.len());
        fits.ok_or_else(|| bytes.fault(format!("a section at byte {at}, after the end")))
    };
    let header = section(bytes, 4)?;
    bytes.at = header;
    let version = (bytes.number(1)?, bytes.number(1)?, bytes.number(1)?);
    // Files that are called 0.0.0 are of a version under development.
    bytes.tags = version == (0, 0, 0) || version >= (0, 6, 3);
    if sections < 7 {
        return Ok(Vec::new());
    }
    bytes.at = section(bytes, 7)?;
    let count = bytes.number(4)?;
    (0..count).map(|_| Ok(bytes.number(4)? as u32)).collect()
}

impl Rank {
    fn add(&mut self, action: Action, then: Then) -> Result<u32, String> {
        self.own.push(action, then, self.place)
    }

    /// What was computed since the last call.
    fn compute(
        &mut self,
        times: Option<(u64, u64)>,
        clock: &mut Option<u64>,
        draft: &Draft<'_>,
    ) -> Result<(), String> {
        let Some((entered, left)) = times else { return Ok(()) };
        let before = clock.replace(left);
        let ns = before.map_or(0, |before| entered.saturating_sub(before));
        if ns > 0 {
            let cycles = draft.amounts.cycles(self.own.rank, &mut self.own.clock, ns as f64)?;
            self.add(Action::Compute { cycles, stream: 0 }, Then::Ended)?;
        }
        Ok(())
    }

    /// Bytes of so many of a data type.
    fn bytes(&self, count: i32, kind: i32) -> Result<u64, String> {
        let count = u64::try_from(count).map_err(|_| format!("{count} is no count"))?;
        let size = usize::try_from(kind).ok().and_then(|kind| self.sizes.get(kind));
        let size = size.ok_or_else(|| format!("data type {kind} has no size in the file"))?;
        Ok(count * u64::from(*size))
    }

    fn comm(&mut self, id: i32, draft: &mut Draft<'_>) -> Result<Comm, String> {
        if id == SELF && !self.comms.contains_key(&id) {
            let own = draft.calls.comm(1, vec![self.own.rank], self.own.rank)?;
            self.comms.insert(id, own);
        }
        self.comms.get(&id).copied().ok_or_else(|| {
            format!(
                "who is in communicator {id} is not in the file: only those of all ranks are read"
            )
        })
    }

    fn send(
        &mut self,
        (count, kind, to, tag, comm): (i32, i32, i32, i32, i32),
        synchronous: bool,
        draft: &mut Draft<'_>,
    ) -> Result<Action, String> {
        let phits = draft.amounts.phits(self.bytes(count, kind)?)?;
        let Ok(to) = u64::try_from(to) else { return Ok(Action::Join) };
        let to = draft.rank(to)?;
        let tag = u32::try_from(tag).map_err(|_| format!("{tag} is no tag"))?;
        let comm = self.comm(comm, draft)?.index;
        Ok(Action::Send { to, phits, tag, comm, synchronous })
    }

    fn receive(
        &mut self,
        (from, tag, comm): (i32, i32, i32),
        got: Option<&(i32, i32)>,
        draft: &mut Draft<'_>,
    ) -> Result<Action, String> {
        if from < -1 {
            return Ok(Action::Join);
        }
        let comm = self.comm(comm, draft)?.index;
        let got = got.filter(|_| draft.amounts.wildcards == Wildcards::Recorded);
        let from = if from == -1 { got.map_or(-1, |(from, _)| *from) } else { from };
        let tag = if tag == -1 { got.map_or(-1, |(_, tag)| *tag) } else { tag };
        let from = match u64::try_from(from) {
            Ok(from) => draft.rank(from)?,
            Err(_) => ANY,
        };
        Ok(Action::Receive { from, tag: u32::try_from(tag).unwrap_or(ANY), comm })
    }

    /// A node that needs the ends of others.
    fn join(&mut self, others: &[u32]) -> Result<(), String> {
        let node = self.add(Action::Join, Then::Ended)?;
        others.iter().try_for_each(|other| self.own.need(node, *other, false))
    }

    fn call(&mut self, record: &Record, draft: &mut Draft<'_>) -> Result<(), String> {
        let f = |at| record.field(at);
        match record.name {
            "send" | "bsend" | "ssend" | "rsend" | "isend" | "ibsend" | "issend" | "irsend" => {
                let synchronous = record.name.ends_with("ssend");
                let send = self.send((f(0), f(1), f(2), f(3), f(4)), synchronous, draft)?;
                self.post(send, record)
            }
            "recv" | "irecv" => {
                let receive = self.receive((f(2), f(3), f(4)), record.statuses.first(), draft)?;
                self.post(receive, record)
            }
            "sendrecv" | "sendrecv_replace" => {
                let (count, kind, to, tag) = (f(0), f(1), f(2), f(3));
                let at = if record.name == "sendrecv" { 6 } else { 4 };
                let (from, own, comm) = (f(at), f(at + 1), f(at + 2));
                let receive = self.receive((from, own, comm), record.statuses.first(), draft)?;
                let send = self.send((count, kind, to, tag, comm), false, draft)?;
                let both = [self.add(receive, Then::Begun)?, self.add(send, Then::Begun)?];
                self.join(&both)
            }
            "wait" | "test" | "waitall" | "testall" | "waitany" | "testany" | "waitsome"
            | "testsome" => self.wait(record, draft),
            "comm_dup" | "cart_create" => {
                let (old, new) = (f(0), f(record.fields.len() - 1));
                let Some(Comm { index, .. }) = self.comms.get(&old).copied() else { return Ok(()) };
                let all = draft.calls.size(Comm { index, member: 0 }) == draft.ranks();
                let grid: i64 = record.list(0).iter().map(|side| i64::from(*side)).product();
                let whole = record.name == "comm_dup" || grid == i64::from(draft.ranks());
                if all && whole {
                    self.duplicates += 1;
                    let (members, rank) = ((0..draft.ranks()).collect(), self.own.rank);
                    let comm = draft.calls.comm(1 + self.duplicates, members, rank)?;
                    self.comms.insert(new, comm);
                }
                Ok(())
            }
            "request_free" => {
                self.requests.remove(&f(0));
                Ok(())
            }
            _ => self.collective(record, draft),
        }
    }

    /// Adds a send or a receive, with its request if it has one.
    fn post(&mut self, action: Action, record: &Record) -> Result<(), String> {
        let begun = record.name.starts_with('i');
        let node = match record.name.ends_with("bsend") {
            true => self.own.push_buffered(action, self.place)?,
            false => self.add(action, if begun { Then::Begun } else { Then::Ended })?,
        };
        if begun {
            self.requests.insert(record.field(5), node);
        }
        Ok(())
    }

    fn wait(&mut self, record: &Record, draft: &Draft<'_>) -> Result<(), String> {
        let (requests, f) = (record.list(0), |at| record.field(at));
        let indices: Vec<i32> = match record.name {
            "waitany" => vec![f(1)],
            "testany" if f(2) != 0 => vec![f(1)],
            "waitsome" | "testsome" => record.list(1).to_vec(),
            "waitall" => (0..requests.len() as i32).collect(),
            "testall" if f(1) != 0 => (0..requests.len() as i32).collect(),
            _ => Vec::new(),
        };
        let single = record.name == "wait" || record.name == "test" && f(1) != 0;
        let at =
            |index: &i32| usize::try_from(*index).ok().and_then(|at| requests.get(at).copied());
        let ended: Vec<i32> =
            if single { vec![f(0)] } else { indices.iter().filter_map(at).collect() };
        let mut others = Vec::new();
        for (at, request) in ended.into_iter().enumerate() {
            if request < FIRST_REQUEST {
                continue;
            }
            let node = self.requests.remove(&request);
            let node = node.ok_or_else(|| format!("there is no request {request}"))?;
            others.push(node);
            let fixed = draft.amounts.wildcards == Wildcards::Recorded;
            if let Some((from, tag)) = record.statuses.get(at).filter(|_| fixed)
                && let Ok(from) = u64::try_from(*from)
                && self.own.is_wild(node)?
            {
                let tag = u32::try_from(*tag).unwrap_or(ANY);
                self.own.fix(node, draft.rank(from)?, tag)?;
            }
        }
        if others.is_empty() { Ok(()) } else { self.join(&others) }
    }

    fn collective(&mut self, record: &Record, draft: &mut Draft<'_>) -> Result<(), String> {
        use calls::Bytes::{Blocks, Own, Row, Same};
        let f = |at| record.field(at);
        let all = |rank: &Self, counts: &[i32], kind: i32| {
            counts.iter().map(|count| rank.bytes(*count, kind)).collect::<Result<Vec<u64>, _>>()
        };
        let (kind, root, comm, bytes) = match record.name {
            "barrier" => (Kind::Barrier, 0, f(0), Same(0)),
            "bcast" => (Kind::Broadcast, f(2), f(3), Same(self.bytes(f(0), f(1))?)),
            "reduce" => (Kind::Reduce, f(3), f(4), Same(self.bytes(f(0), f(1))?)),
            "allreduce" => (Kind::Allreduce, 0, f(3), Same(self.bytes(f(0), f(1))?)),
            "scan" => (Kind::Scan, 0, f(3), Same(self.bytes(f(0), f(1))?)),
            "gather" => (Kind::Gather, f(3), f(4), Same(self.bytes(f(1), f(2))?)),
            "scatter" => (Kind::Scatter, f(3), f(4), Same(self.bytes(f(1), f(2))?)),
            "gatherv" => (Kind::Gather, f(4), f(5), Own(self.bytes(f(2), f(3))?)),
            "scatterv" => (Kind::Scatter, f(5), f(6), Own(self.bytes(f(3), f(4))?)),
            "allgather" => (Kind::Allgather, 0, f(4), Same(self.bytes(f(0), f(1))?)),
            "alltoall" => (Kind::Alltoall, 0, f(4), Same(self.bytes(f(0), f(1))?)),
            "allgatherv" => (Kind::Allgather, 0, f(4), Blocks(all(self, record.list(0), f(3))?)),
            "alltoallv" => (Kind::Alltoall, 0, f(3), Row(all(self, record.list(0), f(1))?)),
            "reduce_scatter" => {
                (Kind::ReduceScatter, 0, f(3), Blocks(all(self, record.list(0), f(1))?))
            }
            _ => return Ok(()),
        };
        let root = u32::try_from(root).map_err(|_| format!("there is no root {root}"))?;
        let comm = self.comm(comm, draft)?;
        let at = (self.own.rank, comm, self.place);
        let Draft { calls, amounts, .. } = draft;
        let action = calls.call(at, (kind, root, &bytes), amounts)?;
        self.add(action, Then::Ended)?;
        Ok(())
    }
}
