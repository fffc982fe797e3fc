//! When credits are counted, and when they come back.

use deroute::spec::Sensing;

use super::{agree, agree_if_possible, wired};
use crate::support::catalogue::{
    DRAGONFLIES, LATTICE_ROUTINGS, LATTICES, ROUTINGS, SIZES, TREE_ROUTINGS, TREES,
};
use crate::support::{self, value};

/// Every routing where only packets count that have left whole, on every switch, with packets longer and shorter than a link.
#[test]
fn packets_that_left_whole() {
    let dragonflies = ROUTINGS.into_iter().map(|routing| (wired(DRAGONFLIES[1]), routing));
    let lattices = LATTICE_ROUTINGS.into_iter().map(|r| (support::lattice(LATTICES[0]), r));
    let trees = TREE_ROUTINGS.into_iter().map(|r| (support::network(TREES[0]), r));
    let mut agreed = 0;
    for (n, (mut spec, routing)) in dragonflies.chain(lattices).chain(trees).enumerate() {
        spec.routing = value(routing);
        spec.network.sensing = Sensing::Sent;
        support::switch(&mut spec, n);
        spec.traffic.packet_size = value(SIZES[n % SIZES.len()]);
        spec.traffic.load = [0.3, 0.7, 1.0][n % 3];
        spec.run.seed = n as u64;
        agreed += agree_if_possible(&spec);
    }
    assert!(agreed > 60, "{agreed}");
}

/// Switches whose heads wait in registers, and what these let through where a buffer has room for one packet.
#[test]
fn registers() {
    let iq = "{ input_queued = { routed = 'arrival', registers = true, pipeline = 3 } }";
    let voq = "{ virtual_output_queued = { registers = true, iterations = 2 } }";
    let trees = TREE_ROUTINGS.into_iter().map(|r| (support::network(TREES[1]), r));
    let lattices = LATTICE_ROUTINGS.into_iter().map(|r| (support::lattice(LATTICES[3]), r));
    let mut agreed = 0;
    for (n, (mut spec, routing)) in trees.chain(lattices).enumerate() {
        spec.routing = value(routing);
        spec.network.switch = value([iq, voq][n % 2]);
        spec.network.sensing = [Sensing::Both, Sensing::Sent][n / 2 % 2];
        spec.traffic.packet_size = value(SIZES[n % SIZES.len()]);
        spec.traffic.load = [0.7, 1.0][n / 3 % 2];
        spec.run.seed = n as u64;
        agreed += agree_if_possible(&spec);
    }
    assert!(agreed > 40, "{agreed}");

    let mut spec = support::network(TREES[1]);
    spec.traffic.load = 1.0;
    spec.traffic.packet_size = value("16");
    spec.network.links.values_mut().for_each(|link| link.buffer = 16.into());
    let mut accepted = |switch: &str| {
        spec.network.switch = value(switch);
        agree(&spec).load.accepted
    };
    let without = accepted("{ input_queued = { routed = 'arrival' } }");
    let with = accepted("{ input_queued = { routed = 'arrival', registers = true } }");
    assert!(with > 1.05 * without, "{with} {without}");
}
