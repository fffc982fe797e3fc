//! Input-first separable allocation: rounds of input and output arbitration.

use super::on_arrival::OnArrival;
use super::precedence::{self, Precedence, requesting};
use crate::ids::Cycle;
use crate::kernel::books::Books;
use crate::kernel::control::Control;
use crate::kernel::core::Core;
use crate::kernel::core::fetch::{members, touch};
use crate::kernel::core::grant::Room;
use crate::kernel::core::packet::{Flight, NONE};
use crate::kernel::core::port_set::{PortSet, Requested};
use crate::kernel::core::ports::{Input, LeadsTo, Output, OutputRequest, PortKind, Queue};
use crate::kernel::datapath::room;
use crate::kernel::machine::{Datapath, Egress, Machine, Matching};
use crate::kernel::model::Model;
use crate::kernel::registers::whole_from;
use crate::routing::{Injection, Watches};
use crate::spec::Pointer;
use crate::switch::Crossbar;
use serde::{Deserialize, Serialize};

/// The state of all switches of a partition.
#[derive(Serialize, Deserialize)]
pub(crate) struct Separable {
    /// Input ports that are to be looked at in this cycle.
    schedulable: PortSet,
    /// Routers with a port that is looked at in this cycle, in ascending order, if the routing algorithm is told of
    /// blocked heads.
    examined: Vec<u32>,
    /// Queues whose heads are looked at in this cycle, and the first port of their router, where that is fetched
    /// together.
    heads: Vec<(u32, u32)>,
    requests: Requests,
}

/// What has been requested in a round.
#[derive(Serialize, Deserialize)]
struct Requests {
    precedence: Precedence,
    /// Heads that do not reconsider keep what they have decided: none takes the VC that is emptiest, or waits for its
    /// tail.
    plain: bool,
    /// Input ports with a head that waits for credits.
    credit_blocked: PortSet,
    /// Outputs that are requested in this round, each once, by where they lead.
    requested: Requested,
    /// Ports that requested an output in vain.
    retrying: Vec<u32>,
    /// Ports that request one output of an ideal switch.
    contenders: Vec<u32>,
    /// Where packets are routed when they arrive.
    on_arrival: Option<OnArrival>,
}

/// A VC of an input port requests an output.
#[inline(always)]
fn ask(
    (port, input, vc): (u32, &mut Input, u8),
    (out, output): (u32, &mut Output),
    requested: &mut Requested,
    model: &Model,
) {
    let next = std::mem::replace(&mut output.first_request, port);
    requested.add(out, output.leads_to, next == NONE);
    (input.requested_vc, input.next_request) = (vc, next);
    if model.allocator.pointer == Pointer::OnRequest {
        input.pointer = vc + 1;
    }
}

impl Separable {
    /// A port whose queue of a VC has a head now is to be looked at as soon as the crossbar does not read from it.
    #[inline(always)]
    fn schedule(&mut self, core: &mut Core, port: u32, busy_until: Cycle) {
        if busy_until > core.now && !core.model.registers {
            core.schedule_wakeup(port, busy_until);
        } else {
            self.schedulable.insert(port);
        }
    }

    /// Heads of the ports that are looked at in this cycle move into registers.
    #[inline(never)]
    fn fill_registers<M: Machine>(&mut self, path: &mut Datapath<M>) {
        let Self { schedulable, requests, .. } = self;
        for port in schedulable.iter() {
            let Input { queues, occupied, .. } = path.core.inputs[port as usize];
            for vc in members(occupied) {
                let queue = (queues + vc) as usize;
                if !path.core.queues[queue].request.routed {
                    requests.route_head(path, port as usize, queue);
                }
                match path.fill_register((port, vc as u8), queue) {
                    Room::Enough => {}
                    Room::From(at) => path.core.schedule_wakeup(port, at),
                    Room::WithCredits => requests.credit_blocked.insert(port),
                }
            }
        }
    }

    /// Tells the routing algorithm which heads of injection queues were considered in vain.
    fn tell_blocked<M: Machine>(&self, path: &mut Datapath<M>) {
        let Datapath { core, agents, .. } = path;
        for &router in &self.examined {
            // Hosts have the first ports. An algorithm that is told reconsiders, so that an idle port was
            // looked at.
            for port in core.ports(router) {
                let input = &core.inputs[port as usize];
                if input.kind != PortKind::Host {
                    break;
                }
                let heads = if input.busy_until <= core.now { input.occupied } else { 0 };
                for vc in members(heads) {
                    let head = core.queues[(input.queues + vc) as usize].head;
                    let queue = core.injection_queue(port, vc as u8);
                    let header = &core.pool[head].packet.header;
                    agents.routing.injection(queue, Injection::Blocked, header);
                }
            }
        }
    }

    /// Fetches the heads that are looked at in this cycle, and what they request.
    fn fetch_heads<M: Machine>(&mut self, path: &Datapath<M>) {
        let core = &path.core;
        let Self { heads, schedulable, requests, .. } = self;
        heads.extend(schedulable.iter().map(|port| (0, port)));
        touch(heads.iter().map(|(_, port)| core.inputs[*port as usize].queues));
        if M::Egress::QUEUED {
            touch(heads.iter().map(|(_, port)| path.control.line(*port)));
        }
        for index in 0..heads.len() {
            let input = &core.inputs[heads[index].1 as usize];
            let base = input.base;
            heads[index].0 = base;
            let mut vcs = members(input.occupied).map(|vc| input.queues + vc);
            heads[index].1 = vcs.next().unwrap_or(input.queues);
            heads.extend(vcs.map(|queue| (base, queue)));
        }
        let queue = |(_, queue): (u32, u32)| &core.queues[queue as usize];
        touch(heads.iter().map(|head| queue(*head).head));
        let decided = |head| {
            let on_arrival = requests.on_arrival.as_ref()?;
            on_arrival.decided.get(queue(head).head as usize)
        };
        if requests.on_arrival.is_some() {
            touch(heads.iter().map(|head| decided(*head).map_or(0, |d| u32::from(d.out))));
        }
        let request = |head| {
            let request = &queue(head).request;
            if request.routed { request } else { decided(head).unwrap_or(request) }
        };
        let output = |head: (u32, u32)| core.requested(head.0, request(head));
        touch(heads.iter().map(|head| output(*head).queued));
        // Of what finds its output busy nothing else is looked at. Without a branch: hardly predictable.
        let mut idle = 0;
        for index in 0..heads.len() {
            heads[idle] = heads[index];
            idle += usize::from(output(heads[index]).busy_until <= core.now);
        }
        heads.truncate(idle);
        if M::Egress::QUEUED {
            path.egress.fetch(
                core,
                heads.iter().map(|head| {
                    let request = request(*head);
                    (head.0 + u32::from(request.out), request.vc)
                }),
            );
        }
        touch(heads.iter().map(|head| core.after(queue(*head).head)));
        heads.clear();
    }
}

impl<M: Machine<Matching = Self>> Matching<M> for Separable {
    const VOQS: bool = false;

    fn new(model: &Model, core: &Core) -> Self {
        let ports = core.inputs.len();
        let precedence = Precedence::new(model, core);
        let requests = Requests {
            plain: precedence.goes_round()
                && model.shared_by.is_empty()
                && !model.store_and_forward,
            precedence,
            credit_blocked: PortSet::new(ports),
            requested: Requested::new(core.outputs.iter().map(|output| output.leads_to)),
            retrying: Vec::new(),
            contenders: Vec::new(),
            on_arrival: model.on_arrival.then(OnArrival::default),
        };
        let schedulable = PortSet::new(ports);
        Self { schedulable, examined: Vec::new(), heads: Vec::new(), requests }
    }

    #[inline(always)]
    fn arrive(&mut self, path: &mut Datapath<M>, flights: &[Flight]) {
        touch(flights.iter().map(|flight| path.core.inputs[flight.to.port() as usize].queues));
        if path.core.exceeds_cache {
            path.core.fetch_tails(flights);
            if M::Egress::QUEUED {
                touch(flights.iter().map(|flight| path.control.line(flight.to.port())));
            }
        }
        for mut flight in flights {
            let header;
            if M::Egress::QUEUED && !path.admit(flight) {
                let Some(left) = path.trim(flight) else { continue };
                header = left;
                flight = &header;
            }
            let (packet, busy_until) = path.enqueue(*flight);
            if let Some(busy_until) = busy_until {
                self.schedule(&mut path.core, flight.to.port(), busy_until);
            }
            if !M::ROUTE_FIXED
                && let Some(on_arrival) = &mut self.requests.on_arrival
            {
                on_arrival.add(packet, flight.to);
            }
        }
    }

    #[inline(always)]
    fn all_arrived(&mut self, path: &mut Datapath<M>) {
        if !M::ROUTE_FIXED
            && let Some(on_arrival) = &mut self.requests.on_arrival
            && !on_arrival.new_arrivals.is_empty()
        {
            on_arrival.route(path);
            on_arrival.new_arrivals.clear();
        }
    }

    #[inline(always)]
    fn wake(&mut self, _core: &Core, ports: &[u32]) {
        ports.iter().for_each(|port| self.schedulable.insert(*port));
    }

    fn wake_credit_blocked(&mut self, core: &Core, output: u32) {
        let router = core.outputs[output as usize].router;
        self.requests.credit_blocked.pour(core.ports(router), &mut self.schedulable);
    }

    /// All routers at once, which do not need each other. Inputs that lost in one round try again in the next.
    #[inline(always)]
    fn allocate(&mut self, path: &mut Datapath<M>) {
        if !M::ROUTE_FIXED && path.core.model.registers {
            self.fill_registers(path);
        }
        if path.core.exceeds_cache {
            self.fetch_heads(path);
        }
        let told = M::Books::KEPT && path.agents.watches.blocked;
        let mut round = 1;
        loop {
            let Self { schedulable, requests, examined, .. } = self;
            schedulable.drain(|port| {
                if told && round == 1 {
                    let router = path.core.inputs[port as usize].router;
                    if examined.last() != Some(&router) {
                        examined.push(router);
                    }
                }
                requests.request(path, port);
            });
            for leads_to in LeadsTo::ALL {
                for place in requests.requested.take(leads_to) {
                    requests.arbitrate(path, requests.requested.at(place));
                }
            }
            if M::Books::KEPT {
                path.agents.tell_injections();
            }
            if requests.retrying.is_empty() || round == path.core.model.allocator.iterations {
                break;
            }
            round += 1;
            if told && path.agents.watches.rounds {
                self.tell_blocked(path);
            }
            let Self { schedulable, requests, .. } = self;
            requests.retrying.drain(..).for_each(|port| schedulable.insert(port));
        }
        // Whoever lost the last round tries again.
        let next = path.core.now + 1;
        self.requests.retrying.drain(..).for_each(|port| path.core.schedule_wakeup(port, next));
        if told {
            self.tell_blocked(path);
            if path.agents.watches.rounds {
                // Who has not been granted anything is not in the rounds that nobody else needs, either.
                let rest = round..path.core.model.allocator.iterations;
                rest.for_each(|_| self.tell_blocked(path));
            }
            self.examined.clear();
        }
    }

    fn decided(&self, packet: u32) -> Option<OutputRequest> {
        let on_arrival = self.requests.on_arrival.as_ref()?;
        Some(on_arrival.decided[packet as usize])
    }

    fn sending<'a>(&self, core: &'a Core, input: usize) -> &'a Queue {
        let Input { queues, requested_vc, .. } = core.inputs[input];
        &core.queues[queues as usize + usize::from(requested_vc)]
    }

    fn check(&self, _core: &Core, _router: u32) -> Result<(), String> {
        Ok(())
    }
}

impl Requests {
    /// Input arbitration: the port requests an output for one of its heads, if any can go.
    #[inline(always)]
    fn request<M: Machine>(&mut self, path: &mut Datapath<M>, port: u32) {
        let kept = M::ROUTE_FIXED || self.plain && !reconsidered(path, port as usize);
        let Datapath { core, egress, .. } = path;
        let Core { inputs, queues, outputs, credits, model, now, .. } = core;
        let input = &mut inputs[port as usize];
        // Mostly there is nothing to choose, and nothing to decide.
        if !(kept && input.occupied.is_power_of_two() && input.busy_until <= *now) {
            return self.request_one_of(path, port);
        }
        let vc = input.occupied.trailing_zeros();
        let request = &mut queues[(input.queues + vc) as usize].request;
        if !request.routed {
            return self.request_one_of(path, port);
        }
        request.seen |= M::Books::KEPT;
        let out = input.base + u32::from(request.out);
        let output = &mut outputs[out as usize];
        match room::<M>((model, egress), output, credits, (out, *now), *request) {
            Room::Enough => ask((port, input, vc as u8), (out, output), &mut self.requested, model),
            Room::From(at) => path.core.schedule_wakeup(port, at),
            Room::WithCredits => {
                output.awaited = true;
                self.credit_blocked.insert(port);
            }
        }
    }

    /// A VC of an input port requests an output.
    #[inline(always)]
    fn ask<M: Machine>(&mut self, path: &mut Datapath<M>, (port, vc): (u32, u8), out: u32) {
        let Core { inputs, outputs, model, .. } = &mut path.core;
        if !M::ROUTE_FIXED {
            self.precedence.requested(model, port, vc);
        }
        let (input, output) = (&mut inputs[port as usize], &mut outputs[out as usize]);
        ask((port, input, vc), (out, output), &mut self.requested, model);
    }

    /// The same as [`Requests::request`], where there is something to choose or to decide.
    #[inline(never)]
    fn request_one_of<M: Machine>(&mut self, path: &mut Datapath<M>, port: u32) {
        let Input { busy_until, .. } = path.core.inputs[port as usize];
        if busy_until > path.core.now {
            path.core.schedule_wakeup(port, busy_until);
            return;
        }
        let mut wakeup_at = Cycle::MAX;
        if let Some((vc, out)) = self.choose(path, port, &mut wakeup_at) {
            self.ask(path, (port, vc), out);
        } else if wakeup_at != Cycle::MAX {
            path.core.schedule_wakeup(port, wakeup_at);
        }
    }

    /// The VC of a port whose head has the highest priority of those that can be granted, and the output
    /// that the head requests.
    fn choose<M: Machine>(
        &mut self,
        path: &mut Datapath<M>,
        port: u32,
        wakeup_at: &mut Cycle,
    ) -> Option<(u8, u32)> {
        let input = &path.core.inputs[port as usize];
        let (pointer, queues) = (u32::from(input.pointer), input.queues);
        // VCs from the pointer on, then those before it.
        let mut turn = input.occupied.rotate_right(pointer);
        let mut best: Option<(u32, (u8, u32))> = None;
        while turn != 0 {
            let vc = (turn.trailing_zeros() + pointer) & 63;
            turn &= turn - 1;
            let Some(out) = self.ready(path, port, queues + vc, wakeup_at) else { continue };
            let chosen = (vc as u8, out);
            if self.precedence.goes_round() {
                return Some(chosen);
            }
            let rank = self.precedence.rank_of_vc(&path.core, port, vc as u8);
            if best.is_none_or(|(first, _)| rank < first) {
                best = Some((rank, chosen));
            }
        }
        best.map(|(_, chosen)| chosen)
    }

    /// The output that the head of a queue requests, if it can be granted. If not, says when to ask again,
    /// unless an arriving credit will tell.
    #[inline(always)]
    fn ready<M: Machine>(
        &mut self,
        path: &mut Datapath<M>,
        port: u32,
        queue: u32,
        wakeup_at: &mut Cycle,
    ) -> Option<u32> {
        let (input, queue) = (port as usize, queue as usize);
        let again = !M::ROUTE_FIXED && reconsidered(path, input);
        if !path.core.queues[queue].request.routed || again {
            self.route_head(path, input, queue);
        }
        let base = path.core.inputs[input].base;
        if !M::ROUTE_FIXED && !path.core.model.shared_by.is_empty() {
            path.take_emptiest(base, queue);
        }
        let request = &mut path.core.queues[queue].request;
        request.seen |= M::Books::KEPT;
        let request = *request;
        let out = base + u32::from(request.out);
        let room = match whole_from(path, input, queue) {
            Some(at) => Room::From(at),
            None => path.room(out, request),
        };
        match room {
            Room::Enough => return Some(out),
            _ if again => *wakeup_at = path.core.now + 1,
            Room::From(at) => *wakeup_at = (*wakeup_at).min(at),
            Room::WithCredits => self.block(&mut path.core, port, out),
        }
        None
    }

    /// An input port has a head that waits for credits of an output.
    #[inline(never)]
    fn block(&mut self, core: &mut Core, port: u32, out: u32) {
        core.outputs[out as usize].awaited = true;
        self.credit_blocked.insert(port);
    }

    /// The head of a queue, which is the first one of its VC, decides where it goes, or has done so when
    /// it arrived.
    #[inline(always)]
    fn route_head<M: Machine>(&mut self, path: &mut Datapath<M>, input: usize, queue: usize) {
        let head = path.core.queues[queue].head;
        if !M::ROUTE_FIXED
            && let Some(on_arrival) = &self.on_arrival
        {
            path.core.queues[queue].request = on_arrival.decided[head as usize];
            return;
        }
        let vc = (queue as u32 - path.core.inputs[input].queues) as u8;
        path.core.queues[queue].request = path.route((input, vc), head);
    }

    /// Output arbitration: grants one request, or all of them in an ideal switch.
    #[inline(always)]
    fn arbitrate<M: Machine>(&mut self, path: &mut Datapath<M>, out: u32) {
        let output = &mut path.core.outputs[out as usize];
        let first = std::mem::replace(&mut output.first_request, NONE);
        let contested = path.core.inputs[first as usize].next_request != NONE;
        if contested && path.core.model.crossbar == Crossbar::Ideal {
            self.grant_all(path, out, first);
            return;
        }
        let winner = if contested { self.precedence.pick(&path.core, out, first) } else { first };
        path.commit_grant((winner, out), None, true);
        if !M::ROUTE_FIXED {
            self.precedence.granted(&path.core, out, winner);
        }
        if contested {
            self.turn_down(path, (out, first), winner);
        }
    }

    /// Those that requested an output in vain try again.
    fn turn_down<M: Machine>(
        &mut self,
        path: &mut Datapath<M>,
        (out, first): (u32, u32),
        winner: u32,
    ) {
        let mut port = first;
        while port != NONE {
            let input = &path.core.inputs[port as usize];
            let (next, decided) = (input.next_request, input.occupied.is_power_of_two());
            if port != winner {
                if decided && (M::ROUTE_FIXED || !reconsidered(path, port as usize)) {
                    // Its only head wants this output: nothing to try before it is idle and has space.
                    let vc = input.occupied.trailing_zeros();
                    let size = path.core.queues[(input.queues + vc) as usize].request.size;
                    let output = &path.core.outputs[out as usize];
                    let at = M::Egress::not_before(&path.core.model, output, size);
                    path.core.schedule_wakeup(port, at);
                } else {
                    self.retrying.push(port);
                }
            }
            port = next;
        }
    }

    /// An ideal switch grants every request, in round-robin order, while there is room.
    #[cold]
    fn grant_all<M: Machine>(&mut self, path: &mut Datapath<M>, out: u32, first: u32) {
        let Self { contenders, retrying, .. } = self;
        let mut port = first;
        while port != NONE {
            contenders.push(port);
            port = path.core.inputs[port as usize].next_request;
        }
        let pointer = path.core.outputs[out as usize].pointer;
        let from = path.core.inputs[first as usize].base + u32::from(pointer);
        contenders.sort_unstable_by_key(|port| port.wrapping_sub(from));
        // Those without room try again in the next cycle.
        for port in contenders.drain(..) {
            let request = path.core.queues[requesting(&path.core, port)].request;
            if matches!(path.room(out, request), Room::Enough) {
                path.commit_grant((port, out), None, true);
            } else {
                retrying.push(port);
            }
        }
    }
}

/// Bytes of [`Separable::new`] for so many ports.
pub(crate) fn footprint(model: &Model, ports: u64) -> u64 {
    let sets = 2 * ports / 8;
    let requested = ports * size_of::<u32>() as u64;
    sets + requested + precedence::footprint(model, ports)
}

/// Are the heads of an input routed every time that they are considered?
#[inline(always)]
fn reconsidered<M: Machine>(path: &Datapath<M>, input: usize) -> bool {
    let Watches { reconsiders, transit, .. } = path.agents.watches;
    reconsiders && (transit || path.core.inputs[input].kind == PortKind::Host)
}
