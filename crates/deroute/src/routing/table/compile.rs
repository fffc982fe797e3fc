//! From rules to tables: router by router, as they are read.

use std::collections::HashMap;

use super::addresses::Addresses;
use super::forward::{Clause, Program, Remembered, Table, Way, program_entry};
use super::lookup::{Draft, NONE};
use super::paint::{Canvas, Painted};
use super::rows::{Exit, Rows, Rule, place};
use super::{Moves, TableSpec};
use crate::ids::{HostId, PortId, RouterId};
use crate::routing::Fabric;
use crate::spec::SpecError;
use crate::topology::{Peer, Topology};

/// What rules come to.
pub(super) struct Compiled {
    pub(super) table: Table,
    pub(super) addresses: Addresses,
    /// The last VC that a rule names, by link class.
    pub(super) most_vc: Vec<Option<u8>>,
}

/// No kind of hop is preferred.
const ANY_KIND: u8 = u8::MAX;

/// Makes the tables of all routers: entries by router, or where a router tells hosts of another one apart, by
/// host.
///
/// # Errors
/// Rules that are none, or that contradict one another.
pub(super) fn compile(
    spec: &TableSpec,
    fabric: &Fabric,
    moves: &Moves,
) -> Result<Compiled, SpecError> {
    let topology = &*fabric.topology;
    for by_host in [false, true] {
        let addresses = Addresses::new(topology, spec.addressing)?;
        let Some(canvas) = Canvas::new(topology, addresses, by_host) else { continue };
        let mut maker = Maker::new(spec, fabric, (canvas, moves));
        if maker.read(spec)? {
            return maker.done(fabric);
        }
    }
    unreachable!("a table by hosts tells all hosts apart")
}

struct Maker<'a> {
    topology: &'a dyn Topology,
    moves: &'a Moves,
    at: &'static str,
    detours: bool,
    /// The first kind of hop over each link class.
    kinds: Vec<u8>,
    canvas: Canvas,
    draft: Draft,
    row: Vec<u16>,
    programs: Vec<Program>,
    numbers: HashMap<Program, u16>,
    /// Entries of the router at hand, by what was painted and kind.
    known: HashMap<(u32, u8), u16>,
    most_vc: Vec<Option<u8>>,
    remembered: Remembered,
    done: Vec<bool>,
}

impl<'a> Maker<'a> {
    fn new(spec: &TableSpec, fabric: &'a Fabric, (canvas, moves): (Canvas, &'a Moves)) -> Self {
        let topology = &*fabric.topology;
        let hops = topology.hop_kinds();
        let classes = topology.classes().len();
        let first = |class| hops.iter().position(|kind| usize::from(kind.class) == class);
        let keys = canvas.keys();
        Self {
            topology,
            moves,
            at: place(spec),
            detours: spec.detours,
            kinds: (0..classes).map(|class| first(class).unwrap_or(0) as u8).collect(),
            canvas,
            draft: Draft::new(topology.routers(), keys),
            row: vec![NONE; keys as usize],
            programs: Vec::new(),
            numbers: HashMap::new(),
            known: HashMap::new(),
            most_vc: vec![None; classes],
            remembered: Remembered::Nothing,
            done: vec![false; topology.routers() as usize],
        }
    }

    /// Reads all rules; false if they tell apart what one entry is for.
    fn read(&mut self, spec: &TableSpec) -> Result<bool, SpecError> {
        let mut rows = Rows::new(spec)?;
        let mut rules: Vec<Rule> = Vec::new();
        loop {
            let rule = rows.next()?;
            let ends = match (&rule, rules.first()) {
                (_, None) => false,
                (Some(rule), Some(first)) => rule.router != first.router,
                (None, Some(_)) => true,
            };
            if ends && !self.router(&mut rules)? {
                return Ok(false);
            }
            if ends {
                rules.clear();
            }
            let Some(rule) = rule else { return Ok(true) };
            self.admit(&rule)?;
            rules.push(rule);
        }
    }

    fn wrong(&self, rule: &Rule, message: &str) -> SpecError {
        SpecError::new(self.at, format!("{}: {message}", rule.name()))
    }

    /// Is a rule possible in this network?
    fn admit(&mut self, rule: &Rule) -> Result<(), SpecError> {
        let routers = self.topology.routers();
        if rule.router >= routers {
            let choices = [format!("0 to {}", routers - 1)];
            return Err(self.wrong(rule, "there is no such router").choices(choices));
        }
        if self.done[rule.router as usize] {
            let message = "the rules of a router have to follow one another";
            return Err(self.wrong(rule, message));
        }
        let router = RouterId(rule.router);
        let radix = self.topology.radix(router);
        let action = &rule.action;
        let exits = action.exits.iter().map(|exit| exit.port);
        for port in exits.chain(action.in_port).chain(action.condition) {
            let unknown = port >= radix;
            if unknown || self.topology.peer(router, PortId(port)) == Peer::Unused {
                let what = if unknown { "does not exist" } else { "leads nowhere" };
                let choices = [format!("0 to {}", radix - 1)];
                return Err(self.wrong(rule, &format!("port {port} {what}")).choices(choices));
            }
        }
        if action.condition.is_some_and(|port| action.exits.iter().any(|exit| exit.port != port)) {
            return Err(self.wrong(rule, "its condition is not about its own port"));
        }
        let named = matches!(self.moves, Moves::Named);
        if action.exits.iter().any(|exit| exit.vc.is_some() != named) {
            let message = "some rules name VCs, and others do not";
            return Err(self.wrong(rule, message));
        }
        for Exit { port, vc } in &action.exits {
            if let Peer::Router { class, .. } = self.topology.peer(router, PortId(*port)) {
                let most = &mut self.most_vc[usize::from(class)];
                *most = (*most).max(*vc);
            }
        }
        self.remember(rule)
    }

    /// The header of a packet has room for one thing.
    fn remember(&mut self, rule: &Rule) -> Result<(), SpecError> {
        let wanted = match rule.action.exits.len() {
            _ if rule.action.source.is_some() => Remembered::Source,
            1 => return Ok(()),
            _ => Remembered::Hash,
        };
        if self.detours
            || !matches!(self.remembered, Remembered::Nothing) && self.remembered != wanted
        {
            let message = "of sources, hashes and detours, a table can have one";
            return Err(self.wrong(rule, message));
        }
        self.remembered = wanted;
        Ok(())
    }

    /// Makes the table of a router; false if it tells apart what one entry is for.
    fn router(&mut self, rules: &mut [Rule]) -> Result<bool, SpecError> {
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        let router = RouterId(rules[0].router);
        match self.canvas.paint(self.topology, rules) {
            Ok(()) => {}
            Err(Painted::TooCoarse) => return Ok(false),
            Err(Painted::Wrong(message)) => return Err(SpecError::new(self.at, message)),
        }
        self.known.clear();
        self.row.fill(NONE);
        for unit in 0..self.canvas.units() {
            let state = self.canvas.state(unit);
            let home = self.canvas.home(unit);
            if state != 0 && home != router {
                let entry = self.entry(router, (state, home))?;
                self.row[self.canvas.key(unit) as usize] = entry;
            }
        }
        self.draft.set(router.0, &self.row);
        self.done[router.index()] = true;
        Ok(true)
    }

    /// The entry for a state of the canvas.
    fn entry(&mut self, at: RouterId, (state, to): (u32, RouterId)) -> Result<u16, SpecError> {
        // With detours, what a hop is on the shortest path counts, and not only over which link it goes.
        let kind = if self.detours { self.topology.next_hop(at, to).kind } else { ANY_KIND };
        if let Some(entry) = self.known.get(&(state, kind)) {
            return Ok(*entry);
        }
        let actions = self.canvas.actions(state);
        let clause = |number: &u32| {
            let action = self.canvas.action(*number);
            let host = |port| matches!(self.topology.peer(at, PortId(port)), Peer::Host(_));
            Clause {
                in_port: action.in_port,
                source: action.source,
                conditional: action.condition.is_some(),
                detour: self.detours && action.in_port.is_some_and(host),
                ways: action.exits.iter().map(|exit| self.way(at, *exit, kind)).collect(),
            }
        };
        let program: Program = actions.iter().map(clause).collect();
        let plain = |clause: &Clause| {
            let always = clause.in_port.is_none() && clause.source.is_none();
            always && !clause.conditional && clause.ways.len() == 1
        };
        let entry = match &*program {
            [only] if plain(only) => only.ways[0].entry(),
            _ => self.number(program)?,
        };
        self.known.insert((state, kind), entry);
        Ok(entry)
    }

    fn number(&mut self, program: Program) -> Result<u16, SpecError> {
        if let Some(entry) = self.numbers.get(&program) {
            return Ok(*entry);
        }
        let Some(entry) = program_entry(self.programs.len()) else {
            let message = "there are more than 32,766 different lists of rules for a destination";
            return Err(SpecError::new(self.at, message));
        };
        self.programs.push(program.clone());
        self.numbers.insert(program, entry);
        Ok(entry)
    }

    /// A port, with its VC or the kind of the hop over it.
    fn way(&self, at: RouterId, Exit { port, vc }: Exit, kind: u8) -> Way {
        let tag = match (self.moves, self.topology.peer(at, PortId(port))) {
            (Moves::Named, _) => vc.unwrap_or(0),
            (Moves::Ladder(..), Peer::Router { class, .. }) => {
                let preferred = self.topology.hop_kinds().get(usize::from(kind)).copied();
                match preferred {
                    Some(hop) if hop.class == class => kind,
                    _ => self.kinds[usize::from(class)],
                }
            }
            _ => 0,
        };
        Way { port, tag }
    }

    fn done(self, fabric: &Fabric) -> Result<Compiled, SpecError> {
        let (topology, by_host) = (&self.topology, self.canvas.by_host());
        let first = |router| match topology.peer(RouterId(router), PortId(0)) {
            Peer::Host(HostId(host)) => host,
            _ => 0,
        };
        let first_host = (0..topology.routers()).map(first).collect();
        let addresses = self.canvas.into_addresses();
        let sources = match self.remembered {
            Remembered::Source => (0..topology.hosts()).map(|host| addresses.of(host)).collect(),
            _ => Vec::new(),
        };
        let conditional = self.programs.iter().flatten().any(|clause| clause.conditional);
        let table = Table {
            topology: std::sync::Arc::clone(&fabric.topology),
            lookup: self.draft.done(),
            programs: self.programs,
            by_host,
            first_host,
            addresses: sources,
            remembered: self.remembered,
            conditional,
        };
        Ok(Compiled { table, addresses, most_vc: self.most_vc })
    }
}
