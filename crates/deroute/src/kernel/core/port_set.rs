//! Sets of the ports of a partition.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::fetch::members;
use super::ports::LeadsTo;

/// Ports, one bit each.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct PortSet {
    words: Vec<u64>,
    /// Bit i: one of the words i, i + 64, i + 128, ... may not be empty, so that few ports are found quickly.
    used: u64,
}

impl PortSet {
    /// No port, of so many.
    pub(crate) fn new(ports: usize) -> Self {
        Self { words: vec![0; ports.div_ceil(64)], used: 0 }
    }

    #[inline]
    pub(crate) fn insert(&mut self, port: u32) {
        self.insert_all(port / 64, 1 << (port % 64));
    }

    #[inline]
    fn insert_all(&mut self, word: u32, bits: u64) {
        self.words[word as usize] |= bits;
        self.used |= 1 << (word % 64);
    }

    /// Is it known that there is no port in it?
    pub(crate) fn is_drained(&self) -> bool {
        self.used == 0
    }

    /// Moves those of some consecutive ports to another set.
    pub(crate) fn pour(&mut self, ports: Range<u32>, to: &mut Self) {
        let (first, last) = (ports.start / 64, (ports.end - 1) / 64);
        for word in first..=last {
            let mut mask = u64::MAX;
            if word == first {
                mask &= u64::MAX << (ports.start % 64);
            }
            if word == last {
                mask &= u64::MAX >> (63 - (ports.end - 1) % 64);
            }
            let bits = &mut self.words[word as usize];
            to.insert_all(word, *bits & mask);
            *bits &= !mask;
        }
    }

    /// Takes all ports out, in ascending order.
    #[inline(always)]
    pub(crate) fn drain(&mut self, mut look: impl FnMut(u32)) {
        let used = std::mem::take(&mut self.used);
        for (words, first) in self.words.chunks_mut(64).zip((0..).step_by(4096)) {
            for word in members(used) {
                let Some(bits) = words.get_mut(word as usize) else { break };
                members(std::mem::take(bits)).for_each(|bit| look(first + word * 64 + bit));
            }
        }
    }

    /// All ports, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let chunks = self.words.chunks(64).zip((0..).step_by(4096));
        chunks.flat_map(|(words, first)| {
            members(self.used).take_while(|word| (*word as usize) < words.len()).flat_map(
                move |word| members(words[word as usize]).map(move |bit| first + word * 64 + bit),
            )
        })
    }
}

/// Outputs that are requested, those that lead to the same kind of place side by side: what is done for one is then done for
/// many, and branches are predictable.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Requested {
    outputs: Box<[u32]>,
    /// Where those of each kind are.
    places: [Range<u32>; LeadsTo::ALL.len()],
}

impl Requested {
    /// Room for outputs that lead there.
    pub(crate) fn new(destinations: impl Iterator<Item = LeadsTo> + Clone) -> Self {
        let mut end = 0;
        let places = LeadsTo::ALL.map(|leads_to| {
            let start = end;
            // And for one more.
            end += destinations.clone().filter(|other| *other == leads_to).count() as u32 + 1;
            start..start
        });
        Self { outputs: vec![0; end as usize].into(), places }
    }

    /// Adds an output if it is new.
    #[inline(always)]
    pub(crate) fn add(&mut self, output: u32, leads_to: LeadsTo, new: bool) {
        // Without a branch: whether an output has been requested is hardly predictable.
        let end = &mut self.places[leads_to as usize].end;
        self.outputs[*end as usize] = output;
        *end += u32::from(new);
    }

    /// Where those of a kind are, which are taken out.
    #[inline(always)]
    pub(crate) fn take(&mut self, leads_to: LeadsTo) -> Range<u32> {
        let places = &mut self.places[leads_to as usize];
        let taken = places.clone();
        places.end = places.start;
        taken
    }

    /// The output at a place.
    #[inline(always)]
    pub(crate) fn at(&self, place: u32) -> u32 {
        self.outputs[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    /// The ports of a set, which is empty afterwards.
    fn drained(set: &mut PortSet) -> Vec<u32> {
        let (listed, mut ports): (Vec<_>, _) = (set.iter().collect(), Vec::new());
        set.drain(|port| ports.push(port));
        assert_eq!(listed, ports);
        assert_eq!(set.iter().next(), None);
        ports
    }

    proptest! {
        #[test]
        fn ports_are_poured_in_a_range_and_drained_in_order(
            ports in btree_set(0_u32..9_000, 0..60),
            there in btree_set(0_u32..9_000, 0..10),
            (start, length) in (0_u32..8_700, 1_u32..300),
        ) {
            let (mut from, mut to) = (PortSet::new(9_000), PortSet::new(9_000));
            ports.iter().for_each(|port| from.insert(*port));
            there.iter().for_each(|port| to.insert(*port));
            let range = start..start + length;
            from.pour(range.clone(), &mut to);
            let (moved, left): (BTreeSet<u32>, BTreeSet<u32>) =
                ports.iter().partition(|port| range.contains(port));
            prop_assert_eq!(drained(&mut from), Vec::from_iter(left));
            prop_assert_eq!(drained(&mut to), Vec::from_iter(&moved | &there));
        }
    }
}
