//! Recomputation: thesis 5.3.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use deroute::ids::{PortId, RouterId};
use deroute::routing::{
    Follows, Header, Hop, Injection, Message, Queue, Queues, RouterView, Routing, Watches,
};
use deroute::spec::PhaseA;
use deroute::topology::Topology;

use super::run_around;
use crate::support::{self, value};

/// An injection queue in a cycle: router, port and time.
type Moment = (RouterId, PortId, u32);

/// What happened to the heads of injection queues, and in transit.
#[derive(Default)]
struct Log {
    /// A head was routed, and had this intermediate router then, which was the next one to be drawn.
    drawn: Vec<(Moment, RouterId)>,
    blocked: Vec<Moment>,
    /// A head left for this intermediate router.
    left: Vec<(Moment, RouterId)>,
    /// Packets in transit were routed.
    transit: u32,
}

/// A routing that is watched.
struct Watched {
    inner: Box<dyn Routing>,
    topology: Arc<dyn Topology>,
    log: Arc<Mutex<Log>>,
}

impl Routing for Watched {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let (before, mut rng) = (*header, view.rng.clone());
        let hop = self.inner.route(view, header);
        let mut log = self.log.lock().unwrap();
        if before.position == 0 {
            let drawn = self.topology.intermediate(PhaseA::Lgl, true, view.router, &mut rng);
            assert_eq!(header.intermediate(), drawn, "at its source a packet goes where it draws");
            log.drawn.push(((view.router, view.input, view.now), drawn.unwrap()));
        } else {
            assert_eq!(header.memo(), before.memo(), "in transit it keeps what it has drawn");
            log.transit += 1;
        }
        assert!(*view.rng == rng, "nothing else is drawn");
        hop
    }

    /// Packets in transit are watched as well.
    fn follows(&self) -> Option<Follows> {
        None
    }

    fn queues_changed(&mut self, at: RouterId, queues: &dyn Queues, mail: &mut Vec<Message>) {
        self.inner.queues_changed(at, queues, mail);
    }

    fn watches(&self) -> Watches {
        Watches { injections: true, blocked: true, ..self.inner.watches() }
    }

    fn message(&mut self, from: RouterId, content: u32) {
        self.inner.message(from, content);
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        let moment = (queue.router, queue.port, queue.now);
        let mut log = self.log.lock().unwrap();
        match event {
            Injection::Entered => {}
            Injection::Blocked => log.blocked.push(moment),
            Injection::Left => log.left.push((moment, header.intermediate().unwrap())),
        }
    }
}

/// Runs a routing beyond saturation, in switches that match inputs and outputs once a cycle.
fn watch(routing: &str) -> Log {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.network.switch = value("{ input_queued = { allocator = { iterations = 1 } } }");
    spec.routing = value(routing);
    spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
    spec.traffic.load = 0.9;
    let log = Arc::new(Mutex::new(Log::default()));
    let topology = deroute::topology::build(&spec.network.topology).unwrap();
    let keep = Arc::clone(&log);
    run_around(&spec, move |inner| {
        let (topology, log) = (Arc::clone(&topology), Arc::clone(&keep));
        Box::new(Watched { inner, topology, log })
    });
    std::mem::take(&mut log.lock().unwrap())
}

/// "Whenever a packet is at the head of its injection buffer and the required output port is blocked, the routing
/// algorithm recomputes a new random intermediate switch"; "once the packet is in-transit, the R_ROOT does not change".
/// Valiant, and the adaptive routings that decide anew between two paths with it.
#[test]
fn a_blocked_head_draws_in_every_cycle_and_a_packet_in_transit_never() {
    for routing in [
        "{ valiant = { recompute = true } }",
        "{ ugal = { recompute = true } }",
        "{ piggyback = { ugal = { recompute = true } } }",
    ] {
        let log = watch(routing);
        let drawn: HashMap<Moment, RouterId> = log.drawn.iter().copied().collect();
        assert_eq!(drawn.len(), log.drawn.len(), "{routing}: a head draws once a cycle");
        // In every cycle in which it is blocked, and in the one in which it leaves.
        let left = log.left.iter().map(|(moment, _)| *moment);
        let waited: HashSet<Moment> = log.blocked.iter().copied().chain(left).collect();
        assert_eq!(waited, drawn.keys().copied().collect(), "{routing}");
        // It leaves for the router that it has drawn last.
        assert!(log.left.iter().all(|(moment, through)| drawn[moment] == *through), "{routing}");
        assert!(log.blocked.len() > 1_000 && log.left.len() > 1_000, "{routing}");
        assert!(log.transit > 1_000, "{routing}: {}", log.transit);
    }
}
