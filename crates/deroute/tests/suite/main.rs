//! The tests of the engine from outside, in one program: what reads a spec is compiled once.

mod adaptive;
mod anchors;
mod bad_input;
mod conformance;
mod congestion;
mod equality;
mod ethernet;
mod permutations;
mod pinned;
mod properties;
mod reference;
mod spec_fuzz;
mod support;
mod verdicts;
mod workload;
