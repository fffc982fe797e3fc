//! Collectives under way.

use super::{Activity, Process, Services, Site, Todo};
use crate::ids::Cycle;
use crate::workload::matching::{Pattern, Waiter};
use crate::workload::step::Op;
use serde::{Deserialize, Serialize};

/// A collective under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Call {
    node: u32,
    schedule: u32,
    comm: u32,
    member: u32,
    /// Cycle in which it began.
    began: Cycle,
    /// First of its tags.
    first_tag: u32,
    /// Where each lane is: its step, and the operation in it.
    lanes: Box<[(u32, u32)]>,
    /// Lanes that have not ended, and sends.
    lanes_left: u32,
    sends_left: u32,
}

/// All of a rank.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Calls {
    calls: Vec<Option<Call>>,
}

impl Calls {
    fn get(&self, call: u32) -> Option<&Call> {
        self.calls.get(call as usize)?.as_ref()
    }

    fn get_mut(&mut self, call: u32) -> Option<&mut Call> {
        self.calls.get_mut(call as usize)?.as_mut()
    }

    /// Bytes of the least room for them, and of one lane.
    pub(super) fn bytes() -> usize {
        4 * size_of::<Option<Call>>() + size_of::<(u32, u32)>()
    }

    /// Node of a collective under way.
    pub(super) fn node(&self, call: u32) -> Option<u32> {
        self.get(call).map(|call| call.node)
    }

    /// A message of a collective has left. Says whether it has ended.
    pub(super) fn sent(&mut self, call: u32) -> bool {
        let Some(call) = self.get_mut(call) else { return false };
        call.sends_left -= 1;
        call.sends_left == 0 && call.lanes_left == 0
    }

    fn insert(&mut self, call: Call) -> u32 {
        let free = self.calls.iter().position(Option::is_none).unwrap_or_else(|| {
            self.calls.push(None);
            self.calls.len() - 1
        });
        self.calls[free] = Some(call);
        free as u32
    }
}

impl Process {
    /// A node takes part in a collective.
    pub(super) fn begin_call<S: Services>(
        &mut self,
        node: u32,
        (schedule, first_tag): (u32, u32),
        (comm, member): (u32, u32),
        site: &mut Site<'_, S>,
    ) {
        let plan = &site.job.schedules[schedule as usize];
        let lanes = plan.lanes();
        let call = self.calls.insert(Call {
            node,
            schedule,
            comm,
            member,
            began: site.now,
            first_tag,
            lanes: vec![(0, 0); lanes as usize].into(),
            lanes_left: lanes,
            sends_left: 0,
        });
        for lane in 0..lanes {
            self.run_lane(call, lane, site);
        }
        if lanes == 0 {
            self.end_call(call, site);
        }
    }

    /// A lane of a collective goes on as far as it can.
    pub(super) fn run_lane<S: Services>(&mut self, call: u32, lane: u32, site: &mut Site<'_, S>) {
        let job = site.job;
        let waiter = Waiter::Lane { call, lane };
        loop {
            let Some(own) = self.calls.get_mut(call) else { return };
            let (comm, first_tag) = (own.comm, own.first_tag);
            let plan = &job.schedules[own.schedule as usize];
            let (part, index) = &mut own.lanes[lane as usize];
            if *part == plan.parts(lane) {
                own.lanes_left -= 1;
                if own.lanes_left == 0 && own.sends_left == 0 {
                    self.end_call(call, site);
                }
                return;
            }
            let Some(op) = plan.op(own.member, (lane, *part), *index) else {
                (*part, *index) = (*part + 1, 0);
                continue;
            };
            *index += 1;
            let context = 2 * comm + 1;
            let ended = match op {
                Op::Send { to, phits, tag } => {
                    own.sends_left += 1;
                    let key =
                        Pattern { context, from: self.rank, tag: first_tag.wrapping_add(tag) };
                    let to = job.comms.rank(comm, to);
                    if self.send(to, key, (phits, false), Waiter::Sent { call }, site)
                        && let Some(own) = self.calls.get_mut(call)
                    {
                        own.sends_left -= 1;
                    }
                    true
                }
                Op::Wait { from, tag } => {
                    let from = job.comms.rank(comm, from);
                    let pattern = Pattern { context, from, tag: first_tag.wrapping_add(tag) };
                    self.post(pattern, waiter, site)
                }
                Op::Compute { cycles: 0 } => true,
                Op::Compute { cycles } => {
                    self.computed += u64::from(cycles);
                    self.active[Activity::Compute as usize] += 1;
                    let waiter = Waiter::Computes { call, lane };
                    self.set_timer(site.now.saturating_add(cycles), waiter);
                    false
                }
            };
            if !ended {
                return;
            }
        }
    }

    /// A collective has ended.
    pub(super) fn end_call<S: Services>(&mut self, call: u32, site: &mut Site<'_, S>) {
        if let Some(own) = self.calls.calls.get_mut(call as usize).and_then(Option::take) {
            if let Some(of) = site.job.uses.of(own.schedule, (own.comm, own.first_tag)) {
                site.services.collective(of, site.now - own.began);
            }
            self.todo.push_front(Todo::End(Waiter::Node(own.node)));
        }
    }
}
