//! Marks on packets that leave an output with a long queue behind them (ECN).
//!
//! Every output has a random stream of its own, so that what it marks depends on nothing but the packets that it
//! sends.

use crate::congestion::MarkPlan;
use crate::ids::PortId;
use crate::kernel::core::Core;
use crate::kernel::core::ports::Output;
use crate::kernel::model::Model;
use crate::probe::marks::MarkRecord;
use crate::rng::{Owner, Stream};
use crate::state::{State, state};

/// The congestion points of a partition.
pub(crate) struct Marking {
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

    /// Forgets what was measured.
    pub(super) fn forget(&mut self) {
        self.records.iter_mut().for_each(|record| (record.packets, record.marked) = (0, 0));
    }

    /// What left an output, class by class.
    pub(super) fn records(&self, port: u32) -> &[MarkRecord] {
        &self.records[port as usize * self.classes..][..self.classes]
    }
}
