//! Credits that come back in messages: what has left the buffers of an input is told to its sender in one message for
//! all VCs, not more often than an interval allows. What a message that is lost has said is said by the next one.
//!
//! What the receiver has to say is decided at the end of a cycle, inputs in ascending order.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::control::MessagePlan;
use crate::ids::{Cycle, PortId};
use crate::kernel::core::Core;
use crate::kernel::core::fetch::touch;
use crate::kernel::core::port_set::PortSet;
use crate::kernel::core::ports::PortKind;
use crate::kernel::model::Model;
use crate::rng::{Owner, Stream};

/// What was recorded of an input port over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageRecord {
    pub(crate) sent: u64,
    pub(crate) lost: u64,
}

/// The receiving ends of the links of a partition.
#[derive(Serialize, Deserialize)]
pub(crate) struct Messages {
    vcs: usize,
    /// Phits that have left the buffer of each VC of each input and that its sender does not know of, `vcs` for each.
    owed: Vec<u32>,
    /// Before this cycle an input may not send a message.
    next_at: Vec<Cycle>,
    /// Inputs that have something to say in this cycle.
    changed: PortSet,
    /// The same while they are looked at.
    inputs: Vec<u32>,
    /// Inputs that have something to say, and when they may, in order.
    later: VecDeque<(Cycle, u32)>,
    /// Of each input, where messages are lost.
    streams: Vec<Stream>,
    records: Vec<MessageRecord>,
}

impl Messages {
    pub(super) fn new(model: &Model, core: &Core) -> Self {
        let (vcs, ports) = (vcs(model), core.inputs.len());
        let stream = |port: u32| {
            let router = &core.routers[core.inputs[port as usize].router as usize];
            let local = PortId((port - router.port_base) as u16);
            Stream::new(model.times.seed, Owner::Messages(router.id, local))
        };
        let streams = (0..ports as u32).filter(|_| loses(model)).map(stream);
        Self {
            vcs,
            owed: vec![0; ports * vcs],
            next_at: vec![0; ports],
            changed: PortSet::new(ports),
            inputs: Vec::new(),
            later: VecDeque::new(),
            streams: streams.collect(),
            records: vec![MessageRecord::default(); ports],
        }
    }

    /// Bytes of so many ports.
    pub(crate) fn bytes(model: &Model, ports: u64) -> u64 {
        let stream = if loses(model) { size_of::<Stream>() } else { 0 };
        let port = (1 + vcs(model)) * size_of::<u32>() + size_of::<MessageRecord>() + stream;
        ports * port as u64 + ports / 8
    }

    /// Fetches its state.
    pub(super) fn sweep(&self) {
        touch(self.owed.iter().step_by(16).copied());
        touch(self.next_at.iter().step_by(16).copied());
    }

    /// A packet that took so many phits has left.
    pub(super) fn release(&mut self, core: &Core, (input, vc): (u32, u8), phits: u32) {
        let first = input as usize * self.vcs;
        let owed = &mut self.owed[first..first + self.vcs];
        let waits = owed.iter().any(|owed| *owed > 0);
        owed[usize::from(vc)] += phits;
        if !waits {
            self.remind(input, core.now, self.next_at[input as usize]);
        }
    }

    /// An input that has something to say is looked at when it may.
    fn remind(&mut self, input: u32, now: Cycle, at: Cycle) {
        if at <= now {
            self.changed.insert(input);
            return;
        }
        // At the end, unless links of other classes have longer intervals.
        let place = self.later.partition_point(|(earlier, _)| *earlier <= at);
        self.later.insert(place, (at, input));
    }

    /// The first cycle of `from..to` in which an input is looked at, or `to`.
    pub(super) fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        if !self.changed.is_drained() {
            return from;
        }
        self.later.front().map_or(to, |(at, _)| to.min((*at).max(from)))
    }

    pub(super) fn tell(
        &mut self,
        core: &mut Core,
        mut send: impl FnMut(&Core, u32, u32) -> Option<Cycle>,
    ) {
        let Self { changed, later, inputs, .. } = self;
        while let Some((_, input)) = later.front().filter(|(at, _)| *at <= core.now) {
            changed.insert(*input);
            later.pop_front();
        }
        changed.drain(|port| inputs.push(port));
        for index in 0..self.inputs.len() {
            self.tell_sender(core, &mut send, self.inputs[index]);
        }
        self.inputs.clear();
    }

    /// Tells the sender behind an input what has left, if the link is free.
    fn tell_sender(
        &mut self,
        core: &mut Core,
        send: &mut impl FnMut(&Core, u32, u32) -> Option<Cycle>,
        input: u32,
    ) {
        let model = std::sync::Arc::clone(&core.model);
        let Some(plan) = plan_of(&model, core, input) else { return };
        let Some(sent) = send(core, input, plan.message) else {
            self.changed.insert(input);
            return;
        };
        let next = (core.now + plan.interval).max(sent + 1);
        self.next_at[input as usize] = next;
        let record = &mut self.records[input as usize];
        record.sent += 1;
        if plan.lost > 0.0 && self.streams[input as usize].unit() < plan.lost {
            record.lost += 1;
            self.remind(input, core.now, next);
            return;
        }
        let first = input as usize * self.vcs;
        for (vc, owed) in (0..).zip(&mut self.owed[first..first + self.vcs]) {
            let phits = std::mem::take(owed);
            if phits > 0 {
                core.send_signal_at(input, vc, phits, sent);
            }
        }
    }

    /// Phits of a VC of an input that its sender does not know of.
    pub(super) fn owed(&self, input: u32, vc: u8) -> u32 {
        self.owed[input as usize * self.vcs + usize::from(vc)]
    }

    pub(super) fn record(&self, input: u32) -> MessageRecord {
        self.records[input as usize]
    }
}

/// VCs that are counted at every port.
fn vcs(model: &Model) -> usize {
    usize::from(model.most_vcs().max(model.flows.classes()))
}

/// Are messages lost?
fn loses(model: &Model) -> bool {
    let plans = model.messages.iter().flat_map(|messages| messages.by_class());
    plans.flatten().any(|plan| plan.lost > 0.0)
}

/// How credits come back to the sender behind an input, if they do so in messages.
fn plan_of<'a>(model: &'a Model, core: &Core, input: u32) -> Option<&'a MessagePlan> {
    let used = core.inputs[input as usize].kind != PortKind::Unused;
    let class = core.outputs[input as usize].class;
    model.messages.as_ref().filter(|_| used)?.of(class)
}
