//! Communicators and collectives of a trace.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::amounts::Amounts;
use super::fault::{Fault, Place};
use super::unequal::{Part, Rows};
use crate::workload::actions::Action;
use crate::workload::collective::spec::{CollectiveChoices, CollectiveKind};
use crate::workload::collective::{self, Call, Sizes};
use crate::workload::comms::Comms;
use crate::workload::schedule::Schedule;
use crate::workload::uses::Uses;

/// The sizes of a collective in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Bytes {
    /// Of the data, or of every block.
    Same(u64),
    /// Of the block of each member.
    Blocks(Vec<u64>),
    /// Of what this rank has for each.
    Row(Vec<u64>),
    /// Of the block of this rank alone.
    Own(u64),
}

/// What all members of a communicator have to say of their next collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Same {
    kind: CollectiveKind,
    root: u32,
    /// Where it is the same for all.
    bytes: Option<u64>,
}

/// The collectives of a communicator as the first of its members has them, by the numbers of what they have to say: who
/// that is, and in which line or byte.
#[derive(Default)]
struct Sequence {
    calls: Vec<(u32, u32, u32)>,
}

/// A communicator of a trace, as a rank knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Comm {
    pub(super) index: u32,
    pub(super) member: u32,
}

/// What a schedule follows from: kind, members, root, sizes, the usual algorithm of so many bytes.
type Key = (CollectiveKind, u32, u32, Sizes, &'static str);

pub(super) struct Calls<'a> {
    choices: &'a CollectiveChoices,
    ranks: u32,
    comms: Comms,
    /// By what the trace calls them and who is in them.
    known: BTreeMap<(u64, Box<[u32]>), u32>,
    schedules: Vec<Schedule>,
    /// Schedules that are there.
    built: BTreeMap<Key, u32>,
    sequences: BTreeMap<u32, Sequence>,
    /// Calls whose members have sizes of their own.
    rows: Rows,
    /// What collectives have to say, by its number, and those numbers.
    said: Vec<Same>,
    numbers: BTreeMap<Same, u32>,
    /// Collectives and their tags so far, by communicator and rank.
    counts: BTreeMap<(u32, u32), (u32, u32)>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(choices: &'a CollectiveChoices) -> Self {
        Self {
            choices,
            ranks: 0,
            comms: Comms::world(),
            known: BTreeMap::new(),
            schedules: Vec::new(),
            built: BTreeMap::new(),
            sequences: BTreeMap::new(),
            rows: Rows::default(),
            said: Vec::new(),
            numbers: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    pub(super) fn set_ranks(&mut self, ranks: u32) {
        self.ranks = ranks;
    }

    /// All ranks.
    pub(super) fn world(&self, rank: u32) -> Comm {
        Comm { index: 0, member: rank }
    }

    /// A communicator of some ranks, by what the trace calls it, as a rank knows it.
    pub(super) fn comm(&mut self, id: u64, members: Vec<u32>, rank: u32) -> Result<Comm, String> {
        if let Some(wrong) = members.iter().find(|member| **member >= self.ranks) {
            return Err(format!("there is no rank {wrong}: there are {}", self.ranks));
        }
        let mut sorted = members.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("rank {} is in communicator {id} twice", twice[0]));
        }
        let Some(member) = members.iter().position(|member| *member == rank) else {
            return Err(format!("rank {rank} is not in communicator {id}"));
        };
        let member = member as u32;
        if id == 0 && members.iter().copied().eq(0..self.ranks) {
            return Ok(Comm { index: 0, member });
        }
        let members: Box<[u32]> = members.into();
        let Self { known, comms, .. } = self;
        let index = *known.entry((id, members)).or_insert_with_key(|(_, m)| comms.add(m.clone()));
        Ok(Comm { index, member })
    }

    /// Number of members.
    pub(super) fn size(&self, comm: Comm) -> u32 {
        self.comms.members(comm.index).map_or(self.ranks, |members| members.len() as u32)
    }

    /// Which member of a communicator a rank is.
    pub(super) fn member(&self, comm: Comm, rank: u32) -> Result<u32, String> {
        let member = match self.comms.members(comm.index) {
            None => Some(rank).filter(|rank| *rank < self.ranks),
            Some(members) => members.iter().position(|own| *own == rank).map(|at| at as u32),
        };
        member.ok_or_else(|| format!("rank {rank} is not in the communicator"))
    }

    /// A rank takes part in a collective, which stands at a place.
    pub(super) fn call(
        &mut self,
        (rank, comm, place): (u32, Comm, u32),
        (kind, root, bytes): (CollectiveKind, u32, &Bytes),
        amounts: &Amounts,
    ) -> Result<Action, String> {
        let members = self.size(comm);
        if root >= members {
            return Err(format!("there is no root {root}: the communicator has {members} members"));
        }
        let same = match bytes {
            Bytes::Same(bytes) => Some(*bytes),
            _ => None,
        };
        self.follow((rank, comm.index, place), Same { kind, root, bytes: same })?;
        let phits = |bytes: &u64| amounts.phits(*bytes);
        let all = |each: &[u64]| {
            if each.len() as u32 != members {
                return Err(format!("{} sizes for {members} members", each.len()));
            }
            each.iter().map(phits).collect::<Result<Box<[u32]>, _>>()
        };
        let (sizes, bytes) = match bytes {
            Bytes::Same(bytes) => (Sizes::Same(phits(bytes)?), *bytes),
            Bytes::Blocks(each) => (Sizes::Blocks(all(each)?), each.iter().sum()),
            Bytes::Row(each) => (Sizes::Row(all(each)?), each.iter().sum()),
            Bytes::Own(bytes) => {
                let own = phits(bytes)?;
                (Sizes::Row(vec![own; members as usize].into()), *bytes)
            }
        };
        let what = Call { kind, members, root, sizes, bytes: amounts.scaled(bytes) };
        let schedule = self.schedule(&what)?;
        let (_, tags) = self.counts.entry((comm.index, rank)).or_default();
        let first_tag = *tags;
        *tags = tags.wrapping_add(self.schedules[schedule as usize].tags());
        let Comm { index: comm, member } = comm;
        if let (2.., Sizes::Row(row)) = (members, &what.sizes) {
            let call = (comm, first_tag);
            self.rows.note(&Part { call, kind, root, member, row, schedule });
        }
        Ok(Action::Collective { schedule, comm, member, first_tag })
    }

    /// The schedule of a collective, which is there already or not.
    fn schedule(&mut self, call: &Call) -> Result<u32, String> {
        let Call { kind, members, root, ref sizes, .. } = *call;
        let key = (kind, members, root, sizes.clone(), collective::usual(call).name());
        if let Some(schedule) = self.built.get(&key) {
            return Ok(*schedule);
        }
        self.schedules.push(collective::build_fitting(call, self.choices.of(kind))?);
        let index = self.schedules.len() as u32 - 1;
        self.built.insert(key, index);
        Ok(index)
    }

    /// Compares the next collective of a rank with that of the others.
    fn follow(&mut self, (rank, comm, place): (u32, u32, u32), own: Same) -> Result<(), String> {
        let (count, _) = self.counts.entry((comm, rank)).or_default();
        let index = *count as usize;
        *count += 1;
        let number = *self.numbers.entry(own).or_insert_with(|| {
            self.said.push(own);
            self.said.len() as u32 - 1
        });
        let calls = &mut self.sequences.entry(comm).or_default().calls;
        match calls.get(index) {
            None => calls.push((number, rank, place)),
            Some((other, from, at)) if *other != number => {
                let say = |same: &Same| {
                    let bytes = same.bytes.map_or(String::new(), |b| format!(" of {b} bytes"));
                    format!("{}{bytes}, root {}", same.kind.name(), same.root)
                };
                return Err(format!(
                    "collective {} of a communicator is {} here, and {} in rank {from} ({at})",
                    index + 1,
                    say(&own),
                    say(&self.said[*other as usize]),
                ));
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// All members have to have taken part in all collectives.
    pub(super) fn check(&self, files: &[String], at: fn(u64) -> Place) -> Result<(), Fault> {
        for (comm, Sequence { calls }) in &self.sequences {
            let members = self.comms.members(*comm);
            let count = members.map_or(self.ranks, |members| members.len() as u32);
            for member in 0..count {
                let rank = self.comms.rank(*comm, member);
                let own = self.counts.get(&(*comm, rank)).map_or(0, |(count, _)| *count) as usize;
                let Some((said, from, place)) = calls.get(own) else { continue };
                let message = format!(
                    "rank {from} takes part in a {} that rank {rank} takes no part in: it has \
                     {own} collectives of that communicator, others {}",
                    self.said[*said as usize].kind.name(),
                    calls.len()
                );
                return Err(Fault::at(&files[*from as usize], at((*place).into()), message));
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> (Vec<Schedule>, Comms, Uses) {
        let uses = self.rows.uses(&self.schedules);
        (self.schedules, self.comms, uses)
    }
}
