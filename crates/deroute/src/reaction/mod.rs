//! Reaction points: what a host sends after what it has been told: how fast, and how much at once.
//!
//! A reaction point is planned here; the kernel carries it out at every host. To add one: a file with its
//! parameters, their plan and its law, and a line in the catalogue below.

mod law;
mod receipt;
pub(crate) mod retransmission;
pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use receipt::{Acknowledged, Receipt, Report};
pub(crate) use retransmission::RetransmissionPlan;

use crate::catalogue::catalogue;
use crate::ids::Cycle;
use crate::spec::{Quantity, Scale, SpecError};
pub(crate) use law::Lost;
use law::{Allowance, Control, reaction_points};

/// A reaction point in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReactionPlan {
    /// What each flow follows.
    pub(crate) law: Law,
    /// All packets of a class of a host are one flow, and not those to each destination.
    pub(crate) by_source: bool,
    /// Only what tells of the link to a host counts.
    pub(crate) endpoint_only: bool,
}

/// What a reaction point is planned for.
pub(crate) struct Setting {
    /// The units of the spec.
    pub(crate) scale: Scale,
    /// Cycles that a phit takes on the link of a host, where that is more than a delay.
    pub(crate) host_period: Option<Cycle>,
    /// What hosts are told.
    pub(crate) told: Told,
    /// Queues to hosts are congestion points as well.
    pub(crate) endpoints: bool,
    /// Phits of the largest packet.
    pub(crate) largest: u16,
    /// What finds no room on some link is lost.
    pub(crate) lossy: bool,
    /// Switches trim packets.
    pub(crate) trims: bool,
    /// What does not come is sent again.
    pub(crate) resends: bool,
    /// Switches mark packets.
    pub(crate) marks: bool,
    /// Switches write what packets meet.
    pub(crate) telemetry: bool,
}

impl ReactionPlan {
    /// A law for what a host sends to each destination.
    fn of_destinations(law: Law) -> Self {
        Self { law, by_source: false, endpoint_only: false }
    }
}

/// What hosts are told, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing.
    Nothing,
    /// By switches, how long queues are.
    Feedback,
    /// By receivers, that packets are marked.
    Marks,
    /// By receivers, that packets have come.
    Packets,
}

impl Setting {
    /// Cycles that a phit takes on the link of a host.
    fn host_period(&self, path: &str) -> Result<Cycle, SpecError> {
        self.host_period.ok_or_else(|| {
            let message = "a rate is that of the link of a host, and hosts have none";
            SpecError::new(path, message).choices(["network.nic.link"])
        })
    }

    /// A rate as a share of the link of a host.
    fn rate(&self, path: &str, rate: &Quantity, period: Cycle) -> Result<f64, SpecError> {
        Ok(self.scale.rate(path, rate)? * f64::from(period))
    }

    /// A rate that is no more than that of the link of a host.
    fn least(&self, path: &str, rate: &Quantity, period: Cycle) -> Result<f64, SpecError> {
        let least = self.rate(path, rate, period)?;
        if least > 1.0 {
            let full = 8.0 * self.scale.phit_bytes() / self.scale.cycle_ns() / f64::from(period);
            let message = format!("{rate} is more than the link of a host carries");
            let choices = [format!("up to {full} Gb/s")];
            return Err(SpecError::new(path, message).choices(choices));
        }
        Ok(least)
    }

    /// Asks for acknowledgements of all packets.
    fn acknowledged(&self, path: &str) -> Result<(), SpecError> {
        if self.told != Told::Packets {
            let message = "no host would ever learn that a packet has come";
            let choices = ["network.nic.notification_point.acknowledgement"];
            return Err(SpecError::new(path, message).choices(choices));
        }
        if self.lossy && !self.resends {
            let message = "a flow would wait for ever for the acknowledgement of what is lost";
            let choices = ["a flow control that loses nothing", "network.nic.retransmission"];
            return Err(SpecError::new(path, message).choices(choices));
        }
        Ok(())
    }

    /// Asks for marks.
    fn marked(&self, path: &str) -> Result<(), SpecError> {
        if self.marks {
            return Ok(());
        }
        let message = "no packet would ever be marked";
        Err(SpecError::new(path, message).choices(["network.congestion_point.ecn"]))
    }

    /// Phits of a window, which holds a packet.
    fn window(&self, path: &str, size: &Quantity) -> Result<u32, SpecError> {
        let phits = self.scale.phits_down(path, size)?;
        let largest = u64::from(self.largest);
        if phits < largest {
            let message = format!("{phits} phits hold no packet of {largest}");
            return Err(SpecError::new(path, message).choices([format!("at least {largest}")]));
        }
        u32::try_from(phits).ok().filter(|phits| *phits < 1 << 31).ok_or_else(|| {
            let message = format!("{phits} phits are more than can be under way");
            SpecError::new(path, message).choices([format!("up to {}", (1_u32 << 31) - 1)])
        })
    }

    /// Phits after which a cycle ends.
    fn cycle_of_phits(&self, path: &str, data: &Quantity) -> Result<f64, SpecError> {
        let phits = self.scale.phits_up(path, data)?;
        if (1..1 << 40).contains(&phits) {
            return Ok(phits as f64);
        }
        let message = format!("{phits} phits are no cycle");
        Err(SpecError::new(path, message).choices(["at least 1 phit"]))
    }
}

/// A number above 0.
fn positive(path: &str, value: f64) -> Result<f64, SpecError> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(SpecError::new(path, format!("{value} is no step")).choices(["a number above 0"]))
}

/// A share that is not 0.
fn share(path: &str, value: f64) -> Result<f64, SpecError> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(SpecError::new(path, format!("{value} is no share")).choices(["above 0, up to 1"]))
}

reaction_points! {
    // One line per reaction point.
    /// Quantized congestion notification: a rate limiter for each flow that was told to slow down.
    Qcn => qcn::QcnReactionSpec,
    /// DCQCN: the same by marks that receivers report.
    Dcqcn => dcqcn::DcqcnSpec,
    /// A window of a fixed size for each destination, opened by acknowledgements.
    Window => window::WindowSpec,
    /// Swift: a window that follows the delay of acknowledgements.
    Swift => swift::SwiftSpec,
    /// NSCC of Ultra Ethernet: a window that follows delay and marks.
    Nscc => nscc::NsccSpec,
    /// TIMELY: rates by round-trip times and by how these change.
    Timely => timely::TimelySpec,
    /// HPCC: windows and rates by what packets have met on their way.
    Hpcc => hpcc::HpccSpec,
    /// DCTCP: a window that is cut by the fraction of packets that are marked.
    Dctcp => dctcp::DctcpSpec,
}
