//! Addresses of hosts: numbers, or MAC addresses that say where a host is (thesis 4.3.1).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{HostId, RouterId};
use crate::spec::SpecError;
use crate::topology::Topology;

/// What the hosts are called in the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Addressing {
    /// By their numbers.
    #[default]
    Number,
    /// MAC addresses with the number of the host.
    Flat,
    /// MAC addresses with fields for switch and host.
    PerSwitch,
    /// MAC addresses with fields for group, switch and host.
    PerGroup,
    /// MAC addresses with a field for every dimension or level, and for the host.
    Compact,
}

/// The octet with which every MAC address begins: locally administered, unicast.
const PREFIX: u64 = 0x02 << 40;

/// What an address has to be where the mask has ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    pub(super) value: u64,
    pub(super) mask: u64,
}

impl Pattern {
    #[inline]
    pub(super) fn fits(self, address: u64) -> bool {
        address & self.mask == self.value
    }

    /// Does some address fit both?
    pub(super) fn overlaps(self, other: Self) -> bool {
        (self.value ^ other.value) & self.mask & other.mask == 0
    }

    /// Do all addresses that fit follow one another?
    fn is_block(self) -> bool {
        // No bit that is looked at stands to the right of one that is not, among those that hosts have.
        let low = (1 << 48) - 1;
        let open = !self.mask & low;
        open & (open + 1) == 0
    }
}

/// The addresses of all hosts.
pub(super) struct Addresses {
    /// By host.
    of: Vec<u64>,
    /// Of all hosts, in order.
    sorted: Vec<u64>,
    /// Hosts in the order of their addresses.
    pub(super) hosts: Vec<u32>,
    is_mac: bool,
    /// Hosts that fit patterns which are no blocks.
    known: HashMap<Pattern, Arc<[Range<u32>]>>,
}

impl Addresses {
    /// Addresses in a network.
    ///
    /// # Errors
    /// A network whose hosts have no such places.
    pub(super) fn new(topology: &dyn Topology, addressing: Addressing) -> Result<Self, SpecError> {
        let hosts = topology.hosts();
        let of: Vec<u64> = match addressing {
            Addressing::Number => (0..u64::from(hosts)).collect(),
            _ => {
                let places = Places::new(topology, addressing)?;
                (0..hosts).map(|host| places.address(host)).collect()
            }
        };
        let mut order: Vec<u32> = (0..hosts).collect();
        order.sort_unstable_by_key(|host| of[*host as usize]);
        let sorted = order.iter().map(|host| of[*host as usize]).collect();
        let is_mac = addressing != Addressing::Number;
        Ok(Self { of, sorted, hosts: order, is_mac, known: HashMap::new() })
    }

    #[inline]
    pub(super) fn of(&self, host: u32) -> u64 {
        self.of[host as usize]
    }

    /// A host in words.
    pub(super) fn name(&self, host: u32) -> String {
        match self.is_mac {
            true => format!("host {host} ({})", mac(self.of(host))),
            false => format!("host {host}"),
        }
    }

    /// The place of a host in the order of addresses.
    pub(super) fn place(&self, host: u32) -> u32 {
        let address = self.of(host);
        self.sorted.partition_point(|other| *other < address) as u32
    }

    /// The hosts that fit a pattern, as ranges of places in the order of addresses.
    pub(super) fn ranges(&mut self, pattern: Option<Pattern>) -> Arc<[Range<u32>]> {
        let everything = Pattern { value: 0, mask: 0 };
        let pattern = pattern.unwrap_or(everything);
        if let Some(known) = self.known.get(&pattern) {
            return Arc::clone(known);
        }
        let mut found: Vec<Range<u32>> = Vec::new();
        let end = self.sorted.len();
        self.search(0..end, pattern, &mut |range| match found.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => found.push(range),
        });
        let found: Arc<[Range<u32>]> = found.into();
        if !pattern.is_block() {
            self.known.insert(pattern, Arc::clone(&found));
        }
        found
    }

    fn search(&self, places: Range<usize>, pattern: Pattern, each: &mut impl FnMut(Range<u32>)) {
        let part = &self.sorted[places.clone()];
        let (Some(first), Some(last)) = (part.first(), part.last()) else { return };
        // All agree in the bits above the first that differs between the least and the largest.
        let bits = u64::BITS - (first ^ last).leading_zeros();
        let differ = 1_u64.checked_shl(bits).map_or(u64::MAX, |one| one - 1);
        if (first ^ pattern.value) & pattern.mask & !differ != 0 {
            return;
        }
        if pattern.mask & differ == 0 {
            return each(places.start as u32..places.end as u32);
        }
        let bit = 1 << (bits - 1);
        let middle = places.start + part.partition_point(|address| address & bit == 0);
        self.search(places.start..middle, pattern, each);
        self.search(middle..places.end, pattern, each);
    }
}

/// An address as six octets.
pub(super) fn mac(address: u64) -> String {
    let octets = address.to_be_bytes();
    octets[2..].iter().map(|octet| format!("{octet:02x}")).collect::<Vec<_>>().join(":")
}

/// Where hosts are: values of the fields of their addresses.
struct Places<'a> {
    topology: &'a dyn Topology,
    /// Digits of a switch with hosts, from the most significant on.
    digits: Vec<u32>,
    hosts_of_switch: u32,
    /// Sizes and shifts of the fields, from the most significant on.
    fields: Vec<(u32, u32)>,
    addressing: Addressing,
}

impl<'a> Places<'a> {
    fn new(topology: &'a dyn Topology, addressing: Addressing) -> Result<Self, SpecError> {
        let refused = |message: String, choices: &[&str]| {
            SpecError::new("routing.table.addressing", message).choices(choices.iter().copied())
        };
        let digits = if let Some(lattice) = topology.lattice() {
            (0..lattice.dims()).map(|dim| lattice.width(dim)).collect()
        } else if let Some(tree) = topology.tree() {
            let [children, ..] = tree.shape();
            let above: Vec<u32> = children[1..].iter().rev().copied().collect();
            if above.is_empty() { vec![1] } else { above }
        } else if topology.groups() > 1 {
            vec![topology.groups(), topology.routers() / topology.groups()]
        } else if addressing == Addressing::Flat {
            vec![topology.hosts()]
        } else {
            let message = "hosts of this topology have no places".into();
            return Err(refused(message, &["number", "flat"]));
        };
        let switches: u32 = digits.iter().product();
        let hosts_of_switch = topology.hosts() / switches;
        let (last, above) = (digits[digits.len() - 1], &digits[..digits.len() - 1]);
        let sizes = match addressing {
            Addressing::Number | Addressing::Flat => vec![topology.hosts()],
            Addressing::PerSwitch => vec![switches, hosts_of_switch],
            Addressing::PerGroup => vec![above.iter().product(), last, hosts_of_switch],
            Addressing::Compact => [&digits[..], &[hosts_of_switch]].concat(),
        };
        let bits = |size: u32| u32::BITS - (size - 1).leading_zeros();
        let width: u32 = sizes.iter().map(|size| bits(*size)).sum();
        if width > 40 {
            let message = format!("{width} bits are more than the 40 of an address");
            return Err(refused(message, &["number", "flat"]));
        }
        let shift = |n: usize| sizes[n + 1..].iter().map(|size| bits(*size)).sum();
        let fields = (0..sizes.len()).map(|n| (sizes[n], shift(n))).collect();
        Ok(Self { topology, digits, hosts_of_switch, fields, addressing })
    }

    fn address(&self, host: u32) -> u64 {
        let (switch, index) = (host / self.hosts_of_switch, host % self.hosts_of_switch);
        let by_number = matches!(self.addressing, Addressing::Flat | Addressing::PerSwitch);
        let place = match self.topology.lattice() {
            // The first coordinate is corrected first, and changes fastest in the numbers.
            Some(lattice) if !by_number => {
                let router: RouterId = self.topology.router_of(HostId(host));
                (0..lattice.dims()).fold(0, |place, dim| {
                    place * self.digits[dim] + lattice.coordinate(router, dim)
                })
            }
            _ => switch,
        };
        let mut rest = u64::from(place) * u64::from(self.hosts_of_switch) + u64::from(index);
        let mut address = PREFIX;
        for (size, shift) in self.fields.iter().rev() {
            address |= (rest % u64::from(*size)) << shift;
            rest /= u64::from(*size);
        }
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::spec::{CrossbarSpec, Topology as Wiring};

    /// Ranges hold the hosts that fit, all of them and no others, whatever the pattern is.
    #[test]
    fn ranges_hold_what_fits() {
        let wiring = Wiring::Crossbar(CrossbarSpec { hosts: 100 });
        let topology = crate::topology::build(&wiring).expect("a crossbar");
        let mut addresses = Addresses::new(&*topology, Addressing::Number).expect("numbers");
        for mask in 0..128 {
            for value in (0..128).filter(|value| value & !mask == 0) {
                let pattern = Pattern { value, mask };
                let found: Vec<u64> = addresses
                    .ranges(Some(pattern))
                    .iter()
                    .cloned()
                    .flatten()
                    .map(u64::from)
                    .collect();
                let fitting: Vec<u64> = (0..100).filter(|host| pattern.fits(*host)).collect();
                assert_eq!(found, fitting, "{pattern:?}");
            }
        }
    }
}
