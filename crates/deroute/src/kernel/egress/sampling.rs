//! Samples of the queues at the outputs, or at the inputs (QCN).
//!
//! Every port has a random stream of its own, and what its samples say is told at the end of the cycle, so that
//! nothing depends on how the network is divided.

use super::output_queues::OutputQueues;
use crate::congestion::{Every, GrowthSince, SamplePlan, SampledQueue, Victim};
use crate::ids::Cycle;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::touch;
use crate::kernel::core::packet::NONE;
use crate::kernel::core::ports::PortKind;
use crate::kernel::model::{EgressModel, Model};
use crate::probe::notices::NoticeRecord;
use crate::rng::Stream;
use crate::routing::Made;
use crate::state::{State, state};
use serde::{Deserialize, Serialize};

/// The congestion points of a partition.
pub(super) struct Sampling {
    plan: SamplePlan,
    classes: usize,
    /// One for each port.
    streams: Vec<Stream>,
    /// `classes` for each port.
    points: Vec<Point>,
    /// What they found, `classes` for each port.
    records: Vec<NoticeRecord>,
    /// What is to be told in this cycle.
    told: Vec<Found>,
}

/// The queue of a class at a port.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Point {
    /// Phits, packets or cycles until the next sample.
    left: f64,
    /// Cycle of the last packet.
    last: Cycle,
    /// Phits that it held when it was seen last.
    old: u32,
}

/// A sample that is told.
pub(super) struct Found {
    /// The port, the side of it, and the class of the victim with those of its queuing scheme.
    pub(super) port: u32,
    pub(super) made: Made,
    pub(super) class: u8,
    pub(super) feedback: u8,
    /// The place of the victim in the pool.
    pub(super) victim: u32,
}

impl State for Sampling {
    state! { keep streams, points, records; leave plan, classes, told; }
}

impl Sampling {
    /// For the ports of a partition and so many classes.
    pub(super) fn new(plan: SamplePlan, core: &Core, classes: u8) -> Self {
        let mut streams = super::marking::streams(core);
        let mut points = Vec::with_capacity(streams.len() * usize::from(classes));
        for stream in &mut streams {
            points.extend((0..classes).map(|_| Point {
                left: plan.feedback.interval(0, stream.unit()),
                ..Point::default()
            }));
        }
        let records = vec![NoticeRecord::default(); points.len()];
        Self { plan, classes: usize::from(classes), streams, points, records, told: Vec::new() }
    }

    /// Bytes of so many outputs.
    pub(super) fn bytes(model: &Model, ports: u64) -> u64 {
        let classes = u64::from(model.egress.classes());
        let point = size_of::<Point>() + size_of::<NoticeRecord>();
        ports * (size_of::<Stream>() as u64 + classes * point as u64)
    }

    /// Fetches what every packet looks at.
    pub(super) fn sweep(&self) {
        touch(self.points.iter().step_by(4).map(|point| point.last));
    }

    #[inline]
    fn index(&self, port: u32, class: u8) -> usize {
        port as usize * self.classes + usize::from(class)
    }

    /// A packet of so many phits enters a queue. Is it time for a sample?
    #[inline]
    fn is_due(&mut self, at: (u32, u8), now: Cycle, size: u16) -> bool {
        let every = self.plan.feedback.every;
        let index = self.index(at.0, at.1);
        let point = &mut self.points[index];
        point.left -= match every {
            Every::Phits(_) => f64::from(size),
            Every::Packets(_) => 1.0,
            Every::Cycles(_) => f64::from(now - point.last) + 1.0,
        };
        point.last = now;
        point.left <= 0.0
    }

    /// Samples a queue of so many phits. Returns the feedback, if it is to be told.
    fn sample(&mut self, (port, class): (u32, u8), phits: u32) -> Option<u8> {
        let SamplePlan { feedback: law, since, share, .. } = self.plan;
        let stream = &mut self.streams[port as usize];
        let index = port as usize * self.classes + usize::from(class);
        let (point, record) = (&mut self.points[index], &mut self.records[index]);
        let feedback = law.look(phits, point.old);
        point.left = law.interval(feedback, stream.unit());
        let told = feedback > 0 && stream.bits() >> 32 < share;
        if told || since == GrowthSince::Sample {
            point.old = phits;
        }
        record.samples += 1;
        record.congested += u64::from(feedback > 0);
        record.phits += u64::from(phits);
        record.longest = record.longest.max(phits);
        told.then_some(feedback)
    }

    /// A packet has entered the queue of a VC at an output: its congestion point may look at it.
    #[inline]
    pub(super) fn enter(
        &mut self,
        core: &Core,
        queues: &OutputQueues,
        (port, vc): (u32, u8),
        packet: u32,
    ) {
        let at = (port, queues.plan.class_of(vc));
        let ejects = core.outputs[port as usize].kind == PortKind::Host;
        let elsewhere = self.plan.queue == SampledQueue::Input;
        if elsewhere || queues.plan.notifies(vc) || ejects && !self.plan.ejection {
            return;
        }
        if !self.is_due(at, core.now, core.pool[packet].packet.size) {
            return;
        }
        self.look(core, queues, (port, vc), packet);
    }

    /// It is time for a sample of a queue that a packet has entered.
    #[inline(never)]
    fn look(&mut self, core: &Core, queues: &OutputQueues, (port, vc): (u32, u8), packet: u32) {
        let at = (port, queues.plan.class_of(vc));
        let Some(feedback) = self.sample(at, queues.waiting_phits(at.0, at.1)) else { return };
        let victim = match self.plan.victim {
            Victim::Arriving => packet,
            Victim::Oldest => oldest(queues, at),
            Victim::Random => {
                let many = occupants(core, queues, at).count() as u32;
                let drawn = self.streams[port as usize].below(many) as usize;
                occupants(core, queues, at).nth(drawn).unwrap_or(packet)
            }
        };
        let class = vc % queues.plan.flows;
        self.told.push(Found { port, made: Made::AtOutput, class, feedback, victim });
    }

    /// A packet has arrived in a VC of an input, whose congestion point may look at what it holds of the class of the
    /// packet.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        core: &Core,
        control: &impl Control,
        (plan, voqs): (&EgressModel, bool),
        ((port, vc), packet): ((u32, u8), u32),
    ) {
        let link = core.inputs[port as usize].kind == PortKind::Link;
        if self.plan.queue == SampledQueue::Output || !link || plan.notifies(vc) {
            return;
        }
        let at = (port, plan.class_of(vc));
        if !self.is_due(at, core.now, core.pool[packet].packet.size) {
            return;
        }
        let own = (0..core.inputs[port as usize].vcs).filter(|vc| plan.class_of(*vc) == at.1);
        let held = own.clone().filter_map(|vc| control.buffered(core, port, vc)).sum();
        let Some(feedback) = self.sample(at, held) else { return };
        let others = || own.clone().flat_map(|vc| waiting(core, (port, vc), voqs));
        let victim = match self.plan.victim {
            Victim::Arriving => packet,
            Victim::Oldest => {
                let oldest = others().min_by_key(|index| core.pool[*index].arrival);
                oldest.unwrap_or(packet)
            }
            Victim::Random => {
                let many = others().count() as u32 + 1;
                let drawn = self.streams[port as usize].below(many) as usize;
                others().nth(drawn).unwrap_or(packet)
            }
        };
        let (made, class) = (Made::AtInput, vc % plan.flows);
        self.told.push(Found { port, made, class, feedback, victim });
    }

    /// Is there anything to be told?
    #[inline]
    pub(super) fn any_told(&self) -> bool {
        !self.told.is_empty()
    }

    /// What is to be told in this cycle, ports in ascending order; to be given back with [`Sampling::told`].
    pub(super) fn take_told(&mut self) -> Vec<Found> {
        let mut told = std::mem::take(&mut self.told);
        told.sort_by_key(|told| told.port);
        told
    }

    /// It is told.
    pub(super) fn told(&mut self, mut told: Vec<Found>) {
        told.clear();
        self.told = told;
    }

    /// The random stream of a port.
    pub(super) fn stream(&mut self, port: u32) -> &mut Stream {
        &mut self.streams[port as usize]
    }

    /// A notification about the queue of a class at a port is sent, or finds no room.
    pub(super) fn count(&mut self, (port, class): (u32, u8), fits: bool) {
        let index = self.index(port, class);
        let record = &mut self.records[index];
        record.sent += u64::from(fits);
        record.dropped += u64::from(!fits);
    }

    /// What the samples of a port found, class by class.
    pub(super) fn records(&self, port: u32) -> impl Iterator<Item = NoticeRecord> {
        self.records[port as usize * self.classes..][..self.classes].iter().copied()
    }
}

/// The packets in the queues of a class at a port, each queue from its head on.
fn occupants<'a>(
    core: &'a Core,
    queues: &'a OutputQueues,
    (port, class): (u32, u8),
) -> impl Iterator<Item = u32> + 'a {
    let some = |index: u32| (index != NONE).then_some(index);
    queues.queues_of_class(port, class).flat_map(move |queue| {
        std::iter::successors(some(queue.head), move |index| some(core.pool[*index].next))
    })
}

/// The packets in the queues of a VC of an input, which may have one for each output.
fn waiting(core: &Core, (port, vc): (u32, u8), voqs: bool) -> impl Iterator<Item = u32> + '_ {
    let input = &core.inputs[port as usize];
    let count = if voqs { core.ports(input.router).len() } else { 1 };
    let first = input.queues as usize + usize::from(vc);
    let queues = (0..count).map(move |voq| &core.queues[first + voq * usize::from(input.vcs)]);
    queues.flat_map(|queue| core.packets(queue).map(|(index, _)| index))
}

/// The packet of a class at a port that can leave before all others.
fn oldest(queues: &OutputQueues, at: (u32, u8)) -> u32 {
    let first = queues.queues_of_class(at.0, at.1).min_by_key(|queue| queue.ready);
    first.map_or(NONE, |queue| queue.head)
}
