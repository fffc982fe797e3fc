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
    /// With ETS, by output, the class whose turn it is, and what each class may still send in this round.
    rounds: Box<[u32]>,
}

/// The queues of an output that can send, one bit each, and which of all belong to a class.
pub(crate) struct Ready<F> {
    pub(crate) queues: u64,
    pub(crate) of_class: F,
}

impl<F: Fn(u8) -> u64> Ready<F> {
    /// Those of a class.
    #[inline]
    fn of(&self, class: u8) -> u64 {
        self.queues & (self.of_class)(class)
    }
}

impl Turns {
    /// No class has had its turn at any of so many outputs.
    pub(crate) fn new(schedule: &Schedule, classes: u8, outputs: usize) -> Self {
        let classes = usize::from(classes);
        let mut turns =
            Self { classes, queues: vec![0; outputs * classes].into(), rounds: Box::default() };
        if let Schedule::Ets { quanta, .. } = schedule {
            turns.rounds = vec![0; outputs * (1 + classes)].into();
            let firsts = turns.rounds.iter_mut().skip(1).step_by(1 + classes);
            firsts.for_each(|first| *first = quanta[0]);
        }
        turns
    }

    /// Bytes of an output with so many classes.
    pub(crate) fn bytes(schedule: &Schedule, classes: u8) -> usize {
        let rounds = match schedule {
            Schedule::Strict => 0,
            Schedule::Ets { .. } => (1 + usize::from(classes)) * size_of::<u32>(),
        };
        usize::from(classes) + rounds
    }

    /// Something of each cache line.
    pub(crate) fn lines(&self) -> impl Iterator<Item = u32> + '_ {
        let rounds = self.rounds.iter().step_by(16).copied();
        rounds.chain(self.queues.iter().step_by(64).map(|queue| (*queue).into()))
    }

    /// A queue of a class sends: the next one is first in the turn after it.
    #[inline(always)]
    pub(crate) fn pass(&mut self, output: u32, queue: u8, class: u8) {
        self.queues[output as usize * self.classes + usize::from(class)] = queue + 1;
    }

    /// Chooses among the queues of an output that can send; there is at least one. `size` says how many phits the first
    /// packet of a queue has. Returns the queue and its class.
    #[inline]
    pub(crate) fn choose<F: Fn(u8) -> u64>(
        &mut self,
        output: u32,
        schedule: &Schedule,
        ready: &Ready<F>,
        size: impl Fn(u8) -> u16,
    ) -> u8 {
        let (queue, class) = match schedule {
            Schedule::Strict => {
                let mut class = self.classes as u8 - 1;
                while class > 0 && ready.of(class) == 0 {
                    class -= 1;
                }
                (self.first_of(output, class, ready.of(class)), class)
            }
            Schedule::Ets { quanta, phit } => {
                self.next_round_robin(output, (quanta, *phit), ready, size)
            }
        };
        self.pass(output, queue, class);
        queue
    }

    /// Of some queues of a class the one that comes first in turn.
    #[inline]
    fn first_of(&self, output: u32, class: u8, queues: u64) -> u8 {
        let turn = u32::from(self.queues[output as usize * self.classes + usize::from(class)]);
        let from = queues & u64::MAX.checked_shl(turn).unwrap_or(0);
        (if from == 0 { queues } else { from }).trailing_zeros() as u8
    }

    /// The class whose turn it is sends as long as its deficit allows, then the next that can, which gets its quantum.
    /// A class that cannot send loses what it had.
    #[inline]
    fn next_round_robin<F: Fn(u8) -> u64>(
        &mut self,
        output: u32,
        (quanta, phit): (&[u32], u32),
        ready: &Ready<F>,
        size: impl Fn(u8) -> u16,
    ) -> (u8, u8) {
        let own = output as usize * (1 + self.classes);
        let mut class = self.rounds[own] as u8;
        loop {
            let queues = ready.of(class);
            let first = self.first_of(output, class, queues);
            let deficits = &mut self.rounds[own + 1..][..self.classes];
            let deficit = &mut deficits[usize::from(class)];
            if queues == 0 {
                *deficit = 0;
            } else {
                let needed = u32::from(size(first)) * phit;
                if *deficit >= needed {
                    *deficit -= needed;
                    self.rounds[own] = class.into();
                    return (first, class);
                }
            }
            class = if usize::from(class) + 1 == self.classes { 0 } else { class + 1 };
            deficits[usize::from(class)] += quanta[usize::from(class)];
        }
    }
}
