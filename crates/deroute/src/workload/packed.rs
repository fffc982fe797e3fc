//! A node in 32 bytes.

use super::actions::{Action, Node, Then};

/// A node as it is kept: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    kind: Kind,
    then: Then,
    stream: u8,
    /// Peer, or member.
    peer: u32,
    /// Phits, cycles, or schedule.
    amount: u32,
    tag: u32,
    comm: u32,
    pub(super) needs: u32,
    /// End of its edges, which begin where those of the node before it end.
    pub(super) edges_end: u32,
    place: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Join,
    Compute,
    Idle,
    Send,
    SendSynchronous,
    Receive,
    Collective,
}

impl Packed {
    pub(super) fn new(action: Action, then: Then, place: u32) -> Self {
        let (kind, stream, [peer, amount, tag, comm]) = match action {
            Action::Join => (Kind::Join, 0, [0; 4]),
            Action::Compute { cycles, stream } => (Kind::Compute, stream, [0, cycles, 0, 0]),
            Action::Idle { cycles } => (Kind::Idle, 0, [0, cycles, 0, 0]),
            Action::Send { to, phits, tag, comm, synchronous } => {
                let kind = if synchronous { Kind::SendSynchronous } else { Kind::Send };
                (kind, 0, [to, phits, tag, comm])
            }
            Action::Receive { from, tag, comm } => (Kind::Receive, 0, [from, 0, tag, comm]),
            Action::Collective { schedule, comm, member, first_tag } => {
                (Kind::Collective, 0, [member, schedule, first_tag, comm])
            }
        };
        Self { kind, then, stream, peer, amount, tag, comm, needs: 0, edges_end: 0, place }
    }

    pub(super) fn node(&self) -> Node {
        let Self { kind, then, stream, peer, amount, tag, comm, needs, place, .. } = *self;
        let action = match kind {
            Kind::Join => Action::Join,
            Kind::Compute => Action::Compute { cycles: amount, stream },
            Kind::Idle => Action::Idle { cycles: amount },
            Kind::Send | Kind::SendSynchronous => {
                let synchronous = kind == Kind::SendSynchronous;
                Action::Send { to: peer, phits: amount, tag, comm, synchronous }
            }
            Kind::Receive => Action::Receive { from: peer, tag, comm },
            Kind::Collective => {
                Action::Collective { schedule: amount, comm, member: peer, first_tag: tag }
            }
        };
        Node { action, then, needs, place }
    }

    /// How the next node of a list follows.
    pub(super) fn then(&self) -> Then {
        self.then
    }

    /// Its bytes in a file.
    pub(super) const BYTES: usize = 32;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let Self { kind, then, stream, peer, amount, tag, comm, needs, edges_end, place } = self;
        let mut bytes = [0; Self::BYTES];
        bytes[..3].copy_from_slice(&[kind as u8, then as u8, stream]);
        let words = [peer, amount, tag, comm, needs, edges_end, place];
        for (word, into) in words.into_iter().zip(bytes[4..].chunks_exact_mut(4)) {
            into.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// A node of these bytes, which [`Packed::to_bytes`] has made.
    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            kind: KINDS[usize::from(bytes[0]) % KINDS.len()],
            then: THENS[usize::from(bytes[1]) % THENS.len()],
            stream: bytes[2],
            peer: word(4),
            amount: word(8),
            tag: word(12),
            comm: word(16),
            needs: word(20),
            edges_end: word(24),
            place: word(28),
        }
    }
}

/// By their numbers.
const KINDS: [Kind; 7] = [
    Kind::Join,
    Kind::Compute,
    Kind::Idle,
    Kind::Send,
    Kind::SendSynchronous,
    Kind::Receive,
    Kind::Collective,
];
/// By their numbers.
const THENS: [Then; 3] = [Then::Nothing, Then::Begun, Then::Ended];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_what_its_bytes_say() {
        let (comm, tag) = (3, 1 << 31);
        let actions = [
            Action::Join,
            Action::Compute { cycles: 7, stream: 255 },
            Action::Idle { cycles: u32::MAX },
            Action::Send { to: 9, phits: 12, tag, comm, synchronous: false },
            Action::Send { to: 9, phits: 12, tag, comm, synchronous: true },
            Action::Receive { from: u32::MAX, tag: u32::MAX, comm },
            Action::Collective { schedule: 70_000, comm, member: 8, first_tag: tag },
        ];
        for then in THENS {
            for action in actions {
                let mut packed = Packed::new(action, then, 1_000_000);
                (packed.needs, packed.edges_end) = (5, 6);
                let read = Packed::from_bytes(&packed.to_bytes());
                assert_eq!(read.node(), Node { action, then, needs: 5, place: 1_000_000 });
                assert_eq!(read.edges_end, 6);
            }
        }
    }
}
