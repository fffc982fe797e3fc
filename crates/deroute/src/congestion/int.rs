//! In-band network telemetry (INT).
//!
//! # What it does
//! A packet that leaves a switch takes with it what it met there: the output, the phits that it leaves behind in the queues
//! of its class, the phits that the output has sent so far, the cycle, and the rate of the link. Acknowledgements bring it
//! back to the source (`network.nic.notification_point.acknowledgement`). Nothing is marked.
//!
//! # Source
//! The P4 language consortium, In-band network telemetry dataplane specification 2.1; what is written, and what for:
//! Li et al., HPCC: High precision congestion control, SIGCOMM 2019, 3.1 and 4.1.
//!
//! # Parameters
//! None.
//!
//! # Limits
//! The first 12 outputs of a path write. What they write takes no room in the packet: `packet_size` has it (in HPCC
//! 42 B for 5 hops). Only what waits at an output counts, behind the crossbar: a switch that has no queues there is refused.
//!
//! # Example
//! ```toml
//! [network.congestion_point.int]
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionPlan, Setting};
use crate::ids::Cycle;
use crate::spec::SpecError;

/// Parameters of in-band telemetry: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntSpec {}

/// Checks that there is something to tell of.
pub(crate) fn plan(_spec: &IntSpec, setting: &Setting) -> Result<CongestionPlan, SpecError> {
    if !setting.output_queues {
        let path = "network.congestion_point.int";
        let message = "packets tell of the queues at the outputs, and this switch has none";
        let choices = ["combined_queued", "output_queued", "input_buffered_output_queued"];
        return Err(SpecError::new(path, message).choices(choices));
    }
    Ok(CongestionPlan::Record)
}

/// Outputs of a path that write, at most.
const MOST: usize = 12;

/// What a packet met at an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Met {
    /// Router and port.
    pub(crate) router: u32,
    pub(crate) port: u16,
    /// Cycles that a phit takes on the link.
    pub(crate) period: u32,
    /// Phits left behind.
    pub(crate) queue: u32,
    /// Phits that had left through the output before.
    pub(crate) sent: u32,
    /// When the packet left.
    pub(crate) at: Cycle,
}

/// What a packet met on its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trail {
    hops: [Met; MOST],
    count: u8,
}

impl Trail {
    /// One output more.
    pub(crate) fn add(&mut self, met: Met) {
        if let Some(place) = self.hops.get_mut(usize::from(self.count)) {
            *place = met;
            self.count += 1;
        }
    }

    /// The outputs, the first one first.
    pub(crate) fn hops(&self) -> &[Met] {
        &self.hops[..usize::from(self.count)]
    }

    /// Do both lead through the same outputs?
    pub(crate) fn same_path(&self, other: &Self) -> bool {
        let place = |met: &Met| (met.router, met.port);
        self.hops().iter().map(place).eq(other.hops().iter().map(place))
    }
}
