//! The nodes of a rank in a file, from which it reads as it runs.
//!
//! They are there in pages of as many nodes as a block has room for. A rank goes through them about in order, so it keeps
//! the two that it has used last.

use std::sync::{Arc, Mutex, PoisonError};

use super::actions::{Action, Edge, Node, Then};
use super::packed::Packed;
use super::spill::{BLOCK, Spill};

/// Nodes of a page.
pub(super) const PAGE: usize = BLOCK / Packed::BYTES;

/// What is read where the file cannot be read any more: it does nothing, and never begins if it has not.
const LOST: Node = Node { action: Action::Join, then: Then::Nothing, needs: u32::MAX, place: 0 };

/// The nodes of a rank.
#[derive(Debug)]
pub struct Pages {
    pub(super) spill: Arc<Spill>,
    /// Number of nodes.
    pub(super) count: u32,
    /// The block of each page, and the first of its edges.
    pub(super) index: Vec<(u32, u32)>,
    /// Number of edges.
    pub(super) edges: u32,
    /// Their first block.
    pub(super) edges_at: u32,
    /// Nodes that need nothing.
    pub(super) roots: Vec<u32>,
    /// Only the rank itself reads while it runs: nobody waits.
    pub(super) window: Mutex<Window>,
}

/// The pages that a rank has used last.
#[derive(Debug, Default)]
pub(super) struct Window {
    pages: [Page; 2],
    /// Which one of them was used last.
    last: usize,
    /// A page could not be read: from then on none is, so that what has begun does not end as something else.
    lost: bool,
}

/// A page in memory.
#[derive(Debug, Default)]
struct Page {
    /// Its number, from 1.
    number: usize,
    nodes: Vec<u8>,
    /// All edges of its nodes.
    edges: Vec<Edge>,
}

impl Page {
    fn node(&self, place: usize) -> Packed {
        let (nodes, _) = self.nodes.as_chunks::<{ Packed::BYTES }>();
        Packed::from_bytes(&nodes[place])
    }
}

impl Pages {
    /// Number of nodes.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// A node.
    pub(super) fn node(&self, id: u32) -> Node {
        let node = self.with(id, |page, place, _| page.node(place).node());
        node.unwrap_or(LOST)
    }

    /// What a node makes possible, beside the one after it in a list.
    pub(super) fn edges(&self, id: u32) -> Vec<Edge> {
        let edges = self.with(id, |page, place, first| {
            let begin = place.checked_sub(1).map_or(first, |before| page.node(before).edges_end);
            let end = page.node(place).edges_end;
            page.edges[(begin - first) as usize..(end - first) as usize].to_vec()
        });
        edges.unwrap_or_default()
    }

    /// Nodes that need nothing.
    pub(super) fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// Looks at a node in its page, whose first edge has a number.
    fn with<T>(&self, id: u32, look: impl FnOnce(&Page, usize, u32) -> T) -> Option<T> {
        let (number, place) = (id as usize / PAGE, id as usize % PAGE);
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let Window { pages, last, lost } = &mut *window;
        if *lost {
            return None;
        }
        if pages[*last].number != number + 1 {
            *last = 1 - *last;
            if pages[*last].number != number + 1
                && let Err(message) = self.load(number, &mut pages[*last])
            {
                *lost = true;
                self.spill.fail(message);
                return None;
            }
        }
        Some(look(&pages[*last], place, self.index[number].1))
    }

    /// Reads a page.
    fn load(&self, number: usize, into: &mut Page) -> Result<(), String> {
        into.number = 0;
        let (block, first) = self.index[number];
        into.nodes.resize(BLOCK, 0);
        self.spill.read(block, 0, &mut into.nodes)?;
        let end = self.index.get(number + 1).map_or(self.edges, |(_, first)| *first);
        into.edges.clear();
        if end > first {
            let mut bytes = vec![0; (end - first) as usize * size_of::<u32>()];
            let offset = u64::from(first) * size_of::<u32>() as u64;
            self.spill.read(self.edges_at, offset, &mut bytes)?;
            let (words, _) = bytes.as_chunks::<4>();
            into.edges.extend(words.iter().map(|word| Edge::of_word(u32::from_le_bytes(*word))));
        }
        into.number = number + 1;
        Ok(())
    }

    /// Shows all nodes, in order.
    pub(super) fn each(&self, mut see: impl FnMut(Node)) -> Result<(), String> {
        let mut left = self.count as usize;
        let mut bytes = vec![0; BLOCK];
        for (block, _) in &self.index {
            self.spill.read(*block, 0, &mut bytes)?;
            let (nodes, _) = bytes.as_chunks::<{ Packed::BYTES }>();
            nodes.iter().take(left).for_each(|node| see(Packed::from_bytes(node).node()));
            left = left.saturating_sub(PAGE);
        }
        Ok(())
    }

    /// Bytes of memory that it takes, with both pages.
    pub(super) fn bytes(&self) -> usize {
        let edges_of_pages = PAGE * size_of::<Edge>();
        size_of::<Self>()
            + size_of_val(&*self.index)
            + size_of_val(&*self.roots)
            + 2 * (BLOCK + edges_of_pages)
    }
}
