//! What the collectives of a job are counted as: by algorithm, number of members and size of the whole call.

use std::collections::BTreeMap;

use super::schedule::Schedule;

/// Collectives of one algorithm, number of members and size.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The collective, and its algorithm.
    pub name: String,
    /// The algorithm that was asked for, if it does not fit.
    pub asked: Option<&'static str>,
    /// Members.
    pub members: u32,
    /// What nccl-tests call the size, in phits.
    pub phits: u64,
    /// What makes bus bandwidth of algorithm bandwidth.
    pub factor: f64,
}

/// A call whose members have sizes of their own: the schedule of one of them, and the size of the call in phits.
#[derive(Clone, Copy, Debug)]
pub struct Unequal {
    /// Its communicator.
    pub comm: u32,
    /// First of its tags.
    pub first_tag: u32,
    /// One of its schedules.
    pub schedule: u32,
    /// What nccl-tests call the size.
    pub phits: u64,
}

/// All of a job.
#[derive(Debug, Default)]
pub struct Uses {
    all: Vec<Use>,
    /// By schedule, where the members of a call share one.
    of_schedules: Vec<Option<u32>>,
    /// By communicator and first tag, where they do not.
    of_calls: BTreeMap<(u32, u32), u32>,
}

impl Uses {
    /// Of schedules that all members of a call share.
    pub fn new(schedules: &[Schedule]) -> Self {
        Self::with(schedules, |_| true, &[])
    }

    /// Of schedules some of which are shared by all members of a call, and of calls with several.
    pub fn with(schedules: &[Schedule], shared: impl Fn(usize) -> bool, calls: &[Unequal]) -> Self {
        let (mut uses, mut known) = (Self::default(), BTreeMap::new());
        // The place of what a schedule counts as, which is new or not; none if it is no named collective.
        let mut index = |plan: &Schedule, phits: Option<u64>| {
            let (members, own, factor) = plan.data()?;
            let (phits, asked) = (phits.unwrap_or(own), plan.asked());
            let place = known.entry((plan.name.clone(), asked, members, phits));
            Some(*place.or_insert_with_key(|(name, ..)| {
                uses.all.push(Use { name: name.clone(), asked, members, phits, factor });
                uses.all.len() as u32 - 1
            }))
        };
        for (place, plan) in schedules.iter().enumerate() {
            let of = if shared(place) { index(plan, None) } else { None };
            uses.of_schedules.push(of);
        }
        for &Unequal { comm, first_tag, schedule, phits } in calls {
            if let Some(index) = index(&schedules[schedule as usize], Some(phits)) {
                uses.of_calls.insert((comm, first_tag), index);
            }
        }
        uses
    }

    /// What a collective counts as, by its schedule, communicator and first tag.
    pub fn of(&self, schedule: u32, call: (u32, u32)) -> Option<u32> {
        let shared = self.of_schedules.get(schedule as usize).copied().flatten();
        shared.or_else(|| self.of_calls.get(&call).copied())
    }

    /// All of them.
    pub fn all(&self) -> &[Use] {
        &self.all
    }
}
