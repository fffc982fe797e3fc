//! Dimemas.
//!
//! # What it says
//! A header `#DIMEMAS:"name":1,OFFSET:N(...),...`, communicators `d:1:COMM:n:r0:r1...`, then records whose fields are divided
//! by colons, of any task: `1` computes for seconds, `2` sends (the last field: 1 synchronous, 2 at once), `3` receives
//! (0), begins to (1) or waits for it (2), `10` takes part in a collective. `s` records at the end say where those of a
//! task begin; events (`20`) are not used.
//!
//! # Source
//! Dimemas (Barcelona Supercomputing Center): the files of its translators.
//!
//! # Limits
//! Threads of a task are one after the other. A wait is for the first receive of the same source, tag and
//! communicator. Messages of a communicator that is not defined are of that of all tasks: `prv2dim` writes numbers of its own
//! there, other ones at both ends. Collectives are messages here, and formulas in Dimemas; those without waiting (16 to
//! 31) end where they are begun, since no record says where they are waited for.

use std::collections::{BTreeMap, VecDeque};

use super::calls::Comm;
use super::draft::{Draft, RankDraft};
use super::fault::Fault;
use super::files::Files;
use super::lines::{Lines, number};
use super::rooted::{Record, Rooted};
use crate::workload::actions::{Action, Then};
use crate::workload::collective::spec::CollectiveKind as Kind;
use crate::workload::matching::ANY;

/// Whether a file begins so.
pub(super) fn begins(_: &str, first: &[u8]) -> bool {
    first.starts_with(b"#DIMEMAS:")
}

/// A task while it is read.
struct Task {
    draft: RankDraft,
    /// Receives that were not waited for, by source, tag and communicator.
    begun: BTreeMap<(i64, i64, u64), VecDeque<u32>>,
}

struct Reader<'a, 'b> {
    draft: &'a mut Draft<'b>,
    tasks: Vec<Task>,
    rooted: Rooted,
    /// Members of each communicator.
    comms: BTreeMap<u64, Vec<u32>>,
}

/// Reads a trace.
pub(super) fn read(files: &Files, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut lines = Lines::new(files.one()?);
    lines.next()?;
    header(lines.text(), draft).map_err(|message| lines.fault(message))?;
    let tasks = (0..draft.ranks()).map(|rank| draft.begin(rank.into()));
    let tasks: Result<Vec<_>, _> = tasks.collect();
    let tasks = tasks.map_err(|message| lines.fault(message))?;
    let tasks = tasks.into_iter().map(|draft| Task { draft, begun: BTreeMap::new() }).collect();
    let mut reader = Reader { draft, tasks, rooted: Rooted::default(), comms: BTreeMap::new() };
    while lines.next()? {
        let place = lines.place();
        reader.record(lines.text(), place).map_err(|message| lines.fault(message))?;
    }
    let Reader { draft, tasks, rooted, .. } = reader;
    let mut tasks: Vec<RankDraft> = tasks.into_iter().map(|task| task.draft).collect();
    rooted.finish(draft, &mut tasks, &lines.file)?;
    for task in tasks {
        draft.end(task, &lines.file).map_err(|message| lines.fault(message))?;
    }
    Ok(())
}

/// `#DIMEMAS:"name":1,OFFSET:N(...`.
fn header(text: &str, draft: &mut Draft<'_>) -> Result<(), String> {
    let wrong = || "is not #DIMEMAS:\"name\":1,OFFSET:N(...".to_owned();
    let rest = text.strip_prefix("#DIMEMAS:\"").ok_or_else(wrong)?;
    let (_, rest) = rest.split_once("\":").ok_or_else(wrong)?;
    let (_, tasks) = rest.split_once(':').ok_or_else(wrong)?;
    let tasks = tasks.split(['(', ',']).next().unwrap_or_default();
    draft.size(number(tasks.trim(), "number of tasks")?)
}

/// A field of a record.
fn field<'a>(fields: &[&'a str], at: usize) -> Result<&'a str, String> {
    fields.get(at).copied().ok_or_else(|| format!("field {} is missing", at + 1))
}

fn whole(fields: &[&str], at: usize) -> Result<i64, String> {
    number(field(fields, at)?.trim(), "whole number")
}

fn size(fields: &[&str], at: usize) -> Result<u64, String> {
    number(field(fields, at)?.trim(), "size")
}

impl Reader<'_, '_> {
    fn record(&mut self, text: &str, place: u32) -> Result<(), String> {
        let fields: Vec<&str> = text.split(':').collect();
        match fields[0] {
            "" | "0" | "20" | "s" => Ok(()),
            "d" => self.definition(&fields),
            "1" | "11" => {
                let task = self.task(&fields)?;
                let seconds: f64 = number(field(&fields, 3)?.trim(), "time")?;
                let own = &mut self.tasks[task as usize].draft;
                let cycles = self.draft.amounts.cycles(task, &mut own.clock, seconds * 1e9)?;
                own.push(Action::Compute { cycles, stream: 0 }, Then::Ended, place)?;
                Ok(())
            }
            "2" => self.send(&fields, place),
            "3" => self.receive(&fields, place),
            "10" => self.collective(&fields, place),
            kind => Err(format!("{kind:?} is no kind of record")),
        }
    }

    fn task(&self, fields: &[&str]) -> Result<u32, String> {
        self.draft.rank(number(field(fields, 1)?.trim(), "task")?)
    }

    /// `d:1:COMM:n:r0:r1...`
    fn definition(&mut self, fields: &[&str]) -> Result<(), String> {
        if field(fields, 1)? != "1" {
            return Ok(());
        }
        let (id, count) = (size(fields, 2)?, size(fields, 3)?);
        let members = fields[4..].iter().map(|rank| number(rank.trim(), "task"));
        let members: Vec<u32> = members.collect::<Result<_, _>>()?;
        if members.len() as u64 != count {
            return Err(format!("{} members of {count}", members.len()));
        }
        self.comms.insert(id, members);
        Ok(())
    }

    /// A communicator as a task knows it.
    fn comm(&mut self, id: u64, task: u32) -> Result<Comm, String> {
        let Some(members) = self.comms.get(&id) else {
            return Err(format!("there is no communicator {id} so far"));
        };
        // All tasks as they are: those of any name are one.
        let all = members.iter().copied().eq(0..self.draft.ranks());
        self.draft.calls.comm(if all { 0 } else { id }, members.clone(), task)
    }

    /// The communicator of a message: one that is not defined is that of all.
    fn comm_of_message(&mut self, id: u64, task: u32) -> Result<u32, String> {
        if !self.comms.contains_key(&id) {
            return Ok(self.draft.calls.world(task).index);
        }
        Ok(self.comm(id, task)?.index)
    }

    fn peer(&self, fields: &[&str]) -> Result<u32, String> {
        let peer = whole(fields, 3)?;
        match u64::try_from(peer) {
            Ok(peer) => self.draft.rank(peer),
            Err(_) if peer == -1 => Ok(ANY),
            Err(_) => Err(format!("there is no task {peer}")),
        }
    }

    fn send(&mut self, fields: &[&str], place: u32) -> Result<(), String> {
        let task = self.task(fields)?;
        let to = self.draft.rank(number(field(fields, 3)?.trim(), "task")?)?;
        let phits = self.draft.amounts.phits(size(fields, 5)?)?;
        let tag = number(field(fields, 6)?.trim(), "tag")?;
        let comm = self.comm_of_message(size(fields, 7)?, task)?;
        let how = size(fields, 8)?;
        let then = if how & 2 != 0 { Then::Begun } else { Then::Ended };
        let action = Action::Send { to, phits, tag, comm, synchronous: how & 1 != 0 };
        self.tasks[task as usize].draft.push(action, then, place)?;
        Ok(())
    }

    fn receive(&mut self, fields: &[&str], place: u32) -> Result<(), String> {
        let task = self.task(fields)?;
        let (from, tag) = (self.peer(fields)?, whole(fields, 6)?);
        let id = size(fields, 7)?;
        let comm = self.comm_of_message(id, task)?;
        let key = (whole(fields, 3)?, tag, id);
        let tag = match tag {
            -1 => ANY,
            tag => u32::try_from(tag).map_err(|_| format!("{tag} is no tag"))?,
        };
        let receive = Action::Receive { from, tag, comm };
        let own = &mut self.tasks[task as usize];
        match size(fields, 8)? {
            0 => {
                own.draft.push(receive, Then::Ended, place)?;
            }
            1 => {
                let node = own.draft.push(receive, Then::Begun, place)?;
                own.begun.entry(key).or_default().push_back(node);
            }
            2 => {
                let found = own.begun.get_mut(&key).and_then(VecDeque::pop_front);
                let node = found.ok_or("waits for a receive that was not begun")?;
                let join = own.draft.push(Action::Join, Then::Ended, place)?;
                own.draft.need(join, node, false)?;
            }
            kind => return Err(format!("{kind} is no kind of receive")),
        }
        Ok(())
    }

    /// `10:t:th:op:comm:is_root:root_th:sent:received:sync`
    fn collective(&mut self, fields: &[&str], place: u32) -> Result<(), String> {
        let task = self.task(fields)?;
        let comm = self.comm(size(fields, 4)?, task)?;
        let members = self.draft.calls.size(comm);
        let operation = match size(fields, 3)? {
            known @ 0..32 => known % 16,
            other => return Err(format!("{other} is no collective")),
        };
        let kind = match operation {
            0 => Kind::Barrier,
            1 => Kind::Broadcast,
            2 | 3 => Kind::Gather,
            4 | 5 => Kind::Scatter,
            6 | 7 => Kind::Allgather,
            8 | 9 | 15 => Kind::Alltoall,
            10 => Kind::Reduce,
            11 => Kind::Allreduce,
            12 | 13 => Kind::ReduceScatter,
            _ => Kind::Scan,
        };
        let record = Record {
            sent: size(fields, 7)?,
            received: size(fields, 8)?,
            unequal: matches!(operation, 9 | 15),
            is_root: size(fields, 5)? != 0,
        };
        let own = &mut self.tasks[task as usize].draft;
        self.rooted.add(own, (comm, members), (kind, &record), (Then::Ended, place))?;
        Ok(())
    }
}
