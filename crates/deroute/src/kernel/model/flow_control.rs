//! Flow control, link class by link class.

use crate::control::{self, ControlPlan, FlowControl, LinkClass, MessagePlan, PausePlan, Setting};
use crate::ids::Cycle;
use crate::spec::{Scale, Spec, SpecError};
use crate::topology::Peer;

/// The links of a network that are paused, or that lose packets; the others have credits.
#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    /// By link class; none where there are credits.
    links: Vec<Option<PausePlan>>,
    /// Of the links of hosts, if they have any.
    host: Option<PausePlan>,
    /// Some links between switches have credits.
    mixed: bool,
    /// An output to a host has a queue for each class of flows, and not for each class of service.
    apart_at_hosts: bool,
    /// Phits of a switch that shares memory among its ports, and the path that says so.
    pub(crate) shared: Option<(u32, String)>,
    /// VCs that are never silenced.
    pub(crate) exempt: u64,
}

impl Pauses {
    /// Those of a class of links, and of the links of hosts, which come after the last of them.
    #[inline]
    pub(crate) fn of(&self, class: usize) -> Option<&PausePlan> {
        self.links.get(class).unwrap_or(&self.host).as_ref()
    }

    /// Those of a link behind a port.
    pub(crate) fn at(&self, peer: Peer) -> Option<&PausePlan> {
        match peer {
            Peer::Router { class, .. } => self.of(class.into()),
            Peer::Host(_) => self.host.as_ref(),
            Peer::Unused => None,
        }
    }

    /// Of the links of hosts.
    pub(crate) fn host(&self) -> Option<&PausePlan> {
        self.host.as_ref()
    }

    /// Of every class, hosts' last.
    pub(crate) fn by_class(&self) -> impl Iterator<Item = Option<&PausePlan>> {
        self.links.iter().chain([&self.host]).map(Option::as_ref)
    }

    /// The place of a class among those that have no credits; hosts come last.
    pub(crate) fn place_of(&self, class: usize) -> usize {
        self.links.iter().take(class).flatten().count()
    }

    fn all(&self) -> impl Iterator<Item = &PausePlan> {
        self.by_class().flatten()
    }

    /// Can a packet be lost?
    pub(crate) fn lossy(&self) -> bool {
        self.all().any(|plan| plan.lossy)
    }

    /// Phits of the smallest header that is left of a packet, if any packet is trimmed.
    pub(crate) fn header(&self) -> Option<u16> {
        self.all().filter_map(|plan| plan.trim).min()
    }

    /// Are links paused as a whole?
    pub(crate) fn whole_link(&self) -> bool {
        self.all().any(|plan| plan.whole_link)
    }

    /// Are links between switches paused?
    pub(crate) fn between_switches(&self) -> bool {
        self.links.iter().any(Option::is_some)
    }

    /// All of them?
    pub(crate) fn between_all_switches(&self) -> bool {
        !self.mixed
    }

    /// Has an output of some link a queue for each VC?
    pub(crate) fn some_queue_per_vc(&self) -> bool {
        self.apart_at_hosts || self.links.iter().flatten().any(|plan| !plan.whole_link)
    }

    /// Do pauses end by themselves?
    pub(crate) fn ends(&self) -> bool {
        self.all().any(|plan| plan.duration.is_some())
    }

    /// Have links of a class no credits?
    #[inline]
    pub(crate) fn replace_credits(&self, class: u8) -> bool {
        !self.mixed || self.of(class.into()).is_some()
    }

    /// Has an output to links of a class, or to a host, a queue for each VC, and not for each class of service?
    pub(crate) fn queue_per_vc(&self, class: u8) -> bool {
        match self.links.get(usize::from(class)) {
            Some(plan) => plan.is_some_and(|plan| !plan.whole_link),
            None => self.apart_at_hosts,
        }
    }

    /// The most cycles until a receiver is obeyed, where a phit takes so many at the most.
    pub(crate) fn told(&self, period: u32) -> Cycle {
        self.all().map(|plan| plan.frame * period + plan.response).max().unwrap_or(0)
    }
}

/// The links whose credits come back in messages.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    /// By link class, hosts' last.
    links: Vec<Option<MessagePlan>>,
}

impl Messages {
    /// Those of a class of links; the links of hosts come after the last of them.
    #[inline]
    pub(crate) fn of(&self, class: u8) -> Option<&MessagePlan> {
        let last = self.links.len() - 1;
        self.links[usize::from(class).min(last)].as_ref()
    }

    /// Of the links of hosts.
    pub(crate) fn host(&self) -> Option<&MessagePlan> {
        self.of(u8::MAX)
    }

    /// Of every class, hosts' last.
    pub(crate) fn by_class(&self) -> impl Iterator<Item = Option<&MessagePlan>> {
        self.links.iter().map(Option::as_ref)
    }

    /// The most cycles that a message takes, where a phit takes so many at the most.
    pub(crate) fn told(&self, period: u32) -> Cycle {
        self.links.iter().flatten().map(|plan| plan.message * period).max().unwrap_or(0)
    }
}

/// What guards the links.
pub(super) struct Guards {
    /// A VC is taken only while it is empty.
    pub(super) atomic: bool,
    pub(super) pause: Option<Pauses>,
    pub(super) messages: Option<Messages>,
}

/// The links that need flow control, and what it is planned for.
pub(super) struct Ends<'a> {
    pub(super) names: &'a [&'static str],
    pub(super) links: &'a [LinkClass],
    pub(super) host: Option<LinkClass>,
    pub(super) sizes: (Scale, u16),
    /// The routing asks for empty VCs.
    pub(super) atomic: bool,
}

/// Whether a VC is taken only while it is empty, the links that are paused, and those whose credits come in messages.
///
/// # Errors
/// Buffers with which a flow control cannot work, and memory of switches that is said to be of several sizes.
pub(super) fn resolve(spec: &Spec, ends: &Ends<'_>) -> Result<Guards, SpecError> {
    let network = &spec.network;
    let (scale, largest) = ends.sizes;
    let plan = |control: &FlowControl, path: &str, (at, link): (&str, Option<LinkClass>)| {
        let setting = Setting { path, at, link, largest, scale, atomic: ends.atomic };
        control::build(control, &setting)
    };
    let usual = (&network.flow_control, "network.flow_control".to_owned());
    let (mut atomic, mut shared) = (false, None);
    let mut add =
        |(control, path): (&FlowControl, String), link: (&str, Option<LinkClass>)| match plan(
            control, &path, link,
        )? {
            ControlPlan::Credits { atomic: one } => {
                atomic |= one;
                Ok((None, None))
            }
            ControlPlan::Messages(plan) => {
                atomic |= ends.atomic;
                Ok((None, Some(plan)))
            }
            ControlPlan::Pause(plan) => {
                let name = control.name();
                if let Some(memory) = plan.shared {
                    share(&mut shared, memory.size, format!("{path}.{name}.shared_buffer.size"))?;
                }
                Ok((Some(plan), None))
            }
        };
    let (common, _) = add(usual.clone(), ("network", None))?;
    let (mut links, mut messages) = (Vec::new(), Vec::new());
    for (name, link) in ends.names.iter().zip(ends.links) {
        let at = format!("network.links.{name}");
        let own = network.links.get(*name).and_then(|link| link.flow_control.as_ref());
        let control = own.map_or(usual.clone(), |own| (own, format!("{at}.flow_control")));
        let (pauses, counts) = add(control, (&at, Some(*link)))?;
        links.push(pauses);
        messages.push(counts);
    }
    let at = "network.nic.link";
    let own = network.nic.link.as_ref().and_then(|link| link.flow_control.as_ref());
    let control = own.map_or(usual, |own| (own, format!("{at}.flow_control")));
    let (host, of_hosts) = match ends.host {
        Some(link) if !matches!(control.0, FlowControl::Credits(_)) => {
            let (plan, counts) = add(control, (at, Some(link)))?;
            messages.push(counts);
            (plan, plan)
        }
        Some(_) => (None, None),
        None => (None, common),
    };
    messages.resize(links.len() + 1, None);
    let apart_at_hosts = of_hosts.is_some_and(|plan| !plan.whole_link);
    let none = links.iter().chain([&common, &host]).all(Option::is_none);
    let mixed = links.iter().any(Option::is_none);
    let pauses = Pauses { links, host, mixed, apart_at_hosts, shared, exempt: 0 };
    let pause = (!none).then_some(pauses);
    let counts = messages.iter().any(Option::is_some);
    Ok(Guards { atomic, pause, messages: counts.then_some(Messages { links: messages }) })
}

/// A switch has one memory.
fn share(known: &mut Option<(u32, String)>, size: u32, path: String) -> Result<(), SpecError> {
    match known {
        Some((other, there)) if *other != size => {
            let message =
                format!("{size} phits, but {there} says {other}: a switch has one memory");
            Err(SpecError::new(path, message).choices([format!("{other} phits")]))
        }
        Some(_) => Ok(()),
        None => {
            *known = Some((size, path));
            Ok(())
        }
    }
}
