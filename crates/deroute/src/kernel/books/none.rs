//! Nothing is kept.

use super::occupancy::Occupancy;
use super::{Books, Observed};
use crate::ids::Cycle;
use crate::kernel::agents::Agents;
use crate::kernel::core::Core;
use crate::kernel::core::mail::Signal;
use crate::kernel::datapath::Grant;
use crate::kernel::model::Model;

/// Nothing.
pub(crate) struct NoBooks;

impl Books for NoBooks {
    const KEPT: bool = false;

    fn new(_model: &Model, _outputs: usize, _record: bool) -> Self {
        Self
    }

    fn begin(&mut self, _core: &Core, _agents: &mut Agents) {}

    fn granted(&mut self, _core: &Core, _agents: &mut Agents, _grant: &Grant, _departure: Cycle) {}

    fn credited(&mut self, _core: &Core, _agents: &mut Agents, _signal: Signal) {}

    fn departed(&mut self, _core: &Core, _agents: &mut Agents, _output: u32) {}

    #[inline(always)]
    fn occupancy(&self) -> Option<&Occupancy> {
        None
    }

    fn dependencies(&self) -> Option<&Observed> {
        None
    }
}
