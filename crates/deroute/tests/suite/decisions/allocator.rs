//! The separable input-first allocator of thesis 2.1.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use deroute::routing::{Follows, Header, Hop, Injection, Queue, RouterView, Routing, Watches};

use super::run_around;
use crate::support::{self, value};

/// A packet that entered an injection queue or left it: router, input port and queue, and the router that it is for.
type Packet = (usize, (usize, usize), usize);

/// What entered injection queues, and what left them because it was granted, in each cycle.
type Log = BTreeMap<u32, [Vec<Packet>; 2]>;

struct Watched {
    inner: Box<dyn Routing>,
    log: Arc<Mutex<Log>>,
}

impl Routing for Watched {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        self.inner.route(view, header)
    }

    fn follows(&self) -> Option<Follows> {
        self.inner.follows()
    }

    fn watches(&self) -> Watches {
        Watches { injections: true, ..self.inner.watches() }
    }

    fn injection(&mut self, queue: Queue, event: Injection, header: &Header) {
        let Queue { router, port, number, now } = queue;
        let place = (port.index(), usize::from(number));
        let list = match event {
            Injection::Entered => 0,
            Injection::Left => 1,
            Injection::Blocked => return,
        };
        let packet = (router.index(), place, header.destination.index());
        self.log.lock().unwrap().entry(now).or_default()[list].push(packet);
    }
}

/// Hosts of a router, injection queues of a host, and routers; each has a link to every other one.
const HOSTS: usize = 3;
const QUEUES: usize = 4;
const ROUTERS: usize = 5;

/// The injection queues of a router, the outputs that their packets are for, and the pointers.
#[derive(Default)]
struct Router {
    queues: [[VecDeque<usize>; QUEUES]; HOSTS],
    inputs: [usize; HOSTS],
    outputs: [usize; ROUTERS],
    /// Pointers of inputs that stayed because the request was not granted.
    stayed: u32,
}

impl Router {
    /// One cycle: rounds in which every input asks for the output of one of its heads, and every output grants one of
    /// the inputs that asked, both the first from a pointer on; a pointer moves past what was granted. Losers take
    /// part in the next round.
    fn allocate(&mut self, rounds: u32) -> Vec<((usize, usize), usize)> {
        let mut granted = Vec::new();
        let mut contenders: Vec<usize> = (0..HOSTS).collect();
        for _ in 0..rounds {
            let busy: Vec<usize> = granted.iter().map(|(_, output)| *output).collect();
            let mut requests: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
            for input in std::mem::take(&mut contenders) {
                let turn = (0..QUEUES).map(|n| (self.inputs[input] + n) % QUEUES);
                let head = |queue: usize| Some((queue, *self.queues[input][queue].front()?));
                let mut heads = turn.filter_map(head);
                if let Some((queue, output)) = heads.find(|(_, output)| !busy.contains(output)) {
                    requests.entry(output).or_default().push((input, queue));
                }
            }
            for (output, rivals) in requests {
                // Ports of hosts come first; the pointer goes around all.
                let ports = HOSTS + ROUTERS - 1;
                let turn =
                    |(input, _): &(usize, usize)| (input + ports - self.outputs[output]) % ports;
                let (input, queue) = *rivals.iter().min_by_key(|rival| turn(rival)).unwrap();
                granted.push(((input, queue), output));
                self.queues[input][queue].pop_front();
                (self.inputs[input], self.outputs[output]) = ((queue + 1) % QUEUES, input + 1);
                contenders
                    .extend(rivals.iter().map(|(port, _)| *port).filter(|port| *port != input));
            }
            self.stayed += contenders.len() as u32;
            contenders.sort_unstable();
        }
        granted.sort_unstable();
        granted
    }
}

/// "An arbitration first selects a single request at each input port and later, the outputs of these input arbiters
/// are input to a set of output arbiters"; "at most one grant asserted for each input and for each output"; round
/// robin, "updating the priority list of ports only when that arbiter generates a winning grant as it is done by
/// iSLIP". Packets of one phit, for which every port is idle again in the next cycle, and more memory than they need.
#[test]
fn an_input_and_an_output_get_one_grant_and_pointers_move_on_it() {
    for rounds in 1..=3 {
        let mut spec = support::lattice(&format!("{{ widths = [{ROUTERS}], hosts = {HOSTS} }}"));
        let allocator = format!("{{ iterations = {rounds}, pointer = 'on-grant' }}");
        spec.network.switch = value(&format!("{{ input_queued = {{ allocator = {allocator} }} }}"));
        spec.network.links.get_mut("dim1").unwrap().buffer = 10_000.into();
        spec.network.nic.injection_queue = None;
        spec.network.nic.queues =
            Some(value(&format!("{{ destination = {{ count = {QUEUES} }} }}")));
        // To all other routers.
        let shifts = [3, 6, 9, 12]
            .map(|by| format!("{{ weight = 1, pattern = {{ shift = {{ by = {by} }} }} }}"));
        spec.traffic.pattern = value(&format!("{{ mix = [{}] }}", shifts.join(", ")));
        (spec.traffic.packet_size, spec.traffic.load) = (value("1"), 1.0);
        let log = Arc::new(Mutex::new(Log::new()));
        let keep = Arc::clone(&log);
        run_around(&spec, move |inner| Box::new(Watched { inner, log: Arc::clone(&keep) }));
        let mut routers: [Router; ROUTERS] = Default::default();
        let mut grants = 0;
        for (cycle, [entered, left]) in std::mem::take(&mut *log.lock().unwrap()) {
            for (router, (input, queue), output) in entered {
                routers[router].queues[input][queue].push_back(output);
            }
            for (n, router) in routers.iter_mut().enumerate() {
                let of_router = left.iter().filter(|(router, ..)| *router == n);
                let mut got: Vec<_> =
                    of_router.map(|(_, place, output)| (*place, *output)).collect();
                got.sort_unstable();
                assert_eq!(got, router.allocate(rounds), "router {n} in cycle {cycle}");
                let inputs = got.windows(2).all(|two| two[0].0.0 < two[1].0.0);
                let mut outputs: Vec<usize> = got.iter().map(|(_, output)| *output).collect();
                outputs.sort_unstable();
                assert!(inputs && outputs.is_sorted_by(|one, next| one < next), "{got:?}");
                grants += got.len();
            }
        }
        let stayed: u32 = routers.iter().map(|router| router.stayed).sum();
        assert!(grants > 10_000 && stayed > 1_000, "{grants} grants, {stayed} in vain");
    }
}
