//! What packets take with them of the outputs through which they leave (INT).

use crate::congestion::Met;
use crate::kernel::core::Core;
use crate::kernel::model::Model;
use crate::probe::marks::MarkRecord;
use crate::state::{State, state};

/// The outputs of a partition.
pub(super) struct Telemetry {
    /// Phits that have left through each.
    sent: Vec<u32>,
    pub(super) classes: usize,
    /// `classes` for each output.
    pub(super) records: Vec<MarkRecord>,
}

impl State for Telemetry {
    state! { keep sent, records; leave classes; }
}

impl Telemetry {
    /// For the outputs of a partition and so many classes.
    pub(super) fn new(core: &Core, classes: u8) -> Self {
        let (outputs, classes) = (core.outputs.len(), usize::from(classes));
        let records = vec![MarkRecord::default(); outputs * classes];
        Self { sent: vec![0; outputs], classes, records }
    }

    /// Bytes of so many outputs.
    pub(super) fn bytes(model: &Model, ports: u64) -> u64 {
        let records = u64::from(model.egress.classes()) * size_of::<MarkRecord>() as u64;
        ports * (size_of::<u32>() as u64 + records)
    }

    /// So many phits leave through an output, whatever they are.
    pub(super) fn send(&mut self, port: u32, phits: u32) -> u32 {
        let sent = self.sent[port as usize];
        self.sent[port as usize] = sent.wrapping_add(phits);
        sent
    }

    /// A packet of a class leaves an output, so many phits of the class behind, and so many have left before; a phit takes
    /// so many cycles.
    pub(super) fn meet(
        &mut self,
        core: &Core,
        (port, class): (u32, u8),
        (behind, sent, period): (u32, u32, u32),
    ) -> Met {
        let record = &mut self.records[port as usize * self.classes + usize::from(class)];
        record.longest = record.longest.max(behind);
        record.packets += u64::from(core.collector.covers(core.now));
        let router = &core.routers[core.outputs[port as usize].router as usize];
        let port = (port - router.port_base) as u16;
        Met { router: router.id.0, port, period, queue: behind, sent, at: core.now }
    }
}
