//! Hosts that generate synthetic traffic, whose sources switches tell of congestion.

use super::{Entering, Hosts, open};
use crate::ids::{Cycle, HostId};
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Notice, Slab};
use crate::kernel::core::fetch::touch;
use crate::kernel::core::mail::Mail;
use crate::kernel::core::packet::Packet;
use crate::kernel::core::sender::Sender;
use crate::kernel::extent::Extent;
use crate::kernel::model::Model;
use crate::probe::collect::Delivery;
use serde::{Deserialize, Serialize};

/// A packet's word says where its sender stands.
#[derive(Serialize, Deserialize)]
pub(crate) struct Notified {
    senders: Slab<Sender>,
}

impl Hosts for Notified {
    const NOTIFY: bool = true;
    const RANKS: bool = false;

    fn new(_model: &Model, _horizon: Cycle, _extent: &Extent) -> Self {
        Self { senders: Slab::new() }
    }

    fn sweep(&self, packets: bool) {
        if packets {
            touch(self.senders.lines(|sender| sender.injected()));
        }
    }

    #[inline(always)]
    fn generate(&mut self, core: &mut Core, host: u32) -> Option<Entering> {
        let source = core.hosts[host as usize].id;
        open::generate(core, host, || self.senders.insert(Sender::new(source)))
    }

    #[inline(always)]
    fn injected(&mut self, packet: &mut Packet, now: Cycle) {
        self.senders.get_mut(packet.host_word).leave(now);
    }

    fn lose(&mut self, packet: &Packet) -> bool {
        !self.senders.remove(packet.host_word).tells()
    }

    #[inline(always)]
    fn deliver(
        &mut self,
        _at: (u32, Cycle),
        host_word: u32,
        packet: Delivery,
        mut record: impl FnMut(&Delivery),
    ) -> bool {
        let injected = self.senders.remove(host_word).injected();
        record(&Delivery { injected, ..packet });
        true
    }

    #[inline(always)]
    fn post(&mut self, core: &mut Core, partition: u32, host_word: u32) {
        let sender = self.senders.remove(host_word);
        core.outbox[partition as usize].senders.push(sender);
    }

    #[inline(always)]
    fn receive(&mut self, mail: &mut Mail, _now: Cycle) {
        for (flight, sender) in mail.arrivals.iter_mut().zip(mail.senders.drain(..)) {
            flight.packet.host_word = self.senders.insert(sender);
        }
    }

    fn cargo(&self) -> Option<u32> {
        Some(self.senders.live())
    }

    fn source(&self, host_word: u32) -> Option<HostId> {
        Some(self.senders.get(host_word).source())
    }

    fn notice(&self, host_word: u32) -> Option<Notice> {
        self.senders.get(host_word).notice()
    }

    fn tell(&mut self, _source: HostId, notice: Notice) -> Option<u32> {
        Some(self.senders.insert(Sender::of_notice(&notice)?))
    }

    fn told(&mut self, host_word: u32) {
        self.senders.remove(host_word);
    }
}
