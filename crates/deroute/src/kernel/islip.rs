//! Virtual output queues, and iSLIP between them (McKeown 1999).
//!
//! Every VC of an input port has a queue for each output, a *lane*: in `Partition::queues` those to one
//! output are together. What can be matched is kept in sets of ports, so that a look at a switch
//! costs as much as there are free outputs that somebody asks for.

use super::allocate::Room;
use super::arrivals::Arrival;
use super::fetch::{members, touch};
use super::packet::NONE;
use super::partition::Partition;
use super::plant::Plant;
use super::state::{Input, Queue, Wish};
use crate::ids::RouterId;

/// The state of all switches of a partition.
pub(super) struct Islip {
    iterations: u8,
    switches: Vec<Switch>,
    ports: Vec<Port>,
    /// Sets of ports, as words of bits; see [`Switch`].
    sets: Vec<u64>,
    /// What is looked at most, together, for every output of a switch and input: VC that is served next, then
    /// for each of its VCs the VC that the head of the lane asks for, or [`EMPTY`].
    pairs: Vec<u8>,
    /// Bytes of a pair.
    stride: usize,
    /// Smallest and largest packet.
    sizes: (u16, u16),
    /// Inputs that were granted an output in this iteration.
    granted: Vec<u16>,
    /// What has been matched in this cycle.
    crossings: Vec<Crossing>,
}

/// An input and an output that have been matched: the head of a lane crosses the switch.
#[derive(Clone, Copy)]
struct Crossing {
    router: u32,
    /// In `Partition::queues`.
    lane: u32,
    /// Input port of the partition, then of the switch.
    index: u32,
    input: u16,
    output: u16,
    vc: u8,
    /// Matched in the first iteration.
    first: bool,
}

/// Where the sets of a switch are.
#[derive(Clone, Copy)]
struct Switch {
    /// First word of its first set.
    first: u32,
    /// Its first pair.
    pairs: usize,
    /// Words of a set.
    words: u32,
    ports: u16,
}

/// A set of ports of a switch.
#[derive(Clone, Copy)]
enum Set {
    /// Inputs that are not being read.
    Readable,
    /// Outputs that are not being written.
    Writable,
    /// Outputs that are to be looked at.
    Asked,
    /// Inputs with a packet for an output.
    For(u16),
    /// Outputs for which an input has a packet.
    Of(u16),
}

impl Switch {
    #[inline]
    fn at(self, set: Set) -> usize {
        let index = match set {
            Set::Readable => 0,
            Set::Writable => 1,
            Set::Asked => 2,
            Set::For(output) => 3 + u32::from(output),
            Set::Of(input) => 3 + u32::from(self.ports) + u32::from(input),
        };
        (self.first + index * self.words) as usize
    }

    #[inline]
    fn words(self, set: Set) -> std::ops::Range<usize> {
        let first = self.at(set);
        first..first + self.words as usize
    }
}

/// What iSLIP knows of a port.
#[derive(Clone, Copy)]
struct Port {
    /// Output that the input accepts first, or the number of ports, which is the first one again.
    pointer: u16,
    /// Output that is granted to the input in this iteration; `NOBODY` if none is.
    offer: u16,
    /// VC of the input that can go there.
    vc: u8,
    /// Output to which the input is connected.
    output: u16,
}

const NOBODY: u16 = u16::MAX;

/// A lane without a packet.
const EMPTY: u8 = u8::MAX;

/// Bytes of a pair.
fn stride(plant: &Plant) -> usize {
    let vcs = plant.classes.iter().map(|class| class.vcs).max().unwrap_or(0);
    1 + usize::from(vcs.max(plant.flows.classes()))
}

/// Bytes of the sets, pairs and ports of all switches, lanes not counted.
pub(super) fn footprint(plant: &Plant) -> u64 {
    let of = |router: u32| {
        let ports = u64::from(plant.topology.radix(RouterId(router)));
        let sets = (3 + 2 * ports) * ports.div_ceil(64) * 8;
        let pairs = ports * ports * stride(plant) as u64;
        sets + pairs + ports * size_of::<Port>() as u64 + size_of::<Switch>() as u64
    };
    (0..plant.topology.routers()).map(of).sum()
}

/// The first port from `pointer` on, around the circle, that is in a set of `words` words and suits.
#[inline]
fn first_from(
    pointer: u16,
    words: usize,
    set: impl Fn(usize) -> u64,
    mut suits: impl FnMut(u16) -> bool,
) -> Option<u16> {
    let below = (1 << (pointer % 64)) - 1;
    let mut word = usize::from(pointer / 64);
    for turn in 0..=words {
        if word == words {
            word = 0;
        }
        let here = match turn {
            0 => !below,
            _ if turn == words => below,
            _ => u64::MAX,
        };
        let mut bits = set(word) & here;
        while bits != 0 {
            let port = word as u16 * 64 + bits.trailing_zeros() as u16;
            bits &= bits - 1;
            if suits(port) {
                return Some(port);
            }
        }
        word += 1;
    }
    None
}

impl Islip {
    pub(super) fn new(plant: &Plant) -> Self {
        let (switches, ports, sets) = (Vec::new(), Vec::new(), Vec::new());
        let (pairs, granted, crossings) = (Vec::new(), Vec::new(), Vec::new());
        let (iterations, stride) = (plant.allocator.iterations, stride(plant));
        let sizes = plant.packet_sizes();
        Self { iterations, switches, ports, sets, pairs, stride, sizes, granted, crossings }
    }

    /// Adds a switch; its ports follow.
    pub(super) fn add_router(&mut self, ports: u16) {
        let words = usize::from(ports).div_ceil(64);
        let (first, sets) = (self.sets.len(), 3 + 2 * usize::from(ports));
        self.sets.resize(first + sets * words, 0);
        let pairs = self.pairs.len();
        for _ in 0..usize::from(ports) * usize::from(ports) {
            self.pairs.push(0);
            self.pairs.resize(self.pairs.len() + self.stride - 1, EMPTY);
        }
        let switch = Switch { first: first as u32, pairs, words: words as u32, ports };
        self.switches.push(switch);
        for port in 0..ports {
            self.insert(switch.at(Set::Readable), port);
            self.insert(switch.at(Set::Writable), port);
        }
        self.granted.reserve(usize::from(ports));
    }

    /// Adds a port of the last switch.
    pub(super) fn add_port(&mut self) {
        self.ports.push(Port { pointer: 0, offer: NOBODY, vc: 0, output: 0 });
    }

    /// The first byte of a pair.
    #[inline]
    fn pair(&self, switch: Switch, input: u16, output: u16) -> usize {
        let pair = usize::from(output) * usize::from(switch.ports) + usize::from(input);
        switch.pairs + pair * self.stride
    }

    #[inline]
    fn insert(&mut self, set: usize, port: u16) {
        self.sets[set + usize::from(port / 64)] |= 1 << (port % 64);
    }

    #[inline]
    fn remove(&mut self, set: usize, port: u16) {
        self.sets[set + usize::from(port / 64)] &= !(1 << (port % 64));
    }

    #[inline]
    fn is_empty(&self, switch: Switch, set: Set) -> bool {
        self.sets[switch.words(set)].iter().all(|word| *word == 0)
    }

    /// Matches inputs and outputs of a switch.
    fn match_ports(&mut self, partition: &mut Partition, router: u32) {
        let switch = self.switches[router as usize];
        let base = partition.routers[router as usize].port_base;
        for iteration in 1..=self.iterations {
            self.grant(partition, switch, base);
            if self.granted.is_empty() {
                return;
            }
            while let Some(input) = self.granted.pop() {
                self.accept((router, base), input, iteration == 1);
            }
        }
        if !self.is_empty(switch, Set::Asked) {
            partition.wake(router);
        }
    }

    /// Puts a packet that has arrived and been routed into its lane.
    pub(super) fn file(&mut self, partition: &mut Partition, arrival: &Arrival) {
        let packet = arrival.packet;
        let queue = &mut partition.queues[arrival.lane as usize];
        if queue.head != NONE {
            let tail = std::mem::replace(&mut queue.tail, packet);
            partition.pool[tail].next = packet;
            return;
        }
        let wish = Wish { seen: true, ..partition.decided[packet as usize] };
        *queue = Queue { head: packet, tail: packet, wish };
        let router = partition.inputs[arrival.port as usize].router;
        let input = (arrival.port - partition.routers[router as usize].port_base) as u16;
        let switch = self.switches[router as usize];
        let pair = self.pair(switch, input, wish.out);
        self.pairs[pair + 1 + usize::from(arrival.vc)] = wish.vc;
        self.insert(switch.at(Set::For(wish.out)), input);
        self.insert(switch.at(Set::Of(input)), wish.out);
        self.insert(switch.at(Set::Asked), wish.out);
        partition.wake(router);
    }

    /// Fetches, together, what outputs of a switch are going to look at.
    fn fetch(&self, partition: &Partition, router: u32) {
        let switch = self.switches[router as usize];
        let base = partition.routers[router as usize].port_base;
        for word in 0..switch.words {
            let asked = self.sets[switch.at(Set::Asked) + word as usize];
            let free = self.sets[switch.at(Set::Writable) + word as usize];
            touch(members(asked & free).map(|bit| {
                let output = word as u16 * 64 + bit as u16;
                let waiting = self.sets[switch.at(Set::For(output))] as u32;
                let pair = u32::from(self.pairs[self.pair(switch, switch.ports / 2, output)]);
                let pointer = partition.outputs[(base + u32::from(output)) as usize].pointer;
                waiting ^ pair ^ u32::from(pointer)
            }));
        }
    }

    /// Every output that is asked for grants the first input from its pointer on that can go.
    fn grant(&mut self, partition: &mut Partition, switch: Switch, base: u32) {
        for word in 0..switch.words {
            let asked = switch.at(Set::Asked) + word as usize;
            let mut bits = self.sets[asked] & self.sets[switch.at(Set::Writable) + word as usize];
            self.sets[asked] = bits;
            while bits != 0 {
                let output = word as u16 * 64 + bits.trailing_zeros() as u16;
                bits &= bits - 1;
                match self.pick(partition, switch, base, output) {
                    None => self.remove(switch.at(Set::Asked), output),
                    Some((input, vc)) => self.offer(switch, base, (input, vc), output),
                }
            }
        }
    }

    /// The first input from an output's pointer on with a head that can go there, and its VC.
    fn pick(
        &self,
        partition: &mut Partition,
        switch: Switch,
        base: u32,
        output: u16,
    ) -> Option<(u16, u8)> {
        let (waiting, idle) = (switch.at(Set::For(output)), switch.at(Set::Readable));
        let pointer = partition.outputs[(base + u32::from(output)) as usize].pointer;
        let (mut starved, mut vc) = (false, None);
        let winner = first_from(
            pointer,
            switch.words as usize,
            |word| self.sets[waiting + word] & self.sets[idle + word],
            |input| {
                vc = self.ready(partition, (switch, base), input, output);
                starved |= vc.is_none();
                vc.is_some()
            },
        );
        if winner.is_none() && starved {
            partition.outputs[(base + u32::from(output)) as usize].awaited = true;
        }
        winner.zip(vc)
    }

    /// An output is granted to an input, which keeps the first one from its pointer on.
    fn offer(&mut self, switch: Switch, base: u32, (input, vc): (u16, u8), output: u16) {
        let port = &mut self.ports[(base + u32::from(input)) as usize];
        let from_pointer = |output: u16| {
            if output >= port.pointer {
                output - port.pointer
            } else {
                output + (switch.ports - port.pointer)
            }
        };
        if port.offer == NOBODY {
            self.granted.push(input);
        } else if from_pointer(output) > from_pointer(port.offer) {
            return;
        }
        (port.offer, port.vc) = (output, vc);
    }

    /// The first VC, in turn, of an input whose head can go to an output that is not being written.
    #[inline]
    fn ready(
        &self,
        partition: &mut Partition,
        (switch, base): (Switch, u32),
        input: u16,
        output: u16,
    ) -> Option<u8> {
        let pair = self.pair(switch, input, output);
        let (turn, vcs) = (self.pairs[pair], self.stride as u8 - 1);
        let at = (base + u32::from(output)) as usize;
        let room = |size| partition.plant.room(partition.outputs[at].class, size);
        let (little, much) = (room(self.sizes.0), room(self.sizes.1));
        let shares = !partition.plant.shared_by.is_empty();
        (turn..vcs).chain(0..turn).find(|vc| {
            let head = self.pairs[pair + 1 + usize::from(*vc)];
            if head == EMPTY {
                return false;
            }
            let credits = partition.outputs[at].credits(&partition.credits, head);
            if !shares && (credits < little || credits >= much) {
                return credits >= much;
            }
            let lanes = first_lane(&partition.inputs[(base + u32::from(input)) as usize], output);
            let lane = lanes + usize::from(*vc);
            if shares {
                partition.take_emptiest(base, lane);
            }
            let out = base + u32::from(output);
            matches!(partition.fits(out, partition.queues[lane].wish), Room::Enough)
        })
    }

    /// An input accepts its offer.
    fn accept(&mut self, (router, base): (u32, u32), input: u16, first: bool) {
        let switch = self.switches[router as usize];
        let index = base + u32::from(input);
        let port = &mut self.ports[index as usize];
        let (output, vc) = (std::mem::replace(&mut port.offer, NOBODY), port.vc);
        port.output = output;
        if first {
            port.pointer = output + 1;
        }
        self.crossings.push(Crossing { router, lane: 0, index, input, output, vc, first });
        for (set, port) in [(Set::Readable, input), (Set::Writable, output), (Set::Asked, output)] {
            self.remove(switch.at(set), port);
        }
    }

    /// All packets that have been matched in this cycle cross their switches. What one does is of no account to
    /// the others, and all that they need is far away: it is fetched together.
    fn cross_all(&mut self, partition: &mut Partition) {
        let mut crossings = std::mem::take(&mut self.crossings);
        for crossing in &mut crossings {
            let input = &partition.inputs[crossing.index as usize];
            crossing.lane = first_lane(input, crossing.output) as u32 + u32::from(crossing.vc);
        }
        let lane = |crossing: &Crossing| crossing.lane as usize;
        touch(crossings.iter().map(|crossing| partition.queues[lane(crossing)].head));
        let next = |crossing| partition.after(partition.queues[lane(crossing)].head);
        touch(crossings.iter().map(next));
        touch(
            crossings
                .iter()
                .map(next)
                .filter(|next| *next != NONE)
                .map(|next| u32::from(partition.decided[next as usize].vc)),
        );
        for crossing in crossings.drain(..) {
            self.cross(partition, &crossing);
        }
        self.crossings = crossings;
    }

    /// A packet crosses a switch.
    fn cross(&mut self, partition: &mut Partition, crossing: &Crossing) {
        let Crossing { router, lane, index, input, output, vc, first } = *crossing;
        let switch = self.switches[router as usize];
        partition.inputs[index as usize].request = vc;
        let out = index - u32::from(input) + u32::from(output);
        partition.cross::<false>((index, out), Some(lane as usize), first);
        partition.ripenings.push(partition.inputs[index as usize].busy_until, index);
        let lane = &mut partition.queues[lane as usize];
        let mut head = EMPTY;
        if lane.head != NONE {
            lane.wish = Wish { seen: true, ..partition.decided[lane.head as usize] };
            head = lane.wish.vc;
        }
        let pair = self.pair(switch, input, output);
        let [turn, heads @ ..] = &mut self.pairs[pair..pair + self.stride] else { return };
        heads[usize::from(vc)] = head;
        *turn = vc + 1;
        if heads.iter().all(|head| *head == EMPTY) {
            self.remove(switch.at(Set::For(output)), input);
            self.remove(switch.at(Set::Of(input)), output);
        }
    }

    /// Output to which an input sent last.
    pub(super) fn served(&self, input: usize) -> u16 {
        self.ports[input].output
    }

    /// Recounts the sets of a switch; the time is `now`. Says what is wrong.
    pub(super) fn check(&self, partition: &Partition, router: u32) -> Result<(), String> {
        let switch = self.switches[router as usize];
        let base = partition.routers[router as usize].port_base;
        let has = |set: Set, port: u16| {
            self.sets[switch.at(set) + usize::from(port / 64)] >> (port % 64) & 1 == 1
        };
        for port in 0..switch.ports {
            let index = (base + u32::from(port)) as usize;
            let (input, output) = (&partition.inputs[index], &partition.outputs[index]);
            let idle = [input.busy_until < partition.now, output.busy_until < partition.now];
            if idle != [has(Set::Readable, port), has(Set::Writable, port)] {
                return Err(format!("port {port} is not as idle as it is thought to be"));
            }
            for output in 0..switch.ports {
                let first = first_lane(input, output);
                let lanes = &partition.queues[first..first + usize::from(input.vcs)];
                let waits = lanes.iter().any(|lane| lane.head != NONE);
                if [waits; 2] != [has(Set::For(output), port), has(Set::Of(port), output)] {
                    return Err(format!("the queues from port {port} to {output} are miscounted"));
                }
            }
        }
        Ok(())
    }
}

/// The first queue of an input for an output; there is one for each VC.
#[inline]
fn first_lane(input: &Input, output: u16) -> usize {
    input.queues as usize + usize::from(output) * usize::from(input.vcs)
}

impl Partition {
    /// Allocates in all switches that are awake, which have virtual output queues.
    pub(super) fn match_all(&mut self) {
        if let Some(mut islip) = self.islip.take() {
            self.awake_routers().for_each(|router| islip.fetch(self, router));
            self.each_awake(|partition, router| islip.match_ports(partition, router));
            islip.cross_all(self);
            self.islip = Some(islip);
        }
    }

    /// Lane of a packet that has arrived and been routed.
    #[inline]
    pub(super) fn lane_of(&self, arrival: &Arrival) -> u32 {
        let wish = self.decided[arrival.packet as usize];
        let lane = first_lane(&self.inputs[arrival.port as usize], wish.out);
        lane as u32 + u32::from(arrival.vc)
    }

    /// Something of the packet that is last in that lane.
    #[inline]
    pub(super) fn last_of(&self, arrival: &Arrival) -> u32 {
        let Queue { head, tail, .. } = self.queues[arrival.lane as usize];
        self.after(if head == NONE { NONE } else { tail })
    }

    /// Transfers have ended at some inputs.
    pub(super) fn release_all(&mut self, ports: &[u32]) {
        if let Some(islip) = &self.islip {
            touch(ports.iter().map(|port| {
                let router = &self.routers[self.inputs[*port as usize].router as usize];
                let output = router.port_base + u32::from(islip.ports[*port as usize].output);
                u32::from(self.outputs[output as usize].pointer)
            }));
        }
        ports.iter().for_each(|port| self.release(*port));
    }

    /// The transfer of a packet has ended: its input and its output are free.
    fn release(&mut self, port: u32) {
        let Some(islip) = &mut self.islip else { return };
        let router = self.inputs[port as usize].router;
        let input = (port - self.routers[router as usize].port_base) as u16;
        let switch = islip.switches[router as usize];
        let output = islip.ports[port as usize].output;
        islip.insert(switch.at(Set::Readable), input);
        islip.insert(switch.at(Set::Writable), output);
        if !islip.is_empty(switch, Set::For(output)) {
            islip.insert(switch.at(Set::Asked), output);
        }
        let (asked, wanted) = (switch.at(Set::Asked), switch.at(Set::Of(input)));
        for word in 0..switch.words as usize {
            islip.sets[asked + word] |= islip.sets[wanted + word];
        }
        if !islip.is_empty(switch, Set::Asked) {
            self.wake(router);
        }
    }

    /// Credits that were awaited have arrived at an output port.
    pub(super) fn ask(&mut self, router: u32, port: u32) {
        let Some(islip) = &mut self.islip else { return };
        let output = port - self.routers[router as usize].port_base;
        let switch = islip.switches[router as usize];
        islip.insert(switch.at(Set::Asked), output as u16);
        self.wake(router);
    }
}
