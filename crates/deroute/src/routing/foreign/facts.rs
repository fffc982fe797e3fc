//! What a hook of foreign code is about, hops as numbers, and what is said of a mistake.

use super::Hook;
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::rng::Stream;
use crate::routing::{Fault, Header, Hop, Message, Queues, RouterView, ValiantPhase};
use crate::topology::{Peer, Topology};

/// What a hook is about.
pub(super) struct Facts<'a> {
    pub(super) router: RouterId,
    pub(super) input: PortId,
    pub(super) vc: VcId,
    pub(super) port: PortId,
    pub(super) now: Cycle,
    pub(super) size: u16,
    pub(super) header: Option<&'a mut Header>,
    pub(super) queues: Option<&'a dyn Queues>,
    pub(super) rng: Option<&'a mut Stream>,
    pub(super) messages: Option<&'a mut Vec<Message>>,
    pub(super) arguments: [i64; 2],
}

impl<'a> Facts<'a> {
    /// Of a router alone.
    pub(super) fn at(router: RouterId) -> Self {
        Self {
            router,
            input: PortId(0),
            vc: VcId(0),
            port: PortId(0),
            now: 0,
            size: 0,
            header: None,
            queues: None,
            rng: None,
            messages: None,
            arguments: [0; 2],
        }
    }

    /// Of a packet that is to be routed.
    #[inline]
    pub(super) fn of(view: &'a mut RouterView<'_>, header: &'a mut Header) -> Self {
        let RouterView { router, input, vc, port, now, size, .. } = *view;
        let (queues, rng) = (Some(view.queues), Some(&mut *view.rng));
        let arguments = [0; 2];
        let header = Some(header);
        Self { router, input, vc, port, now, size, header, queues, rng, messages: None, arguments }
    }
}

/// A hop as a number: never that of a port, because its position is at least 1.
#[inline]
pub(super) fn pack(hop: Hop) -> i64 {
    i64::from(hop.port.0) | i64::from(hop.vc.0) << 16 | i64::from(hop.position) << 24
}

/// What is not a packed hop or a port has no counterpart.
#[inline]
pub(super) fn unpack(number: i64) -> Option<Hop> {
    let number = u32::try_from(number).ok()?;
    let (vc, position) = (VcId((number >> 16) as u8), (number >> 24) as u8);
    (position > 0 || vc.0 == 0).then_some(Hop { port: PortId(number as u16), vc, position })
}

impl Facts<'_> {
    /// What is wrong, for whoever has to find it; without words the code raised an exception.
    #[cold]
    pub(super) fn fault(
        &self,
        (name, topology): (&str, &dyn Topology),
        hook: Hook,
        wrong: Option<&str>,
    ) -> Box<Fault> {
        let Self { router, now, .. } = *self;
        let wrong = wrong.unwrap_or("it raised an exception");
        let packet = self.packet(topology).map(|packet| format!(" for {packet}"));
        let (packet, hook) = (packet.unwrap_or_default(), hook.name());
        let message =
            format!("{name}: `{hook}` at router {}, cycle {now},{packet}: {wrong}", router.0);
        Box::new(Fault { now, router, message })
    }

    /// The packet in words.
    fn packet(&self, topology: &dyn Topology) -> Option<String> {
        let header = self.header.as_deref()?;
        let phase = match header.phase {
            ValiantPhase::A => format!("in phase A to router {}", header.target().0),
            ValiantPhase::B => "in phase B".to_owned(),
            ValiantPhase::Minimal => "without a detour".to_owned(),
        };
        let to = match topology.peer(header.destination, self.port) {
            Peer::Host(host) => format!("host {} at ", host.0),
            _ => String::new(),
        };
        Some(format!(
            "a packet to {to}router {}, from port {} and VC {}, at position {} after {} hops, {phase}",
            header.destination.0, self.input.0, self.vc.0, header.position, header.hops
        ))
    }
}
