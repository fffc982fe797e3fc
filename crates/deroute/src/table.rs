//! Tables in which things are found by a key, where their order does not matter.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::rng::mix;

/// A table that is the same in every run.
pub(crate) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// Spreads keys over a table, the same way in every run.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }

    #[inline]
    fn write_u32(&mut self, part: u32) {
        self.write_u64(part.into());
    }

    #[inline]
    fn write_u64(&mut self, part: u64) {
        self.0 = mix(self.0 ^ part);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Bytes of so many entries, at the most: a table that has grown is seven sixteenths full, and has a byte more for each
/// place.
pub(crate) fn most_bytes<K, V>(entries: u64) -> u64 {
    entries.saturating_mul(16) / 7 * (size_of::<(K, V)>() as u64 + 1)
}
