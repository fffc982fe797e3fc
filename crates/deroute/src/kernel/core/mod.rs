//! What all stages of the engine share: the state of the routers of a partition, and what is on its way.

pub(crate) mod cargo;
pub(crate) mod fetch;
pub(crate) mod grant;
pub(crate) mod light;
pub(crate) mod mail;
pub(crate) mod numbers;
pub(crate) mod packet;
pub(crate) mod port_set;
pub(crate) mod ports;
pub(crate) mod registers;
pub(crate) mod sender;
pub(crate) mod trails;
pub(crate) mod wheel;

use std::sync::Arc;

use self::fetch::touch;
use self::mail::{Mail, Signal};
use self::packet::{Flight, NONE, Packet, Pool};
use self::ports::{Host, Input, Link, Output, OutputRequest, PortKind, Queue, Router};
use self::registers::Registers;
use self::wheel::Wheel;
use super::model::Model;
use crate::ids::{Cycle, PortId, RouterId};
use crate::probe::PathKind;
use crate::probe::collect::Collector;
use crate::routing;
use crate::state::{State, state};

/// Routers, ports, queues, packets and hosts of a partition, and the events that wait for their time.
pub(crate) struct Core {
    pub(crate) model: Arc<Model>,
    /// Number of the partition.
    pub(crate) index: u32,
    pub(crate) now: Cycle,
    /// Number of its first router in the network.
    pub(crate) first_router: u32,
    /// First router of each partition, and the total, where hosts send beside the network.
    pub(crate) firsts: Box<[u32]>,
    /// Its state is larger than a cache: what a cycle looks at is fetched before.
    pub(crate) exceeds_cache: bool,
    pub(crate) routers: Vec<Router>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) queues: Vec<Queue>,
    /// Cycles that a phit takes on the link of each port; empty if that is one for all.
    pub(crate) periods: Vec<u32>,
    /// Phits free at the other end, per output and VC beyond the first ones.
    pub(crate) credits: Vec<u32>,
    pub(crate) hosts: Vec<Host>,
    /// Phits in the injection queues other than the first, per host.
    pub(crate) queued: Vec<u32>,
    pub(crate) pool: Pool,
    /// Packets in registers before the crossbar, if switches have any.
    pub(crate) registers: Registers,
    /// Heads on their way to input buffers.
    pub(crate) arrivals: Wheel<Flight>,
    /// Signals of flow control on their way to outputs.
    pub(crate) signals: Wheel<Signal>,
    /// Input ports that are to be looked at.
    pub(crate) wakeups: Wheel<u32>,
    /// Hosts that generate a packet.
    pub(crate) generations: Wheel<u32>,
    /// Mail for each partition, while it runs.
    pub(crate) outbox: Vec<Mail>,
    pub(crate) collector: Collector,
    /// Packets injected in the measurement: `[router][path kind]`.
    pub(crate) paths: Vec<[u32; PathKind::ALL.len()]>,
}

impl State for Core {
    state! { keep now, routers, inputs, outputs, queues, credits, hosts, queued, pool, registers, arrivals, signals, wakeups,
        generations, collector, paths;
    leave model, index, first_router, firsts, exceeds_cache, periods, outbox; }
}

impl Core {
    /// Fetches the state, which other partitions have driven out of the cache, in one sweep: with what has something for
    /// each queue, and for each packet.
    pub(crate) fn sweep(&self, queues: bool, packets: bool) {
        touch(self.outputs.iter().map(|output| output.queued));
        touch(self.inputs.iter().map(|input| input.queues));
        if queues {
            touch(self.queues.iter().map(|queue| queue.head));
        }
        if packets {
            touch(self.pool.lines());
        }
        touch(self.hosts.iter().map(|host| host.next));
        touch(self.routers.iter().map(|router| router.port_base));
        touch(self.arrivals.lines(|flight| flight.at));
        touch(self.signals.lines(|signal| signal.content()));
        touch(self.wakeups.lines(|port| *port));
        touch(self.generations.lines(|host| *host));
    }

    /// Lets the traffic of all hosts begin again, with the draws of another seed if there is one.
    pub(crate) fn restart(&mut self, seed: Option<u64>) {
        let Self { model, hosts, generations, now, .. } = self;
        let horizon = generations.horizon();
        *generations = Wheel::new(horizon);
        for (host, index) in hosts.iter_mut().zip(0..) {
            host.next = model.traffic.restart(host.id, &mut host.source, (*now, seed));
            if host.next != Cycle::MAX {
                generations.push(host.next.min(*now + horizon), index);
            }
        }
    }

    /// The first cycle of `from..to` for which something is scheduled, or `to`.
    pub(crate) fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        let to = self.generations.next(from, to);
        let to = self.arrivals.next(from, to);
        self.wakeups.next(from, self.signals.next(from, to))
    }

    /// An input port is to be looked at in a later cycle, unless it is to be earlier anyway.
    #[inline]
    pub(crate) fn schedule_wakeup(&mut self, port: u32, at: Cycle) {
        debug_assert!(at - self.now <= self.wakeups.horizon());
        let input = &mut self.inputs[port as usize];
        if input.wakeup_at <= self.now || at < input.wakeup_at {
            input.wakeup_at = at;
            self.wakeups.push(at, port);
        }
    }

    /// The ports of a router.
    #[inline]
    pub(crate) fn ports(&self, router: u32) -> std::ops::Range<u32> {
        let Router { port_base, ports, .. } = self.routers[router as usize];
        port_base..port_base + u32::from(ports)
    }

    /// The output that a head of an input of the router with this first port requests.
    #[inline]
    pub(crate) fn requested(&self, base: u32, request: &OutputRequest) -> &Output {
        &self.outputs[(base + u32::from(request.out)) as usize]
    }

    /// Sends a signal to the output at the other end of a link, at the link's latency.
    #[inline(always)]
    pub(crate) fn send_signal(&mut self, link: Link, vc: u8, content: u32) {
        let (at, signal) = (self.now + link.latency, Signal::new(link.port, vc, content));
        if link.partition == self.index {
            self.signals.push(at, signal);
        } else {
            self.outbox[link.partition as usize].signals.push((at, signal));
        }
    }

    /// Sends a signal to the sender behind an input, which is an output or a host of this partition, so that it
    /// leaves in cycle `at`.
    pub(crate) fn send_signal_at(&mut self, input: u32, vc: u8, content: u32, at: Cycle) {
        let Input { kind, upstream: link, .. } = self.inputs[input as usize];
        let at = at + link.latency;
        debug_assert!(at - self.now <= self.signals.horizon());
        // The links of hosts come after the outputs.
        let first = if kind == PortKind::Host { self.outputs.len() as u32 } else { 0 };
        let signal = Signal::new(first + link.port, vc, content);
        if link.partition == self.index {
            self.signals.push(at, signal);
        } else {
            self.outbox[link.partition as usize].signals.push((at, signal));
        }
    }

    /// Cycles that a phit takes on the link of a port.
    #[inline]
    pub(crate) fn period(&self, port: u32) -> u32 {
        self.periods.get(port as usize).copied().unwrap_or(1)
    }

    /// A packet of so many phits leaves an injection queue of a host.
    #[inline(always)]
    pub(crate) fn count_injected(&mut self, host: u32, queue: u8, size: u16) {
        let Self { hosts, queued, collector, now, .. } = self;
        let (size, state) = (u32::from(size), &mut hosts[host as usize]);
        *state.queued_mut(queued, queue) -= size;
        collector.injected += 1;
        if collector.covers(*now) {
            state.injected += u64::from(size);
            collector.injected_packets += 1;
            collector.injected_phits += u64::from(size);
        }
    }

    /// A packet goes on from its source router.
    #[inline(always)]
    pub(crate) fn count_path(&mut self, router: u32, kind: PathKind, blocked: Cycle) {
        if self.collector.covers(self.now) {
            self.collector.blocked += u64::from(blocked);
            self.paths[router as usize][kind.index()] += 1;
        }
    }

    /// An injection queue behind a host port, as routing knows it.
    #[inline]
    pub(crate) fn injection_queue(&self, port: u32, number: u8) -> routing::Queue {
        let Input { router, base, .. } = self.inputs[port as usize];
        let router = RouterId(self.first_router + router);
        routing::Queue { router, port: PortId((port - base) as u16), number, now: self.now }
    }

    /// Something of the packet after the one at `index`.
    #[inline]
    pub(crate) fn after(&self, index: u32) -> u32 {
        if index == NONE { NONE } else { self.pool[index].next }
    }

    /// The queues in which packets arrive, and their last packets.
    pub(crate) fn fetch_tails(&self, flights: &[Flight]) {
        let queue = |flight: &Flight| {
            let first = self.inputs[flight.to.port() as usize].queues;
            &self.queues[first as usize + usize::from(flight.to.vc())]
        };
        touch(flights.iter().map(|flight| queue(flight).head));
        touch(flights.iter().map(|flight| {
            let Queue { head, tail, .. } = *queue(flight);
            self.after(if head == NONE { NONE } else { tail })
        }));
    }

    /// Packets of a queue, the head first, each with its place in the pool.
    pub(crate) fn packets(&self, queue: &Queue) -> impl Iterator<Item = (u32, &Packet)> + use<'_> {
        let slot = |index: u32| (index != NONE).then(|| (index, &self.pool[index]));
        let all = std::iter::successors(slot(queue.head), move |(_, last)| slot(last.next));
        all.map(|(index, slot)| (index, &slot.packet))
    }
}
