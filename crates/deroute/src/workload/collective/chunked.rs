//! Rounds whose messages are cut into chunks.
//!
//! # What it does
//! A message that is passed on in the next round is cut into so many chunks, and each is passed on when it has come, one after
//! the other, so that a member receives one while it sends the one before. With chunks of `q` phits, and `a` cycles from link
//! to link, `r` rounds of `c` chunks take `(r - 1) max(a + q, c q) + c q + a` where nobody else is in the way.

use crate::workload::step::{Op, Step};

/// A step of rounds, in each of which every member sends and waits.
struct Chunked {
    step: Box<dyn Step>,
    chunks: u32,
}

/// Cuts the messages of a step, in each round of which every member sends and waits; no chunk is less than a phit.
///
/// # Errors
/// If there are too many.
pub(super) fn build(step: Box<dyn Step>, chunks: u32) -> Result<Box<dyn Step>, String> {
    if chunks == 1 {
        return Ok(step);
    }
    let rounds = step.tags();
    if u64::from(rounds) * u64::from(chunks) >= 1 << 30 {
        return Err(format!("{rounds} rounds of {chunks} chunks are too many"));
    }
    Ok(Box::new(Chunked { step, chunks }))
}

impl Chunked {
    /// The chunk that a member sends; nothing if the message has fewer.
    fn send(&self, rank: u32, round: u32, chunk: u32) -> Option<Op> {
        let Op::Send { to, phits, tag } = self.step.op(rank, 2 * round)? else { return None };
        let phits = phits / self.chunks + u32::from(chunk < phits % self.chunks);
        (phits > 0).then_some(Op::Send { to, phits, tag: tag * self.chunks + chunk })
    }

    /// The chunk that a member waits for.
    fn wait(&self, rank: u32, round: u32, chunk: u32) -> Option<Op> {
        let Op::Wait { from, tag } = self.step.op(rank, 2 * round + 1)? else { return None };
        self.send(from, round, chunk)?;
        Some(Op::Wait { from, tag: tag * self.chunks + chunk })
    }
}

impl Step for Chunked {
    fn name(&self) -> &'static str {
        self.step.name()
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let (rounds, chunks) = (self.step.tags(), self.chunks);
        if index >= 2 * rounds * chunks {
            return None;
        }
        // First all sends of the first round, at last all waits of the last one.
        let op = match index.checked_sub(chunks) {
            None => self.send(rank, 0, index),
            Some(rest) => {
                let (round, place) = (rest / (2 * chunks), rest % (2 * chunks));
                match (round + 1 == rounds, place % 2) {
                    (true, _) => self.wait(rank, round, place),
                    (false, 0) => self.wait(rank, round, place / 2),
                    (false, _) => self.send(rank, round + 1, place / 2),
                }
            }
        };
        Some(op.unwrap_or(Op::NOTHING))
    }

    fn tags(&self) -> u32 {
        self.step.tags() * self.chunks
    }

    fn uniform(&self) -> bool {
        self.step.uniform()
    }
}
