//! Data that is cut into pieces, and how many phits some that follow each other have.

/// Pieces of data, in an order.
pub(super) enum Pieces {
    /// So many of so many phits, as even as can be.
    Even { phits: u32, pieces: u32 },
    /// Phits before each, and before what would be the next.
    Before(Box<[u64]>),
}

impl Pieces {
    /// Pieces of these sizes.
    pub(super) fn of(sizes: impl Iterator<Item = u32>) -> Self {
        let mut before = 0;
        let ends = sizes.map(|phits| {
            before += u64::from(phits);
            before
        });
        Self::Before(std::iter::once(0).chain(ends).collect())
    }

    fn before(&self, piece: u32) -> u64 {
        match self {
            Self::Even { phits, pieces } => {
                u64::from(*phits) * u64::from(piece) / u64::from(*pieces)
            }
            Self::Before(before) => before[piece as usize],
        }
    }

    /// Phits of some that follow each other; at least 1.
    pub(super) fn phits(&self, first: u32, count: u32) -> u32 {
        (self.before(first + count) - self.before(first)).max(1) as u32
    }
}
