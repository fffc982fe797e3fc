//! One of the two trees of an all-reduce by double binary trees.
//!
//! # What it does
//! Counted from 1, the members of a range have the one with the most zeros at the end of its number as their root, and
//! the roots of what is before and behind it as its children, so that every other member is a leaf. Sums go up the
//! tree, and the result goes down. Of two such trees, the second shifted by one, each takes half of the data, and who
//! is a leaf in one has children in the other. Chunks follow each other.
//!
//! # Source
//! Sanders, Speck and Träff 2009.
//!
//! # Limits
//! Adding takes no time. With an odd number one member is a leaf of both trees.

use crate::workload::step::{Op, Step};

struct Tree {
    phits: u32,
    parents: Box<[Option<u32>]>,
    children: Box<[Vec<u32>]>,
}

/// Of so many phits.
pub(super) fn build(n: u32, phits: u32) -> Box<dyn Step> {
    let mut tree = Tree {
        phits,
        parents: vec![None; n as usize].into(),
        children: vec![Vec::new(); n as usize].into(),
    };
    tree.grow(1, n, None);
    Box::new(tree)
}

impl Tree {
    /// Adds the members of a range, counted from 1.
    fn grow(&mut self, first: u32, last: u32, parent: Option<u32>) {
        let Some(root) = (first..=last).max_by_key(|number| number.trailing_zeros()) else {
            return;
        };
        self.parents[root as usize - 1] = parent;
        if let Some(parent) = parent {
            self.children[parent as usize].push(root - 1);
        }
        self.grow(first, root - 1, Some(root - 1));
        self.grow(root + 1, last, Some(root - 1));
    }
}

impl Step for Tree {
    fn name(&self) -> &'static str {
        "double_binary_tree"
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let (children, phits) = (&self.children[rank as usize], self.phits);
        let count = children.len() as u32;
        if index < count {
            return Some(Op::Wait { from: children[index as usize], tag: 0 });
        }
        let index = index - count;
        let parent = self.parents[rank as usize];
        match (index, parent) {
            (0 | 1, None) => Some(Op::NOTHING),
            (0, Some(to)) => Some(Op::Send { to, phits, tag: 0 }),
            (1, Some(from)) => Some(Op::Wait { from, tag: 1 }),
            _ => children.get(index as usize - 2).map(|&to| Op::Send { to, phits, tag: 1 }),
        }
    }

    fn tags(&self) -> u32 {
        2
    }

    fn uniform(&self) -> bool {
        false
    }
}
