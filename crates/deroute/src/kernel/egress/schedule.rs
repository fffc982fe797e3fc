//! Which of the queues of an output sends next.
//!
//! # Source
//! IEEE 802.1Q: strict priority (8.6.8.1) and enhanced transmission selection (8.6.8.4); deficit round robin:
//! Shreedhar and Varghese, SIGCOMM 1995.

use crate::spec::{ClassSchedule, ServiceClasses};
use serde::{Deserialize, Serialize};

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

/// The turns of the classes at all outputs.
#[derive(Serialize, Deserialize)]
pub(crate) struct Turns {
    classes: usize,
    /// By output and class, the queue that comes first among its queues.
    queues: Box<[u8]>,
    /// With ETS, by output, the class whose turn it is.
    rounds: Box<[u8]>,
    /// With ETS, by output and class, what it may still send in this round.
    deficits: Box<[u32]>,
}

/// A queue that can send: its index, its class, and the phits of its head.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) queue: u8,
    pub(crate) class: u8,
    pub(crate) size: u16,
}

impl Turns {
    /// No class has had its turn at any of so many outputs.
    pub(crate) fn new(schedule: &Schedule, classes: u8, outputs: usize) -> Self {
        let classes = usize::from(classes);
        let mut turns = Self {
            classes,
            queues: vec![0; outputs * classes].into(),
            rounds: Box::default(),
            deficits: Box::default(),
        };
        if let Schedule::Ets { quanta, .. } = schedule {
            turns.rounds = vec![0; outputs].into();
            turns.deficits = vec![0; outputs * classes].into();
            turns.deficits.iter_mut().step_by(classes).for_each(|first| *first = quanta[0]);
        }
        turns
    }

    /// Bytes of an output with so many classes.
    pub(crate) fn bytes(schedule: &Schedule, classes: u8) -> usize {
        let rounds = match schedule {
            Schedule::Strict => 0,
            Schedule::Ets { .. } => usize::from(classes) * size_of::<u32>() + 1,
        };
        usize::from(classes) + rounds
    }

    /// The only queue that can send does, with strict priority.
    #[inline]
    pub(crate) fn only(&mut self, output: u32, queue: u8, class: u8) {
        self.queues[output as usize * self.classes + usize::from(class)] = queue + 1;
    }

    /// Chooses among the queues of an output that can send, in ascending order; there is at least one.
    pub(crate) fn choose(
        &mut self,
        output: u32,
        schedule: &Schedule,
        candidates: &[Candidate],
    ) -> Candidate {
        let chosen = match schedule {
            Schedule::Strict => {
                let class = candidates.iter().map(|candidate| candidate.class).max();
                let first = class.and_then(|class| self.first_of(output, class, candidates));
                first.unwrap_or(candidates[0])
            }
            Schedule::Ets { quanta, phit } => {
                self.next_round_robin(output, (quanta, *phit), candidates)
            }
        };
        self.only(output, chosen.queue, chosen.class);
        chosen
    }

    /// The queue of a class that comes first in turn, if one of them can send.
    fn first_of(&self, output: u32, class: u8, candidates: &[Candidate]) -> Option<Candidate> {
        let mut of_class = candidates.iter().filter(|candidate| candidate.class == class);
        let turn = self.queues[output as usize * self.classes + usize::from(class)];
        let first = of_class.clone().find(|candidate| candidate.queue >= turn);
        first.or_else(|| of_class.next()).copied()
    }

    /// The class whose turn it is sends as long as its deficit allows, then the next that can, which gets its quantum.
    /// A class that cannot send loses what it had.
    fn next_round_robin(
        &mut self,
        output: u32,
        (quanta, phit): (&[u32], u32),
        candidates: &[Candidate],
    ) -> Candidate {
        let own = output as usize * self.classes;
        loop {
            let class = self.rounds[output as usize];
            let first = self.first_of(output, class, candidates);
            let deficits = &mut self.deficits[own..own + self.classes];
            let deficit = &mut deficits[usize::from(class)];
            match first {
                Some(candidate) if *deficit >= u32::from(candidate.size) * phit => {
                    *deficit -= u32::from(candidate.size) * phit;
                    return candidate;
                }
                Some(_) => {}
                None => *deficit = 0,
            }
            let next = if usize::from(class) + 1 == self.classes { 0 } else { class + 1 };
            self.rounds[output as usize] = next;
            deficits[usize::from(next)] += quanta[usize::from(next)];
        }
    }
}
