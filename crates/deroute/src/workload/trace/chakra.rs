//! Chakra execution traces.
//!
//! # What it says
//! A file for each rank, `PREFIX.R.et`: messages of protocol buffers, each after its length. The first one is about the file,
//! every other one a node: its id, name, kind, the nodes that it needs the end of (by control or by data), how many
//! microseconds it takes, attributes. Computations and accesses to memory take their time, one after the other on the
//! processor (`is_cpu_op`) and on the accelerator; sends, receives and collectives have their bytes, peers and tags among the
//! attributes. The bytes of an all-gather are those of a member, those of the other collectives the whole, as in astra-sim.
//! A number may have any numeric type. A computation without a duration takes its operations (`num_ops`) at
//! `flops` a second. Those who observe a program (PyTorch) leave things out: a collective without a `comm_type` is the call
//! around it, a computation; what a node needs and is not in the file has ended before it begins.
//!
//! # Source
//! MLCommons Chakra, `et_def.proto`.
//!
//! # Limits
//! All ranks take part in every collective: process groups stand in a file of their own, and are refused here.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use super::calls::Bytes;
use super::draft::{Draft, RankDraft};
use super::fault::{Fault, Place};
use super::files::{Files, Input};
use crate::workload::actions::{Action, Then};
use crate::workload::collective::spec::CollectiveKind as Kind;

/// Largest message in a file, in bytes.
const LONGEST: u64 = 1 << 28;

/// Whether a file begins so: with a short message, and another one.
pub(super) fn begins(name: &str, _: &[u8]) -> bool {
    rank_of(name).is_some()
}

/// The number before `.et`.
fn rank_of(name: &str) -> Option<u64> {
    let name = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".et")?;
    name.rsplit('.').next()?.parse().ok()
}

/// Reads a trace.
pub(super) fn read(files: &Files, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut ranks = 0;
    files.each(|input| {
        ranks += u64::from(rank_of(&input.name).is_some());
        Ok(())
    })?;
    draft.size(ranks).map_err(|message| Fault::file(&files.name, message))?;
    files.each(|input| match rank_of(&input.name) {
        Some(rank) => read_rank(input, rank, draft),
        None => Ok(()),
    })?;
    draft.require_all(files)
}

/// The number in a field of an attribute: floating, signed in zigzag, or as it stands.
fn whole(field: u64, value: u64) -> Result<u64, String> {
    let float = match field {
        3 => f64::from_bits(value),
        5 => f64::from(f32::from_bits(value as u32)),
        15 | 17 => return Ok((value >> 1) ^ (value & 1).wrapping_neg()),
        _ => return Ok(value),
    };
    if (0.0..u64::MAX as f64).contains(&float) {
        return Ok(float.round() as u64);
    }
    Err(format!("{float} is no number of anything"))
}

/// The fields of a message.
struct Fields<'a> {
    rest: &'a [u8],
}

/// The value of a field.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0u64;
        for shift in 0..10 {
            let (&byte, rest) = self.rest.split_first().ok_or("a number has no end")?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f).checked_shl(7 * shift).unwrap_or(0);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number has more than ten bytes".into())
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let count = usize::try_from(count).ok().filter(|count| *count <= self.rest.len());
        let (taken, rest) = self.rest.split_at(count.ok_or("a field is longer than its message")?);
        self.rest = rest;
        Ok(taken)
    }

    /// The next field: its number and value.
    fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, String> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Number(self.take(8)?.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))),
            2 => {
                let count = self.varint()?;
                Value::Bytes(self.take(count)?)
            }
            5 => Value::Number(self.take(4)?.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))),
            kind => return Err(format!("{kind} is no type of a field")),
        };
        Ok(Some((key >> 3, value)))
    }
}

/// A node as it stands in the file.
#[derive(Default)]
struct Node {
    id: u64,
    kind: u64,
    needs: Vec<u64>,
    microseconds: u64,
    numbers: HashMap<String, u64>,
    group: String,
}

impl Node {
    fn read(message: &[u8]) -> Result<Self, String> {
        let (mut node, mut fields) = (Self::default(), Fields { rest: message });
        while let Some(field) = fields.next()? {
            match field {
                (1, Value::Number(id)) => node.id = id,
                (3, Value::Number(kind)) => node.kind = kind,
                (4 | 5, Value::Number(other)) => node.needs.push(other),
                (4 | 5, Value::Bytes(list)) => {
                    let mut list = Fields { rest: list };
                    while !list.rest.is_empty() {
                        node.needs.push(list.varint()?);
                    }
                }
                (7, Value::Number(time)) => node.microseconds = time,
                (10, Value::Bytes(attribute)) => node.attribute(attribute)?,
                _ => {}
            }
        }
        Ok(node)
    }

    fn attribute(&mut self, message: &[u8]) -> Result<(), String> {
        let (mut name, mut number, mut fields) = (String::new(), None, Fields { rest: message });
        while let Some(field) = fields.next()? {
            match field {
                (1, Value::Bytes(text)) => name = String::from_utf8_lossy(text).into_owned(),
                (29, Value::Bytes(text)) if name == "pg_name" => {
                    self.group = String::from_utf8_lossy(text).into_owned();
                }
                (field @ 3.., Value::Number(value)) => number = Some(whole(field, value)?),
                _ => {}
            }
        }
        // What is left out is 0.
        self.numbers.insert(name, number.unwrap_or(0));
        Ok(())
    }

    fn number(&self, name: &str) -> Result<u64, String> {
        self.numbers.get(name).copied().ok_or_else(|| format!("node {} has no {name}", self.id))
    }

    fn tag(&self) -> Result<u32, String> {
        let tag = self.numbers.get("comm_tag").copied().unwrap_or(0);
        u32::try_from(tag).map_err(|_| format!("{tag} is no tag"))
    }
}

fn read_rank(input: Input<'_>, rank: u64, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let Input { name, mut bytes } = input;
    let fault = |at: u64, message: String| Fault::at(&name, Place::Byte(at), message);
    let mut program = draft.begin(rank).map_err(|message| fault(0, message))?;
    let (mut nodes, mut needs) = (HashMap::new(), Vec::new());
    let (mut at, mut first) = (0, true);
    while let Some((length, digits)) = length(&mut bytes).map_err(|told| fault(at, told))? {
        if length > LONGEST {
            return Err(fault(at, format!("a message of {length} bytes is too long")));
        }
        let mut message = Vec::new();
        let read = bytes.by_ref().take(length).read_to_end(&mut message);
        if read.ok() != Some(length as usize) {
            return Err(fault(at, format!("the file ends within a message of {length} bytes")));
        }
        if !std::mem::take(&mut first) {
            let place = u32::try_from(at).unwrap_or(u32::MAX);
            let told = |message| fault(at, message);
            let node = Node::read(&message).map_err(told)?;
            let action = action(&node, &mut program, place, draft).map_err(told)?;
            let index = program.push(action, Then::Nothing, place).map_err(told)?;
            if nodes.insert(node.id, index).is_some() {
                return Err(fault(at, format!("node {} is there twice", node.id)));
            }
            needs.extend(node.needs.into_iter().map(|other| (index, other)));
        }
        at += digits + length;
    }
    for (node, other) in needs {
        if let Some(other) = nodes.get(&other) {
            program.need(node, *other, false).map_err(|message| fault(at, message))?;
        }
    }
    draft.end(program, &name).map_err(|message| fault(at, message))
}

/// The length of the next message, and the bytes that it takes to say so; `None` at the end.
fn length(bytes: &mut impl BufRead) -> Result<Option<(u64, u64)>, String> {
    let mut digits = Vec::new();
    for byte in bytes.by_ref().bytes().take(10) {
        digits.push(byte.map_err(|error| error.to_string())?);
        if digits.last().is_some_and(|byte| *byte < 0x80) {
            break;
        }
    }
    if digits.is_empty() {
        return Ok(None);
    }
    Ok(Some((Fields { rest: &digits }.varint()?, digits.len() as u64)))
}

fn action(
    node: &Node,
    program: &mut RankDraft,
    place: u32,
    draft: &mut Draft<'_>,
) -> Result<Action, String> {
    let peer = |name| draft.rank(node.number(name)?);
    match node.kind {
        0 | 1 => Ok(Action::Join),
        7 if node.numbers.contains_key("comm_type") => {
            collective(node, (program.rank, place), draft)
        }
        2..=4 | 7 => {
            let time = nanoseconds(node, draft.amounts.flops)?;
            let cycles = draft.amounts.cycles(program.rank, &mut program.clock, time)?;
            let on_processor = node.numbers.get("is_cpu_op").is_some_and(|is| *is != 0);
            Ok(Action::Compute { cycles, stream: u8::from(on_processor) })
        }
        5 => {
            let phits = draft.amounts.phits(node.number("comm_size")?)?;
            let (to, tag) = (peer("comm_dst")?, node.tag()?);
            Ok(Action::Send { to, phits, tag, comm: 0, synchronous: false })
        }
        6 => Ok(Action::Receive { from: peer("comm_src")?, tag: node.tag()?, comm: 0 }),
        kind => Err(format!("{kind} is no kind of node")),
    }
}

/// How long a node computes.
fn nanoseconds(node: &Node, flops: Option<f64>) -> Result<f64, String> {
    let operations = node.numbers.get("num_ops").copied().unwrap_or(0);
    if node.microseconds > 0 || operations == 0 {
        return Ok(node.microseconds as f64 * 1e3);
    }
    let speed = flops.ok_or_else(|| {
        format!("node {}: operations take no time that is known: `flops` is missing", node.id)
    })?;
    Ok(operations as f64 / speed * 1e9)
}

fn collective(
    node: &Node,
    (rank, place): (u32, u32),
    draft: &mut Draft<'_>,
) -> Result<Action, String> {
    if !node.group.is_empty() {
        return Err(format!("process group {:?}: groups are not in the file", node.group));
    }
    let size = node.numbers.get("comm_size").copied().unwrap_or(0);
    let ranks = u64::from(draft.ranks());
    // What is divided is given as a whole, but for an all-gather: a member sends so much.
    let (kind, bytes) = match node.number("comm_type")? {
        0 => (Kind::Allreduce, size),
        1 => (Kind::Reduce, size),
        2 => (Kind::Allgather, size),
        3 => (Kind::Gather, size.div_ceil(ranks)),
        4 => (Kind::Scatter, size.div_ceil(ranks)),
        5 => (Kind::Broadcast, size),
        6 => (Kind::Alltoall, size.div_ceil(ranks)),
        7 | 8 => (Kind::ReduceScatter, size.div_ceil(ranks)),
        9 => (Kind::Barrier, 0),
        kind => return Err(format!("{kind} is no kind of collective")),
    };
    let root = node.numbers.get("root").copied().unwrap_or(0);
    let root = u32::try_from(root).map_err(|_| format!("there is no root {root}"))?;
    let world = draft.calls.world(rank);
    let Draft { calls, amounts, .. } = draft;
    calls.call((rank, world, place), (kind, root, &Bytes::Same(bytes)), amounts)
}
