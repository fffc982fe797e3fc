//! What routing sees.

use deroute::ids::{PortId, VcId};
use deroute::routing::Queues;
use deroute::spec::Sensing;
use deroute::topology::Peer;

use super::links::Class;
use super::resolved::Resolved;
use super::switch::{Departed, Output, Router, Wish};

/// The queues of a router, as its agent sees them.
pub(super) struct Queued<'a> {
    pub(super) router: &'a Router,
    pub(super) net: &'a Resolved,
    pub(super) atomic: bool,
    pub(super) now: u32,
}

impl Queued<'_> {
    fn link(&self, port: PortId) -> Option<(&Class, &Output)> {
        let class = self.net.links.class(&self.router.peers[port.index()])?;
        Some((class, &self.router.outputs[port.index()]))
    }

    /// Are there pauses in place of credits?
    fn paused(&self, port: PortId) -> bool {
        self.net.links.limits(&self.router.peers[port.index()]).is_some()
    }

    /// Phits of packets of a VC that have sent nothing.
    fn unsent(output: &Output, vc: VcId) -> u32 {
        let whole = output.wire.waiting().filter(|packet| packet.vc == vc.index());
        whole.map(|packet| packet.size).sum()
    }

    /// Phits of packets of a VC that left, and whose credits cannot be back yet.
    fn travelling(&self, class: &Class, output: &Output, vc: VcId) -> u32 {
        let back = |packet: &Departed| packet.at + 2 * class.latency;
        let out = output.departed.iter().filter(|p| p.vc == vc.index() && back(p) > self.now);
        out.map(|packet| packet.size).sum()
    }

    /// Phits that count, but for the wait for the link.
    fn counted(&self, port: PortId, vc: VcId) -> u32 {
        let Some((class, output)) = self.link(port) else { return 0 };
        match self.net.sensing {
            Sensing::Both => self.taken(port, vc),
            Sensing::Output => Self::unsent(output, vc),
            Sensing::Downstream => self.taken(port, vc) - Self::unsent(output, vc),
            Sensing::Sent => {
                let whole = |p: &Departed| p.at + p.size * output.wire.period;
                let sending = |p: &&Departed| p.vc == vc.index() && whole(p) > self.now;
                let sending = output.departed.iter().filter(sending).map(|p| p.size).sum::<u32>();
                self.taken(port, vc).saturating_sub(Self::unsent(output, vc) + sending)
            }
            Sensing::Waiting => {
                let moving = Self::unsent(output, vc) + self.travelling(class, output, vc);
                self.taken(port, vc) - moving
            }
        }
    }

    /// What the next packet would wait for the link.
    fn wait(&self, port: PortId) -> u32 {
        if self.net.sensing != Sensing::Waiting {
            return 0;
        }
        let wire = &self.router.outputs[port.index()].wire;
        wire.backlog(self.now).saturating_sub(self.net.pipeline)
    }

    fn sum(&self, port: PortId, vcs: impl Iterator<Item = usize>) -> u32 {
        let sum: u32 = vcs.map(|vc| self.counted(port, VcId(vc as u8))).sum();
        sum + self.wait(port)
    }
}

impl Queues for Queued<'_> {
    fn port(&self, port: PortId) -> u32 {
        self.sum(port, 0..self.router.outputs[port.index()].credits.len())
    }

    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        self.sum(port, std::iter::once(vc.index()))
    }

    fn class(&self, port: PortId, vc: VcId, classes: u8) -> u32 {
        let vcs = self.router.outputs[port.index()].credits.len();
        self.sum(port, (vc.index()..vcs).step_by(usize::from(classes)))
    }

    fn lane(&self, port: PortId, vc: VcId) -> u32 {
        match (&self.net.shared_by, self.router.peers[port.index()]) {
            (Some(shared_by), Peer::Router { class, .. }) => {
                let classes = shared_by[usize::from(class)];
                let vcs = self.router.outputs[port.index()].credits.len();
                self.sum(port, (0..vcs).filter(|v| v % classes == vc.index() % classes))
            }
            _ => self.vc(port, vc),
        }
    }

    fn taken(&self, port: PortId, vc: VcId) -> u32 {
        let Some((class, output)) = self.link(port) else { return 0 };
        if self.paused(port) {
            return Self::unsent(output, vc);
        }
        class.buffer + class.shared - output.credits[vc.index()]
    }

    fn fits(&self, port: PortId, vc: VcId, size: u16) -> bool {
        if self.link(port).is_none() || self.paused(port) {
            return true;
        }
        if self.atomic {
            return self.taken(port, vc) == 0;
        }
        let size = self.net.links.charge(&self.router.peers[port.index()], size.into());
        size <= self.router.free(self.net, port.index(), vc.index())
    }

    fn is_paused(&self, port: PortId, vc: VcId) -> bool {
        self.router.outputs[port.index()].wire.is_silent(&self.net.links, vc.index(), self.now)
    }

    fn takes(&self, port: PortId, vc: VcId, size: u16) -> bool {
        let wish = Wish { port: port.index(), vc: vc.index(), position: None };
        let backlog = self.router.backlog(self.net, wish, self.now) + u64::from(size);
        self.fits(port, vc, size) && backlog <= self.net.output_buffer
    }
}
