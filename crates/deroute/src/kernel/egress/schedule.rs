//! Which of the queues of an output sends next.
//!
//! # Source
//! IEEE 802.1Q: strict priority (8.6.8.1) and enhanced transmission selection (8.6.8.4); deficit round robin:
//! Shreedhar and Varghese, SIGCOMM 1995.

use crate::spec::{ClassSchedule, ServiceClasses};

/// How the classes of service share a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Schedule {
    /// The highest class that can send does.
    Strict,
    /// By deficit round robin: what each class may send in a round, and how much of it a phit takes. The class of
    /// the least share may send the largest packet, and shares are exact where their quotients are no whole
    /// numbers of phits.
    Ets { quanta: Vec<u32>, phit: u32 },
}

impl Schedule {
    /// What a spec asks for; with such quanta every class can send the largest packet when it is its turn.
    pub(crate) fn of(classes: &Option<ServiceClasses>, largest: u16) -> Self {
        let Some(ServiceClasses { schedule: ClassSchedule::Ets(shares), .. }) = classes else {
            return Self::Strict;
        };
        let least = shares.iter().copied().min().unwrap_or(1).max(1);
        let quanta = shares.iter().map(|share| share * u32::from(largest)).collect();
        Self::Ets { quanta, phit: least }
    }
}

/// The turn of an output.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// Class whose turn it is.
    class: u8,
    /// By class.
    turns: Box<[ClassTurn]>,
}

/// The turn of a class.
#[derive(Clone, Copy, Debug, Default)]
struct ClassTurn {
    /// Queue that comes first among its queues.
    queue: u8,
    /// What it may still send in this round.
    deficit: u32,
}

/// A queue that can send: its index, its class, and the phits of its head.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) queue: u8,
    pub(crate) class: u8,
    pub(crate) size: u16,
}

impl Turn {
    /// No class has had its turn.
    pub(crate) fn new(schedule: &Schedule, classes: u8) -> Self {
        let mut turns: Box<[_]> = vec![ClassTurn::default(); usize::from(classes)].into();
        if let Schedule::Ets { quanta, .. } = schedule {
            turns[0].deficit = quanta[0];
        }
        Self { class: 0, turns }
    }

    /// Bytes that it takes beside itself, for so many classes.
    pub(crate) fn bytes(classes: u8) -> usize {
        usize::from(classes) * size_of::<ClassTurn>()
    }

    /// The only queue that can send does, with strict priority.
    #[inline]
    pub(crate) fn only(&mut self, queue: u8, class: u8) {
        self.turns[usize::from(class)].queue = queue + 1;
    }

    /// Chooses among the queues that can send, in ascending order; there is at least one.
    pub(crate) fn choose(&mut self, schedule: &Schedule, candidates: &[Candidate]) -> Candidate {
        let chosen = match schedule {
            Schedule::Strict => {
                let class = candidates.iter().map(|candidate| candidate.class).max();
                class.and_then(|class| self.first_of(class, candidates)).unwrap_or(candidates[0])
            }
            Schedule::Ets { quanta, phit } => self.next_round_robin((quanta, *phit), candidates),
        };
        self.turns[usize::from(chosen.class)].queue = chosen.queue + 1;
        chosen
    }

    /// The queue of a class that comes first in turn, if one of them can send.
    fn first_of(&self, class: u8, candidates: &[Candidate]) -> Option<Candidate> {
        let mut of_class = candidates.iter().filter(|candidate| candidate.class == class);
        let turn = self.turns[usize::from(class)].queue;
        let first = of_class.clone().find(|candidate| candidate.queue >= turn);
        first.or_else(|| of_class.next()).copied()
    }

    /// The class whose turn it is sends as long as its deficit allows, then the next that can, which gets its quantum.
    /// A class that cannot send loses what it had.
    fn next_round_robin(
        &mut self,
        (quanta, phit): (&[u32], u32),
        candidates: &[Candidate],
    ) -> Candidate {
        loop {
            let first = self.first_of(self.class, candidates);
            let deficit = &mut self.turns[usize::from(self.class)].deficit;
            match first {
                Some(candidate) if *deficit >= u32::from(candidate.size) * phit => {
                    *deficit -= u32::from(candidate.size) * phit;
                    return candidate;
                }
                Some(_) => {}
                None => *deficit = 0,
            }
            self.class = (self.class + 1) % quanta.len() as u8;
            self.turns[usize::from(self.class)].deficit += quanta[usize::from(self.class)];
        }
    }
}
