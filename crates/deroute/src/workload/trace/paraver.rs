//! Paraver.
//!
//! # What it says
//! A header `#Paraver (date):DURATION_ns:NODES:1:TASKS(THREADS:NODE,...),...`, communicators `c:1:COMM:n:t1:t2...`, then
//! records whose fields are divided by colons, in the order of their times: `1` a state (not used), `2` events, `3` a
//! message. MPI calls are events of the types 50000001 (point to point), 50000002 (collectives) and 50000003 (others),
//! with a number at their beginning and 0 at their end; a `.pcf` file says which number is which call. Collectives have
//! 50100001 (bytes sent), 50100002 (received), 50100003 (1: is the root) and 50100004 (communicator). Tasks and threads
//! count from 1.
//!
//! # Source
//! Paraver and Extrae (Barcelona Supercomputing Center): the files of Extrae.
//!
//! # Limits
//! Messages are in the file with both ends, and belong to the calls that their logical times lie in. So a receive takes
//! what it got, whatever its tag was: the tag is the number of the message here. Requests are not in the file: a wait or a
//! test ends the receives whose messages were there by its end (physical time) and, if there are none, or for all
//! requests, the sends that were begun. Whatever is left ends with the rank. Computations are the times between calls.
//! Without a `.pcf` file beside it calls have the numbers that Extrae gives them. One application.

mod rebuilt;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::rebuilt::Rebuilt;
use super::draft::Draft;
use super::fault::{Fault, Place};
use super::files::Files;
use super::lines::{Lines, number};
use super::rooted::{Record, Rooted};
use crate::workload::spill::{Long, Spill};

/// Whether a file begins so.
pub(super) fn begins(_: &str, first: &[u8]) -> bool {
    first.starts_with(b"#Paraver ")
}

/// Calls that have a meaning here, and what Extrae numbers them.
const CALLS: [(u64, &str); 30] = [
    (1, "Send"),
    (2, "Recv"),
    (3, "Isend"),
    (4, "Irecv"),
    (5, "Wait"),
    (6, "Waitall"),
    (7, "Bcast"),
    (8, "Barrier"),
    (9, "Reduce"),
    (10, "Allreduce"),
    (11, "Alltoall"),
    (12, "Alltoallv"),
    (13, "Gather"),
    (14, "Gatherv"),
    (15, "Scatter"),
    (16, "Scatterv"),
    (17, "Allgather"),
    (18, "Allgatherv"),
    (30, "Scan"),
    (33, "Bsend"),
    (34, "Ssend"),
    (35, "Rsend"),
    (36, "Ibsend"),
    (37, "Issend"),
    (38, "Irsend"),
    (39, "Test"),
    (41, "Sendrecv"),
    (42, "Sendrecv_replace"),
    (59, "Waitany"),
    (60, "Waitsome"),
];

/// Types of events.
const POINT: u64 = 50_000_001;
const COLLECTIVE: u64 = 50_000_002;
const OTHER: u64 = 50_000_003;
const SENT: u64 = 50_100_001;
const RECEIVED: u64 = 50_100_002;
const ROOT: u64 = 50_100_003;
const COMM: u64 = 50_100_004;

/// A call of a task.
#[derive(Serialize, Deserialize)]
struct Call {
    /// What a `.pcf` file calls it, without `MPI_`.
    name: usize,
    kind: u64,
    entered: u64,
    left: u64,
    record: Record,
    comm: u64,
    place: u32,
}

/// An end of a message: its peer, bytes where it is sent, the time at which it was there where it is received.
#[derive(Serialize, Deserialize)]
struct End {
    at: u64,
    peer: u32,
    amount: u64,
    number: u32,
    place: u32,
}

#[derive(Default)]
struct Task {
    calls: Long<Call>,
    /// The last call has not been left.
    within: bool,
    sends: Long<End>,
    receives: Long<End>,
}

struct Reader {
    /// Names of calls, and their numbers by type.
    names: Vec<String>,
    numbers: HashMap<(u64, u64), usize>,
    tasks: Vec<Task>,
    comms: BTreeMap<u64, Vec<u32>>,
    messages: u32,
    spill: Arc<Spill>,
}

/// Reads a trace.
pub(super) fn read(files: &Files, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut reader = Reader {
        names: Vec::new(),
        numbers: HashMap::new(),
        tasks: Vec::new(),
        comms: BTreeMap::new(),
        messages: 0,
        spill: Arc::clone(&draft.spill),
    };
    for (own, name) in CALLS {
        for kind in [POINT, COLLECTIVE, OTHER] {
            reader.name(kind, own, name);
        }
    }
    files.beside("pcf", |input| reader.names_of(Lines::new(input)))?;
    let mut lines = Lines::new(files.one_with("prv")?);
    lines.next()?;
    let tasks = header(lines.text()).map_err(|message| lines.fault(message))?;
    draft.size(tasks).map_err(|message| lines.fault(message))?;
    reader.tasks.resize_with(tasks as usize, Task::default);
    while lines.next()? {
        let place = lines.place();
        reader.record(lines.text(), place).map_err(|message| lines.fault(message))?;
    }
    let Reader { names, tasks, comms, .. } = reader;
    let mut rooted = Rooted::default();
    let mut ranks = Vec::new();
    for (rank, task) in (0..).zip(tasks) {
        let own = draft.begin(rank).map_err(|message| lines.fault(message))?;
        let mut program = Rebuilt::new(own);
        let built = program.calls(task, (&names, &comms), &mut rooted, draft);
        built.map_err(|(place, message)| {
            Fault::at(&lines.file, Place::Line(place.into()), message)
        })?;
        ranks.push(program.own);
    }
    rooted.finish(draft, &mut ranks, &lines.file)?;
    for rank in ranks {
        draft.end(rank, &lines.file).map_err(|message| lines.fault(message))?;
    }
    Ok(())
}

/// `#Paraver (date):DURATION_ns:NODES(CPUS,...):1:TASKS(...)`: the number of tasks.
fn header(text: &str) -> Result<u64, String> {
    let wrong = || "is not #Paraver (DATE):DURATION:NODES:1:TASKS(...".to_owned();
    let (_, rest) = text.split_once("):").ok_or_else(wrong)?;
    let (_, rest) = rest.split_once(':').ok_or_else(wrong)?;
    // The nodes may have a list of their processors, without colons.
    let (_, rest) = rest.split_once(':').ok_or_else(wrong)?;
    let (applications, rest) = rest.split_once(':').ok_or_else(wrong)?;
    if applications != "1" {
        return Err(format!("{applications:?} applications; one can be read"));
    }
    number(rest.split('(').next().unwrap_or_default(), "number of tasks")
}

fn field(fields: &[&str], at: usize) -> Result<u64, String> {
    let text = fields.get(at).ok_or_else(|| format!("field {} is missing", at + 1))?;
    number(text.trim(), "whole number")
}

impl Reader {
    fn name(&mut self, kind: u64, own: u64, name: &str) {
        let known = self.names.iter().position(|known| known == name);
        let index = known.unwrap_or(self.names.len());
        if known.is_none() {
            self.names.push(name.to_owned());
        }
        self.numbers.insert((kind, own), index);
    }

    /// A `.pcf` file: blocks of types of events, and the names of their values.
    fn names_of(&mut self, mut lines: Lines<'_>) -> Result<(), Fault> {
        let mut kinds = Vec::new();
        let (mut of_types, mut of_values) = (false, false);
        while lines.next()? {
            let mut words = lines.text().split_ascii_whitespace();
            let (first, second) = (words.next(), words.next());
            match (first, second.map(str::to_owned)) {
                (Some("EVENT_TYPE"), _) => {
                    kinds.clear();
                    (of_types, of_values) = (true, false);
                }
                (Some("VALUES"), _) => (of_types, of_values) = (false, true),
                (None, _) => (of_types, of_values) = (false, false),
                (Some(_), Some(kind)) if of_types => kinds.extend(kind.parse::<u64>().ok()),
                (Some(value), Some(name)) if of_values => {
                    let Ok(value) = value.parse() else { continue };
                    for kind in kinds.iter().filter(|kind| (POINT..=OTHER).contains(*kind)) {
                        self.name(*kind, value, name.trim_start_matches("MPI_"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn record(&mut self, text: &str, place: u32) -> Result<(), String> {
        let fields: Vec<&str> = text.split(':').collect();
        match fields[0] {
            "" | "1" => Ok(()),
            "c" => {
                let (id, count) = (field(&fields, 2)?, field(&fields, 3)?);
                let members = (4..fields.len()).map(|at| Ok(field(&fields, at)?.wrapping_sub(1)));
                let members: Vec<u64> = members.collect::<Result<_, String>>()?;
                if members.len() as u64 != count {
                    return Err(format!("{} members of {count}", members.len()));
                }
                let known = self.tasks.len() as u64;
                if let Some(wrong) = members.iter().find(|member| **member >= known) {
                    return Err(format!("there is no task {}", wrong.wrapping_add(1)));
                }
                self.comms.insert(id, members.into_iter().map(|member| member as u32).collect());
                Ok(())
            }
            "2" => self.events(&fields, place),
            "3" => self.message(&fields, place),
            text if text.starts_with('#') => Ok(()),
            kind => Err(format!("{kind:?} is no kind of record")),
        }
    }

    fn task(&self, fields: &[&str], at: usize) -> Result<usize, String> {
        let task = field(fields, at)?;
        if task == 0 || task > self.tasks.len() as u64 {
            return Err(format!("there is no task {task}: there are {}", self.tasks.len()));
        }
        Ok(task as usize - 1)
    }

    fn message(&mut self, fields: &[&str], place: u32) -> Result<(), String> {
        let (from, to) = (self.task(fields, 3)?, self.task(fields, 9)?);
        let (sent, posted, there) = (field(fields, 5)?, field(fields, 11)?, field(fields, 12)?);
        let bytes = field(fields, 13)?;
        let number = self.messages;
        self.messages += 1;
        let send = End { at: sent, peer: to as u32, amount: bytes, number, place };
        self.tasks[from].sends.push(send, &self.spill)?;
        let receive = End { at: posted, peer: from as u32, amount: there, number, place };
        self.tasks[to].receives.push(receive, &self.spill)
    }

    fn events(&mut self, fields: &[&str], place: u32) -> Result<(), String> {
        let (task, time) = (self.task(fields, 3)?, field(fields, 5)?);
        let mut at = 6;
        while at < fields.len() {
            let (kind, value) = (field(fields, at)?, field(fields, at + 1)?);
            at += 2;
            let own = &mut self.tasks[task];
            if (POINT..=OTHER).contains(&kind) && value > 0 {
                let before = own.calls.last_mut().map_or(0, |call| call.left.max(call.entered));
                if own.within || time < before {
                    return Err("a call begins before the one before it ends".into());
                }
                own.within = true;
                // What has no name here neither sends nor waits.
                let name = self.numbers.get(&(kind, value)).copied().unwrap_or(usize::MAX);
                let unequal = self.names.get(name).is_some_and(|name| name.ends_with(['v', 'w']));
                let record = Record { sent: 0, received: 0, unequal, is_root: false };
                let entered = time;
                let call = Call { name, kind, entered, left: time, record, comm: 0, place };
                own.calls.push(call, &self.spill)?;
                continue;
            }
            let within = own.within;
            let Some(call) = own.calls.last_mut().filter(|_| within) else { continue };
            match kind {
                POINT | COLLECTIVE | OTHER if kind == call.kind => {
                    if time < call.entered {
                        return Err("a call ends before it begins".into());
                    }
                    call.left = time;
                    own.within = false;
                }
                SENT => call.record.sent = value,
                RECEIVED => call.record.received = value,
                ROOT => call.record.is_root = value != 0,
                COMM => call.comm = value,
                _ => {}
            }
        }
        Ok(())
    }
}
