//! Fetching what is going to be looked at into the cache, all of it together.
//!
//! A look at memory that is far away takes as long as hundreds of instructions, and the next look often
//! depends on it. Looks that do not depend on each other overlap, if they follow each other closely.

/// Ports of a partition whose state no cache near a core holds.
pub(crate) const FAR: usize = 16_384;

/// Places for packets that are worth a sweep for each packet that moves in a window: where more wait, most of what is
/// fetched would drive out what is needed.
pub(crate) const SWEPT: u64 = 16;

/// Reads something of each of several things, so that their cache lines are fetched together and
/// not one after the other by what follows.
#[inline]
pub(crate) fn touch(things: impl Iterator<Item = u32>) {
    std::hint::black_box(things.fold(0, |all, one| all ^ one));
}

/// The members of a set, from the least on.
#[inline]
pub(crate) fn members(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let member = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        member
    })
}
