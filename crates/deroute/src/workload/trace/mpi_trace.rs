//! Deroute's own traces of MPI programs: a text file for each rank.
//!
//! # What it says
//! `mpi-trace 1`, `rank R of N`, then a line for each call: the nanoseconds that the rank computed before it, those that it
//! spent in it (not used), its name, its arguments. `comm ID w0,w1,...` names the members of a communicator by their
//! ranks; 0 are all. Peers are ranks of all; `-1` is any source or tag, `-2` nobody. What follows `<` is what the call
//! got: source, tag, bytes. `finalize` is the last call, if it is there.
//!
//! # Source
//! `deroute trace record` writes it.
//!
//! # Limits
//! No one-sided calls. Without what a call got a receive from anybody stays one
//! (see `wildcards`). The blocks that others have in a gatherv or scatterv are not in the trace: the root is taken to send
//! blocks of its own size.

use std::collections::{BTreeMap, HashMap};

use super::calls::{Bytes, Comm};
use super::draft::{Draft, RankDraft};
use super::fault::Fault;
use super::files::{Files, Input};
use super::lines::{Lines, Words, number};
use super::spec::Wildcards;
use crate::workload::actions::{Action, Then};
use crate::workload::collective::spec::CollectiveKind;
use crate::workload::matching::ANY;

/// Whether a file begins so.
pub(super) fn begins(_: &str, first: &[u8]) -> bool {
    first.starts_with(b"mpi-trace ")
}

/// Reads a trace.
pub(super) fn read(files: &Files, draft: &mut Draft<'_>) -> Result<(), Fault> {
    files.each(|input| read_rank(input, draft))?;
    if draft.ranks() == 0 {
        return Err(Fault::file(&files.name, "no file begins with mpi-trace"));
    }
    draft.require_all(files)
}

/// A rank while it is read.
struct Rank {
    draft: RankDraft,
    comms: BTreeMap<u64, Comm>,
    /// Nodes of requests that were not waited for.
    requests: HashMap<u64, u32>,
    place: u32,
    /// Its last call has been read.
    ended: bool,
}

/// Calls that nobody else notices. What follows them does not matter.
const IDLE: [&str; 6] = ["newcomm", "init", "finalize", "nothing", "probe", "iprobe"];

fn read_rank(input: Input<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut lines = Lines::new(input);
    if !lines.next()? || !lines.text().starts_with("mpi-trace ") {
        return Ok(());
    }
    if lines.text() != "mpi-trace 1" {
        return Err(lines.fault(format!("{:?} is not version 1", lines.text())));
    }
    lines.next()?;
    let begun = first_line(lines.text(), draft).map_err(|message| lines.fault(message))?;
    let mut rank = begun;
    while lines.next()? {
        rank.place = lines.place();
        rank.line(lines.text(), draft).map_err(|message| lines.fault(message))?;
    }
    draft.end(rank.draft, &lines.file).map_err(|message| lines.fault(message))
}

fn first_line(text: &str, draft: &mut Draft<'_>) -> Result<Rank, String> {
    let mut words = Words::new(text);
    let (first, rank, of) = (words.word("rank")?, words.number("rank")?, words.word("of")?);
    if (first, of) != ("rank", "of") {
        return Err(format!("{text:?} is not rank R of N"));
    }
    draft.size(words.number("number of ranks")?)?;
    let begun = draft.begin(rank)?;
    let comms = BTreeMap::from([(0, draft.calls.world(begun.rank))]);
    Ok(Rank { draft: begun, comms, requests: HashMap::new(), place: 0, ended: false })
}

/// What a call got: source, tag.
fn got(word: &str) -> Result<(i64, i64), String> {
    let mut parts = word.splitn(3, ',');
    let mut part = |what| number::<i64>(parts.next().unwrap_or(""), what);
    Ok((part("source")?, part("tag")?))
}

/// The same, if the line has it.
fn found(words: &mut Words<'_>) -> Result<Option<(i64, i64)>, String> {
    let Some(word) = words.next() else { return Ok(None) };
    let found = word.strip_prefix('<').ok_or_else(|| format!("{word:?} does not begin with <"))?;
    got(found).map(Some)
}

/// A list of numbers.
fn list<T: std::str::FromStr>(word: &str, what: &str) -> Result<Vec<T>, String> {
    word.split(',').map(|part| number(part, what)).collect()
}

impl Rank {
    fn line(&mut self, text: &str, draft: &mut Draft<'_>) -> Result<(), String> {
        let mut words = Words::new(text);
        let Some(first) = words.next() else { return Ok(()) };
        if first.starts_with('#') {
            return Ok(());
        }
        if self.ended {
            return Err(format!("{first:?} stands after `finalize`"));
        }
        if first == "comm" {
            let id = words.number("communicator")?;
            let members = list(words.word("members")?, "rank")?;
            let comm = draft.calls.comm(id, members, self.draft.rank)?;
            self.comms.insert(id, comm);
            return words.end();
        }
        let time: f64 = number::<u64>(first, "time")? as f64;
        words.number::<u64>("time")?;
        let call = words.word("a call")?;
        if time > 0.0 {
            let rank = self.draft.rank;
            let cycles = draft.amounts.cycles(rank, &mut self.draft.clock, time)?;
            self.add(Action::Compute { cycles, stream: 0 }, Then::Ended)?;
        }
        if IDLE.contains(&call) {
            self.ended = call == "finalize";
            return Ok(());
        }
        self.call(call, &mut words, draft)?;
        words.end()
    }

    fn add(&mut self, action: Action, then: Then) -> Result<u32, String> {
        self.draft.push(action, then, self.place)
    }

    /// The communicator that the next word names.
    fn comm(&self, words: &mut Words<'_>) -> Result<Comm, String> {
        let id: u64 = words.number("communicator")?;
        self.comms.get(&id).copied().ok_or_else(|| format!("there is no communicator {id} so far"))
    }

    fn call(
        &mut self,
        call: &str,
        words: &mut Words<'_>,
        draft: &mut Draft<'_>,
    ) -> Result<(), String> {
        match call {
            "send" | "ssend" | "rsend" | "bsend" | "isend" | "issend" | "irsend" | "ibsend" => {
                let how = (call.starts_with('i'), call.ends_with("bsend"));
                let synchronous = call.ends_with("ssend");
                let send = self.send(words, synchronous, draft)?;
                let tail = self.comm(words)?;
                self.post(send.map(|send| send(tail.index)), how, words)
            }
            "recv" | "irecv" => {
                let source: i64 = words.number("source")?;
                words.number::<u64>("size")?;
                let tag = words.number("tag")?;
                let comm = self.comm(words)?.index;
                let begun = call == "irecv";
                let request = if begun { Some(words.word("a request")?) } else { None };
                let receive = receive(draft, (source, tag, comm), found(words)?)?;
                let then = if begun { Then::Begun } else { Then::Ended };
                let node = match receive {
                    Some(receive) => self.add(receive, then)?,
                    None => self.add(Action::Join, Then::Ended)?,
                };
                self.name(request, node)
            }
            "sendrecv" => self.sendrecv(words, draft),
            "wait" | "waitany" | "test" => self.wait(words, draft),
            "freecomm" => self.comm(words).map(drop),
            _ => self.collective(call, words, draft),
        }
    }

    /// A send but for its communicator; `None` to nobody.
    fn send(
        &self,
        words: &mut Words<'_>,
        synchronous: bool,
        draft: &Draft<'_>,
    ) -> Result<Option<impl Fn(u32) -> Action + use<>>, String> {
        let to: i64 = words.number("destination")?;
        let phits = draft.amounts.phits(words.number("size")?)?;
        let tag: u32 = words.number("tag")?;
        if to == -2 {
            return Ok(None);
        }
        let to = draft.rank(u64::try_from(to).map_err(|_| format!("there is no rank {to}"))?)?;
        Ok(Some(move |comm| Action::Send { to, phits, tag, comm, synchronous }))
    }

    /// Adds a send that only begins, or is buffered, with its request if it has one.
    fn post(
        &mut self,
        send: Option<Action>,
        (begun, buffered): (bool, bool),
        words: &mut Words<'_>,
    ) -> Result<(), String> {
        let request = if begun { Some(words.word("a request")?) } else { None };
        let then = if begun { Then::Begun } else { Then::Ended };
        let node = match send {
            Some(send) if buffered => self.draft.push_buffered(send, self.place)?,
            Some(send) => self.add(send, then)?,
            None => self.add(Action::Join, Then::Ended)?,
        };
        self.name(request, node)
    }

    fn name(&mut self, request: Option<&str>, node: u32) -> Result<(), String> {
        let Some(request) = request else { return Ok(()) };
        let request: u64 = number(request, "request")?;
        match self.requests.insert(request, node) {
            None => Ok(()),
            Some(_) => Err(format!("request {request} has not ended yet")),
        }
    }

    fn sendrecv(&mut self, words: &mut Words<'_>, draft: &mut Draft<'_>) -> Result<(), String> {
        let send = self.send(words, false, draft)?;
        let source: i64 = words.number("source")?;
        words.number::<u64>("size")?;
        let tag = words.number("tag")?;
        let comm = self.comm(words)?.index;
        let receive = receive(draft, (source, tag, comm), found(words)?)?;
        let mut both = Vec::new();
        for action in [receive, send.map(|send| send(comm))].into_iter().flatten() {
            both.push(self.add(action, Then::Begun)?);
        }
        self.join(&both)
    }

    /// A node that needs the ends of others.
    fn join(&mut self, others: &[u32]) -> Result<(), String> {
        let node = self.add(Action::Join, Then::Ended)?;
        others.iter().try_for_each(|other| self.draft.need(node, *other, false))
    }

    fn wait(&mut self, words: &mut Words<'_>, draft: &Draft<'_>) -> Result<(), String> {
        let mut others = Vec::new();
        while let Some(word) = words.next() {
            let request = word.split('<').next().unwrap_or(word);
            let request: u64 = number(request, "request")?;
            let known = self.requests.remove(&request);
            let node = known.ok_or_else(|| format!("there is no request {request}"))?;
            others.push(node);
            if let Some((_, found)) = word.split_once('<')
                && draft.amounts.wildcards == Wildcards::Recorded
            {
                // From nobody, or of a send: there is nothing to fix.
                if let (Ok(from), tag) = got(found).map(|(from, tag)| (u64::try_from(from), tag))? {
                    let tag = u32::try_from(tag).map_err(|_| format!("{tag} is no tag"))?;
                    self.draft.fix(node, draft.rank(from)?, tag)?;
                }
            }
        }
        match others.is_empty() {
            true => Ok(()),
            false => self.join(&others),
        }
    }

    fn collective(
        &mut self,
        call: &str,
        words: &mut Words<'_>,
        draft: &mut Draft<'_>,
    ) -> Result<(), String> {
        use CollectiveKind::{
            Allgather, Allreduce, Alltoall, Barrier, Broadcast, Gather, Reduce, ReduceScatter,
            Scan, Scatter,
        };
        let begun = call.starts_with('i');
        let call = if begun { &call[1..] } else { call };
        let (kind, rooted) = match call {
            "barrier" => (Barrier, false),
            "bcast" => (Broadcast, true),
            "reduce" => (Reduce, true),
            "gather" | "gatherv" => (Gather, true),
            "scatter" | "scatterv" => (Scatter, true),
            "allreduce" => (Allreduce, false),
            "scan" | "exscan" => (Scan, false),
            "allgather" | "allgatherv" => (Allgather, false),
            "alltoall" | "alltoallv" => (Alltoall, false),
            "reduce_scatter" | "reduce_scatter_block" => (ReduceScatter, false),
            _ => return Err(format!("{call:?} is no call that is known")),
        };
        let comm = self.comm(words)?;
        let root = if rooted { draft.calls.member(comm, words.number("root")?)? } else { 0 };
        let bytes = match call {
            "barrier" => Bytes::Same(0),
            "gatherv" | "scatterv" => Bytes::Own(words.number("size")?),
            "allgatherv" | "reduce_scatter" => Bytes::Blocks(list(words.word("sizes")?, "size")?),
            "alltoallv" => Bytes::Row(list(words.word("sizes")?, "size")?),
            _ => Bytes::Same(words.number("size")?),
        };
        let at = (self.draft.rank, comm, self.place);
        let Draft { calls, amounts, .. } = draft;
        let action = calls.call(at, (kind, root, &bytes), amounts)?;
        let request = if begun { Some(words.word("a request")?) } else { None };
        let node = self.add(action, if begun { Then::Begun } else { Then::Ended })?;
        self.name(request, node)
    }
}

/// A receive; `None` from nobody. What it got is what it takes, unless arrival is to decide.
fn receive(
    draft: &Draft<'_>,
    (source, tag, comm): (i64, i64, u32),
    got: Option<(i64, i64)>,
) -> Result<Option<Action>, String> {
    if source == -2 {
        return Ok(None);
    }
    let fixed = draft.amounts.wildcards == Wildcards::Recorded;
    let (source, tag) = match got.filter(|_| fixed) {
        Some((from, own)) => {
            (if source == -1 { from } else { source }, if tag == -1 { own } else { tag })
        }
        None => (source, tag),
    };
    let from = match source {
        -1 => ANY,
        source => {
            let source = u64::try_from(source).map_err(|_| format!("there is no rank {source}"))?;
            draft.rank(source)?
        }
    };
    let tag = match tag {
        -1 => ANY,
        tag => u32::try_from(tag).map_err(|_| format!("{tag} is no tag"))?,
    };
    Ok(Some(Action::Receive { from, tag, comm }))
}
