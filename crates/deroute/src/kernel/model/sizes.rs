//! Sizes of packets, and what is left of those that find no room.

use super::{Model, Pauses, demand};
use crate::congestion::CongestionPlan;

impl Model {
    /// What packets carry for hosts is what congestion points tell sources, and nothing else.
    pub(crate) fn only_tells_sources(&self) -> bool {
        let others = self.jobs.is_some() || self.numbers_packets() || self.entropy.is_some();
        // Hosts tell each other of packets that have come, or have not.
        let hosts = self.notification_point.is_some() || self.egress.retransmission.is_some();
        let samples = matches!(self.egress.congestion_point, Some(CongestionPlan::Sample(_)));
        samples && !(others || hosts || self.trims_any())
    }

    /// What is left of a packet that finds no room in a VC at the end of a link of a class: phits of its header, and the VC into
    /// which that goes; none if it is lost.
    pub(crate) fn trims(&self, class: u8, vc: u8) -> Option<(u16, u8)> {
        let header = self.pause.as_ref()?.of(class.into())?.trim?;
        let notices = self.egress.notices.filter(|_| !self.egress.notifies(vc))?;
        Some((header, notices.class * self.egress.schemes))
    }

    /// Do switches trim packets?
    pub(crate) fn trims_any(&self) -> bool {
        self.pause.as_ref().is_some_and(|pauses| pauses.header().is_some())
    }

    /// Smallest and largest packet in phits.
    pub(crate) fn packet_sizes(&self) -> (u16, u16) {
        let (smallest, largest) =
            demand::packet_sizes(self.jobs.as_ref(), &self.traffic, self.egress.notices);
        let header = self.pause.as_ref().and_then(Pauses::header).unwrap_or(smallest);
        (smallest.min(header), largest)
    }
}
