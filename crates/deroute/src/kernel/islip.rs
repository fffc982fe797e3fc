//! Virtual output queues, and iSLIP between them (McKeown 1999).
//!
//! Every VC of an input port has a queue for each output, a *lane*: in `Partition::queues` those to one
//! output are together. What can be matched is kept in sets of ports, so that a look at a switch
//! costs as much as there are free outputs that somebody asks for.

use super::allocate::Room;
use super::packet::{Flight, NONE};
use super::partition::Partition;
use super::state::{Input, Queue};
use crate::ids::RouterId;
use crate::topology::Topology;

/// The state of all switches of a partition.
pub(super) struct Islip {
    iterations: u8,
    switches: Vec<Switch>,
    ports: Vec<Port>,
    /// Sets of ports, as words of bits; see [`Switch`].
    sets: Vec<u64>,
    /// VC that is served next, for every input port and output of its switch.
    turns: Vec<u8>,
    /// Inputs that were granted an output in this iteration.
    granted: Vec<u16>,
}

/// Where the sets of a switch are.
#[derive(Clone, Copy)]
struct Switch {
    /// First word of its first set.
    first: u32,
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
    /// Output to which the input is connected.
    output: u16,
    /// First element of the input in `Islip::turns`.
    turns: u32,
}

const NOBODY: u16 = u16::MAX;

/// Bytes of the sets and ports of all switches, lanes not counted.
pub(super) fn footprint(topology: &dyn Topology) -> u64 {
    let of = |router: u32| {
        let ports = u64::from(topology.radix(RouterId(router)));
        let sets = (3 + 2 * ports) * ports.div_ceil(64) * 8;
        sets + ports * (ports + size_of::<Port>() as u64) + size_of::<Switch>() as u64
    };
    (0..topology.routers()).map(of).sum()
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
    pub(super) fn new(iterations: u8) -> Self {
        let (switches, ports, sets) = (Vec::new(), Vec::new(), Vec::new());
        let (turns, granted) = (Vec::new(), Vec::new());
        Self { iterations, switches, ports, sets, turns, granted }
    }

    /// Adds a switch; its ports follow.
    pub(super) fn add_router(&mut self, ports: u16) {
        let words = usize::from(ports).div_ceil(64);
        let (first, sets) = (self.sets.len(), 3 + 2 * usize::from(ports));
        self.sets.resize(first + sets * words, 0);
        let switch = Switch { first: first as u32, words: words as u32, ports };
        self.switches.push(switch);
        for port in 0..ports {
            self.insert(switch.at(Set::Readable), port);
            self.insert(switch.at(Set::Writable), port);
        }
        self.granted.reserve(usize::from(ports));
    }

    /// Adds a port of the last switch, which has so many.
    pub(super) fn add_port(&mut self, ports: u16) {
        let turns = self.turns.len();
        self.turns.resize(turns + usize::from(ports), 0);
        let (offer, turns) = (NOBODY, turns as u32);
        self.ports.push(Port { pointer: 0, offer, output: 0, turns });
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

    /// One cycle of a switch: routes what has arrived, then matches inputs and outputs.
    fn allocate(&mut self, partition: &mut Partition, router: u32) {
        let switch = self.switches[router as usize];
        let base = partition.routers[router as usize].port_base;
        partition.route_arrivals(router, |partition, index| {
            self.file(partition, switch, (index, (index - base as usize) as u16));
        });
        for iteration in 1..=self.iterations {
            self.grant(partition, switch, base);
            if self.granted.is_empty() {
                return;
            }
            while let Some(input) = self.granted.pop() {
                self.accept(partition, (switch, base), input, iteration == 1);
            }
        }
        if !self.is_empty(switch, Set::Asked) {
            partition.wake(router);
        }
    }

    /// Puts the packet that has arrived at an input into its lane.
    fn file(&mut self, partition: &mut Partition, switch: Switch, (index, input): (usize, u16)) {
        let Input { fresh, fresh_vc, .. } = partition.inputs[index];
        let wish = partition.decided[fresh as usize];
        let lanes = first_lane(&partition.inputs[index], wish.out);
        let lane = &mut partition.queues[lanes + usize::from(fresh_vc)];
        if lane.head != NONE {
            let tail = std::mem::replace(&mut lane.tail, fresh);
            partition.pool[tail].next = fresh;
            return;
        }
        *lane = Queue { head: fresh, tail: fresh, wish };
        self.insert(switch.at(Set::For(wish.out)), input);
        self.insert(switch.at(Set::Of(input)), wish.out);
        self.insert(switch.at(Set::Asked), wish.out);
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
                    Some(input) => self.offer(switch, base, input, output),
                }
            }
        }
    }

    /// The first input from an output's pointer on with a head that can go there.
    fn pick(
        &self,
        partition: &mut Partition,
        switch: Switch,
        base: u32,
        output: u16,
    ) -> Option<u16> {
        let (waiting, idle) = (switch.at(Set::For(output)), switch.at(Set::Readable));
        let pointer = partition.outputs[(base + u32::from(output)) as usize].pointer;
        let mut starved = false;
        let winner = first_from(
            pointer,
            switch.words as usize,
            |word| self.sets[waiting + word] & self.sets[idle + word],
            |input| {
                let ready = self.ready(partition, base, input, output).is_some();
                starved |= !ready;
                ready
            },
        );
        if winner.is_none() && starved {
            partition.outputs[(base + u32::from(output)) as usize].awaited = true;
        }
        winner
    }

    /// An output is granted to an input, which keeps the first one from its pointer on.
    fn offer(&mut self, switch: Switch, base: u32, input: u16, output: u16) {
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
            port.offer = output;
        } else if from_pointer(output) < from_pointer(port.offer) {
            port.offer = output;
        }
    }

    /// The first VC, in turn, of an input whose head can go to an output that is not being written.
    #[inline]
    fn ready(&self, partition: &mut Partition, base: u32, input: u16, output: u16) -> Option<u8> {
        let index = (base + u32::from(input)) as usize;
        let (lanes, vcs) =
            (first_lane(&partition.inputs[index], output), partition.inputs[index].vcs);
        let turn = match vcs {
            1 => 0,
            _ => self.turns[self.ports[index].turns as usize + usize::from(output)],
        };
        (turn..vcs).chain(0..turn).find(|vc| {
            let lane = lanes + usize::from(*vc);
            if partition.queues[lane].head == NONE {
                return false;
            }
            if !partition.plant.shared_by.is_empty() {
                partition.take_emptiest(base, lane);
            }
            matches!(partition.fits(base, lane), Room::Enough)
        })
    }

    /// An input accepts its offer: a packet crosses the switch.
    fn accept(
        &mut self,
        partition: &mut Partition,
        (switch, base): (Switch, u32),
        input: u16,
        first: bool,
    ) {
        let index = (base + u32::from(input)) as usize;
        let output = std::mem::replace(&mut self.ports[index].offer, NOBODY);
        let vc = self.ready(partition, base, input, output).unwrap_or_default();
        let lanes = first_lane(&partition.inputs[index], output);
        let vcs = usize::from(partition.inputs[index].vcs);
        partition.inputs[index].request = vc;
        partition.cross(base, (input, output), lanes + usize::from(vc), first);
        partition.ripenings.push(partition.inputs[index].busy_until, index as u32);
        let lane = &mut partition.queues[lanes + usize::from(vc)];
        if lane.head != NONE {
            lane.wish = partition.decided[lane.head as usize];
        } else if partition.queues[lanes..lanes + vcs].iter().all(|lane| lane.head == NONE) {
            self.remove(switch.at(Set::For(output)), input);
            self.remove(switch.at(Set::Of(input)), output);
        }
        for (set, port) in [(Set::Readable, input), (Set::Writable, output), (Set::Asked, output)] {
            self.remove(switch.at(set), port);
        }
        let port = &mut self.ports[index];
        port.output = output;
        if vcs > 1 {
            let next = if usize::from(vc) + 1 == vcs { 0 } else { vc + 1 };
            self.turns[port.turns as usize + usize::from(output)] = next;
        }
        if first {
            port.pointer = output + 1;
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
    /// Allocates in one switch with virtual output queues.
    pub(super) fn match_ports(&mut self, router: u32) {
        if let Some(mut islip) = self.islip.take() {
            islip.allocate(self, router);
            self.islip = Some(islip);
        }
    }

    /// A head arrives at an input port. It is routed when its switch is looked at.
    pub(super) fn land(&mut self, flight: Flight) {
        let index = self.store(flight);
        self.announce(flight.port, flight.vc, index);
    }

    /// The transfer of a packet has ended: its input and its output are free.
    pub(super) fn release(&mut self, port: u32) {
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
