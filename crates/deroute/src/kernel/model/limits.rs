//! What is too large for the engine, and what is too small for the links.

use super::Model;
use crate::ids::RouterId;
use crate::kernel::core::packet::BufferId;
use crate::spec::{SpecError, Switch};
use crate::switch::{Crossbar, credits_wait};

/// Most phits that an output may be ahead of its link: keeps each timing wheel below 512 MiB.
const DEEPEST: u64 = 1 << 25;

/// The share of a link that is as good as all of it.
const ENOUGH: f64 = 0.95;

/// Most virtual output queues: 4 GiB.
const MOST_QUEUES: u64 = 1 << 28;

impl Model {
    /// Refuses what is too large.
    pub(super) fn fits(&self, switch: &Switch) -> Result<(), SpecError> {
        self.ports_fit()?;
        self.shared_memory_fits()?;
        self.voqs_fit(switch)?;
        self.backlogs_fit()
    }

    /// Ports are numbered in few bits.
    fn ports_fit(&self) -> Result<(), SpecError> {
        let routers = (0..self.topology.routers()).map(RouterId);
        let ports: u64 = routers.map(|router| u64::from(self.topology.radix(router))).sum();
        if ports > BufferId::PORTS {
            let message = format!("{ports} ports of switches are too many");
            let choices = [format!("at most {}", BufferId::PORTS)];
            return Err(SpecError::new("network.topology", message).choices(choices));
        }
        Ok(())
    }

    /// Virtual output queues cannot be too many.
    fn voqs_fit(&self, switch: &Switch) -> Result<(), SpecError> {
        let routers = 0..if self.voqs { self.topology.routers() } else { 0 };
        let queues: u64 = routers.map(|router| self.queues(RouterId(router))).sum();
        if queues > MOST_QUEUES {
            let message = format!("{queues} virtual output queues are too many");
            let choices = [format!("at most {MOST_QUEUES}: VCs of all inputs, times outputs")];
            let path = format!("network.switch.{}", switch.name());
            return Err(SpecError::new(path, message).choices(choices));
        }
        Ok(())
    }

    /// Buffers that keep links waiting where nothing else does: their paths, and the share of the link that gets through.
    pub(crate) fn throttles(&self, switch: &Switch) -> Vec<(String, f64)> {
        let largest = u32::from(self.packet_sizes().1);
        let within = credits_wait(self.pipeline, self.egress.holds_input);
        let mut found = Vec::new();
        for (index, name) in (0..).zip(self.topology.classes()) {
            let class = &self.classes[usize::from(index)];
            let paused =
                self.pause.as_ref().is_some_and(|pauses| pauses.of(index.into()).is_some());
            if paused || self.cells(index).is_some() {
                continue;
            }
            // Whole packets, of which the first has its credits back after so long.
            let phits = class.buffer / largest * largest;
            let share = f64::from(phits * class.period) / f64::from(within + 2 * class.latency);
            found.push((format!("network.links.{name}.buffer"), share));
        }
        if self.crossbar != Crossbar::Speed(1) && !self.egress.counts_phits {
            // A packet is granted when all of it will fit, and leaves a pipeline later.
            let late = (self.pipeline + largest).saturating_sub(self.output_buffer);
            let share = f64::from(largest) / f64::from(largest + late);
            found.push((format!("network.switch.{}.output_buffer", switch.name()), share));
        }
        found.retain(|(_, share)| *share < ENOUGH);
        found
    }

    /// Credits, or the output buffer, must keep an output within reach of the timing wheel.
    fn backlogs_fit(&self) -> Result<(), SpecError> {
        for (name, class) in self.topology.classes().iter().zip(&self.classes) {
            let (memory, vcs) = (class.memory(), u64::from(class.vcs));
            if memory.min(self.output_buffer.into()) > DEEPEST {
                let path = format!("network.links.{name}.buffer");
                let message =
                    format!("{vcs} VCs with {memory} phits are more than {DEEPEST} phits");
                let most = format!("at most {} phits", DEEPEST / vcs);
                return Err(SpecError::new(path, message).choices([most]));
            }
        }
        Ok(())
    }
}
