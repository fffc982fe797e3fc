//! The links in numbers: rates, queues before them, and who may be told to be silent.

use std::collections::BTreeMap;

use deroute::ids::{PortId, RouterId};
use deroute::queuing::Flows;
use deroute::spec::{
    ClassSchedule, FlowControl, Quantity, RetrySpec, Scale, SharedBufferSpec, Spec, Switch,
};
use deroute::topology::{Peer, Topology};

use super::resolved::whole;

/// Links of one class.
#[derive(Clone, Copy)]
pub(super) struct Class {
    pub(super) latency: u32,
    pub(super) vcs: usize,
    /// Phits that each VC has for itself, and that all share.
    pub(super) buffer: u32,
    pub(super) shared: u32,
    /// Cycles that a phit takes.
    pub(super) period: u32,
}

/// Limits of a buffer: of a VC, or of a port where the whole link is told to be silent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) capacity: u32,
    /// More than this: be silent. No more than that: go on.
    pub(super) xoff: u32,
    pub(super) xon: u32,
}

/// Receivers of a class of links that tell their senders to be silent, or that lose packets.
pub(super) struct Pauses {
    /// All VCs of a link together.
    pub(super) whole_link: bool,
    pub(super) limits: Limits,
    /// Phits of a frame that says so.
    pub(super) frame: u32,
    /// Cycles from the arrival of its end to its effect.
    pub(super) response: u32,
    /// Cycles that it holds; until further notice if absent.
    pub(super) duration: Option<u32>,
    /// Its buffers take of the memory of the switch what they hold beyond XOFF.
    pub(super) shared: Option<Shared>,
}

/// Memory of a switch, and how much of it a buffer may take.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    /// Phits, with the buffers of all ports.
    pub(super) size: u32,
    threshold: Threshold,
}

#[derive(Clone, Copy)]
enum Threshold {
    /// So many times what is left, in parts of 2^16.
    Dynamic(u64),
    Static(u32),
}

impl Shared {
    /// Phits that a buffer may take when so many are left.
    pub(super) fn threshold(&self, left: u32) -> u64 {
        match self.threshold {
            Threshold::Dynamic(alpha) => (alpha * u64::from(left)) >> 16,
            Threshold::Static(limit) => limit.into(),
        }
    }
}

/// Receivers of a class of links that give credits back in messages.
pub(super) struct Messages {
    /// Phits that are counted as one.
    cell: u32,
    /// Phits of a message, and cycles between the beginnings of two at the least.
    pub(super) message: u32,
    pub(super) interval: u32,
    /// Share of them that is lost.
    pub(super) lost: f64,
    /// Phits that the largest packet takes.
    pub(super) largest: u32,
}

impl Messages {
    /// Phits that a packet takes.
    pub(super) fn charge(&self, size: u32) -> u32 {
        size.div_ceil(self.cell) * self.cell
    }
}

/// How the classes of service share a link.
pub(super) enum Schedule {
    Strict,
    /// What each may send in a round, and what a phit counts, so that all are whole numbers.
    Ets {
        quanta: Vec<u32>,
        phit: u32,
    },
}

/// Links, and what waits before them.
pub(super) struct Links {
    pub(super) classes: Vec<Class>,
    /// Links of hosts, if they are more than a delay.
    pub(super) nic: Option<Class>,
    /// Cycles of a phit on links that are slower than their class, by router and port.
    slow: BTreeMap<(usize, usize), u32>,
    /// By class, and of the links of hosts: where there are no credits.
    pub(super) pauses: Vec<Option<Pauses>>,
    pub(super) host: Option<Pauses>,
    /// By class, those of hosts last: where credits come back in messages.
    pub(super) messages: Vec<Option<Messages>>,
    pub(super) schedule: Schedule,
    /// Classes of service, and classes of the queuing scheme in each.
    pub(super) service: usize,
    schemes: usize,
    /// An output to a host has a queue for each of its classes, and not for each class of service.
    apart_at_hosts: bool,
    /// An output buffer is filled by the phits in it, and not by the time that the link needs for them.
    pub(super) counts_phits: bool,
    largest: u32,
}

impl Links {
    pub(super) fn new(
        spec: &Spec,
        topology: &dyn Topology,
        flows: &Flows,
        (classes, scale, largest): (Vec<Class>, &Scale, u32),
    ) -> Self {
        let nic = spec.network.nic.link.as_ref().map(|link| Class {
            latency: whole(&spec.network.nic.latency),
            vcs: flows.classes().into(),
            buffer: whole(&link.buffer),
            shared: 0,
            period: period(scale, link.rate.as_ref()),
        });
        let slow = slow(spec, topology, scale);
        let service = usize::from(flows.service());
        let usual = &spec.network.flow_control;
        let own = |name: &&str| spec.network.links[*name].flow_control.as_ref().unwrap_or(usual);
        let controls: Vec<&FlowControl> = topology.classes().iter().map(own).collect();
        let at_hosts = spec.network.nic.link.as_ref().and_then(|link| link.flow_control.as_ref());
        let at_hosts = at_hosts.unwrap_or(usual);
        let plan = |control, class| pauses(control, class, largest, scale);
        let pauses = controls.iter().zip(&classes).map(|(control, class)| plan(control, class));
        let pauses: Vec<Option<Pauses>> = pauses.collect();
        let host = nic.as_ref().and_then(|nic| plan(at_hosts, nic));
        let credits = |control: &FlowControl| matches!(control, FlowControl::Credits(_));
        let at_nic = nic.as_ref().and_then(|_| messages(at_hosts, largest));
        let told = controls.iter().map(|control| messages(control, largest));
        let messages: Vec<Option<Messages>> = told.chain([at_nic]).collect();
        let counted = matches!(at_hosts, FlowControl::Cbfc(_)) && nic.is_none();
        let whole = matches!(at_hosts, FlowControl::Pause(_)) || credits(at_hosts) || counted;
        let guarded = pauses.iter().any(Option::is_some) || messages.iter().any(Option::is_some);
        let waits = |retry: &RetrySpec| retry.bit_error_rate > 0.0 || retry.replay_buffer.is_some();
        let of_host = spec.network.nic.link.as_ref().and_then(|link| link.retry.as_ref());
        let retries = spec.network.links.values().filter_map(|link| link.retry.as_ref());
        let guarded = guarded || retries.chain(of_host).any(waits);
        let paused = !credits(usual) || host.is_some() || guarded;
        let fast = classes.iter().chain(&nic).all(|class| class.period == 1);
        let holds = matches!(spec.network.switch, Switch::InputBufferedOutputQueued(_));
        let schedule = match spec.network.classes.as_ref().map(|classes| &classes.schedule) {
            Some(ClassSchedule::Ets(shares)) => {
                // The least share is as much as the largest packet.
                let phit = shares.iter().min().copied().expect("a share");
                Schedule::Ets { quanta: shares.iter().map(|share| share * largest).collect(), phit }
            }
            _ => Schedule::Strict,
        };
        Self {
            counts_phits: paused || service > 1 || !fast || !slow.is_empty() || holds,
            apart_at_hosts: !whole,
            largest,
            classes,
            nic,
            slow,
            pauses,
            host,
            messages,
            schedule,
            service,
            schemes: usize::from(flows.classes()) / service,
        }
    }

    /// The link at a port, and none at that of a host.
    pub(super) fn class(&self, peer: &Peer) -> Option<&Class> {
        match peer {
            Peer::Router { class, .. } => Some(&self.classes[usize::from(*class)]),
            _ => None,
        }
    }

    /// Cycles that a phit takes on the link of a port.
    pub(super) fn period(&self, router: usize, port: usize, peer: &Peer) -> u32 {
        let usual = self.class(peer).or(self.nic.as_ref()).map_or(1, |class| class.period);
        self.slow.get(&(router, port)).copied().unwrap_or(usual)
    }

    /// Limits of the buffers at a port, where there are any.
    pub(super) fn limits(&self, peer: &Peer) -> Option<(&Pauses, Limits)> {
        let pauses = match peer {
            Peer::Router { class, .. } => self.pauses[usize::from(*class)].as_ref(),
            Peer::Host(_) => self.host.as_ref(),
            Peer::Unused => None,
        };
        pauses.map(|pauses| (pauses, pauses.limits))
    }

    /// How the receiver at a port gives credits back, if it does so in messages.
    pub(super) fn messages(&self, peer: &Peer) -> Option<&Messages> {
        match peer {
            Peer::Router { class, .. } => self.messages[usize::from(*class)].as_ref(),
            Peer::Host(_) => self.messages.last().and_then(Option::as_ref),
            Peer::Unused => None,
        }
    }

    /// Phits that a packet takes of the buffer at the other end of a link.
    pub(super) fn charge(&self, peer: &Peer, size: u32) -> u32 {
        self.messages(peer).map_or(size, |messages| messages.charge(size))
    }

    /// The class of service of a VC.
    pub(super) fn service_of(&self, vc: usize) -> usize {
        vc / self.schemes % self.service
    }

    /// Has an output a queue for each VC at its other end, and not for each class of service?
    pub(super) fn apart(&self, peer: &Peer) -> bool {
        match peer {
            Peer::Router { .. } => self.limits(peer).is_some_and(|(pauses, _)| !pauses.whole_link),
            _ => self.apart_at_hosts,
        }
    }

    /// Phits behind a crossbar that has no output buffers: none where nothing can wait there.
    pub(super) fn behind_crossbar(&self, pipeline: u32) -> u64 {
        if self.counts_phits { (pipeline + 2 * self.largest).into() } else { u64::MAX }
    }

    /// Has each VC behind a port an output buffer of its own?
    pub(super) fn buffer_per_vc(&self, peer: &Peer) -> bool {
        matches!(peer, Peer::Router { .. }) && self.apart(peer)
    }
}

/// The classes of links of a topology.
pub(super) fn classes(spec: &Spec, topology: &dyn Topology, scale: &Scale) -> Vec<Class> {
    let class = |name: &&str| {
        let link = &spec.network.links[*name];
        Class {
            latency: whole(&link.latency),
            vcs: usize::from(link.vcs.count().expect("a number of VCs")),
            buffer: whole(&link.buffer),
            shared: link.shared.as_ref().map_or(0, whole),
            period: period(scale, link.rate.as_ref()),
        }
    };
    topology.classes().iter().map(class).collect()
}

/// Cycles that a phit takes on a link of some rate.
pub(super) fn period(scale: &Scale, rate: Option<&Quantity>) -> u32 {
    rate.map_or(1, |rate| scale.period("rate", rate).expect("a possible rate"))
}

/// Links that are slower than their class, in both directions: of several between two routers, the first ones.
fn slow(spec: &Spec, topology: &dyn Topology, scale: &Scale) -> BTreeMap<(usize, usize), u32> {
    let mut slow = BTreeMap::new();
    for link in &spec.network.slow_links {
        let [from, to] = link.routers;
        let free = |port: &u16| {
            let peer = topology.peer(RouterId(from), PortId(*port));
            let leads = matches!(peer, Peer::Router { router, .. } if router.0 == to);
            leads && !slow.contains_key(&(from as usize, usize::from(*port)))
        };
        let port = (0..topology.radix(RouterId(from))).find(free).expect("a link");
        let Peer::Router { port: back, .. } = topology.peer(RouterId(from), PortId(port)) else {
            unreachable!("it leads to a router")
        };
        let cycles = period(scale, Some(&link.rate));
        slow.insert((from as usize, usize::from(port)), cycles);
        slow.insert((to as usize, back.index()), cycles);
    }
    slow
}

fn messages(control: &FlowControl, largest: u32) -> Option<Messages> {
    let FlowControl::Cbfc(spec) = control else { return None };
    let cell = whole(&spec.cell);
    Some(Messages {
        cell,
        message: whole(&spec.message),
        interval: whole(&spec.interval),
        lost: spec.lost_messages,
        largest: largest.div_ceil(cell) * cell,
    })
}

/// What the specs of PAUSE and PFC have in common.
struct Asked<'a> {
    xoff: &'a Option<Quantity>,
    xon: &'a Option<Quantity>,
    response: &'a Option<Quantity>,
    phy_delay: &'a Quantity,
    frame: &'a Quantity,
    quanta: Option<u32>,
    shared: &'a Option<SharedBufferSpec>,
}

fn pauses(control: &FlowControl, class: &Class, largest: u32, scale: &Scale) -> Option<Pauses> {
    macro_rules! asked {
        ($spec:ident) => {
            Asked {
                xoff: &$spec.xoff,
                xon: &$spec.xon,
                response: &$spec.response,
                phy_delay: &$spec.phy_delay,
                frame: &$spec.frame,
                quanta: $spec.quanta,
                shared: &$spec.shared_buffer,
            }
        };
    }
    let (whole_link, asked) = match control {
        FlowControl::Credits(_) | FlowControl::Cbfc(_) => return None,
        FlowControl::Trim(_) => panic!("the model sends nothing again"),
        FlowControl::Lossy(_) => {
            let limits = Limits { capacity: class.buffer, xoff: u32::MAX, xon: 0 };
            let (frame, response, duration) = (0, 0, None);
            let (whole_link, shared) = (false, None);
            return Some(Pauses { whole_link, limits, frame, response, duration, shared });
        }
        FlowControl::Pfc(spec) => (false, asked!(spec)),
        FlowControl::Pause(spec) => (true, asked!(spec)),
    };
    let response = whole(asked.response.as_ref().expect("a response time"));
    let (frame, response) = (whole(asked.frame), response + 2 * whole(asked.phy_delay));
    let limits = {
        let capacity = class.buffer * if whole_link { class.vcs as u32 } else { 1 };
        // What is on its way when the receiver speaks: what fits into the time until it is heard and until the last
        // phit has come, while its frame waits for a packet and takes its own time, and a packet that has begun; and, as
        // the derived limits have it, frames of other VCs.
        let vcs = if whole_link { 1 } else { class.vcs as u32 };
        let ahead = (vcs - 1) * frame + frame.saturating_sub(largest);
        let on_its_way = (2 * class.latency + response).div_ceil(class.period);
        let headroom = 2 * largest + frame + ahead + on_its_way;
        let derived = if capacity > headroom { capacity - headroom } else { 1 };
        let xoff = asked.xoff.as_ref().map_or(derived, whole);
        let xon = asked.xon.as_ref().map_or(xoff.saturating_sub(2 * largest), whole);
        Limits { capacity, xoff, xon }
    };
    // A quantum is the time of 512 bits on the link.
    let quantum = 512.0 / 8.0 / scale.phit_bytes() * f64::from(class.period);
    let duration = asked.quanta.map(|quanta| ((f64::from(quanta) * quantum).round() as u32).max(1));
    let threshold = |shared: &SharedBufferSpec| match &shared.limit {
        Some(limit) => Threshold::Static(whole(limit)),
        None => Threshold::Dynamic((shared.alpha.expect("one of both") * 65_536.0).round() as u64),
    };
    let shared = asked.shared.as_ref();
    let shared = shared.map(|s| Shared { size: whole(&s.size), threshold: threshold(s) });
    Some(Pauses { whole_link, limits, frame, response, duration, shared })
}
