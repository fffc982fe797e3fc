//! The engine: builds a network from a spec and runs it.
//!
//! The unit of action is the packet, not the phit: virtual cut-through reserves room for whole
//! packets, so the times at which a packet's phits move follow from the time of its grant. See
//! `docs/kernel.md` for the exact rules; a phit-by-phit model in the tests follows the same rules
//! independently and must agree to the last bit.

mod agents;
mod arriving;
mod books;
mod checkpoint;
mod control;
mod core;
mod datapath;
mod egress;
mod extent;
mod footprint;
mod hosts;
mod inspect;
mod machine;
mod machines;
mod matching;
mod model;
mod partition;
mod population;
mod ramp;
mod registers;
mod run;
mod sensed;
mod survey;

use std::ops::ControlFlow;
use std::sync::Arc;

use machines::{
    Choice, Ethernet, EthernetVoq, General, NotifiedEthernet, Plain, PlainEthernet, PlainLoaded,
    Voq,
};
use model::Model;

pub use footprint::Footprint;
pub use ramp::Ramp;

use crate::ids::{HostId, RouterId};
use crate::outcome::Outcome;
use crate::routing::{self, Hop, Planner};
use crate::spec::{Spec, SpecError};
use crate::state::CheckpointError;
use crate::topology::Topology;

/// One simulation point, ready to run.
pub struct Simulation {
    spec: Arc<Spec>,
    model: Arc<Model>,
}

/// How to run. Nothing here changes a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Threads, at least 1. Default 1.
    pub threads: usize,
    /// Parts that the network is divided into, each simulated on its own between exchanges.
    /// Default: chosen to fit the caches. More than there are domains (groups) is reduced.
    pub partitions: Option<usize>,
    /// Let packets wait in queues at the outputs, as some networks need, even where their departure is known when
    /// they are granted: slower. Default `false`.
    pub queued_outputs: bool,
    /// Simulate the cycles of a workload in which nothing can happen, too: slower. Default `false`.
    pub every_cycle: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { threads: 1, partitions: None, queued_outputs: false, every_cycle: false }
    }
}

/// How far a run has come.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// Cycles simulated.
    pub cycle: u64,
    /// Cycles to simulate, as far as is known.
    pub of: u64,
    run: &'a dyn run::Keep,
}

impl Progress<'_> {
    /// The state of the run, from which [`Simulation::resume`] goes on: compressed, with a checksum.
    ///
    /// # Errors
    /// [`CheckpointError::Unkept`]: a part of the run cannot be kept.
    pub fn checkpoint(&self) -> Result<Vec<u8>, CheckpointError> {
        self.run.checkpoint()
    }
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Packets wait for each other in a cycle.
    #[error("deadlock: {0}")]
    Deadlock(String),
    /// What a routing from outside of the engine did that cannot be.
    #[error("routing: {0}")]
    Routing(String),
    /// What a rank does next could not be read from the temporary file.
    #[error("trace: {0}")]
    Trace(String),
    /// The threads could not be started.
    #[error("{0}")]
    Threads(String),
    /// The engine found itself inconsistent: a bug, or a routing that breaks the rules.
    #[error("invariant broken: {0}")]
    Invariant(String),
    /// The run cannot go on from a checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// A callback that learns how far the run is, may keep its state, and may stop it.
pub type Watcher<'a> = dyn FnMut(Progress<'_>) -> ControlFlow<()> + 'a;

/// Calls a function with the machine that runs a simulation.
macro_rules! on_machine {
    ($simulation:expr, $options:expr, $module:ident::$function:ident($($argument:expr),*)) => {{
        let Simulation { spec, model } = $simulation;
        match Choice::of(model, spec.checks.dependencies, $options.queued_outputs) {
            Choice::Plain => $module::$function::<Plain>($($argument),*),
            Choice::PlainLoaded => $module::$function::<PlainLoaded>($($argument),*),
            Choice::General => $module::$function::<General>($($argument),*),
            Choice::Voq => $module::$function::<Voq>($($argument),*),
            Choice::PlainEthernet => $module::$function::<PlainEthernet>($($argument),*),
            Choice::NotifiedEthernet => $module::$function::<NotifiedEthernet>($($argument),*),
            Choice::Ethernet => $module::$function::<Ethernet>($($argument),*),
            Choice::EthernetVoq => $module::$function::<EthernetVoq>($($argument),*),
        }
    }};
}

impl Simulation {
    /// Checks the spec and resolves it.
    ///
    /// # Errors
    /// The first thing in the spec that is impossible, with its path.
    pub fn build(spec: &Spec) -> Result<Self, SpecError> {
        Self::build_with(spec, &|fabric| routing::build(&spec.routing, fabric))
    }

    /// As [`Simulation::build`], with a routing algorithm of the caller's in place of the spec's.
    ///
    /// # Errors
    /// As [`Simulation::build`], and those of `routing`.
    pub fn build_with(spec: &Spec, routing: &Planner<'_>) -> Result<Self, SpecError> {
        let model = Model::build(spec, routing)?;
        run::agent_samples::check(&model)?;
        run::congestion::check(&model)?;
        Ok(Self { spec: Arc::new(spec.clone()), model: Arc::new(model) })
    }

    /// The spec that this simulation was built from.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The wiring.
    pub fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.model.topology)
    }

    /// What the spec has left to the engine (`"auto"`): the path and the value of each, in VCs or phits.
    pub fn filled(&self) -> &[(String, u32)] {
        &self.model.filled
    }

    /// Buffers that are too small for their links: the path of each, and the share of its link that one VC gets through it
    /// where nothing is in its way.
    pub fn throttles(&self) -> Vec<(String, f64)> {
        self.model.throttles(&self.spec.network.switch)
    }

    /// Memory that a run needs.
    pub fn footprint(&self) -> Footprint {
        footprint::of(&self.model)
    }

    /// What the warm-up is to be compared with; `None` where the spec does not fix it.
    pub fn ramp(&self) -> Option<Ramp> {
        ramp::of(&self.model)
    }

    /// The hops of a packet through the empty network, each with the router that takes it; the last
    /// one is the port of the destination host. `None` if the packet never arrives, or if a host
    /// does not exist.
    pub fn trace(&self, from: HostId, to: HostId, seed: u64) -> Option<Vec<(RouterId, Hop)>> {
        let Model { routing, flows, .. } = &*self.model;
        let topology = &*self.model.topology;
        let exists = |host: HostId| host.0 < topology.hosts();
        if !exists(from) || !exists(to) {
            return None;
        }
        crate::routing::trace((routing, flows), topology, (from, to), seed)
    }

    /// For every router and port, in order, the number of destination hosts to which packets leave
    /// through it, if one host of each router sends to all others: whatever port is the only one with an
    /// empty queue while `waiting` phits wait on each other one (`None` for more than any buffer holds).
    pub fn destinations(&self, waiting: Option<u32>) -> Vec<u32> {
        let waiting = waiting.unwrap_or(1 << 30);
        let Model { routing, flows, topology, .. } = &*self.model;
        crate::routing::destinations((routing, flows), &**topology, waiting)
    }

    /// Runs the simulation. `watch` is called several times a second.
    ///
    /// # Errors
    /// [`RunError::Interrupted`] if `watch` breaks, [`RunError::Deadlock`],
    /// [`RunError::Invariant`] if a check fails, and [`RunError::Trace`] if a disk does.
    pub fn run(&self, options: &RunOptions, watch: &mut Watcher<'_>) -> Result<Outcome, RunError> {
        self.start(None, options, watch)
    }

    /// Goes on from a checkpoint of a run of the same spec, by the same version of the engine, to the same bytes as
    /// without a break. The run is divided as it was; threads may be others. Where nothing has been measured yet,
    /// `run.measure` may be longer. While a run without a workload warms up, it can also go on with another `traffic.load` or
    /// `run.seed`, by which hosts begin to send again, and with a `run.warmup` of other cycles, which count from the
    /// beginning of the first run: the network stays as it is.
    ///
    /// # Errors
    /// [`RunError::Checkpoint`] if it is none, or that of another run, and those of [`Simulation::run`].
    pub fn resume(
        &self,
        checkpoint: &[u8],
        options: &RunOptions,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError> {
        self.start(Some(checkpoint), options, watch)
    }

    /// Warms the network up, and returns its state: `run.warmup` without the last cycles, whose grants may be measured. A run of
    /// this spec that goes on from there has the same bytes as without a break; [`Simulation::resume`] says what may be another.
    ///
    /// # Errors
    /// [`RunError::Checkpoint`] if the warm-up is not of a given time, or of a workload or streams, and those of
    /// [`Simulation::run`].
    pub fn warm_up(
        &self,
        options: &RunOptions,
        watch: &mut Watcher<'_>,
    ) -> Result<Vec<u8>, RunError> {
        on_machine!(self, options, run::warm_up((&self.spec, &self.model), options, watch))
    }

    fn start(
        &self,
        from: Option<&[u8]>,
        options: &RunOptions,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError> {
        on_machine!(self, options, run::run((&self.spec, &self.model, from), options, watch))
    }
}
