//! Random streams: one for each router and each host, named by what they are.
//!
//! Every draw is integer arithmetic, so a stream is the same on every machine.

use crate::ids::{PortId, RouterId};
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

/// The random stream of one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream(Pcg32);

/// What a stream belongs to. The discriminant is part of its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Routing decisions of a router.
    Router(u32),
    /// Generation of packets at a host.
    Host(u32),
    /// Set-up of the whole network, such as a random permutation.
    Network,
    /// Random placement of ranks.
    Placement,
    /// Congestion points at an output of a router.
    Port(RouterId, PortId),
    /// Messages of flow control that an output of a router sends.
    Messages(RouterId, PortId),
    /// Bit errors of the link behind an output of a router.
    Errors(RouterId, PortId),
    /// Bit errors of the link from a host to its router.
    HostErrors(u32),
    /// Rate limiters of a host.
    Limiters(u32),
    /// Entropies that a host draws.
    Entropies(u32),
    /// Flows that a rank of a job sends.
    Flows(u32),
    /// Generation of the packets of a stream of the traffic at a host.
    Stream {
        /// Which stream.
        stream: u32,
        /// The host.
        host: u32,
    },
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of a number, for choices that are fixed but look random.
#[inline]
pub fn mix(number: u64) -> u64 {
    splitmix(&mut { number })
}

impl Stream {
    /// The stream of `owner` in a run with `seed`.
    pub fn new(seed: u64, owner: Owner) -> Self {
        let (domain, index) = match owner {
            Owner::Router(i) => (1, i),
            Owner::Host(i) => (2, i),
            Owner::Network => (3, 0),
            Owner::Placement => (4, 0),
            Owner::Port(router, port) => (5 | u64::from(port.0) << 8, router.0),
            Owner::Messages(router, port) => (12 | u64::from(port.0) << 8, router.0),
            Owner::Errors(router, port) => (10 | u64::from(port.0) << 8, router.0),
            Owner::HostErrors(i) => (11, i),
            Owner::Limiters(i) => (7, i),
            Owner::Entropies(i) => (8, i),
            Owner::Flows(i) => (9, i),
            Owner::Stream { stream, host } => (6 | u64::from(stream) << 8, host),
        };
        let mut state = seed;
        let mut mixed = splitmix(&mut state) ^ ((domain << 32) | u64::from(index));
        let mut bytes = [0; 16];
        for half in bytes.chunks_exact_mut(8) {
            half.copy_from_slice(&splitmix(&mut mixed).to_le_bytes());
        }
        Self(Pcg32::from_seed(bytes))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number from 0 to 1, without 1 itself: 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2f64.powi(53)
    }

    /// A uniform integer in `0..bound` (Lemire's method, without bias). `bound` is at least 1.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        let mut product = u64::from(self.0.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.0.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// The same for a `bound` of up to 64 bits.
    #[inline]
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }
}

/// Waiting times of a Bernoulli process: `P(n) = p (1 - p)^(n - 1)`, `n >= 1`.
///
/// One draw is compared with a table of the survival function in 64-bit fixed point; a draw beyond
/// the table starts again from its end, which is exact because the process has no memory. No
/// logarithm is taken, so the result does not depend on a mathematics library.
#[derive(Clone, Debug)]
pub struct Geometric {
    /// `survival[i] = (1 - p)^(i + 1)`, as a fraction of 2^64.
    survival: Vec<u64>,
    /// Where in `survival` to begin, by the top bits of a draw.
    begin: Vec<u16>,
}

impl Geometric {
    const TABLE: usize = 1024;
    /// Top bits of a draw that say where to begin.
    const BITS: u32 = 10;

    /// A process with success probability `p` per cycle. `None` if `p` is so small that no success
    /// would ever be seen (below 2^-60), 1 and more succeed in every cycle.
    pub fn new(p: f64) -> Option<Self> {
        if p < 1.0 / (1u64 << 60) as f64 {
            return None;
        }
        if p >= 1.0 {
            return Some(Self::with(vec![0]));
        }
        // Exact: scaling by a power of two does not round.
        let q = u64::MAX - (p * 2f64.powi(64)) as u64;
        let mut survival = vec![q];
        while survival.len() < Self::TABLE && *survival.last().unwrap_or(&0) > 0 {
            let last = *survival.last().unwrap_or(&0);
            survival.push(((u128::from(last) * u128::from(q)) >> 64) as u64);
        }
        Some(Self::with(survival))
    }

    fn with(survival: Vec<u64>) -> Self {
        let largest = |bits: u64| (bits << (64 - Self::BITS)) | (u64::MAX >> Self::BITS);
        let begin = (0..1 << Self::BITS)
            .map(|bits| survival.partition_point(|&s| largest(bits) < s) as u16);
        Self { begin: begin.collect(), survival }
    }

    /// Draws a waiting time of at least 1 cycle, saturating at `u32::MAX`.
    #[inline]
    pub fn draw(&self, rng: &mut Stream) -> u32 {
        let mut skipped = 0u32;
        loop {
            let u = rng.bits();
            // Survive cycle i iff u < survival[i]; the table decreases.
            let begin = usize::from(self.begin[(u >> (64 - Self::BITS)) as usize]);
            let rest = &self.survival[begin..];
            let index = begin + rest.iter().position(|&s| u >= s).unwrap_or(rest.len());
            if index < self.survival.len() {
                return skipped.saturating_add(index as u32 + 1);
            }
            skipped = skipped.saturating_add(index as u32);
            if skipped == u32::MAX {
                return u32::MAX;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_owner_and_seed() {
        let of_stream = |stream, host| Owner::Stream { stream, host };
        let owners = [Owner::Router(0), Owner::Router(1), Owner::Host(0), Owner::Network];
        let owners = [&owners[..], &[of_stream(0, 0), of_stream(1, 0), of_stream(0, 1)]].concat();
        let mut first: Vec<u64> = owners.iter().map(|o| Stream::new(1, *o).bits()).collect();
        first.push(Stream::new(2, owners[0]).bits());
        let mut unique = first.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), first.len());
    }

    /// In quarters of a bound that rejects a third of the draws, and at the edges.
    #[test]
    fn below_u64_is_uniform() {
        let mut rng = Stream::new(7, Owner::Network);
        let bound = u64::MAX / 3 * 2;
        let mut seen = [0u32; 4];
        for _ in 0..40_000 {
            seen[(rng.below_u64(bound) / (bound / 4)) as usize] += 1;
        }
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 400), "{seen:?}");
        assert_eq!((rng.below_u64(1), rng.below_u64(u64::MAX) < u64::MAX), (0, true));
    }

    #[test]
    fn below_is_uniform() {
        let mut rng = Stream::new(7, Owner::Network);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[rng.below(6) as usize] += 1;
        }
        // Chi-square with 5 degrees of freedom: 20.5 is the 0.1% quantile.
        let chi: f64 = seen.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 20.5, "{seen:?}");
    }

    #[test]
    fn geometric_has_its_mean_and_first_probability() {
        for p in [1.0, 0.5, 0.05, 0.001] {
            let law = Geometric::new(p).unwrap();
            let mut rng = Stream::new(3, Owner::Host(1));
            let n = 40_000;
            let draws: Vec<u32> = (0..n).map(|_| law.draw(&mut rng)).collect();
            let mean = draws.iter().map(|&d| f64::from(d)).sum::<f64>() / f64::from(n);
            let error = (1.0 - p).sqrt() / p / f64::from(n).sqrt();
            assert!((mean - 1.0 / p).abs() <= 4.0 * error + 1e-12, "p {p}: mean {mean}");
            assert!(draws.iter().all(|&d| d >= 1));
        }
        assert!(Geometric::new(0.0).is_none());
    }
}
