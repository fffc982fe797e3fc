//! Sets of the ports of a partition.

use std::ops::Range;

use super::fetch::members;

/// Ports, one bit each; and which words of 64 bits are not empty, so that few ports are found quickly.
#[derive(Default)]
pub(super) struct PortSet {
    words: Vec<u64>,
    used: Vec<u64>,
}

impl PortSet {
    /// No port, of so many.
    pub(super) fn new(ports: usize) -> Self {
        let words = ports.div_ceil(64);
        Self { words: vec![0; words], used: vec![0; words.div_ceil(64)] }
    }

    #[inline]
    pub(super) fn insert(&mut self, port: u32) {
        self.insert_all(port / 64, 1 << (port % 64));
    }

    #[inline]
    fn insert_all(&mut self, word: u32, bits: u64) {
        self.words[word as usize] |= bits;
        self.used[word as usize / 64] |= 1 << (word % 64);
    }

    /// Moves those of some consecutive ports to another set.
    pub(super) fn pour(&mut self, ports: Range<u32>, to: &mut Self) {
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
    pub(super) fn drain(&mut self, mut look: impl FnMut(u32)) {
        for (place, used) in self.used.iter_mut().enumerate() {
            for word in members(std::mem::take(used)).map(|bit| place as u32 * 64 + bit) {
                members(std::mem::take(&mut self.words[word as usize]))
                    .for_each(|bit| look(word * 64 + bit));
            }
        }
    }

    /// All ports, in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        let words = self
            .used
            .iter()
            .enumerate()
            .flat_map(|(place, used)| members(*used).map(move |bit| place as u32 * 64 + bit));
        words.flat_map(|word| members(self.words[word as usize]).map(move |bit| word * 64 + bit))
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
