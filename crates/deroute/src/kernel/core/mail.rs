//! What travels between partitions, and the signals of flow control.

use super::cargo::{Cargo, Load};
use super::light::Light;
use super::packet::Flight;
use super::sender::Sender;
use crate::congestion::Trail;
use crate::ids::Cycle;
use crate::workload::Seat;
use crate::workload::process::Descriptor;
use serde::{Deserialize, Serialize};

/// Events for another partition.
#[derive(Default)]
pub(crate) struct Mail {
    pub(crate) arrivals: Vec<Flight>,
    /// That of the arrivals, where packets have cargo, in one of its forms.
    pub(crate) cargo: Vec<Cargo>,
    pub(crate) light: Vec<Light>,
    pub(crate) senders: Vec<Sender>,
    /// What they have met, where switches write that.
    pub(crate) trails: Vec<Trail>,
    /// Their numbers, where packets are sent again.
    pub(crate) numbers: Vec<u32>,
    /// Cycle and signal.
    pub(crate) signals: Vec<(Cycle, Signal)>,
    /// Messages within nodes.
    pub(crate) passing: Vec<Passing>,
}

/// A form of cargo, in the mail.
pub(crate) trait Mailed: Load {
    /// That of packets for another partition.
    fn of(mail: &mut Mail) -> &mut Vec<Self>;
}

impl Mailed for Cargo {
    #[inline(always)]
    fn of(mail: &mut Mail) -> &mut Vec<Self> {
        &mut mail.cargo
    }
}

impl Mailed for Light {
    #[inline(always)]
    fn of(mail: &mut Mail) -> &mut Vec<Self> {
        &mut mail.light
    }
}

/// A message on its way within a node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Passing {
    /// Rank that it is for.
    pub(crate) to: Seat,
    /// Cycle in which its first phit arrives.
    pub(crate) at: Cycle,
    /// Cycle in which it was sent.
    pub(crate) issued: Cycle,
    pub(crate) descriptor: Descriptor,
}

impl Mail {
    pub(crate) fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.signals.is_empty() && self.passing.is_empty()
    }
}

/// What the receiving end of a link tells the sending one: an output port (26 bits), a VC (6 bits), and the
/// flow control's own 32 bits, which for credits are phits.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Signal(u64);

impl Signal {
    #[inline]
    pub(crate) fn new(port: u32, vc: u8, content: u32) -> Self {
        Self(u64::from(port) << 38 | u64::from(vc) << 32 | u64::from(content))
    }

    /// Output port in its partition.
    #[inline]
    pub(crate) fn port(self) -> u32 {
        (self.0 >> 38) as u32
    }

    #[inline]
    pub(crate) fn vc(self) -> u8 {
        (self.0 >> 32) as u8 & 63
    }

    #[inline]
    pub(crate) fn content(self) -> u32 {
        self.0 as u32
    }
}
