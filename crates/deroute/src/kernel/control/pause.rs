//! PAUSE and priority flow control (PFC): a receiver whose buffer fills tells the sender to be silent.
//!
//! A frame counts with all its phits from the cycle in which its first one arrives until it is released. What the
//! receiver has to say is decided at the end of a cycle, inputs and their VCs in ascending order, so that the order
//! of events within a cycle is irrelevant.

use std::collections::VecDeque;

use crate::control::{PauseLimits, PausePlan};
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::packet::BufferId;
use crate::kernel::core::port_set::PortSet;
use crate::kernel::core::ports::{Output, OutputRequest, PortKind};
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

    fn write(self) -> u32 {
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

/// What was recorded of an input port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PauseRecord {
    /// Frames that told the sender to be silent, and all frames, over the whole run.
    pub(crate) stops: u64,
    pub(crate) frames: u64,
    /// Packets lost, and their phits.
    pub(crate) lost_packets: u64,
    pub(crate) lost_phits: u64,
    /// Most phits that a VC held; of all VCs together where the whole link is paused.
    pub(crate) peak: u32,
}

/// The state of both ends of all links of a partition.
pub(crate) struct Pause {
    vcs: usize,
    /// Phits in the buffers of each VC of each input, `vcs` for each.
    occupancy: Vec<u32>,
    /// Phits granted to each VC of each output that have not left.
    waiting: Vec<u32>,
    /// VCs of each input whose sender has been told to be silent.
    stopped: Vec<u64>,
    /// Inputs whose buffers have changed in this cycle.
    changed: PortSet,
    /// The same while they are looked at, with whether they tell their sender again.
    inputs: Vec<(u32, bool)>,
    /// Inputs that tell their sender again, and when, in order.
    refreshes: VecDeque<(Cycle, u32)>,
    records: Vec<PauseRecord>,
}

impl Pause {
    pub(super) fn new(model: &Model, ports: usize) -> Self {
        let vcs = usize::from(model.most_vcs().max(model.flows.classes()));
        Self {
            vcs,
            occupancy: vec![0; ports * vcs],
            waiting: vec![0; ports * vcs],
            stopped: vec![0; ports],
            changed: PortSet::new(ports),
            inputs: Vec::new(),
            refreshes: VecDeque::new(),
            records: vec![PauseRecord::default(); ports],
        }
    }

    /// Bytes of so many ports.
    pub(crate) fn bytes(model: &Model, ports: u64) -> u64 {
        let vcs = usize::from(model.most_vcs().max(model.flows.classes()));
        let port = 2 * vcs * size_of::<u32>() + size_of::<u64>() + size_of::<PauseRecord>();
        ports * port as u64 + ports / 8
    }

    #[inline]
    fn index(&self, port: u32, vc: u8) -> usize {
        port as usize * self.vcs + usize::from(vc)
    }

    /// Phits granted to a VC of an output that have not left.
    pub(super) fn waiting(&self, (port, vc): (u32, u8)) -> u32 {
        self.waiting[self.index(port, vc)]
    }

    pub(super) fn take(&mut self, output: &mut Output, (port, vc, size): (u32, u8, u32)) {
        let index = self.index(port, vc);
        self.waiting[index] += size;
        output.queued += size;
    }

    pub(super) fn departed(&mut self, output: &mut Output, (port, request): (u32, OutputRequest)) {
        if output.kind == PortKind::Link {
            let index = self.index(port, request.vc);
            self.waiting[index] -= u32::from(request.size);
            output.queued -= u32::from(request.size);
        }
    }

    /// Phits in a buffer: of one VC, or of all where they share it.
    fn held(&self, plan: &PausePlan, input: u32, vc: u8) -> u32 {
        let first = self.index(input, 0);
        if plan.whole_link {
            return self.occupancy[first..first + self.vcs].iter().sum();
        }
        self.occupancy[first + usize::from(vc)]
    }

    pub(super) fn arrive(&mut self, core: &Core, to: BufferId, size: u16) -> bool {
        let (input, vc, size) = (to.port(), to.vc(), u32::from(size));
        let Some((plan, limits)) = limits(core, input) else { return true };
        let held = self.held(plan, input, vc) + size;
        let index = self.index(input, vc);
        let record = &mut self.records[input as usize];
        if held > limits.capacity {
            record.lost_packets += 1;
            record.lost_phits += u64::from(size);
            return false;
        }
        record.peak = record.peak.max(held);
        self.occupancy[index] += size;
        self.changed.insert(input);
        true
    }

    pub(super) fn release(&mut self, input: u32, vc: u8, size: u16) {
        let index = self.index(input, vc);
        // A buffer without limits is not counted.
        self.occupancy[index] = self.occupancy[index].saturating_sub(u32::from(size));
        self.changed.insert(input);
    }

    pub(super) fn tell(&mut self, core: &mut Core, mut send: impl FnMut(&Core, u32, u32) -> Cycle) {
        let Self { changed, refreshes, inputs, .. } = self;
        changed.drain(|port| inputs.push((port, false)));
        while let Some((_, input)) = refreshes.front().filter(|(at, _)| *at <= core.now) {
            inputs.push((*input, true));
            refreshes.pop_front();
        }
        inputs.sort_unstable();
        for index in 0..self.inputs.len() {
            self.tell_sender(core, &mut send, self.inputs[index]);
        }
        self.inputs.clear();
    }

    /// Tells the sender behind an input what has changed, VC by VC, or for all of them.
    fn tell_sender(
        &mut self,
        core: &mut Core,
        send: &mut impl FnMut(&Core, u32, u32) -> Cycle,
        (input, refresh): (u32, bool),
    ) {
        let model = std::sync::Arc::clone(&core.model);
        let Some((plan, limits)) = limits_of(&model, core, input) else { return };
        let vcs = if plan.whole_link { 1 } else { core.inputs[input as usize].vcs };
        for vc in 0..vcs {
            let held = self.held(plan, input, vc);
            let stopped = self.stopped[input as usize] >> vc & 1 == 1;
            let stops = if stopped { held > limits.xon } else { held > limits.xoff };
            if stops == stopped && !(stops && refresh) {
                continue;
            }
            self.stopped[input as usize] ^= u64::from(stops != stopped) << vc;
            let record = &mut self.records[input as usize];
            record.frames += 1;
            record.stops += u64::from(stops);
            let duration = plan.duration.filter(|_| stops);
            let frame = PauseFrame { stops, whole_link: plan.whole_link, duration };
            // It waits for the frame that is being sent, and goes before all others.
            let sent = send(core, input, plan.frame);
            core.send_signal_at(input, vc, frame.write(), sent + plan.response);
            if let Some(duration) = duration {
                self.refreshes.push_back((core.now + (duration / 2).max(1), input));
            }
        }
    }

    pub(super) fn record(&self, input: u32) -> PauseRecord {
        self.records[input as usize]
    }
}

/// The limits of an input, if its sender can be paused or its buffer can overflow.
fn limits_of<'a>(
    model: &'a Model,
    core: &Core,
    input: u32,
) -> Option<(&'a PausePlan, &'a PauseLimits)> {
    let plan = model.pause.as_ref()?;
    let limits = match core.inputs[input as usize].kind {
        PortKind::Link => plan.limits.get(usize::from(core.outputs[input as usize].class)),
        PortKind::Host => plan.host.as_ref(),
        PortKind::Unused => None,
    };
    limits.map(|limits| (plan, limits))
}

/// The same, of a core's own model.
fn limits(core: &Core, input: u32) -> Option<(&PausePlan, &PauseLimits)> {
    limits_of(&core.model, core, input)
}
