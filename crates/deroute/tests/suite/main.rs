//! The tests of the engine from outside, in one program: what reads a spec is compiled once.

mod adaptive;
mod anchors;
mod auto;
mod bad_input;
mod classes;
mod conditional;
mod conformance;
mod congestion;
mod congestion_point;
mod crossbar_of;
mod equality;
mod ethernet;
mod pauses;
mod permutations;
mod pinned;
mod probes;
mod properties;
mod qcn;
mod reference;
mod resequencing;
mod spec_fuzz;
mod streams;
mod support;
mod tables;
mod verdicts;
mod workload;
