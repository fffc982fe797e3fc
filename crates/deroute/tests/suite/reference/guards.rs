//! What links do beside pauses: credits that come back in messages, frames that break and are sent again, marks; and
//! what the model counts of it.

use std::collections::BTreeMap;

use deroute::outcome::Outcome;
use deroute::rng::{Owner, Stream};
use deroute::spec::{CongestionPoint, RetrySpec, Scale, Spec};
use deroute::topology::Peer;

use super::report::Report;
use super::resolved::{Resolved, whole};

/// A sender whose frames break.
pub(super) struct Errors {
    stream: Stream,
    /// Chance that a bit is wrong, and bits of a phit.
    rate: f64,
    bits: u32,
    /// Phits that it keeps at the most.
    replay: u32,
    /// Cycles from the end of a frame to the answer.
    answer: u32,
    /// Frames without an answer: when it comes, and their phits.
    kept: Vec<(u32, u32)>,
    /// Nothing leaves before this cycle.
    waits_until: u32,
    pub(super) frames: u64,
    pub(super) errors: u64,
    pub(super) most: u32,
}

impl Errors {
    /// The sender of links of some latency, as the spec of their class says.
    pub(super) fn of(
        spec: Option<&RetrySpec>,
        (latency, scale): (u32, &Scale),
        (seed, owner): (u64, Owner),
    ) -> Option<Self> {
        let spec = spec?;
        Some(Self {
            stream: Stream::new(seed, owner),
            rate: spec.bit_error_rate,
            bits: (8.0 * scale.phit_bytes()).ceil() as u32,
            replay: spec.replay_buffer.as_ref().map_or(u32::MAX, whole),
            answer: 2 * latency + whole(&spec.response),
            kept: Vec::new(),
            waits_until: 0,
            frames: 0,
            errors: 0,
            most: 0,
        })
    }

    /// Must everything wait?
    pub(super) fn waits(&self, now: u32) -> bool {
        self.waits_until > now
    }

    /// A frame is to leave over a link where a phit takes a period. Does it stay: because it breaks, or because there
    /// is no room to keep it?
    pub(super) fn holds_back(&mut self, (size, period): (u32, u32), now: u32) -> bool {
        self.kept.retain(|(answered, _)| *answered > now);
        let kept: u32 = self.kept.iter().map(|(_, phits)| phits).sum();
        if u64::from(kept) + u64::from(size) > self.replay.into() {
            self.waits_until = self.kept.iter().map(|kept| kept.0).min().expect("what fills it");
            return true;
        }
        let answered = now + size * period + self.answer;
        self.frames += 1;
        self.most = self.most.max(kept + size);
        let breaks = 1.0 - (1.0 - self.rate).powi((size * self.bits) as i32);
        if self.rate > 0.0 && self.stream.unit() < breaks {
            self.errors += 1;
            self.waits_until = answered;
            return true;
        }
        self.kept.push((answered, size));
        false
    }
}

/// Marks of packets that leave a queue behind.
pub(super) struct Marking {
    kmin: u32,
    kmax: u32,
    /// In parts of 2^32.
    pmax: u64,
    streams: BTreeMap<(usize, usize), Stream>,
}

impl Marking {
    pub(super) fn of(spec: &Spec, net: &Resolved) -> Option<Self> {
        let Some(CongestionPoint::Ecn(ecn)) = &spec.network.congestion_point else { return None };
        let ports = (0..net.topology.routers()).map(deroute::ids::RouterId).flat_map(|router| {
            (0..net.topology.radix(router)).map(move |port| (router, deroute::ids::PortId(port)))
        });
        let stream = |(router, port): (deroute::ids::RouterId, deroute::ids::PortId)| {
            let stream = Stream::new(spec.run.seed, Owner::Port(router, port));
            ((router.index(), port.index()), stream)
        };
        let pmax = (ecn.pmax * 2f64.powi(32)) as u64;
        let streams = ports.map(stream).collect();
        Some(Self { kmin: whole(&ecn.kmin), kmax: whole(&ecn.kmax), pmax, streams })
    }

    /// Is a packet marked that leaves a port and so many phits behind?
    pub(super) fn marks(&mut self, at: (usize, usize), behind: u32) -> bool {
        let share = u64::from(behind.saturating_sub(self.kmin));
        if behind <= self.kmin || behind > self.kmax {
            return behind > self.kmax;
        }
        let bound = u128::from(self.pmax) * u128::from(share) / u128::from(self.kmax - self.kmin);
        let stream = self.streams.get_mut(&at).expect("a port");
        u128::from(stream.bits() >> 32) < bound
    }
}

/// What left queues of one kind of link and class of service.
#[derive(Clone, Copy, Debug, Default)]
struct Marked {
    packets: u64,
    marked: u64,
    longest: u32,
}

/// Counts, by class of links, those of hosts last.
#[derive(Debug)]
pub(super) struct GuardRecord {
    names: Vec<String>,
    /// Messages, and those that were lost, where credits come back in such.
    messages: Vec<Option<(u64, u64)>>,
    /// Frames, errors and most phits kept, where frames break.
    frames: Vec<Option<(u64, u64, u32)>>,
    marks: BTreeMap<(usize, usize), Marked>,
    /// Most of the shared memory of a switch that was in use.
    pub(super) shared: u32,
}

impl GuardRecord {
    pub(super) fn new(net: &Resolved) -> Self {
        let mut names: Vec<String> = net.topology.classes().iter().map(|n| n.to_string()).collect();
        names.push("host".to_owned());
        let messages = net.links.messages.iter().map(|plan| plan.as_ref().map(|_| (0, 0)));
        Self {
            messages: messages.collect(),
            frames: vec![None; names.len()],
            marks: BTreeMap::new(),
            shared: 0,
            names,
        }
    }

    /// The class of the link behind a port.
    fn class(&self, peer: &Peer) -> usize {
        match peer {
            Peer::Router { class, .. } => usize::from(*class),
            _ => self.names.len() - 1,
        }
    }

    /// A receiver sends a message, which may be lost.
    pub(super) fn message(&mut self, peer: &Peer, lost: bool) {
        let class = self.class(peer);
        let (sent, gone) = self.messages[class].as_mut().expect("somebody sends messages");
        (*sent, *gone) = (*sent + 1, *gone + u64::from(lost));
    }

    /// What a sender over a link has counted.
    pub(super) fn errors(&mut self, peer: &Peer, errors: &Errors) {
        let class = self.class(peer);
        let (frames, broken, most) = self.frames[class].get_or_insert_default();
        *frames += errors.frames;
        *broken += errors.errors;
        *most = (*most).max(errors.most);
    }

    /// A packet of a class of service leaves so many phits behind; the cycle is measured or is not.
    pub(super) fn mark(
        &mut self,
        (peer, service): (&Peer, usize),
        (behind, marked): (u32, bool),
        measured: bool,
    ) {
        let counts = self.marks.entry((self.class(peer), service)).or_default();
        counts.longest = counts.longest.max(behind);
        counts.packets += u64::from(measured);
        counts.marked += u64::from(measured && marked);
    }

    pub(super) fn compare(&self, outcome: &Outcome, report: &mut Report) {
        let used = outcome.flow_control.as_ref();
        // A run with a workload goes on for a while after its end.
        if outcome.workload.is_none() {
            let told = |name: &String, counts: &Option<(u64, u64)>| {
                counts.map(|(sent, lost)| (name.clone(), sent, lost))
            };
            let model: Vec<_> =
                self.names.iter().zip(&self.messages).filter_map(|(n, c)| told(n, c)).collect();
            let credits = used.map_or(&[][..], |used| &used.credits);
            let engine = credits.iter().map(|c| (c.class.clone(), c.messages, c.lost_messages));
            report.exact("credits in messages", engine.collect::<Vec<_>>(), model);
        }
        let shared = used.and_then(|used| used.shared.as_ref());
        report.exact("shared memory", shared.map_or(0, |shared| shared.used_max), self.shared);
        let frames = self.names.iter().zip(&self.frames);
        let model = frames.filter_map(|(name, f)| f.map(|(n, e, most)| (name.clone(), n, e, most)));
        let retry = outcome.retry.as_ref().map_or(&[][..], |retry| &retry.links);
        let engine = retry.iter().map(|l| (l.class.clone(), l.frames, l.errors, l.replay_max));
        report.exact("frames", engine.collect::<Vec<_>>(), model.collect::<Vec<_>>());
        let queues = outcome.congestion_point.as_ref().map_or(&[][..], |point| &point.queues);
        let engine: Vec<_> = queues
            .iter()
            .filter(|queue| queue.queue_max > 0 || queue.packets > 0)
            .map(|queue| {
                let class = if queue.class == "ejection" { "host" } else { &queue.class };
                let (service, longest) = (queue.service as usize, queue.queue_max);
                (class.to_owned(), service, queue.packets, queue.marked, longest)
            })
            .collect();
        let model =
            self.marks.iter().filter(|(_, counts)| counts.longest + counts.packets as u32 > 0);
        let model: Vec<_> = model
            .map(|((class, service), c)| {
                (self.names[*class].clone(), *service, c.packets, c.marked, c.longest)
            })
            .collect();
        report.exact("marks", engine, model);
    }
}
