//! What the engine refuses: combinations that cannot work, and more than it can hold.

use super::Model;
use crate::routing::Watches;
use crate::spec::{Spec, SpecError, Switch};

/// Most phits that an output may be ahead of its link: keeps the timing wheel below 256 MiB.
const DEEPEST: u64 = 1 << 25;

/// Most virtual output queues: 4 GiB.
const MOST_QUEUES: u64 = 1 << 28;

impl Model {
    /// Looks at what only the whole network can show.
    pub(super) fn check(&self, spec: &Spec, watches: Watches) -> Result<(), SpecError> {
        self.may_share()?;
        self.may_route_on_arrival(watches)?;
        self.voqs_fit()?;
        self.packets_fit(spec)?;
        self.backlogs_fit()
    }

    /// Where packets are routed on arrival, the routing must decide once.
    fn may_route_on_arrival(&self, watches: Watches) -> Result<(), SpecError> {
        if !self.on_arrival || !watches.reconsiders {
            return Ok(());
        }
        let error = SpecError::new;
        Err(if self.voqs {
            let message = "this routing decides again for packets that wait, but they have been put \
                           into the queue of an output";
            let choices = ["input_queued", "combined_queued", "output_queued"];
            error("network.switch.virtual_output_queued", message).choices(choices)
        } else {
            let message = "this routing decides again for packets that wait";
            error("network.switch.input_queued.routed", message).choices(["head"])
        })
    }

    /// Virtual output queues cannot be too many.
    fn voqs_fit(&self) -> Result<(), SpecError> {
        let path = "network.switch.virtual_output_queued";
        let queues = if self.voqs { self.queues() } else { 0 };
        if queues > MOST_QUEUES {
            let message = format!("{queues} virtual output queues are too many");
            let choices = [format!("at most {MOST_QUEUES}: VCs of all inputs, times outputs")];
            return Err(SpecError::new(path, message).choices(choices));
        }
        Ok(())
    }

    /// A VC that takes a packet only while it is empty needs no memory but its own.
    fn may_share(&self) -> Result<(), SpecError> {
        for (name, class) in self.topology.classes().iter().zip(&self.classes) {
            if self.atomic && class.shared > 0 {
                let message = "this routing gives a packet an empty VC for itself";
                let path = format!("network.links.{name}.shared");
                return Err(SpecError::new(path, message).choices(["nothing", "a larger `buffer`"]));
            }
        }
        Ok(())
    }

    /// Every buffer that a packet passes must hold the largest one.
    fn packets_fit(&self, spec: &Spec) -> Result<(), SpecError> {
        let largest = u32::from(self.packet_sizes().1);
        let short = |path: String, buffer: u32| {
            let message = format!("{buffer} phits cannot hold a packet of {largest} phits");
            Err(SpecError::new(path, message).choices([format!("at least {largest} phits")]))
        };
        for (name, class) in self.topology.classes().iter().zip(&self.classes) {
            let reserve = class.buffer - class.shared;
            if reserve < largest {
                return short(format!("network.links.{name}.buffer"), reserve);
            }
        }
        if self.injection_queue < largest {
            return short("network.nic.injection_queue".into(), self.injection_queue);
        }
        if self.output_buffer < largest {
            let kind = match &spec.network.switch {
                Switch::OutputQueued { .. } => "output_queued",
                _ => "combined_queued",
            };
            return short(format!("network.switch.{kind}.output_buffer"), self.output_buffer);
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
