//! Every packet arrives, whatever the conditions are, and none waits for itself.

use super::addresses::{Addresses, Pattern};
use super::channels::Channels;
use super::forward::{Clause, Found, Table, Way};
use super::rows::{Rows, place};
use super::{Moves, TableSpec};
use crate::ids::{HostId, PortId, RouterId};
use crate::routing::{Fabric, ValiantPhase};
use crate::spec::SpecError;
use crate::topology::{Peer, Step, Topology};

/// Hops of the longest path, less one.
const MOST_HOPS: usize = 254;

/// A packet at a router.
#[derive(Clone, Copy)]
struct At {
    router: RouterId,
    port: PortId,
    /// Of the last hop; none at the source.
    vc: Option<u8>,
    phase: ValiantPhase,
    position: u8,
}

/// What a packet meets.
enum Fault {
    /// No rule at a router.
    Hole(RouterId),
    /// A rule leads to a host that it is not for.
    Host(RouterId, u16, u32),
    /// The routers since the same one.
    Loop(usize),
    /// The path is longer than VCs reach.
    Long(RouterId, u16),
}

/// A hop that a rule allows: its way, its VC and position, and the phase after it.
struct Leap {
    way: Way,
    vc: u8,
    position: u8,
    phase: ValiantPhase,
}

/// Follows packets of all sources to all destinations, over links with so many VCs.
///
/// # Errors
/// The first that does not arrive, and channels that depend on each other in a cycle.
pub(super) fn check(
    spec: &TableSpec,
    fabric: &Fabric,
    (table, addresses): (&Table, &Addresses),
    moves: &Moves,
    vcs: u8,
) -> Result<(), SpecError> {
    let topology = &*fabric.topology;
    let mut walk = Walk::new(topology, (table, moves), vcs.into());
    for host in (0..topology.hosts()).map(HostId) {
        let (home, port) = topology.home_of(host);
        if !table.by_host && port != PortId(0) {
            continue;
        }
        let key = if table.by_host { host.0 } else { home.0 };
        if let Err(fault) = walk.all_to(home, key) {
            let words = Words { spec, topology, addresses };
            return Err(words.explain(&fault, &walk.trail, host.0));
        }
    }
    let cycle = walk.channels.and_then(|channels| channels.cycle(topology));
    cycle.map_or(Ok(()), |cycle| {
        let words = Words { spec, topology, addresses };
        Err(words.explain_cycle(&cycle))
    })
}

struct Walk<'a> {
    topology: &'a dyn Topology,
    table: &'a Table,
    moves: &'a Moves,
    /// By state: in which search it was met last, twice; and one more if all that follows is right.
    stamps: Vec<u32>,
    stamp: u32,
    /// States of a router, or of a port.
    depth: usize,
    /// First port of each router, if rules tell ports apart by which packets come from other routers.
    ports: Option<Vec<usize>>,
    by_source: bool,
    /// Routers on the way, with the ports by which they are left.
    trail: Vec<(RouterId, u16)>,
    channels: Option<Channels>,
}

impl<'a> Walk<'a> {
    fn new(topology: &'a dyn Topology, (table, moves): (&'a Table, &'a Moves), vcs: usize) -> Self {
        let routers = (0..topology.routers()).map(RouterId);
        let clauses = || table.programs.iter().flatten();
        let link = |port: u16| {
            let leads = |router| matches!(topology.peer(router, PortId(port)), Peer::Router { .. });
            routers.clone().any(|router| port < topology.radix(router) && leads(router))
        };
        let by_port = clauses().filter_map(|clause| clause.in_port).any(link);
        let mut bases = vec![0];
        for router in routers.clone() {
            bases.push(bases[router.index()] + usize::from(topology.radix(router)));
        }
        let hops: usize = topology.hop_kinds().iter().map(|kind| usize::from(kind.most)).sum();
        let (depth, ordered) = match moves {
            Moves::Ladder(_, ordered) => ((2 * hops + 2) * ValiantPhase::ALL.len(), *ordered),
            Moves::Counted(hops) => (usize::from(*hops) + 1, true),
            _ => (1, false),
        };
        let nodes = if by_port { bases[bases.len() - 1] } else { routers.len() };
        Self {
            topology,
            table,
            moves,
            stamps: vec![0; nodes * depth],
            stamp: 0,
            depth,
            ports: by_port.then_some(bases),
            by_source: clauses().any(|clause| clause.source.is_some()),
            trail: Vec::new(),
            channels: (!ordered).then(|| Channels::new(topology, vcs)),
        }
    }

    /// Follows packets from everywhere to a key.
    fn all_to(&mut self, home: RouterId, key: u32) -> Result<(), Fault> {
        self.stamp += 2;
        for router in (0..self.topology.routers()).map(RouterId) {
            let rule = self.table.rule(router.0, key);
            let told_apart = self.by_source
                || matches!(rule, Found::Program(program)
                    if program.iter().any(|clause| clause.in_port.is_some()));
            for port in 0..self.topology.radix(router) {
                let Peer::Host(HostId(source)) = self.topology.peer(router, PortId(port)) else {
                    break;
                };
                if router == home || port > 0 && !told_apart {
                    break;
                }
                if self.by_source {
                    self.stamp += 2;
                }
                let (phase, port) = (ValiantPhase::Minimal, PortId(port));
                let at = At { router, port, vc: None, phase, position: 0 };
                self.follow(at, (home, key), self.table.source(source), told_apart)?;
            }
        }
        Ok(())
    }

    /// Follows a packet at a router; whatever was found there before does not count if it is told apart from
    /// others.
    fn follow(
        &mut self,
        at: At,
        (home, key): (RouterId, u32),
        source: u64,
        told_apart: bool,
    ) -> Result<(), Fault> {
        if at.router == home {
            return Ok(());
        }
        let leaps = self.leaps(at, home, key, source)?;
        if let (Some(channels), Some(vc)) = (&mut self.channels, at.vc) {
            for leap in &leaps {
                channels.depend(at.router, (at.port.0, vc), (leap.way.port, leap.vc));
            }
        }
        let state = self.state(at);
        let met = self.stamps[state];
        if met == self.stamp + 1 && !told_apart {
            return Ok(());
        }
        let before = self.trail.iter().rposition(|(router, _)| *router == at.router);
        if met == self.stamp {
            return Err(Fault::Loop(before.unwrap_or(0)));
        }
        self.stamps[state] = self.stamp;
        for leap in leaps {
            let port = leap.way.port;
            self.trail.push((at.router, port));
            if self.trail.len() > MOST_HOPS || leap.position == 0 {
                let before = self.trail[..self.trail.len() - 1]
                    .iter()
                    .rposition(|(router, _)| *router == at.router);
                self.trail.pop();
                return Err(before.map_or(Fault::Long(at.router, port), Fault::Loop));
            }
            match self.topology.peer(at.router, PortId(port)) {
                Peer::Router { router, port, .. } => {
                    let Leap { vc, position, phase, .. } = leap;
                    let next = At { router, port, vc: Some(vc), phase, position };
                    self.follow(next, (home, key), source, false)?;
                }
                Peer::Host(HostId(host)) => return Err(Fault::Host(at.router, port, host)),
                Peer::Unused => unreachable!("ports have been checked"),
            }
            self.trail.pop();
        }
        // A packet that entered here is no other's like.
        self.stamps[state] = if told_apart { 0 } else { self.stamp + 1 };
        Ok(())
    }

    fn state(&self, at: At) -> usize {
        let node = match &self.ports {
            Some(bases) => bases[at.router.index()] + at.port.index(),
            None => at.router.index(),
        };
        match self.moves {
            Moves::Ladder(..) => {
                let place = usize::from(at.position) * ValiantPhase::ALL.len();
                node * self.depth + place + at.phase as usize
            }
            Moves::Counted(_) => node * self.depth + usize::from(at.position),
            _ => node,
        }
    }

    /// All that rules may do with a packet.
    fn leaps(&self, at: At, home: RouterId, key: u32, source: u64) -> Result<Vec<Leap>, Fault> {
        let mut leaps = Vec::new();
        match self.table.rule(at.router.0, key) {
            Found::Nothing => {}
            Found::Way(way) => leaps.push(self.leap(at, home, (way, false))),
            Found::Program(program) => {
                let suits = |clause: &&Clause| clause.suits(at.port.0, source);
                for clause in program.iter().filter(suits) {
                    let leap = |way: &Way| self.leap(at, home, (*way, clause.detour));
                    leaps.extend(clause.ways.iter().map(leap));
                    if !clause.conditional {
                        break;
                    }
                }
            }
        }
        if leaps.is_empty() { Err(Fault::Hole(at.router)) } else { Ok(leaps) }
    }

    fn leap(&self, at: At, home: RouterId, (way, detour): (Way, bool)) -> Leap {
        let peer = self.topology.peer(at.router, PortId(way.port));
        let around = detour && !matches!(peer, Peer::Router { router, .. } if router == home);
        let (phase, after) = match around {
            true => (ValiantPhase::A, ValiantPhase::B),
            false => (at.phase, at.phase),
        };
        let (vc, position) = match self.moves {
            Moves::Ladder(ladder, _) => {
                let step = Step { port: PortId(way.port), kind: way.tag };
                let found = ladder.find(step, phase, at.position);
                found.map_or((0, 0), |hop| (hop.vc.0, hop.position))
            }
            Moves::Counted(hops) if at.position == *hops => (0, 0),
            Moves::Counted(_) => (at.position, at.position + 1),
            _ => (way.tag, 1),
        };
        Leap { way, vc, position, phase: after }
    }
}

/// What is wrong, in words.
struct Words<'a> {
    spec: &'a TableSpec,
    topology: &'a dyn Topology,
    addresses: &'a Addresses,
}

impl Words<'_> {
    /// The rule that sends packets to a host out of a port, or any packets.
    fn rule(&self, router: RouterId, port: u16, host: Option<u32>) -> String {
        let mut best: Option<(u32, u32)> = None;
        if let Ok(mut rows) = Rows::new(self.spec) {
            while let Ok(Some(rule)) = rows.next() {
                let leads = rule.action.exits.iter().any(|exit| exit.port == port);
                let fits = |pattern: Pattern, host: u32| pattern.fits(self.addresses.of(host));
                let meant = match (rule.destination, host) {
                    (Some(pattern), Some(host)) => fits(pattern, host),
                    _ => true,
                };
                let before = best.is_some_and(|(priority, _)| priority >= rule.priority);
                if rule.router == router.0 && leads && meant && !before {
                    best = Some((rule.priority, rule.line));
                }
            }
        }
        best.map_or_else(
            || format!("router {router}, port {port}"),
            |(_, line)| format!("router {router}, rule on line {line}"),
        )
    }

    fn explain(&self, fault: &Fault, trail: &[(RouterId, u16)], to: u32) -> SpecError {
        let name = self.addresses.name(to);
        let rule = |(router, port): &(RouterId, u16)| self.rule(*router, *port, Some(to));
        let message = match fault {
            Fault::Hole(router) => {
                let sent = trail.last().map(|last| format!(", which {} sends there", rule(last)));
                format!("router {router}: no rule for {name}{}", sent.unwrap_or_default())
            }
            Fault::Host(router, port, host) => {
                let (rule, host) = (rule(&(*router, *port)), self.addresses.name(*host));
                format!("{rule}: port {port} leads to {host}, and not to {name}")
            }
            Fault::Loop(from) => {
                let round: Vec<_> = trail[*from..].iter().map(rule).collect();
                format!("packets to {name} go round in a loop: {}", round.join("; "))
            }
            Fault::Long(router, port) => {
                let (rule, hops) = (rule(&(*router, *port)), trail.len() + 1);
                let path = "no VC of minimal paths is left for";
                let message = format!("{rule}: {path} hop {hops} of a path to {name}");
                let choices = ["shorter paths", "rules that name VCs, such as 7:1"];
                return SpecError::new(place(self.spec), message).choices(choices);
            }
        };
        SpecError::new(place(self.spec), message)
    }

    /// Channels that wait for each other.
    fn explain_cycle(&self, cycle: &[(RouterId, u16, u8)]) -> SpecError {
        let word = |(router, port, vc): &(RouterId, u16, u8)| match self
            .topology
            .peer(*router, PortId(*port))
        {
            Peer::Router { router: from, port: out, .. } => {
                let rule = self.rule(from, out.0, None);
                format!("{rule} (to router {router}, VC {vc})")
            }
            _ => format!("router {router}"),
        };
        let words: Vec<_> = cycle.iter().map(word).collect();
        let message = format!("packets may wait for each other for ever: {}", words.join("; "));
        SpecError::new(place(self.spec), message).choices(["other paths", "other VCs, such as 7:1"])
    }
}
