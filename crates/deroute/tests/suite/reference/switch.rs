//! A router: where its phits are, and how they move.

mod memory;

use std::collections::VecDeque;

use deroute::ids::{PortId, RouterId};
use deroute::rng::{Owner, Stream};
use deroute::spec::Spec;
use deroute::topology::Peer;

use super::Phit;
use super::guards::Errors;
use super::resolved::Resolved;
use super::wire::{Began, Crossed, Frame, Outgoing, Wire};

/// A VC of an input port.
#[derive(Default)]
pub(super) struct Lane {
    /// Phits in the buffer, each with the cycle in which its end arrives.
    phits: VecDeque<(Phit, u32)>,
    /// Phits of packets whose first phit has arrived and that have not given their memory back.
    pub(super) held: u32,
    /// The sender has been told to be silent, in this cycle.
    pub(super) told: Option<u32>,
    /// Phits of it that are charged to the memory of the switch.
    pub(super) charged: u32,
    /// Phits that have left it and that its sender does not know of.
    pub(super) owed: u32,
    /// Packets whose first phit has arrived and that have not been granted, in this order.
    pub(super) waiting: VecDeque<Waiting>,
    /// Packets that have moved into registers, or cross from them: their phits are not in the buffer.
    pub(super) registered: Vec<usize>,
}

impl Lane {
    /// Phits in the buffer.
    fn buffered(&self) -> u32 {
        let in_buffer = |(phit, _): &&(Phit, u32)| !self.registered.contains(&phit.packet);
        self.phits.iter().filter(in_buffer).count() as u32
    }
}

/// A packet in a buffer, and where it wants to go, once it has been routed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) packet: usize,
    pub(super) wish: Option<Wish>,
}

/// An output that a head requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) port: usize,
    pub(super) vc: usize,
    /// Position of the hop; `None` to a host.
    pub(super) position: Option<u8>,
}

/// A packet that is crossing the switch.
struct Crossing {
    vc: usize,
    packet: usize,
    output: usize,
    left: u32,
    /// The cycle in which the last phit that has crossed was there to its end.
    whole: u32,
}

pub(super) struct Input {
    pub(super) lanes: Vec<Lane>,
    pub(super) pointer: usize,
    /// VCs, the one first that was served least recently.
    pub(super) served: Vec<usize>,
    /// With virtual output queues: the VC that comes first, for each output.
    pub(super) turns: Vec<usize>,
    crossing: Option<Crossing>,
    /// No message of credits before this cycle.
    pub(super) next_message: u32,
    /// Which of these are lost.
    pub(super) losses: Stream,
}

/// What left through a port in a cycle.
pub(super) struct Departures {
    /// A phit was on the wire.
    pub(super) busy: Vec<usize>,
    /// Phits that began to leave, each through a port for a VC at its other end.
    pub(super) phits: Vec<(usize, usize, Phit)>,
    /// Packets that began to leave, each through a port.
    pub(super) packets: Vec<(usize, Began)>,
    /// Frames, each through a port, with the cycle in which it has left.
    pub(super) frames: Vec<(usize, Frame, u32)>,
}

/// A packet that began to leave over a link.
pub(super) struct Departed {
    pub(super) vc: usize,
    pub(super) size: u32,
    pub(super) at: u32,
}

pub(super) struct Output {
    pub(super) pointer: usize,
    /// Inputs, the one first that was served least recently.
    pub(super) served: Vec<usize>,
    pub(super) credits: Vec<u32>,
    pub(super) wire: Wire,
    pub(super) departed: Vec<Departed>,
}

pub(super) struct Router {
    pub(super) peers: Vec<Peer>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
}

impl Router {
    pub(super) fn new(net: &Resolved, spec: &Spec, id: RouterId) -> Self {
        let ports = net.topology.radix(id);
        let peers: Vec<Peer> = (0..ports).map(|p| net.topology.peer(id, PortId(p))).collect();
        let vcs = |peer: &Peer| match peer {
            Peer::Host(_) if net.links.nic.is_none() => net.flows.injection_queues().into(),
            Peer::Host(_) => net.flows.classes().into(),
            Peer::Router { .. } => net.links.class(peer).expect("a link").vcs,
            Peer::Unused => 0,
        };
        let seed = spec.run.seed;
        let input = |(port, peer): (usize, &Peer)| Input {
            next_message: 0,
            losses: Stream::new(seed, Owner::Messages(id, PortId(port as u16))),
            lanes: (0..vcs(peer)).map(|_| Lane::default()).collect(),
            pointer: 0,
            served: (0..vcs(peer)).collect(),
            turns: vec![0; usize::from(ports)],
            crossing: None,
        };
        let scale = spec.units.scale().expect("sensible units");
        let errors = |port: usize, peer: &Peer| {
            let (retry, latency) = match peer {
                Peer::Router { class, .. } => {
                    let name = net.topology.classes()[usize::from(*class)];
                    let latency = net.links.classes[usize::from(*class)].latency;
                    (spec.network.links[name].retry.as_ref(), latency)
                }
                Peer::Host(_) => {
                    let link = spec.network.nic.link.as_ref();
                    (link.and_then(|link| link.retry.as_ref()), net.host_latency)
                }
                Peer::Unused => (None, 0),
            };
            let owner = Owner::Errors(id, PortId(port as u16));
            Errors::of(retry, (latency, &scale), (seed, owner))
        };
        let output = |(port, peer): (usize, &Peer)| Output {
            pointer: 0,
            served: (0..usize::from(ports)).collect(),
            credits: match net.links.class(peer) {
                Some(class) => vec![class.buffer + class.shared; vcs(peer)],
                None => Vec::new(),
            },
            wire: Wire::new(
                &net.links,
                (net.links.apart(peer), vcs(peer)),
                (net.links.period(id.index(), port, peer), errors(port, peer)),
            ),
            departed: Vec::new(),
        };
        Self {
            inputs: peers.iter().enumerate().map(input).collect(),
            outputs: peers.iter().enumerate().map(output).collect(),
            peers,
        }
    }

    /// A phit begins to arrive in an input buffer, and has come to its end in the cycle `whole`.
    pub(super) fn accept(&mut self, port: usize, vc: usize, (phit, whole): (Phit, u32)) {
        let lane = &mut self.inputs[port].lanes[vc];
        lane.phits.push_back((phit, whole));
        if phit.index == 0 {
            lane.waiting.push_back(Waiting { packet: phit.packet, wish: None });
        }
    }

    /// Credits arrive at an output.
    pub(super) fn credit(&mut self, net: &Resolved, port: usize, vc: usize, phits: u32) {
        let class = net.links.class(&self.peers[port]).expect("no credits of a host");
        let credits = &mut self.outputs[port].credits[vc];
        *credits += phits;
        assert!(*credits <= class.buffer + class.shared, "too many credits");
    }

    /// Phits that a VC of an output may still send: what it has for itself, and what nobody has taken of
    /// what all share.
    pub(super) fn free(&self, net: &Resolved, port: usize, vc: usize) -> u32 {
        let class = net.links.class(&self.peers[port]).expect("no credits of a host");
        let all = self.outputs[port].credits.iter();
        let used: Vec<u32> = all.map(|credits| class.buffer + class.shared - credits).collect();
        let borrowed: u32 = used.iter().map(|used| used.saturating_sub(class.buffer)).sum();
        class.buffer.saturating_sub(used[vc]) + class.shared - borrowed
    }

    /// No buffer at the end of a link holds more than its capacity.
    pub(super) fn check_inputs(&self, net: &Resolved) {
        for (input, peer) in self.inputs.iter().zip(&self.peers) {
            let held = || input.lanes.iter().map(Lane::buffered);
            let fits = match (net.links.limits(peer), net.links.class(peer)) {
                (Some((pauses, limits)), _) => {
                    // Beside what the ports share.
                    let shared = pauses.shared.map_or(0, |shared| shared.size);
                    let most = limits.capacity + shared;
                    match pauses.whole_link {
                        true => held().sum::<u32>() <= most,
                        false => held().all(|phits| phits <= most),
                    }
                }
                (None, Some(class)) => {
                    let all = class.buffer * class.vcs as u32 + class.shared;
                    let most = class.buffer + class.shared;
                    held().all(|phits| phits <= most) && held().sum::<u32>() <= all
                }
                (None, None) => match (net.links.messages(peer), net.links.nic) {
                    (Some(_), Some(nic)) => held().all(|phits| phits <= nic.buffer),
                    _ => true,
                },
            };
            assert!(fits, "an input buffer overflows");
        }
    }

    /// No output holds more phits, pipeline included, than its buffer.
    pub(super) fn check_outputs(&self, net: &Resolved) {
        for (output, peer) in self.outputs.iter().zip(&self.peers) {
            let beside = if net.has_output_buffer { 0 } else { u32::MAX };
            let buffer = (net.output_buffer, beside);
            let fits = output.wire.fits(buffer, net.links.buffer_per_vc(peer));
            assert!(fits, "an output buffer overflows");
        }
    }

    /// Has the last phit of a packet of so many been here for a cycle?
    pub(super) fn is_whole(
        &self,
        (port, vc): (usize, usize),
        (packet, size): (usize, u32),
        now: u32,
    ) -> bool {
        let last = Phit { packet, index: size - 1 };
        self.inputs[port].lanes[vc].phits.iter().any(|(phit, whole)| *phit == last && *whole < now)
    }

    /// Is no packet of this port crossing the switch?
    pub(super) fn input_idle(&self, port: usize) -> bool {
        self.inputs[port].crossing.is_none()
    }

    /// Is nothing written to this output?
    pub(super) fn output_idle(&self, port: usize) -> bool {
        !self.inputs.iter().flat_map(|input| &input.crossing).any(|c| c.output == port)
    }

    /// What an output holds already of its buffer: cycles until the link has sent everything that it was granted,
    /// or phits, of the VC where each has a buffer.
    pub(super) fn backlog(&self, net: &Resolved, Wish { port, vc, .. }: Wish, now: u32) -> u64 {
        let (wire, links) = (&self.outputs[port].wire, &net.links);
        let queues = wire.told(links, !links.buffer_per_vc(&self.peers[port]), vc);
        u64::from(if links.counts_phits {
            wire.unsent(queues, net.has_output_buffer, now)
        } else {
            wire.backlog(now)
        })
    }

    /// Connects a packet, by its place in a VC of an input, to the output that it wants.
    pub(super) fn connect(
        &mut self,
        net: &Resolved,
        (port, vc, place): (usize, usize, usize),
        (size, whole): (u32, u32),
        now: u32,
    ) -> usize {
        let input = &mut self.inputs[port];
        let Waiting { packet, wish } = input.lanes[vc].waiting.remove(place).expect("a packet");
        let wish = wish.expect("a routed packet");
        assert!(input.crossing.is_none(), "two packets cross from one input");
        input.crossing = Some(Crossing { vc, packet, output: wish.port, left: size, whole: now });
        let output = &mut self.outputs[wish.port];
        let paused = net.links.limits(&self.peers[wish.port]).is_some();
        let taken = if paused { 0 } else { net.links.charge(&self.peers[wish.port], size) };
        if let Some(credits) = output.credits.get_mut(wish.vc) {
            *credits = credits.checked_sub(taken).expect("enough credits");
        }
        // To its host it has no VC, but it is of a class.
        let to_host = matches!(self.peers[wish.port], Peer::Host(_));
        let lane = if to_host { vc % usize::from(net.flows.classes()) } else { wish.vc };
        let outgoing = Outgoing {
            packet,
            vc: wish.vc,
            size,
            ready: now + net.pipeline,
            whole: whole + net.pipeline,
            crossed: VecDeque::new(),
            sent: 0,
            memory: (net.keeps_memory && !net.injects(&self.peers[port])).then_some((port, vc)),
        };
        output.wire.append(&net.links, lane, outgoing);
        packet
    }

    /// The crossbar moves what it can of every crossing packet.
    pub(super) fn cross(&mut self, net: &Resolved, now: u32) {
        for input in &mut self.inputs {
            let Some(crossing) = &mut input.crossing else { continue };
            let lane = &mut input.lanes[crossing.vc];
            let outgoing = self.outputs[crossing.output].wire.find(crossing.packet);
            let outgoing = outgoing.expect("sent before it crossed");
            for _ in 0..net.speed {
                let mine = |(phit, _): &(Phit, u32)| phit.packet == crossing.packet;
                let Some(at) = lane.phits.iter().position(mine) else { break };
                assert!(at == 0 || net.voqs, "a packet overtakes another in its queue");
                let (_, whole) = lane.phits.remove(at).expect("a phit");
                crossing.left -= 1;
                crossing.whole = whole.max(now);
                let (begins, ends) = (now + net.pipeline, crossing.whole + net.pipeline);
                outgoing.crossed.push_back(Crossed { begins, ends });
            }
            if crossing.left == 0 && crossing.whole <= now {
                lane.registered.retain(|packet| *packet != crossing.packet);
                input.crossing = None;
            }
        }
    }

    /// Every link sends a phit if it has one.
    pub(super) fn send(&mut self, net: &Resolved, now: u32) -> Departures {
        let (phits, packets, frames) = Default::default();
        let mut all = Departures { busy: Vec::new(), phits, packets, frames };
        for (port, output) in self.outputs.iter_mut().enumerate() {
            let step = output.wire.step(&net.links, now);
            all.busy.extend(step.busy.then_some(port));
            all.phits.extend(step.phit.map(|(vc, phit)| (port, vc, phit)));
            all.frames.extend(step.frame.map(|(frame, at)| (port, frame, at)));
            if let Some(Began { vc, size, .. }) = step.began
                && !output.credits.is_empty()
            {
                output.departed.push(Departed { vc, size, at: now });
            }
            all.packets.extend(step.began.map(|packet| (port, packet)));
        }
        all
    }
}
