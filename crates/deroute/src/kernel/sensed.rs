//! The queues of one router, as its routing algorithm sees them.

use super::books::occupancy::Occupancy;
use super::control::Control;
use super::core::grant::Room;
use super::core::ports::{Output, OutputRequest, PortKind};
use super::machine::Egress;
use super::model::Model;
use crate::ids::{Cycle, PortId, VcId};
use crate::routing::Queues;
use crate::spec::Sensing;

/// The queues of a router whose first port is `base`.
pub(crate) struct SensedQueues<'a, C, E> {
    pub(crate) model: &'a Model,
    pub(crate) outputs: &'a [Output],
    /// `Core::credits`.
    pub(crate) credits: &'a [u32],
    pub(crate) control: &'a C,
    /// None for packets of the switch itself, which nothing holds.
    pub(crate) egress: Option<&'a E>,
    /// Kept where they cannot be told from the credits, or where the algorithm compares many ports.
    pub(crate) occupancy: Option<&'a Occupancy>,
    pub(crate) base: u32,
    pub(crate) now: Cycle,
}

impl<C: Control, E: Egress> SensedQueues<'_, C, E> {
    #[inline]
    fn output(&self, port: PortId) -> &Output {
        &self.outputs[self.base as usize + port.index()]
    }

    /// What is kept, if lengths differ from the phits whose credits are out.
    #[inline]
    fn kept(&self) -> Option<&Occupancy> {
        self.occupancy.filter(|_| self.model.sensing != Sensing::Both)
    }

    /// Phits of a VC that count, but for what waits for the link.
    #[inline]
    fn counted(&self, port: PortId, vc: VcId) -> u32 {
        match self.kept() {
            None => self.taken(port, vc),
            Some(kept) => kept.vc(self.base + u32::from(port.0), vc.0),
        }
    }

    /// When a packet granted now would depart over an idle link.
    #[inline]
    fn departure(&self) -> Cycle {
        self.now + self.model.pipeline
    }

    /// What a packet granted now would wait for the link, if that counts.
    #[inline]
    fn backlog(&self, port: PortId) -> u32 {
        if self.kept().is_some() && self.model.sensing == Sensing::Waiting {
            return self.output(port).link_free.saturating_sub(self.departure());
        }
        0
    }
}

impl<C: Control, E: Egress> Queues for SensedQueues<'_, C, E> {
    #[inline]
    fn port(&self, port: PortId) -> u32 {
        let output = self.output(port);
        if self.kept().is_none() {
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
        match self.model.shared_by.get(usize::from(self.output(port).class)) {
            Some(classes) => self.class(port, VcId(vc.0 % classes), *classes),
            None => self.vc(port, vc),
        }
    }

    fn classes(&self, first: PortId, vc: VcId, classes: u8, lengths: &mut [u32]) {
        let Some(occupancy) = self.occupancy else {
            unreachable!("an algorithm asks for rows of lengths with `Watches::lengths`")
        };
        // VCs that a port does not have are empty.
        let (vcs, mut vc) = (occupancy.vcs(), vc.0);
        let first = self.base as usize + first.index();
        occupancy.write(first, vc, self.departure(), lengths);
        while vcs - vc > classes {
            vc += classes;
            occupancy.add(first, vc, lengths);
        }
    }

    fn lanes(&self, first: PortId, vc: VcId, lengths: &mut [u32]) {
        match self.model.shared_by.get(usize::from(self.output(first).class)) {
            Some(&classes) => self.classes(first, VcId(vc.0 % classes), classes, lengths),
            None => self.classes(first, vc, u8::MAX, lengths),
        }
    }

    #[inline]
    fn taken(&self, port: PortId, vc: VcId) -> u32 {
        let (output, port) = (self.output(port), self.base + u32::from(port.0));
        match output.kind {
            PortKind::Link => self.control.taken(self.model, output, self.credits, (port, vc.0)),
            _ => 0,
        }
    }

    #[inline]
    fn fits(&self, port: PortId, vc: VcId, size: u16) -> bool {
        let output = self.output(port);
        let request = OutputRequest { size, vc: vc.0, ..OutputRequest::default() };
        output.kind != PortKind::Link || C::has_room(self.model, output, self.credits, request)
    }

    fn is_paused(&self, port: PortId, vc: VcId) -> bool {
        let output = self.base + u32::from(port.0);
        self.egress.is_some_and(|egress| egress.is_silent(output, vc.0, self.now))
    }

    fn takes(&self, port: PortId, vc: VcId, size: u16) -> bool {
        let (output, at) = (self.output(port), (self.base + u32::from(port.0), self.now));
        let request = OutputRequest { size, vc: vc.0, ..OutputRequest::default() };
        let space =
            |egress: &E| matches!(egress.space(self.model, output, at, request), Room::Enough);
        self.fits(port, vc, size) && self.egress.is_none_or(space)
    }
}
