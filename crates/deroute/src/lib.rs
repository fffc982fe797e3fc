//! Cycle-accurate, packet-granular simulation of interconnection networks.
pub mod ids;
pub mod outcome;
pub mod probe;
pub mod rng;
pub mod routing;
pub mod spec;
pub mod topology;
pub mod traffic;
