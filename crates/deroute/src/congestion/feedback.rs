//! The arithmetic of a QCN congestion point: when a queue is looked at, and what is found.

/// What a queue is looked at by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Every {
    /// Phits that enter it.
    Phits(u32),
    /// Packets that enter it.
    Packets(u32),
    /// Cycles, and each packet that enters it counts as one more.
    Cycles(u32),
}

impl Every {
    /// How many of them there are between two looks at an empty queue.
    fn base(self) -> u32 {
        match self {
            Self::Phits(base) | Self::Packets(base) | Self::Cycles(base) => base,
        }
    }
}

/// How much more often a queue is looked at as it grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// By the table of IEEE 802.1Q, which the upper three bits of the feedback choose from.
    Table,
    /// Linearly, to ten times as often.
    Linear,
    /// No more often.
    Constant,
}

/// Bytes between two samples by the upper three bits of the feedback, in units of 100 B.
const TABLE: [u16; 8] = [1500, 750, 500, 375, 300, 250, 215, 185];

/// Largest feedback: 6 bits.
const MOST: u8 = 63;

/// The constants of a congestion point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Feedback {
    /// Length that a queue should have, in phits.
    pub(crate) q_eq: u32,
    /// Weight of its growth.
    pub(crate) w: f64,
    pub(crate) every: Every,
    pub(crate) law: Law,
    /// Largest deviation of an interval from its mean, as a share of it.
    pub(crate) jitter: f64,
}

impl Feedback {
    /// The feedback of a queue of so many phits, which held `old` before: 0, which is no congestion, to 63.
    pub(crate) fn look(&self, phits: u32, old: u32) -> u8 {
        let [phits, old, q_eq] = [phits, old, self.q_eq].map(f64::from);
        let most = q_eq * (1.0 + 2.0 * self.w);
        let found = (phits - q_eq + self.w * (phits - old)).clamp(0.0, most);
        // Phits are below 2^30: where nothing remains, nothing is rounded.
        (f64::from(MOST) * found / most).floor() as u8
    }

    /// Cycles between two looks at the least, where packets have so many phits or more.
    pub(crate) fn least_cycles(&self, smallest: f64) -> f64 {
        let least = self.interval(MOST, 0.0);
        let cycles = match self.every {
            Every::Phits(_) => least,
            Every::Packets(_) => least * smallest,
            Every::Cycles(_) => least / 2.0,
        };
        cycles.max(1.0)
    }

    /// Until the next look after one that found this feedback: phits, packets or cycles; `drawn` is uniform in
    /// 0 to 1.
    pub(crate) fn interval(&self, feedback: u8, drawn: f64) -> f64 {
        let base = f64::from(self.every.base());
        let mean = match self.law {
            Law::Table => base * f64::from(TABLE[usize::from(feedback >> 3)]) / f64::from(TABLE[0]),
            Law::Linear => base / (1.0 + 9.0 * f64::from(feedback) / f64::from(MOST)),
            Law::Constant => base,
        };
        mean * (1.0 + self.jitter * (2.0 * drawn - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A phit is a byte.
    fn point(w: f64, every: Every, law: Law) -> Feedback {
        Feedback { q_eq: 20_000, w, every, law, jitter: 0.15 }
    }

    const BYTES: Every = Every::Phits(150_000);

    #[test]
    fn feedback_is_six_bits_of_offset_and_growth() {
        let f = |w, old, phits| point(w, BYTES, Law::Table).look(phits, old);
        for (phits, feedback) in
            [(0, 0), (20_000, 0), (25_000, 15), (30_000, 31), (40_000, 63), (90_000, 63)]
        {
            assert_eq!(f(0.0, 70_000, phits), feedback, "{phits}: the growth does not count");
        }
        for (phits, feedback) in [(30_000, 6), (40_000, 12), (60_000, 25), (100_000, 50)] {
            assert_eq!(f(2.0, phits, phits), feedback, "{phits}");
        }
        // It grows by as much as it is too long, and shrinks by as much.
        assert_eq!(f(2.0, 20_000, 30_000), 18);
        assert_eq!(f(2.0, 40_000, 30_000), 0);
        // The largest of all: 2 Q_eq that were not there before.
        assert_eq!(f(2.0, 0, 60_000), 63);
        assert_eq!(f(2.0, 30_000, 12_000), 0);
    }

    #[test]
    fn a_longer_queue_is_looked_at_more_often() {
        let mean = |every, law, feedback| point(2.0, every, law).interval(feedback, 0.5);
        let marks = [150e3, 75e3, 50e3, 37.5e3, 30e3, 25e3, 21.5e3, 18.5e3];
        for feedback in 0..64 {
            let expected = marks[usize::from(feedback / 8)];
            assert_eq!(mean(BYTES, Law::Table, feedback), expected);
            assert_eq!(mean(Every::Packets(100), Law::Constant, feedback), 100.0);
            let rate = 1.0 / mean(Every::Packets(100), Law::Linear, feedback);
            assert!((rate - (0.01 + 0.09 * f64::from(feedback) / 63.0)).abs() < 1e-12);
        }
        let of = |drawn| point(2.0, BYTES, Law::Table).interval(0, drawn);
        assert_eq!((of(0.0), of(1.0)), (127_500.0, 172_500.0));
    }
}
