//! Which packets of a flow have come, where sources send again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Packets of a flow by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Come {
    /// All before this one.
    next: u32,
    /// And some after it.
    beyond: BTreeSet<u32>,
}

impl Come {
    /// One has come. Says whether it had not before.
    pub(super) fn add(&mut self, number: u32) -> bool {
        // Numbers begin anew after the last one.
        let behind = number.wrapping_sub(self.next) > u32::MAX / 2;
        if behind || !self.beyond.insert(number) {
            return false;
        }
        while self.beyond.remove(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Come;

    #[test]
    fn each_comes_once() {
        let mut come = Come { next: u32::MAX - 1, ..Come::default() };
        let all =
            [(u32::MAX, true), (0, true), (u32::MAX, false), (u32::MAX - 1, true), (0, false)];
        for (number, new) in all {
            assert_eq!(come.add(number), new, "{number}");
        }
        assert_eq!((come.next, come.beyond.len()), (1, 0));
    }
}
