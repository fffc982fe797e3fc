//! Nothing is kept.

use super::occupancy::Occupancy;
use super::{Books, Observed};
use crate::ids::Cycle;
use crate::kernel::agents::Agents;
use crate::kernel::core::Core;
use crate::kernel::core::grant::Grant;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::ports::OutputRequest;
use crate::kernel::model::Model;
use serde::{Deserialize, Serialize};

/// Nothing.
#[derive(Serialize, Deserialize)]
pub(crate) struct NoBooks;

impl Books for NoBooks {
    const KEPT: bool = false;

    fn new(_model: &Model, _outputs: usize, _record: bool) -> Self {
        Self
    }

    fn begin(&mut self, _core: &Core, _agents: &mut Agents) {}

    fn granted(&mut self, _core: &Core, _agents: &mut Agents, _grant: &Grant, _at: Option<Cycle>) {}

    fn credited(&mut self, _core: &Core, _agents: &mut Agents, _signal: Signal) {}

    fn departed(&mut self, _core: &Core, _agents: &mut Agents, _sent: (u32, OutputRequest)) {}

    #[inline(always)]
    fn occupancy(&self) -> Option<&Occupancy> {
        None
    }

    fn dependencies(&self) -> Option<&Observed> {
        None
    }
}
