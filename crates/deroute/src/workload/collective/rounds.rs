//! Steps that go in rounds: in each, a member may send a message, and then wait for one.

use crate::workload::step::{Op, Step};

/// What a member does in a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// Receiver and phits.
    pub(super) send: Option<(u32, u32)>,
    /// Sender.
    pub(super) wait: Option<u32>,
}

impl Round {
    /// Sends so many phits to one member and waits for another.
    pub(super) fn of(to: u32, phits: u32, from: u32) -> Self {
        Self { send: Some((to, phits.max(1))), wait: Some(from) }
    }
}

/// So many rounds of what a function says of a member and a round.
pub(super) struct Rounds<F> {
    pub(super) name: &'static str,
    pub(super) rounds: u32,
    pub(super) uniform: bool,
    pub(super) at: F,
}

impl<F: Fn(u32, u32) -> Round + Send + Sync> Step for Rounds<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let tag = index / 2;
        if tag >= self.rounds {
            return None;
        }
        let Round { send, wait } = (self.at)(rank, tag);
        let op = match index.is_multiple_of(2) {
            true => send.map(|(to, phits)| Op::Send { to, phits, tag }),
            false => wait.map(|from| Op::Wait { from, tag }),
        };
        Some(op.unwrap_or(Op::NOTHING))
    }

    fn tags(&self) -> u32 {
        self.rounds
    }

    fn uniform(&self) -> bool {
        self.uniform
    }
}
