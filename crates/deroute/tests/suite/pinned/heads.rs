//! Switches in which more can go on than one packet of a VC.

use deroute::Simulation;

use super::specs::{Pin, dragonfly, dress, pin};
use crate::support::catalogue::{
    DRAGONFLIES, LATTICE_ROUTINGS, LATTICES, ROUTINGS, TREE_ROUTINGS, TREES,
};
use crate::support::{self, value};

pub(super) fn virtual_output_queues() -> Vec<Pin> {
    let mut pins = Vec::new();
    for n in 0..18 {
        let (mut spec, topology, routing) = match n % 3 {
            0 => (dragonfly(n / 3 + 4), DRAGONFLIES[(n / 3 + 4) % 10], ROUTINGS[n / 3]),
            1 => (support::lattice(LATTICES[n % 7]), LATTICES[n % 7], LATTICE_ROUTINGS[n]),
            _ => (support::network(TREES[n % 9]), TREES[n % 9], TREE_ROUTINGS[n / 3]),
        };
        spec.routing = value(routing);
        let (pipeline, iterations) = ([0, 3, 90, 1, 17][n % 5], 1 + n % 5);
        let switch = format!("{{ pipeline = {pipeline}, iterations = {iterations} }}");
        let switch = format!("{{ virtual_output_queued = {switch} }}");
        spec.network.switch = value(&switch);
        spec.network.links.values_mut().for_each(|link| link.buffer = [16, 24, 64][n % 3].into());
        support::vary(&mut spec, n);
        if Simulation::build(&spec).is_ok() {
            pins.push(pin("voq", &[topology, routing, &switch], dress(spec, n)));
        }
    }
    pins
}

/// Heads that wait for the crossbar in registers.
pub(super) fn registers() -> Vec<Pin> {
    let mut pins = Vec::new();
    for n in 0..8 {
        let (mut spec, topology, routing) = match n % 2 {
            0 => (support::lattice(LATTICES[n % 7]), LATTICES[n % 7], LATTICE_ROUTINGS[n]),
            _ => (support::network(TREES[n % 9]), TREES[n % 9], TREE_ROUTINGS[2 * n]),
        };
        spec.routing = value(routing);
        let switch = match n / 2 % 2 {
            0 => "{ input_queued = { routed = 'arrival', registers = true } }",
            _ => "{ virtual_output_queued = { registers = true } }",
        };
        spec.network.switch = value(switch);
        spec.network.links.values_mut().for_each(|link| link.buffer = [16, 64][n / 4].into());
        if Simulation::build(&spec).is_ok() {
            pins.push(pin("registers", &[topology, routing, switch], dress(spec, n)));
        }
    }
    pins
}
