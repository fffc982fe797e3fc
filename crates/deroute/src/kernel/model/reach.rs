//! How far ahead things happen.

use super::{EgressModel, Model};
use crate::ids::Cycle;
use crate::spec::Sensing;
use crate::switch::Crossbar;

impl Model {
    /// The farthest ahead that a switch schedules anything but a packet generation.
    pub(crate) fn horizon(&self) -> Cycle {
        // A crossbar no faster than the links passes a packet when the link has sent the one before, and what waits in
        // queues at outputs is scheduled when it leaves.
        let waits = self.crossbar != Crossbar::Speed(1) && !self.egress.needed;
        if waits { self.backlog() + self.passage() } else { self.passage() }
    }

    /// Cycles in which whatever is granted now is delivered, in any switch with these buffers.
    pub(crate) fn delivery(&self) -> Cycle {
        // Nothing but the buffer limits what waits for a host.
        let hosts = match self.crossbar == Crossbar::Speed(1) || self.egress.needed {
            true => 0,
            false => self.output_buffer,
        };
        self.backlog().max(hosts) + self.passage()
    }

    /// Phits that can wait for a link behind a crossbar.
    fn backlog(&self) -> u32 {
        let downstream = self.classes.iter().map(|c| c.memory().min(u32::MAX.into()) as u32);
        self.output_buffer.min(downstream.max().unwrap_or(0))
    }

    /// Cycles from a grant to its last event, if the link is idle.
    fn passage(&self) -> Cycle {
        let EgressModel { nic, slow, .. } = &self.egress;
        let periods = self.classes.iter().chain(nic).map(|link| link.period);
        let period = periods.chain(slow.values().copied()).max().unwrap_or(1);
        let largest = u32::from(self.packet_sizes().1) * period;
        let latency = self.classes.iter().map(|c| c.latency).max().unwrap_or(0);
        let back = if self.sensing == Sensing::Waiting { latency } else { 0 };
        let told = self.pause.as_ref().map_or(0, |pauses| pauses.told(period));
        let told = told.max(self.messages.as_ref().map_or(0, |messages| messages.told(period)));
        latency + back + self.pipeline + 2 * largest + self.host_latency + told + 2
    }
}
