//! What rules come to: a number for every router and destination, in pages that routers share.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// No rule.
pub(super) const NONE: u16 = u16::MAX;

/// Entries by router and key. Two loads each.
pub(super) struct Lookup {
    /// Keys of a page are this many bits.
    shift: u32,
    /// Pages of a router.
    pages: u32,
    /// Where the entries of a page begin, `[router][page]`.
    directory: Vec<u32>,
    entries: Vec<u16>,
}

impl Lookup {
    #[inline]
    pub(super) fn get(&self, router: u32, key: u32) -> u16 {
        let page = self.directory[(router * self.pages + (key >> self.shift)) as usize];
        self.entries[(page + (key & ((1 << self.shift) - 1))) as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.directory) + size_of_val(&*self.entries)
    }
}

/// A lookup while it is made.
pub(super) struct Draft {
    lookup: Lookup,
    /// Pages by a hash of their entries.
    known: HashMap<u64, Vec<u32>>,
}

impl Draft {
    /// For so many routers and keys; nothing leads anywhere yet.
    pub(super) fn new(routers: u32, keys: u32) -> Self {
        // A page and the directory of a router are of about the same size.
        let shift = keys.max(2).ilog2().div_ceil(2);
        let pages = keys.div_ceil(1 << shift);
        let directory = vec![0; routers as usize * pages as usize];
        let entries = vec![NONE; 1 << shift];
        Self { lookup: Lookup { shift, pages, directory, entries }, known: HashMap::new() }
    }

    /// Sets the entries of a router, by key.
    pub(super) fn set(&mut self, router: u32, row: &[u16]) {
        let (size, pages) = (1 << self.lookup.shift, self.lookup.pages);
        for (page, part) in row.chunks(size).enumerate() {
            self.lookup.directory[router as usize * pages as usize + page] = self.place(part, size);
        }
    }

    /// Where a page is, which is added if none is like it.
    fn place(&mut self, part: &[u16], size: usize) -> u32 {
        let mut hasher = DefaultHasher::new();
        part.hash(&mut hasher);
        let entries = &mut self.lookup.entries;
        let alike = self.known.entry(hasher.finish()).or_default();
        let same = |at: &&u32| entries[**at as usize..].starts_with(part);
        if let Some(at) = alike.iter().find(same) {
            return *at;
        }
        let at = entries.len();
        entries.extend_from_slice(part);
        entries.resize(at + size, NONE);
        alike.push(at as u32);
        at as u32
    }

    pub(super) fn done(mut self) -> Lookup {
        self.lookup.entries.shrink_to_fit();
        self.lookup
    }
}
