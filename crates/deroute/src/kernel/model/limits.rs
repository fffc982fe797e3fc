//! What is too large for the engine.

use super::Model;
use crate::ids::RouterId;
use crate::spec::{SpecError, Switch};

/// Most phits that an output may be ahead of its link: keeps each timing wheel below 512 MiB.
const DEEPEST: u64 = 1 << 25;

/// Most virtual output queues: 4 GiB.
const MOST_QUEUES: u64 = 1 << 28;

impl Model {
    /// Refuses what is too large.
    pub(super) fn fits(&self, switch: &Switch) -> Result<(), SpecError> {
        self.shared_memory_fits()?;
        self.voqs_fit(switch)?;
        self.backlogs_fit()
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
