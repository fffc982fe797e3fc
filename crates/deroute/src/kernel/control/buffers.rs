//! What the buffers of inputs hold whose senders are paused, and what was recorded of them.

use serde::{Deserialize, Serialize};

use crate::control::PausePlan;
use crate::kernel::model::Model;

/// What was recorded of an input port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PauseRecord {
    /// Frames that told the sender to be silent, and all frames, over the whole run.
    pub(crate) stops: u32,
    pub(crate) frames: u32,
    /// Packets lost, and their phits.
    pub(crate) lost_packets: u32,
    pub(crate) lost_phits: u32,
    /// Packets trimmed.
    pub(crate) trimmed: u32,
    /// Most phits that a VC held; of all VCs together where the whole link is paused.
    pub(crate) peak: u32,
}

/// What happened to an input, or to a VC of it, beside what its buffers held.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Events {
    pub(super) stops: u32,
    pub(super) frames: u32,
    pub(super) lost_packets: u32,
    pub(super) lost_phits: u32,
    pub(super) trimmed: u32,
}

/// What an arrival is held against that concerns its own VC only.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Guard {
    capacity: u32,
    xoff: u32,
}

/// How a packet arrives.
pub(super) enum Arrives {
    /// The VC holds no more than XOFF, or more.
    Within,
    Beyond,
    /// VCs share something, or there is no room.
    Otherwise,
}

/// The buffers of a partition.
#[derive(Serialize, Deserialize)]
pub(super) struct Buffers {
    vcs: usize,
    /// By class of links, where VCs neither share buffers nor memory.
    guards: Vec<Option<Guard>>,
    /// Records of each input: one, or one of each VC.
    recorded: usize,
    /// For each input the most phits that one of its VCs held, or all together where the whole link is paused, for each
    /// record; and then the phits of each VC.
    phits: Vec<u32>,
    /// What else is recorded, once something has happened.
    events: Vec<Events>,
}

impl Buffers {
    /// Those of so many inputs.
    pub(super) fn new(model: &Model, ports: usize) -> Self {
        let (vcs, recorded) = (vcs(model), recorded(model));
        Self {
            vcs,
            guards: guards(model),
            recorded,
            phits: vec![0; ports * (recorded + vcs)],
            events: Vec::new(),
        }
    }

    /// Bytes of so many inputs.
    pub(super) fn bytes(model: &Model, ports: u64) -> u64 {
        ports * ((vcs(model) + recorded(model)) * size_of::<u32>()) as u64
    }

    /// Bytes besides, once something has happened.
    pub(super) fn most_bytes(model: &Model, ports: u64) -> u64 {
        ports * (recorded(model) * size_of::<Events>()) as u64
    }

    /// Something of each cache line.
    pub(super) fn lines(&self) -> impl Iterator<Item = u32> + '_ {
        self.phits.iter().step_by(16).copied()
    }

    /// Something of those of an input.
    #[inline(always)]
    pub(super) fn line(&self, input: u32) -> u32 {
        self.phits[self.place(input, 0)]
    }

    /// Where the phits of a VC are.
    #[inline(always)]
    fn place(&self, port: u32, vc: u8) -> usize {
        self.peak(port) + self.recorded + usize::from(vc)
    }

    /// Where the first record of an input is.
    #[inline(always)]
    fn peak(&self, port: u32) -> usize {
        port as usize * (self.recorded + self.vcs)
    }

    /// The number of a VC among all.
    #[inline]
    pub(super) fn index(&self, port: u32, vc: u8) -> usize {
        port as usize * self.vcs + usize::from(vc)
    }

    /// Phits in a buffer: of one VC, or of all where they share it.
    #[inline]
    pub(super) fn held(&self, plan: &PausePlan, input: u32, vc: u8) -> u32 {
        let first = self.place(input, 0);
        if plan.whole_link {
            return self.phits[first..first + self.vcs].iter().sum();
        }
        self.phits[first + usize::from(vc)]
    }

    /// Phits of one VC.
    pub(super) fn of(&self, input: u32, vc: u8) -> u32 {
        self.phits[self.place(input, vc)]
    }

    /// A packet arrives, which is counted where it concerns its own VC only, if there is room.
    #[inline(always)]
    pub(super) fn arrive(&mut self, class: u8, (input, vc): (u32, u8), size: u32) -> Arrives {
        let class = usize::from(class).min(self.guards.len() - 1);
        let Some(Guard { capacity, xoff }) = self.guards[class] else { return Arrives::Otherwise };
        let place = self.place(input, vc);
        let own = &mut self.phits[place];
        let held = *own + size;
        if held > capacity {
            return Arrives::Otherwise;
        }
        *own = held;
        self.reach(input, vc, held);
        if held > xoff { Arrives::Beyond } else { Arrives::Within }
    }

    /// Adds the phits of a packet with which a VC, or all of them, hold so many.
    pub(super) fn add(&mut self, plan: &PausePlan, (input, vc): (u32, u8), size: u32, held: u32) {
        let place = self.place(input, vc);
        self.phits[place] += size;
        self.reach(input, if plan.whole_link { 0 } else { vc }, held);
    }

    /// A VC, or all of them, hold so many phits.
    #[inline(always)]
    fn reach(&mut self, input: u32, vc: u8, held: u32) {
        let vc = usize::from(vc).min(self.recorded - 1);
        let place = self.peak(input) + vc;
        let peak = &mut self.phits[place];
        *peak = held.max(*peak);
    }

    /// A packet leaves a VC.
    #[inline(always)]
    pub(super) fn take(&mut self, input: u32, vc: u8, size: u32) {
        let place = self.place(input, vc);
        let held = &mut self.phits[place];
        // A buffer without limits is not counted.
        *held = held.saturating_sub(size);
    }

    /// What was recorded of an input, or of each of its VCs.
    pub(super) fn records(&self, input: u32) -> Vec<PauseRecord> {
        let first = input as usize * self.recorded;
        let record = |index| {
            let Events { stops, frames, lost_packets, lost_phits, trimmed } =
                self.events.get(index).copied().unwrap_or_default();
            let peak = self.phits[self.peak(input) + index - first];
            PauseRecord { stops, frames, lost_packets, lost_phits, trimmed, peak }
        };
        (first..first + self.recorded).map(record).collect()
    }

    /// What happened to a VC, or to its port.
    #[inline(never)]
    pub(super) fn events(&mut self, plan: &PausePlan, input: u32, vc: u8) -> &mut Events {
        if self.events.is_empty() {
            let inputs = self.phits.len() / (self.recorded + self.vcs);
            self.events = vec![Events::default(); inputs * self.recorded];
        }
        let vc = if plan.whole_link { 0 } else { usize::from(vc).min(self.recorded - 1) };
        &mut self.events[input as usize * self.recorded + vc]
    }
}

/// What arrivals are held against, by class of links, hosts' last.
fn guards(model: &Model) -> Vec<Option<Guard>> {
    let apart = |plan: &PausePlan| !plan.whole_link && plan.shared.is_none();
    let guard = |plan: &PausePlan| {
        apart(plan).then_some(Guard { capacity: plan.limits.capacity, xoff: plan.limits.xoff })
    };
    let classes = model.pause.iter().flat_map(|pauses| pauses.by_class());
    classes.map(|plan| plan.and_then(guard)).collect()
}

/// VCs that are counted at every port.
pub(super) fn vcs(model: &Model) -> usize {
    usize::from(model.most_vcs().max(model.flows.classes()))
}

/// Records of every input.
fn recorded(model: &Model) -> usize {
    let apart = model.pause.as_ref().is_some_and(|pauses| pauses.some_queue_per_vc());
    if model.pause_probe && apart { vcs(model) } else { 1 }
}
