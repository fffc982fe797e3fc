//! Notification points: what a receiving host tells the source of a packet.
//!
//! A notification point is planned here; the kernel carries it out at every host. To add one: a file with its
//! parameters and its plan, and a line in the catalogue below.

pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::catalogue;
use crate::congestion::NoticePlan;
use crate::ids::Cycle;
use crate::spec::{CongestionPoint, Scale, SpecError};

/// A notification point in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotificationPlan {
    /// When it tells something.
    pub(crate) tells: Tells,
    /// The packets with which it does.
    pub(crate) notices: NoticePlan,
}

/// When a receiving host tells something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    /// That a packet was marked, at most once for a flow in so many cycles.
    Marks(Cycle),
    /// That a packet has come.
    Packets,
}

/// What a notification point is planned for.
pub(crate) struct Setting<'a> {
    /// The units of the spec.
    pub(crate) scale: Scale,
    /// Classes of service.
    pub(crate) classes: u8,
    /// What switches do.
    pub(crate) congestion_point: Option<&'a CongestionPoint>,
}

catalogue! {
    /// What a receiving host tells the source of a packet.
    enum NotificationPoint;
    /// Resolves the notification point that the spec asks for.
    ///
    /// # Errors
    /// Values out of range, a class of other traffic, and marks that nobody makes.
    fn build(&Setting<'_>) -> NotificationPlan;

    // One line per notification point.
    /// That packets were marked: congestion notification packets, as DCQCN asks for them.
    Cnp => cnp::CnpSpec,
    /// That a packet has come, and whether it was marked.
    Acknowledgement => acknowledgement::AcknowledgementSpec,
}

impl Setting<'_> {
    /// Refuses congestion points that have notifications of their own.
    fn refuse_notifications(&self, path: &str) -> Result<(), SpecError> {
        if let Some(CongestionPoint::Qcn(_)) = self.congestion_point {
            let message = "congestion points tell sources themselves, and hosts hear one of both";
            return Err(SpecError::new(path, message).choices(["network.congestion_point.ecn"]));
        }
        Ok(())
    }
}
