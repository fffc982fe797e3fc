//! Books: what only some runs keep beside what every run needs.

mod dependencies;
mod none;
pub(crate) mod occupancy;

mod all;

pub(crate) use all::AllBooks;
pub(crate) use dependencies::{Channel, Observed, cycle, describe, name};
pub(crate) use none::NoBooks;

use self::occupancy::Occupancy;
use super::agents::Agents;
use super::core::Core;
use super::core::grant::Grant;
use super::core::mail::Signal;
use super::core::ports::OutputRequest;
use super::model::Model;
use crate::ids::Cycle;
use crate::state::State;

/// What is kept of a partition.
pub(crate) trait Books: State + Sized + Send {
    /// It is noted which heads have been looked at, and what inputs sent last; routing agents may watch queues
    /// and packets.
    const KEPT: bool;

    /// For so many outputs. `record` says that the dependencies between channels are recorded.
    fn new(model: &Model, outputs: usize, record: bool) -> Self;

    /// A cycle begins.
    fn begin(&mut self, core: &Core, agents: &mut Agents);

    /// A packet is granted that departs at `departure`; if that is not known yet, it will be told.
    fn granted(
        &mut self,
        core: &Core,
        agents: &mut Agents,
        grant: &Grant,
        departure: Option<Cycle>,
    );

    /// Credits have come back to an output.
    fn credited(&mut self, core: &Core, agents: &mut Agents, signal: Signal);

    /// A packet leaves an output in this cycle, which was not known when it was granted.
    fn departed(&mut self, core: &Core, agents: &mut Agents, sent: (u32, OutputRequest));

    /// The first cycle of `from..to` in which something is booked that is known already, or `to`.
    fn due(&self, _from: Cycle, to: Cycle) -> Cycle {
        to
    }

    /// Lengths of the queues, where they are kept.
    fn occupancy(&self) -> Option<&Occupancy>;

    /// Dependencies between channels, where they are recorded.
    fn dependencies(&self) -> Option<&Observed>;
}
