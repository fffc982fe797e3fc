//! What foreign code sees and says: numbers, every one of which is checked.

use super::facts::{Facts, pack, unpack};
use super::{HOST, Shared, UNUSED};
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::probe::PathKind;
use crate::routing::{Header, Hop, Message};
use crate::spec::PhaseA;
use crate::topology::Peer;

/// Phase-A policies by number.
const POLICIES: [PhaseA; 4] = [PhaseA::Lgl, PhaseA::Lg, PhaseA::Gl, PhaseA::G];

/// One call of foreign code. Whatever is asked for in vain, or said against the rules, is remembered as
/// wrong, and answered with 0.
pub struct Call<'a> {
    pub(super) shared: &'a Shared,
    pub(super) facts: Facts<'a>,
    /// What the ports of the router lead to.
    pub(super) links: &'a [u8],
    pub(super) state: &'a mut [i64],
    pub(super) wrong: Option<String>,
}

impl Call<'_> {
    /// The router.
    #[inline]
    pub fn router(&self) -> i64 {
        self.facts.router.0.into()
    }

    /// The port at whose head the packet is.
    #[inline]
    pub fn input(&self) -> i64 {
        self.facts.input.0.into()
    }

    /// Its VC there.
    #[inline]
    pub fn vc(&self) -> i64 {
        self.facts.vc.0.into()
    }

    /// The current cycle; 0 where it is not told.
    #[inline]
    pub fn now(&self) -> i64 {
        self.facts.now.into()
    }

    /// Phits of the packet.
    #[inline]
    pub fn size(&self) -> i64 {
        self.facts.size.into()
    }

    /// What the hook was told beside.
    #[inline]
    pub fn arguments(&self) -> [i64; 2] {
        self.facts.arguments
    }

    /// The header of the packet, if the hook is about one.
    #[inline]
    pub fn header(&self) -> Option<&Header> {
        self.facts.header.as_deref()
    }

    /// The next hop towards the target of the packet: its intermediate router, or its destination.
    #[inline]
    pub fn hop(&mut self) -> i64 {
        match self.facts.header.as_deref().map(Header::target) {
            Some(target) => self.towards(target),
            None => self.refuse("hop", "a packet"),
        }
    }

    /// The next hop towards a router.
    pub fn hop_to(&mut self, router: i64) -> i64 {
        self.router_named(router).map_or(0, |router| self.towards(router))
    }

    /// The hop through a port: on the lowest rung for its link.
    pub fn hop_by(&mut self, port: i64) -> i64 {
        let Some((port, class)) = self.link(port) else { return 0 };
        let Some(header) = self.facts.header.as_deref() else {
            return self.refuse("hop_by", "a packet");
        };
        let (phase, position) = (header.phase, header.position);
        let hop = self.shared.rungs.over((port, class), phase, position);
        hop.map_or_else(|| self.no_rung(port), pack)
    }

    #[inline]
    fn towards(&mut self, router: RouterId) -> i64 {
        let Some(header) = self.facts.header.as_deref() else {
            return self.refuse("hop_to", "a packet");
        };
        if router == self.facts.router {
            return self.wrong(format!("there is no hop from router {} to itself", router.0));
        }
        let (phase, position) = (header.phase, header.position);
        let step = self.shared.topology.next_hop(self.facts.router, router);
        match self.shared.rungs.hop(step, phase, position) {
            Some(hop) => pack(hop),
            None => self.no_rung(step.port),
        }
    }

    #[cold]
    fn no_rung(&mut self, port: PortId) -> i64 {
        self.wrong(format!("its ladder of VCs has no rung left for a hop through port {}", port.0))
    }

    /// Length of the queue of the VC that a hop takes, in phits.
    #[inline]
    pub fn queue(&mut self, hop: i64) -> i64 {
        let Some(taken) = unpack(hop).filter(|hop| hop.position > 0) else {
            return self.wrong(format!("{hop} is no hop, whose queue could be asked for"));
        };
        self.vc_queue(taken.port.0.into(), taken.vc.0.into())
    }

    /// Length of the queue of an output port, over all its VCs; a hop stands for its port.
    pub fn port_queue(&mut self, port: i64) -> i64 {
        let port = unpack(port).map_or(port, |hop| hop.port.0.into());
        let (Some((port, _)), Some(queues)) = (self.link(port), self.facts.queues) else {
            return self.refuse("port_queue", "queues");
        };
        queues.port(port).into()
    }

    /// Length of the queue of one VC of an output port.
    #[inline]
    pub fn vc_queue(&mut self, port: i64, vc: i64) -> i64 {
        let Some((port, class)) = self.link(port) else { return 0 };
        let vcs = self.shared.vcs[usize::from(class)];
        let Some(vc) = u8::try_from(vc).ok().filter(|vc| *vc < vcs) else {
            return self.wrong(format!("port {} has no VC {vc}, but {vcs}", port.0));
        };
        match self.facts.queues {
            Some(queues) => queues.lane(port, VcId(vc)).into(),
            None => self.refuse("queue", "queues"),
        }
    }

    /// Hops of the shortest path between two routers.
    #[inline]
    pub fn distance(&mut self, from: i64, to: i64) -> i64 {
        match (self.router_named(from), self.router_named(to)) {
            (Some(from), Some(to)) => self.shared.topology.distance(from, to).into(),
            _ => 0,
        }
    }

    /// Draws an intermediate router by a phase-A policy, from 0: `lgl`, `lg-`, `-gl`, `-g-`.
    #[inline]
    pub fn intermediate(&mut self, policy: i64, own_group: i64) -> i64 {
        let Some(policy) = self.policy(policy) else { return 0 };
        let (at, own_group) = (self.facts.router, own_group != 0);
        let Some(rng) = self.facts.rng.as_deref_mut() else {
            return self.refuse("intermediate", "random numbers");
        };
        match self.shared.topology.intermediate(policy, own_group, at, rng) {
            Some(router) => router.0.into(),
            None => {
                let name = PathKind::from(policy).name();
                self.wrong(format!("this topology has no intermediate routers of `{name}`"))
            }
        }
    }

    /// Draws a whole number from 0, below a bound.
    #[inline]
    pub fn below(&mut self, bound: i64) -> i64 {
        let Some(limit) = u32::try_from(bound).ok().filter(|bound| *bound > 0) else {
            return self.wrong(format!("there is no random number from 0 below {bound}"));
        };
        match self.facts.rng.as_deref_mut() {
            Some(rng) => rng.below(limit).into(),
            None => self.refuse("below", "random numbers"),
        }
    }

    /// Sends the packet through an intermediate router, drawn by a policy.
    #[inline]
    pub fn divert(&mut self, router: i64, policy: i64) -> i64 {
        let Some(intermediate) = self.router_named(router) else { return 0 };
        let Some(policy) = self.policy(policy) else { return 0 };
        let at = self.facts.router;
        match self.facts.header.as_deref_mut() {
            Some(header) => header.divert(at, intermediate, policy.into()),
            None => return self.refuse("divert", "a packet"),
        }
        0
    }

    /// Sends the packet to its destination without a detour.
    #[inline]
    pub fn go_minimally(&mut self) -> i64 {
        match self.facts.header.as_deref_mut() {
            Some(header) => header.go_minimally(),
            None => return self.refuse("go_minimally", "a packet"),
        }
        0
    }

    /// The group of a router.
    pub fn group(&mut self, router: i64) -> i64 {
        self.router_named(router).map_or(0, |router| self.shared.topology.domain(router).into())
    }

    /// The router behind a port; -1 where there is none.
    pub fn neighbour(&mut self, port: i64) -> i64 {
        let Some(port) = self.port_named(port) else { return 0 };
        match self.shared.topology.peer(self.facts.router, port) {
            Peer::Router { router, .. } => router.0.into(),
            _ => -1,
        }
    }

    /// The class of the link of a port; -1 where there is none.
    pub fn link_class(&mut self, port: i64) -> i64 {
        let Some(port) = self.port_named(port) else { return 0 };
        match self.links[port.index()] {
            HOST | UNUSED => -1,
            class => class.into(),
        }
    }

    /// Ports of the router.
    pub fn ports(&self) -> i64 {
        self.shared.topology.radix(self.facts.router).into()
    }

    /// The router by which the shortest path to another one leaves the group; -1 if it does not.
    pub fn exit_router(&mut self, to: i64) -> i64 {
        self.exit(to).map_or(-1, |(router, _)| router.0.into())
    }

    /// The port there.
    pub fn exit_port(&mut self, to: i64) -> i64 {
        self.exit(to).map_or(-1, |(_, port)| port.0.into())
    }

    fn exit(&mut self, to: i64) -> Option<(RouterId, PortId)> {
        let to = self.router_named(to)?;
        self.shared.topology.minimal_global_port(self.facts.router, to)
    }

    /// A word of the state of the router.
    pub fn state(&mut self, index: i64) -> i64 {
        self.word(index).map_or(0, |word| *word)
    }

    /// Changes a word of the state of the router.
    pub fn keep(&mut self, index: i64, value: i64) -> i64 {
        if let Some(word) = self.word(index) {
            *word = value;
        }
        0
    }

    fn word(&mut self, index: i64) -> Option<&mut i64> {
        let words = self.state.len();
        let found = usize::try_from(index).ok().filter(|index| *index < words);
        if found.is_none() {
            self.wrong(format!("there is no word {index} of state, but {words} of them"));
        }
        found.map(|index| &mut self.state[index])
    }

    /// Sends a message to all other routers of the group.
    pub fn send(&mut self, delay: i64, content: i64) -> i64 {
        let (Ok(wait), Ok(word)) = (Cycle::try_from(delay), u32::try_from(content)) else {
            return self.wrong(format!("a message of {content} in {delay} cycles is out of range"));
        };
        if !(1..=MOST_DELAY).contains(&wait) {
            return self
                .wrong(format!("a message takes 1 to {MOST_DELAY} cycles, and not {delay}"));
        }
        match self.facts.messages.as_deref_mut() {
            Some(messages) => messages.push(Message { delay: wait, content: word }),
            None => return self.refuse("send", "messages"),
        }
        0
    }

    /// What the code says of a packet: a port, or a hop. Nothing if that cannot be.
    #[inline]
    pub(super) fn resolve(&mut self, answer: i64) -> Option<Hop> {
        let Some(hop) = unpack(answer) else {
            self.wrong(format!("it answers {answer}, which is neither a port nor a hop"));
            return None;
        };
        let (port, class) = self.link(hop.port.0.into())?;
        if hop.position == 0 {
            let hop = self.hop_by(port.0.into());
            return unpack(hop).filter(|hop| hop.position > 0);
        }
        let stands = self.facts.header.as_deref().map_or(0, |header| header.position);
        if hop.position <= stands {
            let message = format!(
                "its hop through port {} is at position {}, which is not above",
                port.0, hop.position
            );
            self.wrong(message);
            return None;
        }
        if !self.shared.rungs.has(hop, class) {
            let (vc, position) = (hop.vc.0, hop.position);
            let message = format!(
                "its hop through port {} takes VC {vc} at position {position}, which is on no rung",
                port.0
            );
            self.wrong(message);
            return None;
        }
        Some(hop)
    }

    /// A port of the router that leads to another one, with the class of its link.
    #[inline]
    fn link(&mut self, port: i64) -> Option<(PortId, u8)> {
        let found = usize::try_from(port).ok().and_then(|port| self.links.get(port).copied());
        match found {
            Some(class) if class < HOST => return Some((PortId(port as u16), class)),
            Some(HOST) => self.wrong(format!("port {port} leads to a host, and not to a router")),
            _ if (0..self.ports()).contains(&port) => {
                self.wrong(format!("port {port} is not wired"))
            }
            _ => self.wrong(format!("there is no port {port}, but 0 to {}", self.ports() - 1)),
        };
        None
    }

    fn port_named(&mut self, port: i64) -> Option<PortId> {
        if (0..self.ports()).contains(&port) {
            return Some(PortId(port as u16));
        }
        self.wrong(format!("there is no port {port}, but 0 to {}", self.ports() - 1));
        None
    }

    #[inline]
    fn router_named(&mut self, router: i64) -> Option<RouterId> {
        let routers = self.shared.topology.routers();
        let found = u32::try_from(router).ok().filter(|router| *router < routers);
        if found.is_none() {
            self.wrong(format!("there is no router {router}, but 0 to {}", routers - 1));
        }
        found.map(RouterId)
    }

    #[inline]
    fn policy(&mut self, number: i64) -> Option<PhaseA> {
        let policy = usize::try_from(number).ok().and_then(|number| POLICIES.get(number));
        if policy.is_none() {
            self.wrong(format!("there is no policy {number}, but LGL, LG, GL and G"));
        }
        policy.copied()
    }

    /// A function that has no meaning in this hook.
    #[cold]
    fn refuse(&mut self, function: &str, what: &str) -> i64 {
        self.wrong(format!("`{function}` is not for this hook, which has no {what}"))
    }

    /// The first mistake counts.
    #[cold]
    fn wrong(&mut self, message: String) -> i64 {
        self.wrong.get_or_insert(message);
        0
    }
}

/// Cycles that a message may take.
const MOST_DELAY: Cycle = 1 << 20;
