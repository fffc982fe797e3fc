//! The rules of a router, painted over the destinations in the order of their priorities.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::addresses::Addresses;
use super::rows::{Action, Rule};
use crate::ids::{HostId, PortId, RouterId};
use crate::topology::{Peer, Topology};

/// Why rules could not be painted.
pub(super) enum Painted {
    /// A rule is for some hosts of another router, and not for all.
    TooCoarse,
    /// They contradict one another, or the hosts of the router.
    Wrong(String),
}

/// A list of actions: another one with an action behind it.
struct List {
    before: u32,
    action: u32,
    /// Nothing behind it is looked at.
    closed: bool,
}

/// What is painted: for each unit, a router or a host, the actions that packets there look at in turn.
pub(super) struct Canvas {
    addresses: Addresses,
    by_host: bool,
    /// First place of each unit in the order of addresses, and their end.
    starts: Vec<u32>,
    /// Unit of each place.
    units: Vec<u32>,
    /// Router of each unit.
    homes: Vec<RouterId>,
    /// List of each unit; 0 is empty.
    states: Vec<u32>,
    /// The rule that was painted last, counted from 1.
    last: Vec<u32>,
    lists: Vec<List>,
    longer: HashMap<(u32, u32), u32>,
    actions: Vec<Action>,
    numbers: HashMap<Action, u32>,
}

/// The hosts of the router whose rules are painted, by place.
struct Own {
    router: RouterId,
    /// Whether no more rules are looked at; None if there was none.
    closed: BTreeMap<u32, Option<bool>>,
    last: BTreeMap<u32, u32>,
}

impl Canvas {
    /// For units that are hosts or routers; None if the hosts of a router do not follow one another in the
    /// order of addresses.
    pub(super) fn new(
        topology: &dyn Topology,
        addresses: Addresses,
        by_host: bool,
    ) -> Option<Self> {
        let (mut starts, mut units, mut homes) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = vec![false; topology.routers() as usize];
        for (place, host) in addresses.hosts.iter().enumerate() {
            let home = topology.router_of(HostId(*host));
            if by_host || homes.last() != Some(&home) {
                if !by_host && std::mem::replace(&mut seen[home.index()], true) {
                    return None;
                }
                starts.push(place as u32);
                homes.push(home);
            }
            units.push(homes.len() as u32 - 1);
        }
        starts.push(addresses.hosts.len() as u32);
        let count = homes.len();
        Some(Self {
            addresses,
            by_host,
            starts,
            units,
            homes,
            states: vec![0; count],
            last: vec![0; count],
            lists: vec![List { before: 0, action: 0, closed: false }],
            longer: HashMap::new(),
            actions: Vec::new(),
            numbers: HashMap::new(),
        })
    }

    pub(super) fn by_host(&self) -> bool {
        self.by_host
    }

    pub(super) fn into_addresses(self) -> Addresses {
        self.addresses
    }

    pub(super) fn units(&self) -> usize {
        self.homes.len()
    }

    pub(super) fn home(&self, unit: usize) -> RouterId {
        self.homes[unit]
    }

    pub(super) fn state(&self, unit: usize) -> u32 {
        self.states[unit]
    }

    /// Numbers of keys.
    pub(super) fn keys(&self) -> u32 {
        let last = (0..self.units()).map(|unit| self.key(unit)).max();
        last.map_or(1, |last| last + 1)
    }

    /// The number of the host or router.
    pub(super) fn key(&self, unit: usize) -> u32 {
        match self.by_host {
            true => self.addresses.hosts[self.starts[unit] as usize],
            false => self.homes[unit].0,
        }
    }

    pub(super) fn action(&self, number: u32) -> &Action {
        &self.actions[number as usize]
    }

    /// Numbers of the actions of a list, in the order in which they are looked at.
    pub(super) fn actions(&self, mut list: u32) -> Vec<u32> {
        let mut found = Vec::new();
        while list != 0 {
            let List { before, action, .. } = self.lists[list as usize];
            found.push(action);
            list = before;
        }
        found.reverse();
        found
    }

    /// Paints the rules of a router, which stand in the order of their priorities.
    pub(super) fn paint(&mut self, topology: &dyn Topology, rules: &[Rule]) -> Result<(), Painted> {
        self.states.fill(0);
        self.last.fill(0);
        let router = RouterId(rules[0].router);
        let closed = self.own_places(topology, router).map(|place| (place, None)).collect();
        let mut own = Own { router, closed, last: BTreeMap::new() };
        let mut first = 0;
        for (number, rule) in rules.iter().enumerate() {
            if rule.priority != rules[first].priority {
                first = number;
            }
            self.apart(&rules[first..number], rule)?;
            let action = self.number(&rule.action);
            let ranges = self.addresses.ranges(rule.destination);
            for range in ranges.iter() {
                self.range(topology, range.clone(), (rules, first, number), (action, &mut own))?;
            }
        }
        if let Some((place, _)) = own.closed.iter().find(|(_, closed)| closed.is_none()) {
            let host = self.addresses.name(self.addresses.hosts[*place as usize]);
            return Err(Painted::Wrong(format!("router {router}: no rule for {host}, its own")));
        }
        Ok(())
    }

    /// Places of the hosts of a router.
    fn own_places<'a>(
        &'a self,
        topology: &'a dyn Topology,
        router: RouterId,
    ) -> impl Iterator<Item = u32> + 'a {
        let host = move |port| match topology.peer(router, PortId(port)) {
            Peer::Host(HostId(host)) => Some(self.addresses.place(host)),
            _ => None,
        };
        (0..topology.radix(router)).filter_map(host)
    }

    /// A rule with more than a destination fits no packet that one of the same priority fits as well, unless
    /// both do the same.
    fn apart(&self, others: &[Rule], rule: &Rule) -> Result<(), Painted> {
        let clash = |other: &&Rule| {
            !(rule.action.always() && other.action.always())
                && other.action.exits != rule.action.exits
                && rule.overlaps(other)
        };
        others.iter().find(clash).map_or(Ok(()), |other| Err(overlap(other, rule, None)))
    }

    fn range(
        &mut self,
        topology: &dyn Topology,
        range: Range<u32>,
        rules: (&[Rule], usize, usize),
        (action, own): (u32, &mut Own),
    ) -> Result<(), Painted> {
        let mut known = (0, 0);
        let mut place = range.start;
        while place < range.end {
            let unit = self.units[place as usize] as usize;
            let (begin, end) = (self.starts[unit], self.starts[unit + 1]);
            if self.homes[unit] == own.router {
                for place in place..end.min(range.end) {
                    self.own(topology, place, rules, own)?;
                }
            } else if place != begin || range.end < end {
                return Err(Painted::TooCoarse);
            } else {
                self.unit(unit, rules, (action, &mut known))?;
            }
            place = end;
        }
        Ok(())
    }

    /// Paints a unit of another router. `known` is a list, and the one with the action behind it.
    fn unit(
        &mut self,
        unit: usize,
        (rules, first, number): (&[Rule], usize, usize),
        (action, known): (u32, &mut (u32, u32)),
    ) -> Result<(), Painted> {
        let last = std::mem::replace(&mut self.last[unit], number as u32 + 1) as usize;
        let rule = &rules[number];
        if last > first
            && rule.action.always()
            && rules[last - 1].action.always()
            && rules[last - 1].action.exits != rule.action.exits
        {
            let host = self.addresses.hosts[self.starts[unit] as usize];
            return Err(overlap(&rules[last - 1], rule, Some(self.addresses.name(host))));
        }
        let state = self.states[unit];
        if self.lists[state as usize].closed {
            return Ok(());
        }
        if known.0 != state || known.1 == 0 {
            *known = (state, self.extend(state, action));
        }
        self.states[unit] = known.1;
        Ok(())
    }

    /// Looks at a rule for a host of the router itself.
    fn own(
        &self,
        topology: &dyn Topology,
        place: u32,
        (rules, first, number): (&[Rule], usize, usize),
        own: &mut Own,
    ) -> Result<(), Painted> {
        let (rule, host) = (&rules[number], self.addresses.hosts[place as usize]);
        let last = own.last.insert(place, number as u32 + 1).unwrap_or(0) as usize;
        if last > first && rules[last - 1].action.exits != rule.action.exits {
            let other = &rules[last - 1];
            if other.overlaps(rule) {
                return Err(overlap(other, rule, Some(self.addresses.name(host))));
            }
        }
        let closed = own.closed.entry(place).or_default();
        if *closed == Some(true) {
            return Ok(());
        }
        let port = topology.port_of(HostId(host));
        if let Some(exit) = rule.action.exits.iter().find(|exit| exit.port != port.0) {
            let (name, host) = (rule.name(), self.addresses.name(host));
            let message = format!("{name}: port {} does not lead to {host}, its own", exit.port);
            return Err(Painted::Wrong(message));
        }
        *closed = Some(rule.action.always());
        Ok(())
    }

    /// The list with an action behind it.
    fn extend(&mut self, before: u32, action: u32) -> u32 {
        let next = self.lists.len() as u32;
        let list = *self.longer.entry((before, action)).or_insert(next);
        if list == next {
            let closed = self.actions[action as usize].always();
            self.lists.push(List { before, action, closed });
        }
        list
    }

    fn number(&mut self, action: &Action) -> u32 {
        if let Some(number) = self.numbers.get(action) {
            return *number;
        }
        let number = self.actions.len() as u32;
        self.actions.push(action.clone());
        self.numbers.insert(action.clone(), number);
        number
    }
}

/// Two rules of one priority fit the same packets.
fn overlap(one: &Rule, other: &Rule, host: Option<String>) -> Painted {
    let what = host.map_or("packets".into(), |host| format!("packets to {host}"));
    let (name, line, priority) = (other.name(), one.line, other.priority);
    let same = format!("as does that on line {line}, of the same priority {priority}");
    Painted::Wrong(format!("{name} fits {what}, {same}, which leads elsewhere"))
}
