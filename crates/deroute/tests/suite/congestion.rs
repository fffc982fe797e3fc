//! Congestion trees and head-of-line blocking.

use deroute::ids::{HostId, RouterId};
use deroute::outcome::{CongestionSeries, TreeRoot};
use deroute::spec::{Spec, Warmup};
use deroute::{RunOptions, Simulation};

use crate::support::catalogue::PAUSES;
use crate::support::{self, value};

/// Three stages of 4-port switches, 16 hosts: D-mod-K, 1 VC of 6 packets, input-queued.
fn tree(traffic: &str) -> Spec {
    let mut spec = support::network("{ rlft = { ports = 4, stages = 3 } }");
    for link in spec.network.links.values_mut() {
        (link.vcs, link.buffer) = (1.into(), 24.into());
    }
    spec.network.switch = value("{ input_queued = { pipeline = 3 } }");
    spec.traffic = value(traffic);
    spec.probes.congestion = value("{ every = 100, members = true }");
    spec.run.warmup = Warmup::Fixed(2_000.into());
    spec.run.measure = 2_000.into();
    spec
}

fn congestion(spec: &Spec) -> CongestionSeries {
    support::run(spec).congestion.expect("congestion was asked for")
}

const INCAST: &str = "{ load = 1.0, packet_size = 4, pattern = 'uniform', hotspots = \
                      [{ sources = { random = { share = 1.0 } }, destinations = { any = [5] } }] }";

/// Everyone sends to one host: a tree is rooted where that host is, and everyone is in it.
#[test]
fn incast_grows_one_tree_to_all_sources() {
    let found = everyone_is_in_a_tree("input_queued");
    assert_eq!(found.roots.len(), 20, "{:?}", found.roots);
    // Up and down through three stages.
    assert!(found.roots.iter().all(|tree| tree.depth == 4), "{:?}", found.roots);
}

/// Packets as small as these let parts of the tree move by themselves for a moment.
#[test]
fn incast_with_virtual_output_queues() {
    let found = everyone_is_in_a_tree("virtual_output_queued");
    assert!(found.roots.iter().filter(|tree| tree.depth == 4).count() >= 20, "{:?}", found.roots);
}

fn everyone_is_in_a_tree(switch: &str) -> CongestionSeries {
    let mut spec = tree(INCAST);
    spec.network.switch = value(&format!("{{ {switch} = {{ pipeline = 3 }} }}"));
    let found = congestion(&spec);
    let simulation = Simulation::build(&spec).unwrap();
    let topology = simulation.topology();
    let hot = topology.router_of(HostId(5)).0;
    assert_eq!(found.trees.len(), 20);
    for sample in 0..20 {
        let trees = found.roots.iter().filter(|tree| tree.sample == sample as u32);
        let rooted = trees.clone().filter(|tree| (tree.router, tree.host) == (hot, Some(5)));
        assert_eq!(rooted.count(), 1, "{trees:?}");
        // All hosts but the hot one, one with its switch, and those that can just send.
        let hosts: u32 = trees.clone().map(|tree: &TreeRoot| tree.hosts).sum();
        assert!((12..=16).contains(&hosts), "{trees:?}");
        assert_eq!(found.hosts[sample], hosts);
        assert!(found.held[sample] <= found.queued[sample]);
        assert!(5 * found.held[sample] > 4 * found.queued[sample], "{trees:?}");
        // Nobody wants to go anywhere else.
        assert_eq!(found.blocked[sample], 0);
    }
    for member in &found.members {
        let root = RouterId(found.roots[member.tree as usize].router);
        let router = RouterId(member.router);
        assert_eq!(member.level, topology.distance(router, root), "{member:?}");
        assert!(member.port < u32::from(topology.radix(router)));
    }
    found
}

/// A quarter sends to one host: those who do not suffer with them.
#[test]
fn a_hot_spot_blocks_the_others() {
    let hot = INCAST.replace("share = 1.0", "share = 0.25");
    let found = congestion(&tree(&hot));
    assert!(found.blocked.iter().sum::<u64>() > 0);
    assert!(found.blocked.iter().zip(&found.queued).all(|(blocked, queued)| blocked < queued));
    assert!(found.roots.iter().any(|tree| tree.host == Some(5) && tree.depth > 1));
}

/// What pauses hold up is in a tree as well. An output that may go on for a moment is the root of one of its own.
#[test]
fn what_is_paused_is_in_a_tree() {
    for control in ["{ credits = {} }", PAUSES[0], PAUSES[3]] {
        let mut spec = tree(INCAST);
        for link in spec.network.links.values_mut() {
            link.buffer = 100.into();
        }
        spec.network.switch = value("{ combined_queued = { pipeline = 3, output_buffer = 24 } }");
        spec.network.flow_control = value(control);
        let found = congestion(&spec);
        let hot = found.roots.iter().filter(|tree| tree.host == Some(5) && tree.depth > 1);
        assert!(hot.count() >= 6, "{control}: {:?}", found.roots);
        let (held, queued): (u64, u64) = (found.held.iter().sum(), found.queued.iter().sum());
        assert!(4 * held > 3 * queued, "{control}: {held} of {queued}");
        assert!(found.trees.iter().all(|trees| *trees > 0), "{control}: {:?}", found.trees);
    }
}

/// Without contention there is neither a tree nor head-of-line blocking.
#[test]
fn no_tree_without_contention() {
    let found = congestion(&tree("{ load = 0.05, packet_size = 4, pattern = 'uniform' }"));
    assert_eq!(found.trees.iter().sum::<u32>(), 0, "{:?}", found.roots);
    let permutation = "{ load = 0.9, packet_size = 4, pattern = 'bit_complement' }";
    let mut spec = support::lattice("{ widths = [4], hosts = 1 }");
    spec.traffic = value(permutation);
    spec.probes.congestion = value("{ every = 50 }");
    let found = congestion(&spec);
    assert_eq!(found.trees.iter().sum::<u32>(), 0);
    assert_eq!(found.blocked.iter().sum::<u64>(), 0);
    assert!(found.members.is_empty());
}

/// Piggyback asks for what the other routers of the group have told.
#[test]
fn every_routing_can_be_asked_what_packets_would_request() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic.load = 1.0;
    spec.probes.congestion = value("{ every = 100 }");
    for routing in ["minimal", "valiant", "ugal", "piggyback", "tpr", "lian"] {
        spec.routing = value(&format!("{{ {routing} = {{}} }}"));
        let found = congestion(&spec);
        assert!(found.blocked.iter().sum::<u64>() > 0, "{routing}");
        let waiting = found.blocked.iter().zip(&found.queued);
        assert!(waiting.clone().all(|(blocked, queued)| blocked < queued), "{routing}");
    }
}

#[test]
fn partitions_do_not_matter() {
    let spec = tree(&INCAST.replace("share = 1.0", "share = 0.5"));
    let congestion = |partitions| {
        let options = RunOptions { partitions: Some(partitions), ..RunOptions::default() };
        support::attempt(&spec, &options).unwrap().congestion.unwrap()
    };
    let whole = congestion(1);
    assert!(!whole.roots.is_empty());
    for partitions in [2, 5] {
        assert_eq!(congestion(partitions), whole);
    }
}
