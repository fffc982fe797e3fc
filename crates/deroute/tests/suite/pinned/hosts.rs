//! The pinned specs of what hosts do: patterns that name them, and several injection queues.

use super::specs::{Pin, dragonfly, dress, pin, switched};
use crate::support::catalogue::{HOST_PATTERNS, INJECTION_QUEUES, ROUTINGS, SIXTEEN};
use crate::support::{self, value};

pub(super) fn patterns_of_hosts() -> Vec<Pin> {
    let patterned = |(p, pattern): (usize, &str)| {
        let lattice = pattern.contains("coordinates");
        let topology = SIXTEEN[if lattice { 3 } else { p % 6 }];
        let mut spec = support::network(topology);
        spec.traffic.pattern = value(pattern);
        let mut spec = dress(switched(spec, 2 * p), p);
        spec.run.measure = 1_000.into();
        let name: String = pattern.chars().take(100).collect();
        pin("pattern of hosts", &[topology, &name], spec)
    };
    HOST_PATTERNS.into_iter().enumerate().map(patterned).collect()
}

pub(super) fn injection_queues() -> Vec<Pin> {
    let several = |n: usize| {
        let queues = INJECTION_QUEUES[n % 2];
        let mut spec = dragonfly(n % 7);
        spec.routing = value(ROUTINGS[(5 * n + 3) % 38]);
        let mut spec = dress(switched(spec, n), n);
        spec.network.nic.queues = Some(value(queues));
        pin("injection queues", &[queues, ROUTINGS[(5 * n + 3) % 38]], spec)
    };
    (0..8).map(several).collect()
}
