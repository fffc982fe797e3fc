//! GOAL, as LogGOPSim compiles it.
//!
//! # What it says
//! Little-endian, nothing between the fields: u64 cookie, u32 ranks, u8 most cpu, u8 most nic; then for each rank u64 start
//! and u64 end of its block, counted from the end of the cookie. A block: u32 nodes, u32 roots, the u32 offsets of the
//! roots; 39 bytes for each node (u32 what it needs, u8 kind, u32 peer, u64 size, u32 tag, u8 cpu, u8 nic, twice u32
//! number and u32 first index of the nodes that need its end, and its beginning); u32 indices of those. Kinds are 1 send,
//! 2 receive, 3 computation of `size` nanoseconds; all bits of a peer or tag set are any.
//!
//! # Source
//! Hoefler, Schneider and Lumsdaine 2010; the files that its compiler writes.
//!
//! # Limits
//! Blocks stand in the order of the ranks.

use std::io::{BufRead, Read, copy, sink};

use super::draft::{Draft, RankDraft};
use super::fault::{Fault, Place};
use super::files::Files;
use crate::workload::actions::{Action, Then};
use crate::workload::matching::ANY;

/// What files begin with.
const COOKIE: u64 = 0x107f;
/// Bytes of a node.
const NODE: usize = 39;

/// Whether a file begins so.
pub(super) fn begins(_: &str, first: &[u8]) -> bool {
    first.starts_with(&COOKIE.to_le_bytes())
}

/// The file, and where it is read.
struct Bytes<'a> {
    file: String,
    bytes: Box<dyn BufRead + 'a>,
    at: u64,
}

impl Bytes<'_> {
    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::at(&self.file, Place::Byte(self.at), message)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Fault> {
        self.bytes.read_exact(buffer).map_err(|_| self.fault("the file ends here"))?;
        self.at += buffer.len() as u64;
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut buffer = [0; N];
        self.fill(&mut buffer)?;
        Ok(buffer)
    }

    fn word(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn long(&mut self) -> Result<u64, Fault> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn skip_to(&mut self, at: u64) -> Result<(), Fault> {
        let Some(more) = at.checked_sub(self.at) else {
            return Err(self.fault(format!("a block begins at byte {at}, before this")));
        };
        let skipped = copy(&mut self.bytes.by_ref().take(more), &mut sink());
        if skipped.ok() != Some(more) {
            return Err(self.fault("the file ends before the next block"));
        }
        self.at = at;
        Ok(())
    }
}

/// A node as it stands in the file.
struct Node([u8; NODE]);

impl Node {
    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    fn size(&self) -> u64 {
        u64::from(self.word(9)) | u64::from(self.word(13)) << 32
    }
}

/// Reads a trace.
pub(super) fn read(files: &Files, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let input = files.one()?;
    let mut bytes = Bytes { file: input.name, bytes: input.bytes, at: 0 };
    let cookie = bytes.long()?;
    if cookie != COOKIE {
        return Err(bytes.fault(format!("begins with {cookie:#x}, not {COOKIE:#x}")));
    }
    let ranks = bytes.word()?;
    draft.size(ranks.into()).map_err(|message| bytes.fault(message))?;
    bytes.array::<2>()?;
    let mut blocks = Vec::new();
    for _ in 0..ranks {
        blocks.push((bytes.long()?, bytes.long()?));
    }
    let cookie = size_of_val(&COOKIE) as u64;
    for (rank, (start, end)) in (0..).zip(blocks) {
        bytes.skip_to(start.saturating_add(cookie))?;
        let mut program = draft.begin(rank).map_err(|message| bytes.fault(message))?;
        block(&mut bytes, end.saturating_sub(start), &mut program, draft)?;
        let file = bytes.file.clone();
        draft.end(program, &file).map_err(|message| bytes.fault(message))?;
    }
    Ok(())
}

/// A block of so many bytes.
fn block(
    bytes: &mut Bytes<'_>,
    size: u64,
    program: &mut RankDraft,
    draft: &Draft<'_>,
) -> Result<(), Fault> {
    let (count, roots) = (bytes.word()?, bytes.word()?);
    let least = 8 + 4 * u64::from(roots) + NODE as u64 * u64::from(count);
    if size < least {
        return Err(bytes.fault(format!("{count} nodes take {least} bytes, the block has {size}")));
    }
    bytes.skip_to(bytes.at + 4 * u64::from(roots))?;
    let mut successors = Vec::new();
    for _ in 0..count {
        let place = u32::try_from(bytes.at).unwrap_or(u32::MAX);
        let node = Node(bytes.array()?);
        let action = action(&node, program, draft).map_err(|message| bytes.fault(message))?;
        let pushed = program.push(action, Then::Nothing, place);
        pushed.map_err(|message| bytes.fault(message))?;
        for (at, begun) in [(23, false), (31, true)] {
            let (number, first) = (node.word(at), node.word(at + 4));
            if number > 0 {
                successors.push((program.len() - 1, first, number, begun));
            }
        }
    }
    let left = (size - least) / 4;
    let mut indices = Vec::new();
    for _ in 0..left {
        indices.push(bytes.word()?);
    }
    for (node, first, number, begun) in successors {
        let all = (first as usize)
            .checked_add(number as usize)
            .and_then(|end| indices.get(first as usize..end));
        let Some(all) = all else {
            return Err(
                bytes.fault(format!("{number} nodes from index {first} of {left} need a node"))
            );
        };
        for to in all {
            if *to >= count {
                return Err(bytes.fault(format!("there is no node {to}: there are {count}")));
            }
            program.need(*to, node, begun).map_err(|message| bytes.fault(message))?;
        }
    }
    Ok(())
}

fn action(node: &Node, program: &mut RankDraft, draft: &Draft<'_>) -> Result<Action, String> {
    let (peer, tag) = (node.word(5), node.word(17));
    let stream = node.0[21];
    match node.0[4] {
        1 => {
            let (to, phits) = (draft.rank(peer.into())?, draft.amounts.phits(node.size())?);
            Ok(Action::Send { to, phits, tag, comm: 0, synchronous: false })
        }
        2 => {
            let from = if peer == ANY { ANY } else { draft.rank(peer.into())? };
            Ok(Action::Receive { from, tag, comm: 0 })
        }
        3 => {
            let time = node.size() as f64;
            let cycles = draft.amounts.cycles(program.rank, &mut program.clock, time)?;
            Ok(Action::Compute { cycles, stream })
        }
        kind => Err(format!("{kind} is no kind of node")),
    }
}
