//! The nodes of a rank while they are read: in memory while there is room, and then page by page in a file.

use std::sync::{Arc, Mutex};

use super::check;
use crate::workload::actions::{Edge, Then};
use crate::workload::packed::Packed;
use crate::workload::pages::{PAGE, Pages, Window};
use crate::workload::program::RankProgram;
use crate::workload::spill::{BLOCK, Long, Spill};

/// The nodes of a rank.
pub(super) struct Nodes {
    pub(super) spill: Arc<Spill>,
    /// All of them; or, where there are pages, those that are in none.
    kept: Vec<Packed>,
    /// Pages of room in memory that was taken for them.
    taken: usize,
    /// The blocks of the pages.
    blocks: Vec<u32>,
    /// A page that was looked at again.
    again: Option<Again>,
    /// By the node that they begin at, in the order in which they were read.
    edges: Long<(u32, Edge)>,
    number_of_edges: u32,
}

/// A page in memory again.
struct Again {
    number: usize,
    nodes: Vec<Packed>,
    changed: bool,
}

/// Nodes as a page has them.
fn bytes_of(nodes: &[Packed]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BLOCK);
    nodes.iter().for_each(|node| bytes.extend(node.to_bytes()));
    bytes.resize(BLOCK, 0);
    bytes
}

impl Nodes {
    pub(super) fn new(spill: &Arc<Spill>) -> Self {
        let (spill, kept, blocks) = (Arc::clone(spill), Vec::new(), Vec::new());
        let edges = Long::default();
        Self { spill, kept, taken: 0, blocks, again: None, edges, number_of_edges: 0 }
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.blocks.len() * PAGE + self.kept.len()
    }

    /// Adds a node.
    pub(super) fn push(&mut self, node: Packed) -> Result<(), String> {
        let paged = !self.blocks.is_empty();
        if paged && self.kept.len() == PAGE {
            self.blocks.push(self.spill.append(&bytes_of(&self.kept))?);
            self.kept.clear();
        } else if !paged && self.kept.len() == self.taken * PAGE {
            // The first page is there in any case, while it is read.
            match self.taken == 0 || self.spill.take() {
                true => self.taken += 1,
                false => self.write_kept()?,
            }
        }
        self.kept.push(node);
        Ok(())
    }

    /// All nodes go into the file: there are whole pages of them.
    fn write_kept(&mut self) -> Result<(), String> {
        let all = std::mem::replace(&mut self.kept, Vec::with_capacity(PAGE));
        for page in all.chunks(PAGE) {
            self.blocks.push(self.spill.append(&bytes_of(page))?);
        }
        self.spill.give_back(self.taken.saturating_sub(1) as u64);
        self.taken = 0;
        Ok(())
    }

    /// A node needs the end of another, or its beginning.
    pub(super) fn need(&mut self, node: u32, other: u32, begun: bool) -> Result<(), String> {
        let more = self.number_of_edges.checked_add(1);
        self.number_of_edges = more.ok_or("nodes of a rank need too many others")?;
        self.edges.push((other, Edge::new(node, begun)), &self.spill)
    }

    /// A node.
    pub(super) fn get(&mut self, node: u32) -> Result<Packed, String> {
        Ok(*self.place(node, false)?)
    }

    /// A node becomes another one.
    pub(super) fn set(&mut self, node: u32, packed: Packed) -> Result<(), String> {
        *self.place(node, true)? = packed;
        Ok(())
    }

    /// Where a node is in memory, to be changed or not.
    fn place(&mut self, node: u32, change: bool) -> Result<&mut Packed, String> {
        let (node, written) = (node as usize, self.blocks.len() * PAGE);
        if node >= written {
            return Ok(&mut self.kept[node - written]);
        }
        let number = node / PAGE;
        let again = match self.again.take() {
            Some(again) if again.number == number => again,
            other => {
                self.put_back(other)?;
                self.read(number)?
            }
        };
        let again = self.again.insert(again);
        again.changed |= change;
        Ok(&mut again.nodes[node % PAGE])
    }

    /// Reads a page.
    fn read(&self, number: usize) -> Result<Again, String> {
        let mut bytes = vec![0; BLOCK];
        self.spill.read(self.blocks[number], 0, &mut bytes)?;
        let (nodes, _) = bytes.as_chunks::<{ Packed::BYTES }>();
        let nodes = nodes.iter().map(Packed::from_bytes).collect();
        Ok(Again { number, nodes, changed: false })
    }

    /// Writes a page if it has changed.
    fn put_back(&self, again: Option<Again>) -> Result<(), String> {
        match again {
            Some(Again { number, nodes, changed: true }) => {
                self.spill.write(self.blocks[number], &bytes_of(&nodes))
            }
            _ => Ok(()),
        }
    }

    /// Nodes as they are kept, or the place of one that needs itself.
    pub(super) fn finish(mut self) -> Result<Result<RankProgram, u32>, String> {
        let again = self.again.take();
        self.put_back(again)?;
        let mut edges = std::mem::take(&mut self.edges).all(&self.spill)?;
        edges.sort_unstable();
        let mut tied = Tied::new(&edges);
        let program = match self.blocks.is_empty() {
            true => {
                (0..).zip(&mut self.kept).for_each(|(id, node)| tied.tie(id, node));
                let edges = edges.iter().map(|(_, edge)| *edge).collect();
                RankProgram::Kept { nodes: self.kept.into(), edges }
            }
            false => RankProgram::Paged(Box::new(self.finish_pages(&mut tied)?)),
        };
        let Some(shape) = tied.shape else { return Ok(Ok(program)) };
        Ok(match check::cycle(shape, &edges) {
            None => Ok(program),
            Some(node) => Err(program.node(node).place),
        })
    }

    /// All nodes are in pages then.
    fn finish_pages(mut self, tied: &mut Tied<'_>) -> Result<Pages, String> {
        let count = self.len() as u32;
        if !self.kept.is_empty() {
            self.blocks.push(self.spill.append(&bytes_of(&self.kept))?);
        }
        let (mut index, mut roots) = (Vec::with_capacity(self.blocks.len()), Vec::new());
        for number in 0..self.blocks.len() {
            index.push((self.blocks[number], tied.end as u32));
            let mut page = self.read(number)?;
            for (id, node) in ((number * PAGE) as u32..count).zip(&mut page.nodes) {
                tied.tie(id, node);
                roots.extend((node.needs == 0).then_some(id));
            }
            page.changed = true;
            self.put_back(Some(page))?;
        }
        let words: Vec<u8> =
            tied.edges.iter().flat_map(|(_, edge)| edge.word().to_le_bytes()).collect();
        let edges_at = if words.is_empty() { 0 } else { self.spill.append(&words)? };
        let (edges, window) = (tied.edges.len() as u32, Mutex::new(Window::default()));
        Ok(Pages { spill: self.spill, count, index, edges, edges_at, roots, window })
    }
}

/// Gives nodes what follows from edges, one after the other.
struct Tied<'a> {
    /// In order.
    edges: &'a [(u32, Edge)],
    /// Where they lead, in order.
    to: Vec<u32>,
    /// Edges of the nodes so far, and those that lead to them.
    end: usize,
    met: usize,
    /// The node before needs this one.
    follows: bool,
    /// What a search for a cycle looks at, if there could be one.
    shape: Option<check::Shape>,
}

impl<'a> Tied<'a> {
    fn new(edges: &'a [(u32, Edge)]) -> Self {
        let mut to: Vec<u32> = edges.iter().map(|(_, edge)| edge.to()).collect();
        to.sort_unstable();
        let forward = edges.iter().all(|(from, edge)| edge.to() > *from);
        let shape = (!forward).then(check::Shape::default);
        Self { edges, to, end: 0, met: 0, follows: false, shape }
    }

    fn tie(&mut self, id: u32, node: &mut Packed) {
        let own = self.edges[self.end..].iter().take_while(|(from, _)| *from == id);
        self.end += own.count();
        let met = self.to[self.met..].iter().take_while(|to| **to == id).count();
        self.met += met;
        node.needs = met as u32 + u32::from(self.follows);
        node.edges_end = self.end as u32;
        self.follows = node.then() != Then::Nothing;
        if let Some(shape) = &mut self.shape {
            shape.add(node.needs, node.edges_end, self.follows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::actions::Action;

    /// Nodes of which many need others, before them or behind them, and some become others, with this room in memory.
    fn program(count: u32, room: u64) -> Result<RankProgram, u32> {
        let mut nodes = Nodes::new(&Arc::new(Spill::new(room)));
        let action = |id: u32, more| Action::Compute { cycles: id + more, stream: 0 };
        let thens = [Then::Nothing, Then::Begun, Then::Ended];
        for id in 0..count {
            let then = thens[(id / 3 % 3) as usize];
            nodes.push(Packed::new(action(id, 0), then, id)).expect("a disk");
        }
        for id in 0..count {
            // Whoever needs a later node stands alone, so that nothing needs itself.
            let alone = id / 9 % 5 == 4 && id % 9 == 1 && id + 200 < count;
            let other = if alone { id + 197 } else { (id / 2 + 1).min(id.saturating_sub(1)) };
            if alone || (id % 4 == 1 && other / 9 % 5 != 4) {
                nodes.need(id, other, id % 8 == 1).expect("a disk");
            }
            if id % 50 == 7 {
                let again = (id * 31) % count;
                let then = nodes.get(again).expect("a disk").then();
                nodes.set(again, Packed::new(action(again, 1), then, again)).expect("a disk");
            }
        }
        nodes.finish().expect("a disk")
    }

    #[test]
    fn pages_are_what_was_kept() {
        for count in [129, 256, 1_000, 5_000] {
            let kept = program(count, u64::MAX / 2).expect("no cycle");
            for room in [0, 3 * BLOCK as u64] {
                let paged = program(count, room).expect("no cycle");
                let is_paged = matches!(paged, RankProgram::Paged(_));
                assert_eq!(is_paged, room == 0 || count > 4 * PAGE as u32, "{count} {room}");
                assert_eq!(kept.roots(), paged.roots());
                // In any order.
                for id in (0..count).map(|id| (id * 77) % count) {
                    assert_eq!(kept.node(id), paged.node(id));
                    assert_eq!(kept.edges(id), paged.edges(id));
                }
                let [mut one, mut other] = [Vec::new(), Vec::new()];
                kept.each(|node| one.push(node)).expect("a disk");
                paged.each(|node| other.push(node)).expect("a disk");
                assert_eq!(one, other);
            }
        }
    }

    #[test]
    fn what_needs_itself_is_found_in_pages() {
        for room in [0, u64::MAX / 2] {
            let mut nodes = Nodes::new(&Arc::new(Spill::new(room)));
            for id in 0..1_000 {
                nodes.push(Packed::new(Action::Join, Then::Ended, id + 1)).expect("a disk");
            }
            nodes.need(300, 900, false).expect("a disk");
            assert_eq!(nodes.finish().expect("a disk").err(), Some(301));
        }
    }
}
