//! PAUSE and priority flow control (PFC): a receiver whose buffer fills tells the sender to be silent.
//!
//! A frame counts with all its phits from the cycle in which its first one arrives until it is released. What the
//! receiver has to say is decided at the end of a cycle, inputs and their VCs in ascending order, so that the order
//! of events within a cycle is irrelevant.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::buffers::{self, Arrives, Buffers, PauseRecord};
use super::memory::Memory;
use crate::control::PausePlan;
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::{members, touch};
use crate::kernel::core::mail::Signal;
use crate::kernel::core::packet::BufferId;
use crate::kernel::core::port_set::PortSet;
use crate::kernel::core::ports::{Input, PortKind};
use crate::kernel::model::Model;

/// What a pause frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PauseFrame {
    /// Be silent, or go on.
    pub(crate) stops: bool,
    /// For all VCs of the link, or for the one of the signal.
    pub(crate) whole_link: bool,
    /// For so many cycles; until told otherwise if absent.
    pub(crate) duration: Option<Cycle>,
}

impl PauseFrame {
    const PAUSE: u32 = 1 << 31;
    const STOPS: u32 = 1 << 30;
    const WHOLE: u32 = 1 << 29;
    /// Longest duration.
    const LONGEST: u32 = (1 << 29) - 1;

    /// As the flow control's own bits of a signal.
    pub(crate) fn write(self) -> u32 {
        Self::PAUSE
            | if self.stops { Self::STOPS } else { 0 }
            | if self.whole_link { Self::WHOLE } else { 0 }
            | self.duration.unwrap_or(0).min(Self::LONGEST)
    }

    /// What a signal says, if it is a pause frame.
    pub(crate) fn read(signal: Signal) -> Option<Self> {
        let content = signal.content();
        let duration = content & Self::LONGEST;
        (content & Self::PAUSE != 0).then_some(Self {
            stops: content & Self::STOPS != 0,
            whole_link: content & Self::WHOLE != 0,
            duration: (duration > 0).then_some(duration),
        })
    }
}

/// The state of both ends of all links of a partition.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pause {
    buffers: Buffers,
    /// VCs of each input whose sender has been told to be silent, once one has been; all where the whole link is told.
    stopped: Vec<u64>,
    /// Inputs whose buffers have changed in this cycle.
    changed: PortSet,
    /// The same while they are looked at.
    inputs: Vec<u32>,
    /// Where pauses end by themselves, when each VC of each input tells its sender again to be silent.
    refresh_at: Vec<Cycle>,
    /// Inputs to be looked at for that, and when, in order.
    refreshes: VecDeque<(Cycle, u32)>,
    /// What the ports of a switch share.
    memory: Option<Box<Memory>>,
}

impl Pause {
    pub(super) fn new(model: &Model, core: &Core) -> Self {
        let (vcs, ports) = (buffers::vcs(model), core.inputs.len());
        Self {
            buffers: Buffers::new(model, ports),
            stopped: Vec::new(),
            changed: PortSet::new(ports),
            inputs: Vec::new(),
            refresh_at: if ends(model) { vec![0; ports * vcs] } else { Vec::new() },
            refreshes: VecDeque::new(),
            memory: Memory::new(model, core, ports * vcs),
        }
    }

    /// Bytes of so many routers with so many ports.
    pub(crate) fn bytes(model: &Model, routers: u64, ports: u64) -> u64 {
        let vcs = ports * buffers::vcs(model) as u64;
        let refresh = if ends(model) { vcs * size_of::<Cycle>() as u64 } else { 0 };
        let shared = model.pause.as_ref().is_some_and(|pauses| pauses.shared.is_some());
        let memory = if shared { Memory::bytes(routers, vcs) } else { 0 };
        Buffers::bytes(model, ports) + refresh + memory + ports / 8
    }

    /// Bytes besides, once something has happened.
    pub(crate) fn most_bytes(model: &Model, ports: u64) -> u64 {
        match model.pause {
            Some(_) => Buffers::most_bytes(model, ports) + ports * size_of::<u64>() as u64,
            None => 0,
        }
    }

    /// Fetches its state.
    pub(super) fn sweep(&self) {
        touch(self.buffers.lines());
        touch(self.stopped.iter().step_by(8).map(|stopped| *stopped as u32));
    }

    /// Something of what it looks at where a packet arrives at an input or leaves it.
    #[inline(always)]
    pub(super) fn line(&self, input: u32) -> u32 {
        self.buffers.line(input) ^ self.stopped(input) as u32
    }

    #[inline(always)]
    pub(super) fn arrive(&mut self, core: &Core, to: BufferId, size: u16) -> bool {
        let (input, vc) = (to.port(), to.vc());
        let class = core.inputs[input as usize].class;
        match self.buffers.arrive(class, (input, vc), size.into()) {
            Arrives::Within => true,
            Arrives::Beyond => {
                self.note_excess(input, vc);
                true
            }
            Arrives::Otherwise => self.arrive_otherwise(core, (input, vc), size.into()),
        }
    }

    /// A VC of an input holds more than XOFF. Whether it still does at the end of the cycle is seen then.
    #[inline(never)]
    fn note_excess(&mut self, input: u32, vc: u8) {
        if !self.has_stopped(input, vc) {
            self.changed.insert(input);
        }
    }

    /// A packet arrives where VCs share something, or where there is no room.
    #[inline(never)]
    fn arrive_otherwise(&mut self, core: &Core, (input, vc): (u32, u8), size: u32) -> bool {
        let class = core.inputs[input as usize].class;
        let Some(plan) = core.model.pause.as_ref().and_then(|pauses| pauses.of(class.into()))
        else {
            return true;
        };
        let limits = &plan.limits;
        let held = self.buffers.held(plan, input, vc) + size;
        let shared = if self.memory.is_some() { self.shared(plan, input, vc) } else { 0 };
        if held > limits.capacity.saturating_add(shared) {
            let events = self.buffers.events(plan, input, vc);
            if core.model.trims(class, vc).is_some() {
                events.trimmed += 1;
                return false;
            }
            events.lost_packets += 1;
            events.lost_phits += size;
            return false;
        }
        self.buffers.add(plan, (input, vc), size, held);
        if held > limits.xoff {
            self.note_excess(input, vc);
        }
        true
    }

    /// Phits that a buffer may have of the memory that ports share: who has not been told to be silent takes of it, or of
    /// the headroom.
    fn shared(&self, plan: &PausePlan, input: u32, vc: u8) -> u32 {
        match &self.memory {
            Some(memory) if plan.shared.is_some() => match self.has_stopped(input, vc) {
                true => memory.charged(self.buffer(plan, input, vc)),
                false => u32::MAX,
            },
            _ => 0,
        }
    }

    #[inline(always)]
    pub(super) fn release(&mut self, input: u32, vc: u8, size: u16) {
        self.buffers.take(input, vc, size.into());
        if self.stopped(input) != 0 || self.memory.is_some() {
            self.changed.insert(input);
        }
    }

    /// The first cycle of `from..to` in which an input is looked at, or `to`.
    pub(super) fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        if !self.changed.is_drained() {
            return from;
        }
        self.refreshes.front().map_or(to, |(at, _)| to.min((*at).max(from)))
    }

    pub(super) fn tell(
        &mut self,
        core: &mut Core,
        mut send: impl FnMut(&Core, u32, u32) -> Option<Cycle>,
    ) {
        let Self { changed, refreshes, inputs, .. } = self;
        while let Some((_, input)) = refreshes.front().filter(|(at, _)| *at <= core.now) {
            changed.insert(*input);
            refreshes.pop_front();
        }
        changed.drain(|port| inputs.push(port));
        self.settle(core);
        for index in 0..self.inputs.len() {
            self.tell_sender(core, &mut send, self.inputs[index]);
        }
        self.inputs.clear();
    }

    /// What buffers have given back is there for those of the same switches whose senders are silent: these are looked
    /// at as well.
    fn settle(&mut self, core: &Core) {
        let Some(mut memory) = self.memory.take() else { return };
        let mut last = None;
        for index in 0..self.inputs.len() {
            let input = self.inputs[index];
            let Some(plan) = plan_of(&core.model, core, input) else { continue };
            let Input { router, vcs, .. } = core.inputs[input as usize];
            for vc in 0..if plan.whole_link { 1 } else { vcs } {
                let over = self.buffers.held(plan, input, vc).saturating_sub(plan.limits.xoff);
                memory.settle(router, self.buffer(plan, input, vc), over);
            }
            if last != Some(router) {
                last = Some(router);
                for port in core.ports(router) {
                    if self.stopped(port) != 0 {
                        self.inputs.push(port);
                    }
                }
            }
        }
        self.inputs.sort_unstable();
        self.inputs.dedup();
        self.memory = Some(memory);
    }

    /// Tells the sender behind an input what has changed, VC by VC, or for all of them.
    fn tell_sender(
        &mut self,
        core: &mut Core,
        send: &mut impl FnMut(&Core, u32, u32) -> Option<Cycle>,
        input: u32,
    ) {
        let model = std::sync::Arc::clone(&core.model);
        let Some(plan) = plan_of(&model, core, input) else { return };
        let (limits, exempt) = (&plan.limits, model.pause.as_ref().map_or(0, |all| all.exempt));
        let vcs = if plan.whole_link { 1 } else { core.inputs[input as usize].vcs };
        // VCs that it has something to say of, and those of them that are to be silent.
        let (mut told, mut silent) = (0_u64, 0);
        for vc in 0..vcs {
            let held = self.buffers.held(plan, input, vc);
            if exempt >> vc & 1 == 1 {
                continue;
            }
            let stopped = self.has_stopped(input, vc);
            let buffer = self.buffer(plan, input, vc);
            let stops = match (&mut self.memory, plan.shared) {
                (Some(memory), Some(shared)) => {
                    let router = core.inputs[input as usize].router;
                    let limits = (limits, shared.threshold);
                    memory.stops((router, buffer), limits, (held, stopped))
                }
                _ if stopped => held > limits.xon,
                _ => held > limits.xoff,
            };
            let refresh_at = plan.duration.and(self.refresh_at.get(self.buffers.index(input, vc)));
            let again = stops && refresh_at.is_some_and(|at| *at <= core.now);
            told |= u64::from(stops != stopped || again) << vc;
            silent |= u64::from(stops) << vc;
        }
        if told == 0 {
            return;
        }
        // It goes before all packets, but not before the one on the wire has left.
        let Some(sent) = send(core, input, plan.frame) else {
            self.changed.insert(input);
            return;
        };
        silent &= told;
        let all = |vcs: u64| if plan.whole_link && vcs != 0 { u64::MAX } else { vcs };
        if self.stopped.is_empty() {
            self.stopped = vec![0; core.inputs.len()];
        }
        let stopped = &mut self.stopped[input as usize];
        *stopped = *stopped & !all(told) | all(silent);
        for vc in members(told).map(|vc| vc as u8) {
            let stops = silent >> vc & 1 == 1;
            let events = self.buffers.events(plan, input, vc);
            events.frames += 1;
            events.stops += u32::from(stops);
            let duration = plan.duration.filter(|_| stops);
            let frame = PauseFrame { stops, whole_link: plan.whole_link, duration };
            core.send_signal_at(input, vc, frame.write(), sent + plan.response);
            if let Some(duration) = duration {
                // When half of it is over.
                let (index, at) = (self.buffers.index(input, vc), core.now + (duration / 2).max(1));
                self.refresh_at[index] = at;
                // At the end, unless links of other classes are told for longer.
                let place = self.refreshes.partition_point(|(earlier, _)| *earlier <= at);
                self.refreshes.insert(place, (at, input));
            }
        }
    }

    /// The buffer of a VC: that of the first where they share it.
    fn buffer(&self, plan: &PausePlan, input: u32, vc: u8) -> usize {
        self.buffers.index(input, if plan.whole_link { 0 } else { vc })
    }

    pub(super) fn shared_memory(&self) -> Option<(u32, u32)> {
        self.memory.as_ref().map(|memory| memory.most())
    }

    /// VCs of an input whose sender has been told to be silent.
    #[inline(always)]
    fn stopped(&self, input: u32) -> u64 {
        self.stopped.get(input as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn has_stopped(&self, input: u32, vc: u8) -> bool {
        self.stopped(input) >> vc & 1 == 1
    }

    /// Phits in a buffer of a VC, where they are counted.
    pub(super) fn buffered(&self, core: &Core, input: u32, vc: u8) -> Option<u32> {
        plan_of(&core.model, core, input).map(|_| self.buffers.of(input, vc))
    }

    pub(super) fn records(&self, input: u32) -> Vec<PauseRecord> {
        self.buffers.records(input)
    }
}

/// Do pauses end by themselves?
fn ends(model: &Model) -> bool {
    model.pause.as_ref().is_some_and(|pauses| pauses.ends())
}

/// How the sender behind an input is paused, if it can be, or how its buffer can overflow.
fn plan_of<'a>(model: &'a Model, core: &Core, input: u32) -> Option<&'a PausePlan> {
    let used = core.inputs[input as usize].kind != PortKind::Unused;
    let class = core.inputs[input as usize].class;
    model.pause.as_ref().filter(|_| used)?.of(class.into())
}
