//! Cycle-accurate, packet-granular simulation of interconnection networks.
//!
//! A simulation is a value: describe one point as a [`spec::Spec`], build it, run it.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use deroute::{RunOptions, Simulation};
//!
//! let spec: deroute::spec::Spec = toml::from_str(r#"
//!     [network.topology.dragonfly]
//!     p = 2
//!     a = 4
//!     h = 2
//!     [network.links]
//!     local = { latency = 15, vcs = 2, buffer = 180 }
//!     global = { latency = 150, vcs = 1, buffer = 900 }
//!     [network.switch.combined_queued]
//!     pipeline = 90
//!     output_buffer = 630
//!     [routing.minimal]
//!     [traffic]
//!     load = 0.3
//!     packet_size = 10
//!     pattern = "uniform"
//!     [run]
//!     warmup = 2000
//!     measure = 4000
//! "#)?;
//! let simulation = Simulation::build(&spec)?;
//! let outcome = simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))?;
//! assert!((outcome.load.accepted - 0.3).abs() < 0.02);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`guide`] has an example for each concept.
//!
//! The crate reads no files but the traces that a workload names, keeps no clock, prints nothing, and
//! starts no threads but those it is given. The same spec gives the same bytes for any number of threads and partitions.

mod catalogue;
mod congestion;
mod control;
mod entropy;
pub mod guide;
pub mod ids;
pub mod injection;
mod kernel;
mod notification;
pub mod outcome;
pub mod probe;
pub mod queuing;
mod reaction;
pub mod rng;
pub mod routing;
pub mod spec;
mod state;
pub mod switch;
mod table;
pub mod topology;
pub mod traffic;
pub mod workload;

pub use kernel::{Footprint, Progress, Ramp, RunError, RunOptions, Simulation, Watcher};
pub use state::CheckpointError;

/// Version of the engine. Results may change only when it does.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
