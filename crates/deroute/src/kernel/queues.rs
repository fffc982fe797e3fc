//! How long the queues of a router are, as its routing algorithm sees them.

use super::plant::Plant;
use super::sharing::Sharing;
use super::state::{Output, PortKind};
use crate::ids::{Cycle, PortId, VcId};
use crate::routing::Queues;
use crate::spec::Sensing;

/// Lengths of the queues of a partition, neighbouring ports side by side. Kept where they cannot be told
/// from the credits, or if the routing algorithm compares many ports.
#[derive(Default)]
pub(super) struct Lengths {
    /// Phits that count, for VC 0 of every port, for VC 1 of every port, ...
    phits: Vec<u32>,
    /// `Output::link_free` of every port, if that counts.
    link_free: Vec<Cycle>,
    ports: usize,
    vcs: u8,
    until_credited: bool,
}

impl Lengths {
    pub(super) fn new(sensing: Sensing, ports: usize, vcs: u8) -> Self {
        let link_free = if sensing == Sensing::Waiting { vec![0; ports] } else { Vec::new() };
        let phits = vec![0; ports * usize::from(vcs)];
        Self { phits, link_free, ports, vcs, until_credited: sensing != Sensing::Output }
    }

    /// Are they kept?
    #[inline]
    pub(super) fn kept(&self) -> bool {
        !self.phits.is_empty()
    }

    /// Are they kept, and do phits count until their credits are back?
    #[inline]
    pub(super) fn until_credited(&self) -> bool {
        self.until_credited
    }

    #[inline]
    pub(super) fn vc(&self, port: u32, vc: u8) -> u32 {
        self.phits[usize::from(vc) * self.ports + port as usize]
    }

    #[inline]
    pub(super) fn vc_mut(&mut self, port: u32, vc: u8) -> &mut u32 {
        &mut self.phits[usize::from(vc) * self.ports + port as usize]
    }

    /// The link of a port is free from this cycle on.
    #[inline]
    pub(super) fn occupy(&mut self, port: u32, link_free: Cycle) {
        self.link_free[port as usize] = link_free;
    }

    /// Writes the lengths of one VC of consecutive ports, with how long after `departure` their links are
    /// busy, if that counts.
    #[inline]
    fn write(&self, first: usize, vc: u8, departure: Cycle, lengths: &mut [u32]) {
        let row = &self.phits[usize::from(vc) * self.ports + first..][..lengths.len()];
        if self.link_free.is_empty() {
            lengths.iter_mut().zip(row).for_each(|(length, phits)| *length = *phits);
            return;
        }
        let links = &self.link_free[first..][..lengths.len()];
        for ((length, phits), link_free) in lengths.iter_mut().zip(row).zip(links) {
            *length = phits + link_free.saturating_sub(departure);
        }
    }

    /// Adds those of another VC.
    #[inline]
    fn add(&self, first: usize, vc: u8, lengths: &mut [u32]) {
        let row = &self.phits[usize::from(vc) * self.ports + first..][..lengths.len()];
        lengths.iter_mut().zip(row).for_each(|(length, phits)| *length += phits);
    }
}

/// The queues of one router, as its routing algorithm sees them.
pub(super) struct PortQueues<'a> {
    pub(super) outputs: &'a [Output],
    pub(super) credits: &'a [u32],
    pub(super) plant: &'a Plant,
    pub(super) lengths: &'a Lengths,
    pub(super) sharing: &'a Option<Box<Sharing>>,
    /// First port of the router.
    pub(super) base: u32,
    pub(super) now: Cycle,
}

impl PortQueues<'_> {
    #[inline]
    fn output(&self, port: PortId) -> &Output {
        &self.outputs[self.base as usize + port.index()]
    }

    /// Phits of a VC that count, but for what waits for the link.
    #[inline]
    fn counted(&self, port: PortId, vc: VcId) -> u32 {
        match self.plant.sensing {
            Sensing::Both => self.taken(port, vc),
            _ => self.lengths.vc(self.base + u32::from(port.0), vc.0),
        }
    }

    /// When a packet granted now would depart over an idle link.
    #[inline]
    fn departure(&self) -> Cycle {
        self.now + self.plant.pipeline
    }

    /// What a packet granted now would wait for the link, if that counts.
    #[inline]
    fn backlog(&self, port: PortId) -> u32 {
        match self.plant.sensing {
            Sensing::Waiting => self.output(port).link_free.saturating_sub(self.departure()),
            _ => 0,
        }
    }
}

impl Queues for PortQueues<'_> {
    #[inline]
    fn port(&self, port: PortId) -> u32 {
        let output = self.output(port);
        if self.plant.sensing == Sensing::Both {
            return output.queued;
        }
        let vcs = (0..output.vcs).map(VcId);
        vcs.map(|vc| self.counted(port, vc)).sum::<u32>() + self.backlog(port)
    }

    #[inline]
    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        self.counted(port, vc) + self.backlog(port)
    }

    #[inline]
    fn class(&self, port: PortId, vc: VcId, classes: u8) -> u32 {
        let vcs = (vc.0..self.output(port).vcs).step_by(usize::from(classes)).map(VcId);
        vcs.map(|vc| self.counted(port, vc)).sum::<u32>() + self.backlog(port)
    }

    #[inline]
    fn lane(&self, port: PortId, vc: VcId) -> u32 {
        match self.plant.shared_by.get(usize::from(self.output(port).class)) {
            Some(classes) => self.class(port, VcId(vc.0 % classes), *classes),
            None => self.vc(port, vc),
        }
    }

    fn classes(&self, first: PortId, vc: VcId, classes: u8, lengths: &mut [u32]) {
        // VCs that a port does not have are empty.
        let (vcs, mut vc) = (self.lengths.vcs, vc.0);
        let first = self.base as usize + first.index();
        self.lengths.write(first, vc, self.departure(), lengths);
        while vcs - vc > classes {
            vc += classes;
            self.lengths.add(first, vc, lengths);
        }
    }

    fn lanes(&self, first: PortId, vc: VcId, lengths: &mut [u32]) {
        match self.plant.shared_by.get(usize::from(self.output(first).class)) {
            Some(&classes) => self.classes(first, VcId(vc.0 % classes), classes, lengths),
            None => self.classes(first, vc, u8::MAX, lengths),
        }
    }

    #[inline]
    fn taken(&self, port: PortId, vc: VcId) -> u32 {
        let output = self.output(port);
        match output.kind {
            PortKind::Link => match self.sharing {
                Some(sharing) => sharing.used(self.base + u32::from(port.0), vc.0),
                None => {
                    let buffer = self.plant.classes[output.class as usize].buffer;
                    buffer - output.credits(self.credits, vc.0)
                }
            },
            _ => 0,
        }
    }

    #[inline]
    fn fits(&self, port: PortId, vc: VcId, size: u16) -> bool {
        let output = self.output(port);
        output.kind != PortKind::Link
            || output.credits(self.credits, vc.0) >= self.plant.room(output.class, size)
    }
}
