//! Marks on packets that leave an output with a long queue behind them (ECN).
//!
//! Every output has a random stream of its own, so that what it marks depends on nothing but the packets that it
//! sends.

use super::telemetry::Telemetry;
use crate::congestion::{CongestionPlan, MarkPlan};
use crate::ids::PortId;
use crate::kernel::core::Core;
use crate::kernel::core::ports::Output;
use crate::kernel::model::Model;
use crate::probe::marks::MarkRecord;
use crate::rng::{Owner, Stream};
use crate::state::{CheckpointError, State, state};

/// The congestion points of a partition, where they act on packets that leave.
pub(super) enum Leaving {
    /// Some are marked.
    Marks(Marking),
    /// They take with them what they meet.
    Records(Telemetry),
}

impl State for Leaving {
    fn save(&self, into: &mut Vec<u8>) -> Result<(), CheckpointError> {
        match self {
            Self::Marks(marking) => marking.save(into),
            Self::Records(telemetry) => telemetry.save(into),
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), CheckpointError> {
        match self {
            Self::Marks(marking) => marking.load(from),
            Self::Records(telemetry) => telemetry.load(from),
        }
    }
}

impl Leaving {
    /// For the outputs of a partition and so many classes; none if no congestion point does so.
    pub(super) fn new(plan: Option<CongestionPlan>, core: &Core, classes: u8) -> Option<Box<Self>> {
        match plan? {
            CongestionPlan::Mark(plan) => Some(Self::Marks(Marking::new(plan, core, classes))),
            CongestionPlan::Record => Some(Self::Records(Telemetry::new(core, classes))),
            CongestionPlan::Sample(_) => None,
        }
        .map(Box::new)
    }

    /// Forgets what was measured.
    pub(super) fn forget(&mut self) {
        let records = match self {
            Self::Marks(marking) => &mut marking.records,
            Self::Records(telemetry) => &mut telemetry.records,
        };
        records.iter_mut().for_each(|record| (record.packets, record.marked) = (0, 0));
    }

    /// What left an output, class by class.
    pub(super) fn records(&self, port: u32) -> &[MarkRecord] {
        let (records, classes) = match self {
            Self::Marks(marking) => (&marking.records, marking.classes),
            Self::Records(telemetry) => (&telemetry.records, telemetry.classes),
        };
        &records[port as usize * classes..][..classes]
    }
}

/// Marks by chance.
pub(super) struct Marking {
    plan: MarkPlan,
    classes: usize,
    streams: Vec<Stream>,
    /// `classes` for each output.
    records: Vec<MarkRecord>,
}

/// The random streams of all outputs of a partition.
pub(super) fn streams(core: &Core) -> Vec<Stream> {
    let stream = |(port, output): (usize, &Output)| {
        let router = &core.routers[output.router as usize];
        let local = PortId((port as u32 - router.port_base) as u16);
        Stream::new(core.model.times.seed, Owner::Port(router.id, local))
    };
    core.outputs.iter().enumerate().map(stream).collect()
}

impl State for Marking {
    state! { keep streams, records; leave plan, classes; }
}

impl Marking {
    /// For the outputs of a partition and so many classes.
    pub(super) fn new(plan: MarkPlan, core: &Core, classes: u8) -> Self {
        Self {
            plan,
            classes: usize::from(classes),
            streams: streams(core),
            records: vec![MarkRecord::default(); core.outputs.len() * usize::from(classes)],
        }
    }

    /// Bytes of so many outputs.
    pub(super) fn bytes(model: &Model, ports: u64) -> u64 {
        let classes = u64::from(model.egress.classes());
        ports * (size_of::<Stream>() as u64 + classes * size_of::<MarkRecord>() as u64)
    }

    /// A packet of a class leaves a port and so many phits of the class behind. Is it marked?
    pub(super) fn marks(&mut self, core: &Core, (port, class): (u32, u8), behind: u32) -> bool {
        let MarkPlan { kmin, kmax, pmax } = self.plan;
        let marked = match behind {
            _ if behind <= kmin => false,
            _ if behind > kmax => true,
            _ => {
                let bound = u128::from(pmax) * u128::from(behind - kmin) / u128::from(kmax - kmin);
                u128::from(self.streams[port as usize].bits() >> 32) < bound
            }
        };
        let record = &mut self.records[port as usize * self.classes + usize::from(class)];
        record.longest = record.longest.max(behind);
        if core.collector.covers(core.now) {
            record.packets += 1;
            record.marked += u64::from(marked);
        }
        marked
    }
}
