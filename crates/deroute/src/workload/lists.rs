//! First-in first-out lists, found by a key.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::table::Table;

/// No entry.
const NONE: u32 = u32::MAX;

/// Lists, each with a key of its own. Their entries lie in one pool, whose places are reused last in, first out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub(super) struct Lists<K: Eq + Hash, T> {
    /// The only entry of all, if there is one and it was added to none: most receives are posted one by one.
    only: Option<(K, T)>,
    /// The first and the last entry of each list, none of which is empty.
    ends: Table<K, (u32, u32)>,
    /// Each with the one after it, or, where it is free, with the next free one.
    entries: Vec<(T, u32)>,
    free: u32,
}

impl<K: Eq + Hash, T> Default for Lists<K, T> {
    fn default() -> Self {
        Self { only: None, ends: Table::default(), entries: Vec::new(), free: NONE }
    }
}

impl<K: Eq + Hash + Copy, T: Copy> Lists<K, T> {
    /// Adds an entry at the end of a list.
    pub(super) fn push(&mut self, key: K, value: T) {
        match self.only.take() {
            None if self.ends.is_empty() => self.only = Some((key, value)),
            None => self.add(key, value),
            Some((first, only)) => {
                self.add(first, only);
                self.add(key, value);
            }
        }
    }

    /// Adds an entry at the end of a list in the pool.
    fn add(&mut self, key: K, value: T) {
        let place = self.free;
        let entry = (value, NONE);
        let place = match self.entries.get_mut(place as usize) {
            Some(free) => {
                self.free = free.1;
                *free = entry;
                place
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        let (_, last) = self.ends.entry(key).or_insert((place, NONE));
        let before = std::mem::replace(last, place);
        if let Some(before) = self.entries.get_mut(before as usize) {
            before.1 = place;
        }
    }

    /// There is no entry, or a single one, whose key is not one of these.
    #[inline]
    pub(super) fn are_all_but(&self, these: impl Fn(&K) -> bool) -> bool {
        self.ends.is_empty() && self.only.as_ref().is_none_or(|(key, _)| !these(key))
    }

    /// Takes the first entry of a list.
    pub(super) fn pop(&mut self, key: K) -> Option<T> {
        if self.ends.is_empty() {
            return self.only.take_if(|(only, _)| *only == key).map(|(_, value)| value);
        }
        let Entry::Occupied(mut list) = self.ends.entry(key) else { return None };
        let first = &mut list.get_mut().0;
        let (value, next) = &mut self.entries[*first as usize];
        let (value, next) = (*value, std::mem::replace(next, self.free));
        self.free = std::mem::replace(first, next);
        if next == NONE {
            list.remove();
        }
        Some(value)
    }

    /// The first entry of a list.
    pub(super) fn first(&self, key: K) -> Option<&T> {
        let only = self.only.as_ref().filter(|(only, _)| *only == key).map(|(_, value)| value);
        only.or_else(|| self.ends.get(&key).map(|(first, _)| &self.entries[*first as usize].0))
    }

    /// Finds an entry of a list.
    pub(super) fn find(&mut self, key: K, is_it: impl Fn(&T) -> bool) -> Option<&mut T> {
        if let Some((only, value)) = &mut self.only {
            return (*only == key && is_it(value)).then_some(value);
        }
        let mut place = self.ends.get(&key)?.0;
        while !is_it(&self.entries.get(place as usize)?.0) {
            place = self.entries[place as usize].1;
        }
        Some(&mut self.entries[place as usize].0)
    }

    /// Every list, in no order, with its first entry.
    pub(super) fn firsts(&self) -> impl Iterator<Item = (K, &T)> {
        let only = self.only.iter().map(|(key, value)| (*key, value));
        let entry = |place: u32| &self.entries[place as usize].0;
        only.chain(self.ends.iter().map(move |(key, (first, _))| (*key, entry(*first))))
    }

    /// Every entry, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = (K, &T)> {
        let only = self.only.iter().map(|(key, value)| (*key, value));
        only.chain(self.ends.iter().flat_map(|(key, (first, _))| {
            let entry = |place: u32| self.entries.get(place as usize);
            let all = std::iter::successors(entry(*first), move |(_, next)| entry(*next));
            all.map(|(value, _)| (*key, value))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn entries_leave_in_the_order_in_which_they_came() {
        let mut lists = Lists::default();
        [(7, 'a'), (3, 'x'), (7, 'b'), (7, 'c')]
            .iter()
            .for_each(|(key, value)| lists.push(*key, *value));
        assert_eq!((lists.pop(7), lists.pop(3), lists.pop(3)), (Some('a'), Some('x'), None));
        [(3, 'y'), (7, 'd')].iter().for_each(|(key, value)| lists.push(*key, *value));
        assert_eq!(lists.entries.len(), 4, "places are used again");
        assert_eq!(lists.find(7, |value| *value == 'c').map(|value| *value = 'C'), Some(()));
        assert_eq!(lists.find(3, |value| *value == 'C'), None);
        assert_eq!((lists.first(7), lists.all().count()), (Some(&'b'), 4));
        let left = [7; 4].map(|key| lists.pop(key));
        assert_eq!(left, [Some('b'), Some('C'), Some('d'), None]);
        assert_eq!(lists.firsts().collect::<Vec<_>>(), [(3, &'y')]);
    }

    /// What is alone is in no list, until another one comes.
    #[test]
    fn one_entry_takes_no_list() {
        let mut lists = Lists::default();
        lists.push(7, 'a');
        assert_eq!((lists.entries.len(), lists.first(7), lists.first(3)), (0, Some(&'a'), None));
        assert_eq!(lists.firsts().chain(lists.all()).collect::<Vec<_>>(), [(7, &'a'); 2]);
        assert_eq!((lists.pop(3), lists.find(7, |value| *value == 'b')), (None, None));
        assert_eq!(lists.find(7, |value| *value == 'a').map(|value| *value = 'A'), Some(()));
        lists.push(7, 'b');
        assert_eq!([lists.pop(7), lists.pop(7), lists.pop(7)], [Some('A'), Some('b'), None]);
    }
}
