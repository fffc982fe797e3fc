//! How long the queues of a router are, as its routing algorithm sees them, where that cannot be told from the
//! credits, or where the algorithm compares many ports.

use crate::ids::Cycle;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::ports::OutputRequest;
use crate::kernel::core::wheel::Wheel;
use crate::kernel::model::Model;
use crate::spec::Sensing;
use serde::{Deserialize, Serialize};

/// Lengths of the queues of a partition, neighbouring ports side by side.
#[derive(Serialize, Deserialize)]
pub(crate) struct Occupancy {
    sensing: Sensing,
    /// Phits that count, for VC 0 of every port, for VC 1 of every port, ... Less than none of a packet whose credits have
    /// come back before it has left whole.
    phits: Vec<i32>,
    /// `Output::link_free` of every port, if that counts.
    link_free: Vec<Cycle>,
    ports: usize,
    vcs: u8,
    /// Phits that begin or cease to count later than they are granted or credited.
    delayed: Wheel<Signal>,
}

impl Occupancy {
    /// Of so many outputs.
    pub(crate) fn new(model: &Model, ports: usize) -> Self {
        let (sensing, vcs) = (model.sensing, model.most_vcs());
        let horizon = if sensing == Sensing::Both { 0 } else { model.horizon() };
        Self {
            sensing,
            phits: vec![0; ports * usize::from(vcs)],
            link_free: if sensing == Sensing::Waiting { vec![0; ports] } else { Vec::new() },
            ports,
            vcs,
            delayed: Wheel::new(horizon),
        }
    }

    #[inline]
    pub(crate) fn vc(&self, port: u32, vc: u8) -> u32 {
        self.phits[usize::from(vc) * self.ports + port as usize].max(0) as u32
    }

    #[inline]
    fn vc_mut(&mut self, port: u32, vc: u8) -> &mut i32 {
        &mut self.phits[usize::from(vc) * self.ports + port as usize]
    }

    /// VCs that are kept for every port.
    #[inline]
    pub(crate) fn vcs(&self) -> u8 {
        self.vcs
    }

    /// Phits that begin or cease to count in this cycle; `changed` learns of their ports.
    #[inline]
    pub(crate) fn update(&mut self, now: Cycle, mut changed: impl FnMut(u32)) {
        if self.sensing == Sensing::Both {
            return;
        }
        let Self { sensing, phits, ports, delayed, .. } = self;
        delayed.drain(now, |signals| {
            for signal in signals {
                let (port, size) = (signal.port(), signal.content() as i32);
                let length = &mut phits[usize::from(signal.vc()) * *ports + port as usize];
                match sensing {
                    Sensing::Output => *length -= size,
                    _ => *length += size,
                }
                changed(port);
            }
        });
    }

    /// The first cycle of `from..to` in which phits begin or cease to count, or `to`.
    pub(crate) fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        self.delayed.next(from, to)
    }

    /// A packet is granted to an output whose link is free from `link_free` on: it may count at once.
    pub(crate) fn lengthen(&mut self, (port, request): (u32, OutputRequest), link_free: Cycle) {
        if matches!(self.sensing, Sensing::Both | Sensing::Output) {
            *self.vc_mut(port, request.vc) += i32::from(request.size);
        }
        if self.sensing == Sensing::Waiting {
            self.link_free[port as usize] = link_free;
        }
    }

    /// A packet departs over a link of this latency, on which it takes so long: it counts from then on, or no longer, or from
    /// when its last phit has left, or its credits might be back.
    pub(crate) fn depart(
        &mut self,
        (latency, whole): (Cycle, Cycle),
        (port, request): (u32, OutputRequest),
        departure: Cycle,
    ) {
        let after = match self.sensing {
            Sensing::Both => return,
            Sensing::Output | Sensing::Downstream => 1,
            Sensing::Sent => whole,
            Sensing::Waiting => 2 * latency,
        };
        let signal = Signal::new(port, request.vc, request.size.into());
        self.delayed.push(departure + after, signal);
    }

    /// Credits have come back.
    #[inline]
    pub(crate) fn shorten(&mut self, signal: Signal) {
        if self.sensing != Sensing::Output {
            *self.vc_mut(signal.port(), signal.vc()) -= signal.content() as i32;
        }
    }

    /// Writes the lengths of one VC of consecutive ports, with how long after `departure` their links are
    /// busy, if that counts.
    #[inline]
    pub(crate) fn write(&self, first: usize, vc: u8, departure: Cycle, lengths: &mut [u32]) {
        let row = &self.phits[usize::from(vc) * self.ports + first..][..lengths.len()];
        if self.link_free.is_empty() {
            lengths
                .iter_mut()
                .zip(row)
                .for_each(|(length, phits)| *length = (*phits).max(0) as u32);
            return;
        }
        let links = &self.link_free[first..][..lengths.len()];
        for ((length, phits), link_free) in lengths.iter_mut().zip(row).zip(links) {
            *length = *phits as u32 + link_free.saturating_sub(departure);
        }
    }

    /// Adds those of another VC.
    #[inline]
    pub(crate) fn add(&self, first: usize, vc: u8, lengths: &mut [u32]) {
        let row = &self.phits[usize::from(vc) * self.ports + first..][..lengths.len()];
        lengths.iter_mut().zip(row).for_each(|(length, phits)| *length += (*phits).max(0) as u32);
    }
}
