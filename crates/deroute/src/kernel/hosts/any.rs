//! Hosts of a run that may have a workload, streams, or notifications of congestion.

use super::messages::Interfaces;
use super::streams::Streams;
use super::{Entering, Entropies, Hosts, Receivers, behind, open};
use crate::congestion::Trail;
use crate::ids::{Cycle, HostId};
use crate::kernel::core::Core;
use crate::kernel::core::cargo::{Cargo, Notice, PartOf, Slab};
use crate::kernel::core::fetch::touch;
use crate::kernel::core::mail::{Mail, Mailed};
use crate::kernel::core::numbers::Numbers;
use crate::kernel::core::packet::{NONE, Packet};
use crate::kernel::core::trails::Trails;
use crate::kernel::extent::Extent;
use crate::kernel::model::Model;
use crate::probe::collect::Delivery;
use crate::probe::entropies::EntropyRecord;
use crate::probe::order::OrderRecord;
use crate::probe::streams::StreamRecord;
use crate::state::{State, state};

/// Hosts that know of packets when they left, and where there is a workload, a stream or a notification all that their
/// cargo says. With its long form they may be told of packets that they sent.
pub(crate) struct AnyHosts<C> {
    loaded: Option<Box<Loaded<C>>>,
}

/// What hosts have where packets have cargo.
pub(crate) struct Loaded<C> {
    cargo: Slab<C>,
    /// Of the hosts that run a rank.
    interfaces: Option<Interfaces>,
    streams: Option<Streams>,
    /// What they tell the sources of packets, and the entropies of those that they send.
    receivers: Option<Receivers>,
    entropies: Option<Entropies>,
    /// What packets have met, where switches write it.
    trails: Option<Box<Trails>>,
    /// The numbers of packets in their flows, where they are sent again.
    numbers: Option<Box<Numbers>>,
}

impl<C: Mailed> State for Loaded<C> {
    state! { keep cargo; each interfaces, streams, receivers, entropies, trails, numbers; }
}

impl<C: Mailed> Loaded<C> {
    /// Bytes of what is kept of a packet beside its cargo.
    pub(crate) fn beside(model: &Model) -> u64 {
        let trail = if model.egress.records() { Trails::bytes(1) } else { 0 };
        let number = if model.egress.retransmission.is_some() { Numbers::bytes(1) } else { 0 };
        trail + number
    }

    /// A packet reaches a host. Says whether that did not have it before.
    fn unpack(
        &mut self,
        at: (u32, Cycle),
        host_word: u32,
        packet: Delivery,
        mut record: impl FnMut(&Delivery),
    ) -> bool {
        let Self { cargo, interfaces, streams, receivers, trails, numbers, .. } = self;
        let loaded = cargo.remove(host_word);
        if let (Some(receivers), Some(cargo)) = (receivers, loaded.long()) {
            let trail = trails.as_mut().map_or(NONE, |trails| trails.keep(host_word));
            let number = numbers.as_ref().map(|numbers| numbers.of(host_word));
            if !receivers.receive(at.0, &packet, (cargo, trail, number)) {
                return false;
            }
        }
        let (injected, unloaded, part_of) = loaded.unload();
        let packet = Delivery { injected, ..packet };
        match (part_of, interfaces, streams) {
            (PartOf::Message(fragment), Some(interfaces), _) => {
                interfaces.accept(at, &packet, &fragment);
                record(&packet);
            }
            (PartOf::Course(number), _, Some(streams)) => {
                streams.accept(at.0, number, (packet, unloaded), record);
            }
            _ => record(&packet),
        }
        true
    }
}

impl<C: Mailed> State for AnyHosts<C> {
    state! { each loaded; }
}

impl<C: Mailed> Hosts for AnyHosts<C> {
    const NOTIFY: bool = C::TOLD;
    const RANKS: bool = true;

    fn new(model: &Model, horizon: Cycle, extent: &Extent) -> Self {
        let jobs = model.jobs.as_ref();
        // Whoever is told of packets may know of all that are in a queue, and several queues wait for each other.
        let whole = C::TOLD || model.flows.injection_queues() > 1;
        let ahead = if whole { u32::MAX } else { behind::ahead(model) };
        let period = model.egress.nic.map_or(1, |link| link.period);
        let interfaces =
            jobs.map(|jobs| Interfaces::new(jobs, (horizon, period), (model.nic_queue(), ahead)));
        let streams = Streams::new(model, horizon, extent);
        if !model.loads_packets() {
            return Self { loaded: None };
        }
        let (receivers, entropies) = (Receivers::new(model), Entropies::new(model, extent));
        let cargo = Slab::new();
        let trails = model.egress.records().then(|| Box::new(Trails::new()));
        let numbers = model.egress.retransmission.map(|_| Box::default());
        let loaded = Loaded { cargo, interfaces, streams, receivers, entropies, trails, numbers };
        Self { loaded: Some(Box::new(loaded)) }
    }

    fn sweep(&self, packets: bool) {
        let Some(Loaded { cargo, interfaces, streams, .. }) = self.loaded.as_deref() else {
            return;
        };
        if packets {
            touch(cargo.lines(|cargo| cargo.unload().0));
        }
        interfaces.iter().for_each(Interfaces::sweep);
        streams.iter().for_each(Streams::sweep);
    }

    fn add(&mut self, model: &Model, host: u32, id: HostId) -> Option<Cycle> {
        let Loaded { interfaces, streams, entropies, .. } = self.loaded.as_deref_mut()?;
        if let Some(entropies) = entropies {
            entropies.add(id);
        }
        if let (Some(interfaces), Some(jobs)) = (interfaces, &model.jobs)
            && let [first, ..] = jobs.seats(id)
        {
            interfaces.add(host, jobs, jobs.seats(id), model.flows.injection_queues());
            return Some(jobs.jobs[first.job as usize].start);
        }
        streams.as_mut()?.add(model, host, id);
        Some(Cycle::MAX)
    }

    #[inline(always)]
    fn generate(&mut self, core: &mut Core, host: u32) -> Option<Entering> {
        let Some(loaded) = &mut self.loaded else {
            return open::generate(core, host, || 0);
        };
        let Loaded { cargo, interfaces, .. } = &mut **loaded;
        if let Some(interfaces) = interfaces
            && let Some(nic) = interfaces.of_host(host)
        {
            return interfaces.step(core, cargo, nic);
        }
        let source = core.hosts[host as usize].id;
        open::generate(core, host, || cargo.insert(C::new(source, PartOf::Traffic, 0)))
    }

    #[inline(always)]
    fn advance(&mut self, core: &mut Core, entering: &mut Vec<Entering>) {
        let Some(loaded) = &mut self.loaded else { return };
        let Loaded { cargo, interfaces, streams, receivers, entropies, trails, .. } = &mut **loaded;
        if let Some(entropies) = entropies {
            entropies.advance(core.now);
        }
        if let (Some(receivers), Some(cargo)) = (receivers, C::long_pool(cargo)) {
            receivers.reply(core, (cargo, trails.as_deref_mut()), entering);
        }
        if let Some(interfaces) = interfaces {
            interfaces.apply_messages(core, cargo, entering);
        }
        if let Some(streams) = streams {
            streams.generate(core, cargo, entering);
        }
    }

    #[inline(always)]
    fn entered(&mut self, (host, class): (u32, u8), now: Cycle, packet: &mut Packet) {
        let Some(loaded) = self.loaded.as_deref_mut() else { return };
        let Loaded { cargo, receivers, entropies, trails, .. } = loaded;
        if receivers.is_none() && entropies.is_none() {
            return;
        }
        let Some(cargo) = C::long_pool(cargo).map(|pool| pool.get_mut(packet.host_word)) else {
            return;
        };
        cargo.class = class;
        if matches!(cargo.part_of, PartOf::Notice(_)) {
            return;
        }
        if let Some(entropies) = entropies {
            entropies.give((host, now), cargo, packet);
        }
        if let Some(trails) = trails {
            trails.set(packet.host_word, Trail::default());
        }
    }

    fn late(&mut self, at: (u32, Cycle), packet: &Packet) {
        if let Some(Loaded { entropies: Some(entropies), .. }) = self.loaded.as_deref_mut() {
            entropies.late(at, packet);
        }
    }

    fn hear(&mut self, at: (u32, Cycle), notice: &Notice) {
        if let Some(Loaded { entropies: Some(entropies), .. }) = self.loaded.as_deref_mut() {
            entropies.hear(at, notice);
        }
    }

    #[inline(always)]
    fn injected(&mut self, packet: &mut Packet, now: Cycle) {
        match &mut self.loaded {
            Some(loaded) => {
                let told = loaded.cargo.get_mut(packet.host_word).leave(now);
                if told && let Some(interfaces) = &mut loaded.interfaces {
                    interfaces.leaves(packet.host_word, (now, packet.size));
                }
            }
            None => packet.host_word = now,
        }
    }

    #[inline(always)]
    fn cross(&mut self, crossing: impl FnOnce() -> (u32, Cycle)) {
        if let Some(loaded) = &mut self.loaded
            && loaded.streams.is_some()
        {
            let (host_word, unloaded) = crossing();
            loaded.cargo.get_mut(host_word).cross(unloaded);
        }
    }

    fn lose(&mut self, packet: &Packet) -> bool {
        let Some(loaded) = &mut self.loaded else { return true };
        let (_, _, part_of) = loaded.cargo.remove(packet.host_word).unload();
        if let (PartOf::Course(number), Some(streams), None) =
            (part_of, &mut loaded.streams, &loaded.numbers)
        {
            streams.lose(number);
        }
        !matches!(part_of, PartOf::Notice(_) | PartOf::Trimmed)
    }

    #[inline(always)]
    fn refill(&mut self, core: &mut Core, host: u32) {
        if let Some(Loaded { interfaces: Some(interfaces), .. }) = self.loaded.as_deref_mut()
            && let Some(nic) = interfaces.of_host(host)
        {
            interfaces.refill(core, nic);
        }
    }

    #[inline(always)]
    fn deliver(
        &mut self,
        at: (u32, Cycle),
        host_word: u32,
        packet: Delivery,
        mut record: impl FnMut(&Delivery),
    ) -> bool {
        match &mut self.loaded {
            Some(loaded) => loaded.unpack(at, host_word, packet, record),
            None => {
                record(&packet);
                true
            }
        }
    }

    #[inline(always)]
    fn post(&mut self, core: &mut Core, partition: u32, host_word: u32) {
        if let Some(loaded) = &mut self.loaded {
            let cargo = loaded.cargo.remove(host_word);
            let mail = &mut core.outbox[partition as usize];
            C::of(mail).push(cargo);
            mail.trails.extend(loaded.trails.as_ref().map(|trails| *trails.of(host_word)));
            mail.numbers.extend(loaded.numbers.as_ref().map(|numbers| numbers.of(host_word)));
        }
    }

    #[inline(always)]
    fn receive(&mut self, mail: &mut Mail, now: Cycle) {
        let Some(loaded) = &mut self.loaded else { return };
        if let Some(interfaces) = &mut loaded.interfaces {
            mail.passing.drain(..).for_each(|passing| interfaces.await_message(passing, now));
        }
        let mut all = std::mem::take(C::of(mail));
        for (flight, cargo) in mail.arrivals.iter_mut().zip(all.drain(..)) {
            flight.packet.host_word = loaded.cargo.insert(cargo);
        }
        *C::of(mail) = all;
        if let Some(trails) = &mut loaded.trails {
            for (flight, trail) in mail.arrivals.iter().zip(mail.trails.drain(..)) {
                trails.set(flight.packet.host_word, trail);
            }
        }
        if let Some(numbers) = &mut loaded.numbers {
            for (flight, number) in mail.arrivals.iter().zip(mail.numbers.drain(..)) {
                numbers.set(flight.packet.host_word, number);
            }
        }
    }

    fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        let Some(loaded) = self.loaded.as_deref() else { return from };
        let Loaded { interfaces, streams, receivers, entropies, .. } = loaded;
        let to = interfaces.as_ref().map_or(to, |interfaces| interfaces.due(from, to));
        let to = streams.as_ref().map_or(to, |streams| streams.due(from, to));
        let replies = receivers.as_ref().and_then(Receivers::next);
        let returns = entropies.as_ref().and_then(Entropies::next);
        replies.into_iter().chain(returns).fold(to, |to, at| to.min(at.max(from)))
    }

    fn interfaces(&self) -> Option<&Interfaces> {
        self.loaded.as_ref()?.interfaces.as_ref()
    }

    fn cargo(&self) -> Option<u32> {
        self.loaded.as_ref().map(|loaded| loaded.cargo.live())
    }

    fn cargo_mut(&mut self) -> Option<&mut Slab<Cargo>> {
        C::long_pool(&mut self.loaded.as_mut()?.cargo)
    }

    fn source(&self, host_word: u32) -> Option<HostId> {
        self.loaded.as_ref()?.cargo.get(host_word).long().map(|cargo| cargo.source)
    }

    fn notice(&self, host_word: u32) -> Option<Notice> {
        match self.loaded.as_ref()?.cargo.get(host_word).unload().2 {
            PartOf::Notice(notice) => Some(notice),
            _ => None,
        }
    }

    fn tell(&mut self, source: HostId, notice: Notice) -> Option<u32> {
        Some(self.loaded.as_mut()?.cargo.insert(C::new(source, PartOf::Notice(notice), 0)))
    }

    fn told(&mut self, host_word: u32) {
        self.loaded.as_mut().map(|loaded| loaded.cargo.remove(host_word));
    }

    fn trails_mut(&mut self) -> Option<&mut Trails> {
        self.loaded.as_mut()?.trails.as_deref_mut()
    }

    fn numbers_mut(&mut self) -> Option<&mut Numbers> {
        self.loaded.as_mut()?.numbers.as_deref_mut()
    }

    fn reject(&mut self, at: (u32, Cycle), host_word: u32) {
        let Some(Loaded { cargo, receivers, numbers, .. }) = self.loaded.as_deref_mut() else {
            return;
        };
        let loaded = cargo.remove(host_word);
        if let (Some(receivers), Some(numbers), Some(cargo)) = (receivers, numbers, loaded.long()) {
            receivers.reject(at, cargo, numbers.of(host_word));
        }
    }

    fn streams(&self) -> &[StreamRecord] {
        let streams = self.loaded.as_ref().and_then(|loaded| loaded.streams.as_ref());
        streams.map_or(&[], |streams| &streams.records)
    }

    fn streams_mut(&mut self) -> &mut [StreamRecord] {
        let streams = self.loaded.as_mut().and_then(|loaded| loaded.streams.as_mut());
        streams.map_or(&mut [], |streams| &mut streams.records)
    }

    fn order(&self, until: Cycle) -> Option<OrderRecord> {
        self.loaded.as_ref()?.streams.as_ref()?.order(until)
    }

    fn entropies(&self) -> Option<EntropyRecord> {
        Some(self.loaded.as_ref()?.entropies.as_ref()?.record())
    }

    fn open(&mut self, from: Cycle, to: Cycle) {
        if let Some(Loaded { streams: Some(streams), .. }) = self.loaded.as_deref_mut() {
            streams.open(from, to);
        }
    }
}
