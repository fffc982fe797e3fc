//! A router: where its phits are, and how they move.

use std::collections::VecDeque;

use deroute::ids::{PortId, RouterId, VcId};
use deroute::routing::Queues;
use deroute::spec::Sensing;
use deroute::topology::Peer;

use super::Phit;
use super::resolved::{Class, Resolved};

/// A VC of an input port.
#[derive(Default)]
pub(super) struct Lane {
    /// Phits in the buffer.
    phits: VecDeque<Phit>,
    /// Packets whose first phit has arrived and that have not been granted, in this order.
    pub(super) waiting: VecDeque<Waiting>,
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
}

pub(super) struct Input {
    pub(super) lanes: Vec<Lane>,
    pub(super) pointer: usize,
    /// With virtual output queues: the VC that comes first, for each output.
    pub(super) turns: Vec<usize>,
    crossing: Option<Crossing>,
}

/// A packet that was granted an output, in the order of the grants.
struct Outgoing {
    packet: usize,
    /// VC at the other end of the link.
    vc: usize,
    size: u32,
    granted: u32,
    /// Phits that left the crossbar, each with the cycle in which it is through the pipeline.
    crossed: VecDeque<u32>,
    sent: u32,
}

/// A phit that leaves through a port, for a VC at the other end.
pub(super) struct Departure {
    pub(super) port: usize,
    pub(super) vc: usize,
    pub(super) phit: Phit,
}

/// A packet that began to leave over a link.
struct Departed {
    vc: usize,
    size: u32,
    at: u32,
}

pub(super) struct Output {
    pub(super) pointer: usize,
    pub(super) credits: Vec<u32>,
    queue: VecDeque<Outgoing>,
    departed: Vec<Departed>,
}

pub(super) struct Router {
    pub(super) peers: Vec<Peer>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
}

impl Router {
    pub(super) fn new(net: &Resolved, id: RouterId) -> Self {
        let ports = net.topology.radix(id);
        let peers: Vec<Peer> = (0..ports).map(|p| net.topology.peer(id, PortId(p))).collect();
        let vcs = |peer: &Peer| match peer {
            Peer::Host(_) => net.flows.classes().into(),
            Peer::Router { class, .. } => net.classes[usize::from(*class)].vcs,
            Peer::Unused => 0,
        };
        let input = |peer: &Peer| Input {
            lanes: (0..vcs(peer)).map(|_| Lane::default()).collect(),
            pointer: 0,
            turns: vec![0; usize::from(ports)],
            crossing: None,
        };
        let output = |peer: &Peer| Output {
            pointer: 0,
            credits: match peer {
                Peer::Router { class, .. } => {
                    let class = &net.classes[usize::from(*class)];
                    vec![class.buffer + class.shared; vcs(peer)]
                }
                _ => Vec::new(),
            },
            queue: VecDeque::new(),
            departed: Vec::new(),
        };
        Self {
            inputs: peers.iter().map(input).collect(),
            outputs: peers.iter().map(output).collect(),
            peers,
        }
    }

    /// A phit arrives in an input buffer.
    pub(super) fn accept(&mut self, port: usize, vc: usize, phit: Phit) {
        let lane = &mut self.inputs[port].lanes[vc];
        lane.phits.push_back(phit);
        if phit.index == 0 {
            lane.waiting.push_back(Waiting { packet: phit.packet, wish: None });
        }
    }

    /// Credits arrive at an output.
    pub(super) fn credit(&mut self, net: &Resolved, port: usize, vc: usize, phits: u32) {
        let Peer::Router { class, .. } = self.peers[port] else { panic!("credits of a host") };
        let credits = &mut self.outputs[port].credits[vc];
        *credits += phits;
        let class = &net.classes[usize::from(class)];
        assert!(*credits <= class.buffer + class.shared, "too many credits");
    }

    /// Phits that a VC of an output may still send: what it has for itself, and what nobody has taken of
    /// what all share.
    pub(super) fn free(&self, net: &Resolved, port: usize, vc: usize) -> u32 {
        let Peer::Router { class, .. } = self.peers[port] else { panic!("credits of a host") };
        let class = &net.classes[usize::from(class)];
        let all = self.outputs[port].credits.iter();
        let used: Vec<u32> = all.map(|credits| class.buffer + class.shared - credits).collect();
        let borrowed: u32 = used.iter().map(|used| used.saturating_sub(class.buffer)).sum();
        class.buffer.saturating_sub(used[vc]) + class.shared - borrowed
    }

    /// No buffer at the end of a link holds more than its capacity.
    pub(super) fn check_inputs(&self, net: &Resolved) {
        for (input, peer) in self.inputs.iter().zip(&self.peers) {
            let Peer::Router { class, .. } = peer else { continue };
            let class = &net.classes[usize::from(*class)];
            let (own, shared) = (class.buffer as usize, class.shared as usize);
            let held = || input.lanes.iter().map(|lane| lane.phits.len());
            assert!(held().all(|phits| phits <= own + shared), "an input buffer overflows");
            assert!(held().sum::<usize>() <= own * input.lanes.len() + shared, "a port overflows");
        }
    }

    /// No output holds more phits, pipeline included, than its buffer.
    pub(super) fn check_outputs(&self, net: &Resolved) {
        for output in &self.outputs {
            let phits: u64 = output.queue.iter().map(|packet| packet.crossed.len() as u64).sum();
            assert!(phits <= net.output_buffer, "an output buffer overflows");
        }
    }

    /// Is no packet of this port crossing the switch?
    pub(super) fn input_idle(&self, port: usize) -> bool {
        self.inputs[port].crossing.is_none()
    }

    /// Is nothing written to this output?
    pub(super) fn output_idle(&self, port: usize) -> bool {
        !self.inputs.iter().flat_map(|input| &input.crossing).any(|c| c.output == port)
    }

    /// Cycles until the link has sent everything that it was granted.
    pub(super) fn backlog(&self, net: &Resolved, port: usize, now: u32) -> u64 {
        let mut free = now;
        for packet in &self.outputs[port].queue {
            if packet.sent == 0 {
                free = free.max(packet.granted + net.pipeline);
            }
            free += packet.size - packet.sent;
        }
        u64::from(free - now)
    }

    /// Connects a packet, by its place in a VC of an input, to the output that it wants.
    pub(super) fn connect(
        &mut self,
        (port, vc, place): (usize, usize, usize),
        size: u32,
        now: u32,
    ) -> usize {
        let input = &mut self.inputs[port];
        let Waiting { packet, wish } = input.lanes[vc].waiting.remove(place).expect("a packet");
        let wish = wish.expect("a routed packet");
        assert!(input.crossing.is_none(), "two packets cross from one input");
        input.crossing = Some(Crossing { vc, packet, output: wish.port, left: size });
        let output = &mut self.outputs[wish.port];
        if let Some(credits) = output.credits.get_mut(wish.vc) {
            *credits = credits.checked_sub(size).expect("enough credits");
        }
        let (vc, crossed) = (wish.vc, VecDeque::new());
        output.queue.push_back(Outgoing { packet, vc, size, granted: now, crossed, sent: 0 });
        packet
    }

    /// The crossbar moves what it can of every crossing packet.
    pub(super) fn cross(&mut self, net: &Resolved, now: u32) {
        for input in &mut self.inputs {
            let Some(crossing) = &mut input.crossing else { continue };
            let lane = &mut input.lanes[crossing.vc];
            let queue = &mut self.outputs[crossing.output].queue;
            let outgoing = queue.iter_mut().find(|o| o.packet == crossing.packet);
            let outgoing = outgoing.expect("sent before it crossed");
            for _ in 0..net.speed {
                let mine = |phit: &Phit| phit.packet == crossing.packet;
                let Some(at) = lane.phits.iter().position(mine) else { break };
                assert!(at == 0 || net.voqs, "a packet overtakes another in its queue");
                lane.phits.remove(at);
                crossing.left -= 1;
                outgoing.crossed.push_back(now + net.pipeline);
            }
            if crossing.left == 0 {
                input.crossing = None;
            }
        }
    }

    /// Every link sends a phit if it has one.
    pub(super) fn send(&mut self, now: u32) -> Vec<Departure> {
        let mut sent = Vec::new();
        for (port, output) in self.outputs.iter_mut().enumerate() {
            let Some(first) = output.queue.front_mut() else { continue };
            if first.crossed.front().is_none_or(|through| *through > now) {
                assert!(first.sent == 0, "a link ran dry within a packet");
                continue;
            }
            first.crossed.pop_front();
            let phit = Phit { packet: first.packet, index: first.sent };
            sent.push(Departure { port, vc: first.vc, phit });
            if first.sent == 0 && !output.credits.is_empty() {
                output.departed.push(Departed { vc: first.vc, size: first.size, at: now });
            }
            first.sent += 1;
            if first.sent == first.size {
                output.queue.pop_front();
            }
        }
        sent
    }
}

/// The queues of a router, as its agent sees them.
pub(super) struct Queued<'a> {
    pub(super) router: &'a Router,
    pub(super) net: &'a Resolved,
    pub(super) atomic: bool,
    pub(super) now: u32,
}

impl Queued<'_> {
    fn link(&self, port: PortId) -> Option<(&Class, &Output)> {
        match self.router.peers[port.index()] {
            Peer::Router { class, .. } => {
                Some((&self.net.classes[usize::from(class)], &self.router.outputs[port.index()]))
            }
            _ => None,
        }
    }

    /// Phits of packets of a VC that have sent nothing.
    fn unsent(output: &Output, vc: VcId) -> u32 {
        let whole = output.queue.iter().filter(|p| p.vc == vc.index() && p.sent == 0);
        whole.map(|packet| packet.size).sum()
    }

    /// Phits of packets of a VC that left, and whose credits cannot be back yet.
    fn travelling(&self, class: &Class, output: &Output, vc: VcId) -> u32 {
        let back = |packet: &Departed| packet.at + 2 * class.latency;
        let out = output.departed.iter().filter(|p| p.vc == vc.index() && back(p) > self.now);
        out.map(|packet| packet.size).sum()
    }

    /// Phits that count, but for the wait for the link.
    fn counted(&self, port: PortId, vc: VcId) -> u32 {
        let Some((class, output)) = self.link(port) else { return 0 };
        match self.net.sensing {
            Sensing::Both => self.taken(port, vc),
            Sensing::Output => Self::unsent(output, vc),
            Sensing::Downstream => self.taken(port, vc) - Self::unsent(output, vc),
            Sensing::Waiting => {
                let moving = Self::unsent(output, vc) + self.travelling(class, output, vc);
                self.taken(port, vc) - moving
            }
        }
    }

    /// What the next packet would wait for the link.
    fn wait(&self, port: PortId) -> u32 {
        if self.net.sensing != Sensing::Waiting {
            return 0;
        }
        let backlog = self.router.backlog(self.net, port.index(), self.now);
        u32::try_from(backlog).expect("a short wait").saturating_sub(self.net.pipeline)
    }

    fn sum(&self, port: PortId, vcs: impl Iterator<Item = usize>) -> u32 {
        let sum: u32 = vcs.map(|vc| self.counted(port, VcId(vc as u8))).sum();
        sum + self.wait(port)
    }
}

impl Queues for Queued<'_> {
    fn port(&self, port: PortId) -> u32 {
        self.sum(port, 0..self.router.outputs[port.index()].credits.len())
    }

    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        self.sum(port, std::iter::once(vc.index()))
    }

    fn class(&self, port: PortId, vc: VcId, classes: u8) -> u32 {
        let vcs = self.router.outputs[port.index()].credits.len();
        self.sum(port, (vc.index()..vcs).step_by(usize::from(classes)))
    }

    fn lane(&self, port: PortId, vc: VcId) -> u32 {
        match (&self.net.shared_by, self.router.peers[port.index()]) {
            (Some(shared_by), Peer::Router { class, .. }) => {
                let classes = shared_by[usize::from(class)];
                let vcs = self.router.outputs[port.index()].credits.len();
                self.sum(port, (0..vcs).filter(|v| v % classes == vc.index() % classes))
            }
            _ => self.vc(port, vc),
        }
    }

    fn taken(&self, port: PortId, vc: VcId) -> u32 {
        let Some((class, output)) = self.link(port) else { return 0 };
        class.buffer + class.shared - output.credits[vc.index()]
    }

    fn fits(&self, port: PortId, vc: VcId, size: u16) -> bool {
        if self.link(port).is_none() {
            return true;
        }
        if self.atomic {
            return self.taken(port, vc) == 0;
        }
        u32::from(size) <= self.router.free(self.net, port.index(), vc.index())
    }
}
