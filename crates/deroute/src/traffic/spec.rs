//! What a user asks of the workload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::hotspots::{Destinations, Hotspot, Sources};
pub use super::matrix::MatrixSpec;
pub use super::pairs::PairsSpec;
pub use super::ring::Ring;
use crate::spec::Quantity;

/// Who sends how much to whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Offered load of every host, as a share of its own link (phits per cycle where that carries one a
    /// cycle), 0 to 1.
    pub load: f64,
    /// Packet size.
    pub packet_size: PacketSize,
    /// Destinations.
    pub pattern: Pattern,
    /// When packets are generated. Default `bernoulli`.
    #[serde(default)]
    pub injection: Injection,
    /// Hot spots: some hosts send to a few, beside the pattern. The first that takes a packet has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hotspots: Vec<Hotspot>,
    /// Streams: traffic of some hosts beside the pattern, measured on its own, in a class of service.
    #[serde(default, rename = "stream", skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamSpec>,
    /// Transient: changes of pattern or load after the measurement began, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Change>,
}

impl Default for Traffic {
    /// No traffic: what a spec without this table has.
    fn default() -> Self {
        Self {
            load: 0.0,
            packet_size: PacketSize::Fixed(1.into()),
            pattern: Pattern::Uniform,
            injection: Injection::default(),
            hotspots: Vec::new(),
            streams: Vec::new(),
            then: Vec::new(),
        }
    }
}

impl Traffic {
    /// Is this the default, which sends nothing?
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

/// Traffic of some hosts, measured on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// Its name in results: letters, digits, `_ - +`.
    pub name: String,
    /// The hosts that send it.
    pub hosts: StreamHosts,
    /// Load that each of them offers, as a share of its own link, 0 to 1.
    pub load: f64,
    /// Where packets go; or `destinations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// The hosts that packets go to; or `pattern`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destinations: Option<Destinations>,
    /// Class of service, below `network.classes.count`. Default 0.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub class: u8,
    /// Packet size. Default: that of `traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_size: Option<PacketSize>,
    /// When packets are generated. Default: as in `traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection: Option<Injection>,
    /// Time since the beginning of the measurement. Default: from the beginning of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Quantity>,
    /// Time since the beginning of the measurement. Default: to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Quantity>,
}

/// The hosts that send a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a list of hosts, { from = 0, to = 3 }, \"all\", { random = { share = 0.1 } }, or \
                 { even = { share = 0.1 } }"
)]
pub enum StreamHosts {
    /// These.
    List(Vec<u32>),
    /// Consecutive ones.
    Range(HostRange),
    /// As the sources of a hot spot.
    Sources(Sources),
}

/// Consecutive hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostRange {
    /// The first.
    pub from: u32,
    /// The last.
    pub to: u32,
}

/// A change of the traffic at a given time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Time since the beginning of the measurement.
    pub at: Quantity,
    /// New load; unchanged when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// New pattern; unchanged when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
}

/// Packet size in phits (1 to 65535), fixed or drawn for each packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a size (10, \"250 B\"), { min = 1, max = 16 }, or a list of { size, weight }"
)]
pub enum PacketSize {
    /// Every packet has this size.
    Fixed(Quantity),
    /// Uniform between two sizes, both included.
    Uniform(UniformSize),
    /// Drawn from a list.
    Mix(Vec<WeightedSize>),
}

/// Uniformly distributed packet size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformSize {
    /// Smallest packet.
    pub min: Quantity,
    /// Largest packet.
    pub max: Quantity,
}

/// One size of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// Packet size.
    pub size: Quantity,
    /// Share of the packets, relative to the other weights.
    pub weight: u32,
}

/// When a host generates packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Injection {
    /// Each cycle with the same probability.
    #[default]
    Bernoulli,
    /// At constant intervals: a packet of s phits is followed by the next after s / load cycles. When the
    /// first comes is random.
    Paced,
    /// Bursts to one destination at `peak` load, separated by silences.
    OnOff {
        /// Mean packets in a burst (geometric), at least 1.
        burst: f64,
        /// Load within a burst, above the mean load and at most 1. Default 1.
        #[serde(default = "full")]
        peak: f64,
    },
}

pub(super) fn full() -> f64 {
    1.0
}

fn one() -> u32 {
    1
}

/// Traffic pattern: how destinations are chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// UN: any other host.
    Uniform,
    /// ADV+i: any host of the group `offset` groups ahead.
    Adversarial {
        /// Groups ahead; negative is behind. Not a multiple of the number of groups.
        offset: i64,
    },
    /// ADVL: any host of the next router of the same group.
    AdversarialLocal,
    /// ADVC: any host of the next `groups` groups.
    AdversarialConsecutive {
        /// How many groups. Default: the global links of a router (`h`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        groups: Option<u32>,
    },
    /// A random permutation: every host sends to one other host and receives from one.
    Permutation {
        /// Seed of the permutation. Default: the seed of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
    /// BC: host i of N sends to host N - 1 - i: the complement of every bit, and in a lattice of every
    /// coordinate and of the place on the router. An even number of hosts.
    BitComplement,
    /// The bits of the host's number in reverse order. A power of two of hosts.
    BitReverse,
    /// The bits of the host's number rotated to the right. A power of two of hosts.
    BitRotation {
        /// Bits, 1 to one less than the number has. Default 1.
        #[serde(default = "one")]
        by: u32,
    },
    /// Perfect shuffle: the bits of the host's number rotated to the left by one. A power of two of hosts.
    Shuffle,
    /// The highest and the lowest bit of the host's number change places. A power of two of hosts.
    Butterfly,
    /// The transposition of a square matrix whose entries are the hosts. A square number of hosts.
    Transpose,
    /// Almost half-way around a ring: `ceil(k / 2) - 1` of `k`.
    Tornado {
        /// What is moved along a ring. Default `hosts`.
        #[serde(default)]
        ring: Ring,
    },
    /// To the next one on a ring.
    Neighbour {
        /// What is moved along a ring. Default `hosts`.
        #[serde(default)]
        ring: Ring,
    },
    /// Every host to the one `by` hosts ahead, around the end.
    Shift {
        /// Hosts ahead; negative is behind. Not a multiple of their number. Default: half of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<i64>,
    },
    /// URB: the complement of one coordinate, uniform in the others.
    Complement {
        /// The dimension, counted from 1.
        dimension: u32,
    },
    /// S2: even hosts complement the first coordinate only, odd ones the second.
    Swap2,
    /// DCR: the first coordinate becomes the complement of the last, which is uniform.
    DimensionComplementReverse,
    /// S2 as a permutation: half-way around the first or the second dimension.
    Swap2Shift,
    /// DCR as a permutation: each coordinate becomes the complement of the one as far from the other end.
    DimensionComplementReverseFixed,
    /// Each source to the destinations that a list gives it: a permutation, or any traffic matrix.
    Pairs(PairsSpec),
    /// By the rows of a traffic matrix.
    Matrix(MatrixSpec),
    /// MIX: each packet follows one of several patterns.
    Mix(Vec<Share>),
}

/// One component of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Share of the packets, relative to the other weights.
    pub weight: u32,
    /// Its pattern; a mix within a mix is refused.
    pub pattern: Pattern,
}
