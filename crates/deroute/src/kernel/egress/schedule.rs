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
    /// By deficit round robin; phits that each class may send in a round.
    Ets(Vec<u32>),
}

impl Schedule {
    /// What a spec asks for; with such quanta every class can send the largest packet when it is its turn.
    pub(crate) fn of(classes: &Option<ServiceClasses>, largest: u16) -> Self {
        let Some(ServiceClasses { schedule: ClassSchedule::Ets(shares), .. }) = classes else {
            return Self::Strict;
        };
        let least = shares.iter().copied().min().unwrap_or(1).max(1);
        let quantum = |share: &u32| (share * u32::from(largest)).div_ceil(least);
        Self::Ets(shares.iter().map(quantum).collect())
    }
}

/// The turn of an output.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// Queue that comes first among equals.
    queue: u8,
    /// Class whose turn it is, and phits that each may still send in this round.
    class: u8,
    deficits: Box<[u32]>,
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
    pub(crate) fn new(schedule: &Schedule) -> Self {
        match schedule {
            Schedule::Strict => Self::default(),
            Schedule::Ets(quanta) => Self { deficits: quanta.clone().into(), ..Self::default() },
        }
    }

    /// Chooses among the queues that can send, in ascending order; there is at least one.
    pub(crate) fn choose(&mut self, schedule: &Schedule, candidates: &[Candidate]) -> Candidate {
        let class = match (schedule, candidates) {
            (_, [only]) if matches!(schedule, Schedule::Strict) => only.class,
            (Schedule::Strict, _) => {
                candidates.iter().map(|candidate| candidate.class).max().unwrap_or(0)
            }
            (Schedule::Ets(quanta), _) => self.next_class(quanta, candidates),
        };
        let mut of_class = candidates.iter().filter(|candidate| candidate.class == class);
        let first = of_class.clone().find(|candidate| candidate.queue >= self.queue);
        let chosen = first.or_else(|| of_class.next()).copied().unwrap_or(candidates[0]);
        self.queue = chosen.queue + 1;
        if let Schedule::Ets(_) = schedule {
            self.deficits[usize::from(class)] -= u32::from(chosen.size);
        }
        chosen
    }

    /// The class whose turn it is: that of the last packet as long as its deficit allows, then the next that can
    /// send, which gets its quantum. A class that cannot send loses what it had.
    fn next_class(&mut self, quanta: &[u32], candidates: &[Candidate]) -> u8 {
        let head = |class: u8| {
            candidates.iter().filter(|candidate| candidate.class == class).map(|c| c.size).max()
        };
        loop {
            let index = usize::from(self.class);
            match head(self.class) {
                Some(size) if self.deficits[index] >= u32::from(size) => return self.class,
                Some(_) => {}
                None => self.deficits[index] = 0,
            }
            self.class = (self.class + 1) % quanta.len() as u8;
            self.deficits[usize::from(self.class)] += quanta[usize::from(self.class)];
        }
    }
}
