//! The short form of cargo, for runs in which hosts do not tell each other of packets: less than half a cache line, since
//! each partition on the way of a packet takes it in, keeps it, and gives it away.

use super::cargo::{Cargo, Fragment, Load, Numbered, PartOf, Slab};
use crate::ids::{Cycle, HostId};
use crate::workload::Jobs;
use crate::workload::matching::Pattern;
use crate::workload::process::Kind;
use serde::{Deserialize, Serialize};

/// What a packet carries.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Light {
    /// Cycle of the first grant.
    injected: Cycle,
    /// Of a message its sender, number and tag, and the phits before the packet; of a numbered packet its stream, source
    /// and number, and the cycles that it would have taken so far.
    words: [u32; 4],
    /// What it is a part of, and what else is to be said of a message.
    marks: u32,
}

const _: () = assert!(size_of::<Light>() == 24);

// What it is a part of, in two bits.
const TRAFFIC: u32 = 0;
const COURSE: u32 = 1;
const MESSAGE: u32 = 2;
/// Place of the kind of a message, in two bits.
const KIND: u32 = 2;
/// The message ends with it; its sender is to be told when it leaves.
const LAST: u32 = 1 << 4;
const TOLD: u32 = 1 << 5;
/// Place of the rank among those of its host, and of the communicator.
const WORKER: u32 = 6;
const CONTEXT: u32 = 14;

const KINDS: [Kind; 4] = [Kind::Eager, Kind::Request, Kind::Ready, Kind::Data];

impl Light {
    /// There is room for the ranks of each host, and for the communicators, of these jobs.
    pub(crate) fn holds(jobs: &Jobs) -> bool {
        let contexts = jobs.jobs.iter().map(|job| 2 * job.comms.len() + 2).max();
        jobs.most_seats() <= 1 << (CONTEXT - WORKER)
            && contexts.unwrap_or(0) <= 1 << (u32::BITS - CONTEXT)
    }

    #[inline(always)]
    fn of_message(fragment: &Fragment) -> Self {
        let Fragment { kind, worker, key, sequence, offset, last, told } = *fragment;
        let Pattern { context, from, tag } = key;
        let ends = if last { LAST } else { 0 } | if told { TOLD } else { 0 };
        let marks = MESSAGE | (kind as u32) << KIND | ends | worker << WORKER | context << CONTEXT;
        Self { injected: 0, words: [from, sequence, tag, offset], marks }
    }

    #[inline(always)]
    fn message(&self) -> Fragment {
        let ([from, sequence, tag, offset], marks) = (self.words, self.marks);
        Fragment {
            kind: KINDS[(marks >> KIND & 3) as usize],
            worker: marks >> WORKER & ((1 << (CONTEXT - WORKER)) - 1),
            key: Pattern { context: marks >> CONTEXT, from, tag },
            sequence,
            offset,
            last: marks & LAST != 0,
            told: marks & TOLD != 0,
        }
    }
}

impl Load for Light {
    const TOLD: bool = false;

    #[inline(always)]
    fn new(_: HostId, part_of: PartOf, unloaded: Cycle) -> Self {
        match part_of {
            PartOf::Message(fragment) => Self::of_message(&fragment),
            PartOf::Course(Numbered { stream, source, sequence }) => {
                let words = [stream, source, sequence, unloaded];
                Self { injected: 0, words, marks: COURSE }
            }
            PartOf::Traffic | PartOf::Notice(_) | PartOf::Trimmed => {
                Self { injected: 0, words: [0; 4], marks: TRAFFIC }
            }
        }
    }

    #[inline(always)]
    fn leave(&mut self, now: Cycle) -> bool {
        self.injected = now;
        self.marks & (3 | TOLD) == MESSAGE | TOLD
    }

    #[inline(always)]
    fn cross(&mut self, cycles: Cycle) {
        if self.marks == COURSE {
            self.words[3] += cycles;
        }
    }

    #[inline(always)]
    fn unload(&self) -> (Cycle, Cycle, PartOf) {
        let [stream, source, sequence, unloaded] = self.words;
        let part_of = match self.marks & 3 {
            MESSAGE => PartOf::Message(self.message()),
            COURSE => PartOf::Course(Numbered { stream, source, sequence }),
            _ => PartOf::Traffic,
        };
        (self.injected, unloaded, part_of)
    }

    fn long(&self) -> Option<&Cargo> {
        None
    }

    fn long_pool(_: &mut Slab<Self>) -> Option<&mut Slab<Cargo>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let key = Pattern { context: (1 << 18) - 1, from: 7_000_000, tag: u32::MAX };
        for kind in KINDS {
            for (last, told) in [(false, false), (true, false), (true, true)] {
                let fragment =
                    Fragment { kind, worker: 255, key, sequence: 9, offset: 1 << 29, last, told };
                let mut light = Light::new(HostId(3), PartOf::Message(fragment), 5);
                assert_eq!(light.leave(77), told);
                light.cross(8);
                let (77, _, PartOf::Message(found)) = light.unload() else { panic!("{light:?}") };
                assert_eq!(found, fragment);
            }
        }
        let number = Numbered { stream: u32::MAX, source: 4, sequence: 6 };
        let mut light = Light::new(HostId(4), PartOf::Course(number), 5);
        light.cross(8);
        assert!(!light.leave(3));
        let (3, 13, PartOf::Course(found)) = light.unload() else { panic!("{light:?}") };
        assert_eq!((found.stream, found.source, found.sequence), (u32::MAX, 4, 6));
    }
}
