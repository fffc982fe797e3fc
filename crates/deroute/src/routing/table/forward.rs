//! Packets follow the table.

use std::sync::Arc;

use super::addresses::Pattern;
use super::lookup::{Lookup, NONE};
use crate::ids::{HostId, PortId, RouterId, VcId};
use crate::probe::PathKind;
use crate::rng::mix;
use crate::routing::{
    Header, Hop, Ladder, Memo, RouterView, Routing, Signal, ValiantPhase, Watches,
};
use crate::state::state;
use crate::topology::{Peer, Step, Topology};

/// An entry is the number of a program, and not a port with its tag.
const PROGRAM: u16 = 1 << 15;
const PORT_BITS: u32 = 10;

/// A port, and the kind of the hop or its VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Way {
    pub(super) port: u16,
    pub(super) tag: u8,
}

impl Way {
    pub(super) fn entry(self) -> u16 {
        self.port | u16::from(self.tag) << PORT_BITS
    }

    #[inline]
    fn of(entry: u16) -> Self {
        Self { port: entry & ((1 << PORT_BITS) - 1), tag: (entry >> PORT_BITS & 15) as u8 }
    }
}

/// One of several rules for packets to the same destination.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Clause {
    pub(super) in_port: Option<u16>,
    pub(super) source: Option<Pattern>,
    /// It counts while its port is not paused.
    pub(super) conditional: bool,
    /// The hop is phase A, and what follows phase B.
    pub(super) detour: bool,
    /// A hash of the packet's ends chooses.
    pub(super) ways: Box<[Way]>,
}

impl Clause {
    /// Is it for packets that entered at a port, from a source?
    #[inline]
    pub(super) fn suits(&self, in_port: u16, source: u64) -> bool {
        self.in_port.is_none_or(|port| port == in_port)
            && self.source.is_none_or(|pattern| pattern.fits(source))
    }
}

/// Rules in the order in which they are looked at.
pub(super) type Program = Box<[Clause]>;

/// What is for a packet at a router.
pub(super) enum Found<'a> {
    Nothing,
    Way(Way),
    Program(&'a [Clause]),
}

/// The entry of a program.
pub(super) fn program_entry(number: usize) -> Option<u16> {
    let entry = u16::try_from(number).ok().filter(|number| *number < PROGRAM - 1)?;
    Some(entry | PROGRAM)
}

/// What the memo of a packet has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remembered {
    /// Nothing but the router of a detour.
    Nothing,
    Source,
    Hash,
}

/// The tables of all routers.
pub(super) struct Table {
    pub(super) topology: Arc<dyn Topology>,
    pub(super) lookup: Lookup,
    pub(super) programs: Vec<Program>,
    /// Entries are by host and not by router.
    pub(super) by_host: bool,
    /// The first host of each router.
    pub(super) first_host: Vec<u32>,
    /// By host, where rules look at the source.
    pub(super) addresses: Vec<u64>,
    pub(super) remembered: Remembered,
    /// Some rules count while a port is not paused.
    pub(super) conditional: bool,
}

impl Table {
    #[inline]
    fn find(&self, at: RouterId, to: RouterId, port: PortId) -> u16 {
        let key = if self.by_host { self.first_host[to.index()] + u32::from(port.0) } else { to.0 };
        self.lookup.get(at.0, key)
    }

    /// What is for packets to a key, a router or a host.
    pub(super) fn rule(&self, at: u32, key: u32) -> Found<'_> {
        match self.lookup.get(at, key) {
            NONE => Found::Nothing,
            entry if entry & PROGRAM == 0 => Found::Way(Way::of(entry)),
            entry => Found::Program(&self.programs[usize::from(entry & !PROGRAM)]),
        }
    }

    pub(super) fn source(&self, host: u32) -> u64 {
        self.addresses.get(host as usize).copied().unwrap_or(0)
    }

    pub(super) fn bytes(&self) -> usize {
        let vectors = size_of_val(&*self.first_host) + size_of_val(&*self.addresses);
        self.lookup.bytes() + vectors
    }
}

/// How the VC of a hop is found.
pub(super) trait Vcs: Clone + Send + 'static {
    fn hop(&self, way: Way, phase: ValiantPhase, position: u8) -> Hop;
}

impl Vcs for Ladder {
    #[inline]
    fn hop(&self, Way { port, tag }: Way, phase: ValiantPhase, position: u8) -> Hop {
        Ladder::hop(self, Step { port: PortId(port), kind: tag }, phase, position)
    }
}

/// The rule says which.
#[derive(Clone)]
pub(super) struct Named;

impl Vcs for Named {
    #[inline]
    fn hop(&self, Way { port, tag }: Way, _: ValiantPhase, position: u8) -> Hop {
        Hop { port: PortId(port), vc: VcId(tag), position: position.saturating_add(1) }
    }
}

/// Hops are counted.
#[derive(Clone)]
pub(super) struct Counted;

impl Vcs for Counted {
    #[inline]
    fn hop(&self, Way { port, .. }: Way, _: ValiantPhase, position: u8) -> Hop {
        Hop { port: PortId(port), vc: VcId(position), position: position + 1 }
    }
}

/// An agent in every router.
pub(super) struct Forward<V> {
    pub(super) table: Arc<Table>,
    pub(super) vcs: V,
    /// How often a condition was looked at where there is another rule, and another one was taken.
    pub(super) looked: u64,
    pub(super) diverted: u64,
}

impl<V: Vcs> Routing for Forward<V> {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let entry = self.table.find(view.router, header.destination, view.port);
        if entry & PROGRAM == 0 {
            return self.vcs.hop(Way::of(entry), header.phase, header.position);
        }
        self.look(entry, view, header)
    }

    fn watches(&self) -> Watches {
        let signal = self.table.conditional.then_some(Signal::Pauses);
        Watches { signal, ..Watches::default() }
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        match self.table.conditional {
            true => vec![("diverted", self.diverted), ("decided", self.looked)],
            false => Vec::new(),
        }
    }

    fn bytes(&self) -> usize {
        self.table.bytes().div_ceil(self.table.first_host.len().max(1))
    }

    state! { keep looked, diverted; leave table, vcs; }
}

impl<V: Vcs> Forward<V> {
    /// Looks at the rules of a program.
    fn look(&mut self, entry: u16, view: &RouterView<'_>, header: &mut Header) -> Hop {
        let table = Arc::clone(&self.table);
        let program = &table.programs[usize::from(entry & !PROGRAM)];
        let source = match table.remembered {
            Remembered::Source => table.source(self.source(view, header)),
            _ => 0,
        };
        let mut suitable = program.iter().filter(|clause| clause.suits(view.input.0, source));
        let Some(first) = suitable.next() else { unreachable!("the tables have been checked") };
        let clause = match first.conditional {
            true => self.choose(first, &mut suitable, view, header),
            false => first,
        };
        let way = match &*clause.ways {
            [way] => *way,
            ways => ways[self.hash(view, header, ways.len())],
        };
        if clause.detour {
            let peer = table.topology.peer(view.router, PortId(way.port));
            let Peer::Router { router, .. } = peer else { unreachable!("a detour has a router") };
            header.divert(view.router, router, PathKind::G);
        }
        self.vcs.hop(way, header.phase, header.position)
    }

    /// The first rule that counts; if there is none, the packet waits for the first.
    fn choose<'a>(
        &mut self,
        first: &'a Clause,
        others: &mut dyn Iterator<Item = &'a Clause>,
        view: &RouterView<'_>,
        header: &Header,
    ) -> &'a Clause {
        let Some(second) = others.next() else { return first };
        self.looked += 1;
        let counts = |clause: &Clause| {
            let hop = self.vcs.hop(clause.ways[0], header.phase, header.position);
            !clause.conditional || !view.queues.is_paused(hop.port, hop.vc)
        };
        if counts(first) {
            return first;
        }
        let taken = std::iter::once(second).chain(others).find(|clause| counts(clause));
        self.diverted += u64::from(taken.is_some());
        taken.unwrap_or(first)
    }

    /// The source of a packet, which is remembered at its router.
    fn source(&self, view: &RouterView<'_>, header: &mut Header) -> u32 {
        if let Memo::Source(HostId(host)) = header.memo() {
            return host;
        }
        let host = self.table.first_host[view.router.index()] + u32::from(view.input.0);
        header.remember(Memo::Source(HostId(host)));
        host
    }

    /// One of several ways, as `ecmp` chooses without a seed.
    fn hash(&self, view: &RouterView<'_>, header: &mut Header, ways: usize) -> usize {
        let flow = match header.memo() {
            Memo::FlowHash(flow) => flow,
            _ => {
                let source = self.table.first_host[view.router.index()] + u32::from(view.input.0);
                let to = self.table.first_host[header.destination.index()] + u32::from(view.port.0);
                let flow = mix(mix(u64::from(source) << 32 | u64::from(to))) as u32;
                header.remember(Memo::FlowHash(flow));
                flow
            }
        };
        let level = u64::from(header.position) + 1;
        let hash = mix(level << 32 | u64::from(flow)) >> 32;
        ((hash * ways as u64) >> 32) as usize
    }
}
