//! A number of members that is no power of two, made one.
//!
//! # What it does
//! The first members come in pairs, so many that half of them and the others are a power of two. The first of a pair hands
//! what it has to the second one, which acts for both, and gets the result at the end.
//!
//! # Source
//! Rabenseifner 2004; Thakur, Rabenseifner and Gropp 2005. MPICH does so.

use super::rounds::Round;

/// Who is left when those in pairs have become one.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    /// Their number is two to the power of it.
    pub(super) rounds: u32,
    /// Pairs.
    pub(super) pairs: u32,
}

impl Fold {
    pub(super) fn new(members: u32) -> Self {
        let rounds = members.ilog2();
        Self { rounds, pairs: members - (1 << rounds) }
    }

    /// Number among those that are left; none for the first of a pair.
    pub(super) fn number(self, member: u32) -> Option<u32> {
        match self.is_paired(member) {
            true => (member % 2 == 1).then_some(member / 2),
            false => Some(member - self.pairs),
        }
    }

    /// The member that has a number.
    pub(super) fn member(self, number: u32) -> u32 {
        if number < self.pairs { 2 * number + 1 } else { number + self.pairs }
    }

    /// The first of the members that a number acts for; those of the numbers before it come before.
    pub(super) fn first(self, number: u32) -> u32 {
        number + number.min(self.pairs)
    }

    fn is_paired(self, member: u32) -> bool {
        member < 2 * self.pairs
    }

    /// Rounds with what comes before and after them, if somebody is in a pair.
    pub(super) fn all_rounds(self, rounds: u32) -> u32 {
        rounds + if self.pairs > 0 { 2 } else { 0 }
    }

    /// What a member does in one of all rounds: what the first of its pair has is handed over, by phits, then what those
    /// that are left do by number and round, then what the first of the pair gets.
    pub(super) fn round(
        self,
        (member, round, rounds): (u32, u32, u32),
        [handed, back]: [u32; 2],
        of: impl Fn(u32, u32) -> Round,
    ) -> Round {
        let (number, paired) = (self.number(member), self.is_paired(member));
        let before = u32::from(self.pairs > 0);
        let (first, last) = (before == 1 && round == 0, round == rounds + before);
        match number {
            None if first => Round { send: Some((member + 1, handed)), wait: None },
            None => Round { send: None, wait: last.then_some(member + 1) },
            Some(_) if first => Round { send: None, wait: paired.then(|| member - 1) },
            Some(_) if last => Round { send: paired.then(|| (member - 1, back)), wait: None },
            Some(number) => of(number, round - before),
        }
    }
}
