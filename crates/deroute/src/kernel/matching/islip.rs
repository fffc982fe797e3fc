//! Virtual output queues, and iSLIP between them (McKeown 1999).
//!
//! Every VC of an input port has a queue for each output, a VOQ: in `Core::queues` those to one
//! output are together. What can be matched is kept in sets of ports, so that a look at a switch
//! costs as much as there are free outputs that somebody asks for.

use super::on_arrival::{Arrival, OnArrival};
use crate::ids::RouterId;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::{members, touch};
use crate::kernel::core::grant::Room;
use crate::kernel::core::packet::{Flight, NONE};
use crate::kernel::core::ports::{Input, OutputRequest, Queue};
use crate::kernel::machine::{Datapath, Egress, Machine, Matching};
use crate::kernel::model::Model;
use serde::{Deserialize, Serialize};

/// The state of all switches of a partition.
#[derive(Serialize, Deserialize)]
pub(crate) struct Islip {
    iterations: u8,
    switches: Vec<Switch>,
    ports: Vec<Port>,
    /// Sets of ports, as words of bits; see [`Switch`].
    sets: Vec<u64>,
    /// What is looked at most, together, for every output of a switch and input: VC that is served next, then
    /// for each of its VCs the VC that the head of the VOQ asks for, or [`EMPTY`].
    pairs: Vec<u8>,
    /// Bytes of a pair.
    stride: usize,
    /// Smallest and largest packet.
    sizes: (u16, u16),
    /// Inputs that were granted an output in this iteration.
    granted: Vec<u16>,
    /// What has been matched in this cycle.
    crossings: Vec<Crossing>,
    /// Routers that are to be looked at, one bit each.
    awake: Vec<u64>,
    on_arrival: OnArrival,
    /// Where heads may move into registers: VOQs with a new one, and outputs for which credits have come.
    new_heads: Vec<NewHead>,
    credited: Vec<u32>,
}

/// A VOQ that has another head than before: of an input of the partition, and a VC.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct NewHead {
    port: u32,
    vc: u8,
    voq: u32,
}

/// An input and an output that have been matched: the head of a VOQ crosses the switch.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Crossing {
    router: u32,
    /// In `Core::queues`.
    voq: u32,
    /// Input port of the partition, then of the switch.
    index: u32,
    input: u16,
    output: u16,
    vc: u8,
    /// Matched in the first iteration.
    first: bool,
}

/// Where the sets of a switch are.
#[derive(Clone, Copy, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Serialize, Deserialize)]
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

/// A VOQ without a packet.
const EMPTY: u8 = u8::MAX;

/// Bytes of a pair.
fn stride(model: &Model) -> usize {
    let vcs = model.classes.iter().map(|class| class.vcs).max().unwrap_or(0);
    1 + usize::from(vcs.max(model.host_vcs()))
}

/// Words of the sets of a switch, and bytes of its pairs.
fn tables(ports: u16, stride: usize) -> (usize, usize) {
    let ports = usize::from(ports);
    ((3 + 2 * ports) * ports.div_ceil(64), ports * ports * stride)
}

/// Bytes of the sets, pairs and ports of all switches, VOQs not counted.
pub(crate) fn footprint(model: &Model) -> u64 {
    let of = |router: u32| {
        let ports = model.topology.radix(RouterId(router));
        let (sets, pairs) = tables(ports, stride(model));
        let each = usize::from(ports) * (size_of::<Port>() + size_of::<u16>());
        (8 * sets + pairs + each + size_of::<Switch>()) as u64
    };
    (0..model.topology.routers()).map(of).sum()
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
    /// A router is to be looked at: in this cycle, or in the next if it is being looked at.
    #[inline]
    fn wake_router(&mut self, router: u32) {
        self.awake[router as usize / 64] |= 1 << (router % 64);
    }

    /// Adds a switch; its ports follow.
    fn add_router(&mut self, ports: u16) {
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
        let port = Port { pointer: 0, offer: NOBODY, vc: 0, output: 0 };
        self.ports.extend((0..ports).map(|_| port));
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
    fn match_ports<M: Machine>(&mut self, path: &mut Datapath<M>, router: u32) {
        let switch = self.switches[router as usize];
        let base = path.core.routers[router as usize].port_base;
        for iteration in 1..=self.iterations {
            self.grant(path, switch, base);
            if self.granted.is_empty() {
                return;
            }
            while let Some(input) = self.granted.pop() {
                self.accept((router, base), input, iteration == 1);
            }
        }
        if !self.is_empty(switch, Set::Asked) {
            self.wake_router(router);
        }
    }

    /// Puts a packet that has arrived and been routed into its VOQ.
    pub(crate) fn file<M: Machine>(&mut self, path: &mut Datapath<M>, arrival: &Arrival) {
        let packet = arrival.packet;
        let queue = &mut path.core.queues[arrival.voq as usize];
        if queue.head != NONE {
            let tail = std::mem::replace(&mut queue.tail, packet);
            path.core.pool[tail].next = packet;
            return;
        }
        let request = OutputRequest { seen: true, ..self.on_arrival.decided[packet as usize] };
        *queue = Queue { head: packet, tail: packet, request };
        if path.core.model.registers {
            let &Arrival { port, vc, voq, .. } = arrival;
            self.new_heads.push(NewHead { port, vc, voq });
        }
        let router = path.core.inputs[arrival.port as usize].router;
        let input = (arrival.port - path.core.routers[router as usize].port_base) as u16;
        let switch = self.switches[router as usize];
        let pair = self.pair(switch, input, request.out);
        self.pairs[pair + 1 + usize::from(arrival.vc)] = request.vc;
        self.insert(switch.at(Set::For(request.out)), input);
        self.insert(switch.at(Set::Of(input)), request.out);
        self.insert(switch.at(Set::Asked), request.out);
        self.wake_router(router);
    }

    /// Fetches, together, what outputs of a switch are going to look at.
    fn fetch(&self, core: &Core, router: u32) {
        let switch = self.switches[router as usize];
        let base = core.routers[router as usize].port_base;
        for word in 0..switch.words {
            let asked = self.sets[switch.at(Set::Asked) + word as usize];
            let free = self.sets[switch.at(Set::Writable) + word as usize];
            touch(members(asked & free).map(|bit| {
                let output = word as u16 * 64 + bit as u16;
                let waiting = self.sets[switch.at(Set::For(output))] as u32;
                let pair = u32::from(self.pairs[self.pair(switch, switch.ports / 2, output)]);
                let pointer = core.outputs[(base + u32::from(output)) as usize].pointer;
                waiting ^ pair ^ u32::from(pointer)
            }));
        }
    }

    /// Every output that is asked for grants the first input from its pointer on that can go.
    fn grant<M: Machine>(&mut self, path: &mut Datapath<M>, switch: Switch, base: u32) {
        for word in 0..switch.words {
            let asked = switch.at(Set::Asked) + word as usize;
            let mut bits = self.sets[asked] & self.sets[switch.at(Set::Writable) + word as usize];
            self.sets[asked] = bits;
            while bits != 0 {
                let output = word as u16 * 64 + bits.trailing_zeros() as u16;
                bits &= bits - 1;
                match self.pick(path, switch, base, output) {
                    None => self.remove(switch.at(Set::Asked), output),
                    Some((input, vc)) => self.offer(switch, base, (input, vc), output),
                }
            }
        }
    }

    /// The first input from an output's pointer on with a head that can go there, and its VC.
    fn pick<M: Machine>(
        &self,
        path: &mut Datapath<M>,
        switch: Switch,
        base: u32,
        output: u16,
    ) -> Option<(u16, u8)> {
        let (waiting, idle) = (switch.at(Set::For(output)), switch.at(Set::Readable));
        let pointer = path.core.outputs[(base + u32::from(output)) as usize].pointer;
        let (mut starved, mut vc) = (false, None);
        let winner = first_from(
            pointer,
            switch.words as usize,
            |word| self.sets[waiting + word] & self.sets[idle + word],
            |input| {
                vc = self.ready(path, (switch, base), input, output);
                starved |= vc.is_none();
                vc.is_some()
            },
        );
        if winner.is_none() && starved {
            path.core.outputs[(base + u32::from(output)) as usize].awaited = true;
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
    fn ready<M: Machine>(
        &self,
        path: &mut Datapath<M>,
        (switch, base): (Switch, u32),
        input: u16,
        output: u16,
    ) -> Option<u8> {
        let pair = self.pair(switch, input, output);
        let (turn, vcs) = (self.pairs[pair], self.stride as u8 - 1);
        let at = (base + u32::from(output)) as usize;
        let class = path.core.outputs[at].class;
        let room = |size| match path.core.model.replaces_credits(class) {
            true => 0,
            false => path.core.model.room(class, size),
        };
        let (little, much) = (room(self.sizes.0), room(self.sizes.1));
        let shares = !path.core.model.shared_by.is_empty();
        let asks = shares || path.core.model.output_buffer < u32::MAX;
        (turn..vcs).chain(0..turn).find(|vc| {
            let head = self.pairs[pair + 1 + usize::from(*vc)];
            if head == EMPTY {
                return false;
            }
            let credits = path.core.outputs[at].credits(&path.core.credits, head);
            if !asks && (credits < little || credits >= much) {
                return credits >= much;
            }
            let voqs = first_voq(&path.core.inputs[(base + u32::from(input)) as usize], output);
            let voq = voqs + usize::from(*vc);
            if shares {
                path.take_emptiest(base, voq);
            }
            let out = base + u32::from(output);
            matches!(path.room(out, path.core.queues[voq].request), Room::Enough)
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
        self.crossings.push(Crossing { router, voq: 0, index, input, output, vc, first });
        for (set, port) in [(Set::Readable, input), (Set::Writable, output), (Set::Asked, output)] {
            self.remove(switch.at(set), port);
        }
    }

    /// All packets that have been matched in this cycle cross their switches. What one does is of no account to
    /// the others, and all that they need is far away: it is fetched together.
    fn cross_all<M: Machine>(&mut self, path: &mut Datapath<M>) {
        let core = &path.core;
        for crossing in &mut self.crossings {
            let input = &core.inputs[crossing.index as usize];
            crossing.voq = first_voq(input, crossing.output) as u32 + u32::from(crossing.vc);
        }
        let crossings = &self.crossings;
        let voq = |crossing: &Crossing| crossing.voq as usize;
        touch(crossings.iter().map(|crossing| core.queues[voq(crossing)].head));
        let next = |crossing| core.after(core.queues[voq(crossing)].head);
        touch(crossings.iter().map(next));
        let decided = |next: u32| self.on_arrival.decided[next as usize];
        let seconds = crossings.iter().map(next).filter(|next| *next != NONE);
        touch(seconds.map(|next| u32::from(decided(next).vc)));
        for index in 0..self.crossings.len() {
            let crossing = self.crossings[index];
            self.cross(path, &crossing);
        }
        self.crossings.clear();
    }

    /// A packet crosses a switch.
    fn cross<M: Machine>(&mut self, path: &mut Datapath<M>, crossing: &Crossing) {
        let Crossing { router, voq, index, input, output, vc, first } = *crossing;
        let switch = self.switches[router as usize];
        path.core.inputs[index as usize].requested_vc = vc;
        let out = index - u32::from(input) + u32::from(output);
        path.commit_grant((index, out), Some(voq as usize), first);
        path.core.wakeups.push(path.core.inputs[index as usize].busy_until, index);
        let registers = path.core.model.registers;
        let (place, voq) = (voq, &mut path.core.queues[voq as usize]);
        let mut head = EMPTY;
        if voq.head != NONE {
            if registers {
                self.new_heads.push(NewHead { port: index, vc, voq: place });
            }
            voq.request =
                OutputRequest { seen: true, ..self.on_arrival.decided[voq.head as usize] };
            head = voq.request.vc;
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

    /// Recounts the sets of a switch. Says what is wrong.
    fn recount(&self, core: &Core, router: u32) -> Result<(), String> {
        let switch = self.switches[router as usize];
        let base = core.routers[router as usize].port_base;
        let has = |set: Set, port: u16| {
            self.sets[switch.at(set) + usize::from(port / 64)] >> (port % 64) & 1 == 1
        };
        for port in 0..switch.ports {
            let index = (base + u32::from(port)) as usize;
            let (input, output) = (&core.inputs[index], &core.outputs[index]);
            let idle = [input.busy_until < core.now, output.busy_until < core.now];
            if idle != [has(Set::Readable, port), has(Set::Writable, port)] {
                return Err(format!("port {port} is not as idle as it is thought to be"));
            }
            for output in 0..switch.ports {
                let first = first_voq(input, output);
                let voqs = &core.queues[first..first + usize::from(input.vcs)];
                let waits = voqs.iter().any(|voq| voq.head != NONE);
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
fn first_voq(input: &Input, output: u16) -> usize {
    input.queues as usize + usize::from(output) * usize::from(input.vcs)
}

/// Virtual output queue of a packet that has arrived and been routed.
#[inline]
fn voq_of(core: &Core, arrival: &Arrival, request: OutputRequest) -> u32 {
    let voq = first_voq(&core.inputs[arrival.port as usize], request.out);
    voq as u32 + u32::from(arrival.vc)
}

impl Islip {
    /// The routers that are awake.
    fn awake_routers(&self) -> impl Iterator<Item = u32> {
        let words = self.awake.iter().enumerate();
        words.flat_map(|(word, bits)| members(*bits).map(move |bit| word as u32 * 64 + bit))
    }

    /// Puts what has arrived in this cycle, and been routed, into its virtual output queues. Each queue, and the
    /// last packet in it, is far away: they are fetched together.
    fn file_new<M: Machine>(&mut self, path: &mut Datapath<M>) {
        let (core, OnArrival { decided, new_arrivals }) = (&path.core, &mut self.on_arrival);
        for new in &mut *new_arrivals {
            new.voq = voq_of(core, new, decided[new.packet as usize]);
        }
        touch(new_arrivals.iter().map(|new| core.queues[new.voq as usize].head));
        touch(new_arrivals.iter().map(|new| {
            let Queue { head, tail, .. } = core.queues[new.voq as usize];
            core.after(if head == NONE { NONE } else { tail })
        }));
        for index in 0..self.on_arrival.new_arrivals.len() {
            let arrival = self.on_arrival.new_arrivals[index];
            self.file(path, &arrival);
        }
        self.on_arrival.new_arrivals.clear();
    }

    /// Heads move into registers that have not been looked at, or for whose output credits have come.
    #[inline(never)]
    fn fill_registers<M: Machine>(&mut self, path: &mut Datapath<M>) {
        for index in 0..self.credited.len() {
            let output = self.credited[index];
            let router = path.core.outputs[output as usize].router;
            let (base, switch) =
                (path.core.routers[router as usize].port_base, self.switches[router as usize]);
            let output = (output - base) as u16;
            for word in 0..switch.words {
                let waiting = self.sets[switch.at(Set::For(output)) + word as usize];
                for bit in members(waiting) {
                    let port = base + word * 64 + bit;
                    let Input { vcs, .. } = path.core.inputs[port as usize];
                    let first = first_voq(&path.core.inputs[port as usize], output) as u32;
                    let voqs = (0..vcs).map(|vc| NewHead { port, vc, voq: first + u32::from(vc) });
                    let core = &path.core;
                    self.new_heads
                        .extend(voqs.filter(|voq| core.queues[voq.voq as usize].head != NONE));
                }
            }
        }
        self.credited.clear();
        for NewHead { port, vc, voq } in self.new_heads.drain(..) {
            path.fill_register((port, vc), voq as usize);
        }
    }

    /// The transfer of a packet has ended: its input and its output are free.
    fn release(&mut self, core: &Core, port: u32) {
        let Input { router, base, .. } = core.inputs[port as usize];
        let input = (port - base) as u16;
        let switch = self.switches[router as usize];
        let output = self.ports[port as usize].output;
        self.insert(switch.at(Set::Readable), input);
        self.insert(switch.at(Set::Writable), output);
        if !self.is_empty(switch, Set::For(output)) {
            self.insert(switch.at(Set::Asked), output);
        }
        let (asked, wanted) = (switch.at(Set::Asked), switch.at(Set::Of(input)));
        for word in 0..switch.words as usize {
            self.sets[asked + word] |= self.sets[wanted + word];
        }
        if !self.is_empty(switch, Set::Asked) {
            self.wake_router(router);
        }
    }
}

impl<M: Machine<Matching = Self>> Matching<M> for Islip {
    const VOQS: bool = true;

    fn new(model: &Model, core: &Core) -> Self {
        let stride = stride(model);
        let tables = core.routers.iter().map(|router| tables(router.ports, stride));
        let (sets, pairs) = tables.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let mut islip = Self {
            iterations: model.allocator.iterations,
            switches: Vec::with_capacity(core.routers.len()),
            ports: Vec::with_capacity(core.inputs.len()),
            sets: Vec::with_capacity(sets),
            pairs: Vec::with_capacity(pairs),
            stride,
            sizes: model.packet_sizes(),
            granted: Vec::new(),
            crossings: Vec::new(),
            awake: vec![0; core.routers.len().div_ceil(64)],
            on_arrival: OnArrival::default(),
            new_heads: Vec::new(),
            credited: Vec::new(),
        };
        core.routers.iter().for_each(|router| islip.add_router(router.ports));
        islip
    }

    fn arrive(&mut self, path: &mut Datapath<M>, flights: &[Flight]) {
        touch(flights.iter().map(|flight| path.core.inputs[flight.to.port() as usize].queues));
        for mut flight in flights {
            let header;
            if M::Egress::QUEUED && !path.admit(flight) {
                let Some(left) = path.trim(flight) else { continue };
                header = left;
                flight = &header;
            }
            let packet = path.store(*flight);
            self.on_arrival.add(packet, flight.to);
        }
    }

    fn all_arrived(&mut self, path: &mut Datapath<M>) {
        if !self.on_arrival.new_arrivals.is_empty() {
            self.on_arrival.route(path);
            self.file_new(path);
        }
    }

    /// Transfers have ended at some inputs.
    fn wake(&mut self, core: &Core, ports: &[u32]) {
        touch(ports.iter().map(|port| {
            let base = core.inputs[*port as usize].base;
            let output = base + u32::from(self.ports[*port as usize].output);
            u32::from(core.outputs[output as usize].pointer)
        }));
        ports.iter().for_each(|port| self.release(core, *port));
    }

    fn wake_credit_blocked(&mut self, core: &Core, output: u32) {
        if core.model.registers {
            self.credited.push(output);
        }
        let router = core.outputs[output as usize].router;
        let port = output - core.routers[router as usize].port_base;
        let switch = self.switches[router as usize];
        self.insert(switch.at(Set::Asked), port as u16);
        self.wake_router(router);
    }

    fn allocate(&mut self, path: &mut Datapath<M>) {
        if path.core.model.registers {
            self.fill_registers(path);
        }
        self.awake_routers().for_each(|router| self.fetch(&path.core, router));
        for word in 0..self.awake.len() {
            for bit in members(std::mem::take(&mut self.awake[word])) {
                self.match_ports(path, word as u32 * 64 + bit);
            }
        }
        self.cross_all(path);
        path.agents.tell_injections();
    }

    fn decided(&self, packet: u32) -> Option<OutputRequest> {
        Some(self.on_arrival.decided[packet as usize])
    }

    fn sending<'a>(&self, core: &'a Core, input: usize) -> &'a Queue {
        let voqs = first_voq(&core.inputs[input], self.ports[input].output);
        &core.queues[voqs + usize::from(core.inputs[input].requested_vc)]
    }

    fn check(&self, core: &Core, router: u32) -> Result<(), String> {
        self.recount(core, router)
    }
}
