//! The sending end of a link: queues of packets, and the wire that takes one phit after the other.

use std::collections::VecDeque;

use super::Phit;
use super::guards::Errors;
use super::links::{Links, Schedule};

/// A packet that was granted an output, or that waits in the interface of a host for its link.
pub(super) struct Outgoing {
    pub(super) packet: usize,
    /// VC at the other end of the link.
    pub(super) vc: usize,
    pub(super) size: u32,
    /// It may leave from this cycle on.
    pub(super) ready: u32,
    /// The first cycle in which all of it could be through the pipeline, however fast the rest of the switch is.
    pub(super) whole: u32,
    /// Phits that left the crossbar and not the output.
    pub(super) crossed: VecDeque<Crossed>,
    pub(super) sent: u32,
    /// Port and VC of the input whose memory it keeps until it leaves.
    pub(super) memory: Option<(usize, usize)>,
}

/// A phit behind the crossbar: the cycles in which its beginning and its end are through the pipeline.
pub(super) struct Crossed {
    pub(super) begins: u32,
    pub(super) ends: u32,
}

/// Tells the other end that queues be silent, or that they go on.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The VCs that it speaks of, and whether they are to be silent; one for all where the whole link is told.
    pub(super) says: Vec<(usize, bool)>,
    /// Credits that it brings, by VC.
    pub(super) credits: Vec<(usize, u32)>,
    /// Phits that have not been sent.
    pub(super) left: u32,
}

/// Whose turn it is.
struct Turn {
    /// Queue that comes first in each class of service.
    first: Vec<usize>,
    class: usize,
    /// Phits that each class may still send.
    deficits: Vec<u32>,
}

/// What a wire does in a cycle.
#[derive(Default)]
pub(super) struct Step {
    /// A phit of a packet is on it.
    pub(super) busy: bool,
    /// A packet began to leave.
    pub(super) began: Option<Began>,
    /// A phit began to leave, for a VC at the other end.
    pub(super) phit: Option<(usize, Phit)>,
    /// A frame of which the last phit begins to leave, and the cycle in which that has left.
    pub(super) frame: Option<(Frame, u32)>,
}

/// A packet that began to leave.
pub(super) struct Began {
    pub(super) packet: usize,
    pub(super) vc: usize,
    pub(super) size: u32,
    pub(super) memory: Option<(usize, usize)>,
}

pub(super) struct Wire {
    /// Cycles that it needs for a phit.
    pub(super) period: u32,
    /// Each VC at the other end has a queue, and not each class of service.
    apart: bool,
    queues: Vec<VecDeque<Outgoing>>,
    /// By queue: silent before this cycle.
    silent_until: Vec<u32>,
    sending: Option<Outgoing>,
    /// The queue that it was in.
    from: usize,
    frame: Option<Frame>,
    /// The phit on the wire has left before this cycle.
    busy_until: u32,
    turn: Turn,
    /// Its frames may break.
    pub(super) errors: Option<Errors>,
}

impl Wire {
    /// To an end with so many VCs.
    pub(super) fn new(
        links: &Links,
        (apart, vcs): (bool, usize),
        (period, errors): (u32, Option<Errors>),
    ) -> Self {
        let queues = if apart { vcs } else { links.service };
        let mut deficits = vec![0; links.service];
        if let Schedule::Ets { quanta, .. } = &links.schedule {
            deficits[0] = quanta[0];
        }
        Self {
            period,
            apart,
            queues: (0..queues).map(|_| VecDeque::new()).collect(),
            silent_until: vec![0; queues],
            sending: None,
            from: 0,
            frame: None,
            busy_until: 0,
            turn: Turn { first: vec![0; links.service], class: 0, deficits },
            errors,
        }
    }

    /// The queue for packets of a VC.
    fn queue_of(&self, links: &Links, vc: usize) -> usize {
        if self.apart { vc } else { links.service_of(vc) }
    }

    /// A packet of a VC waits for the wire.
    pub(super) fn append(&mut self, links: &Links, vc: usize, packet: Outgoing) {
        let queue = self.queue_of(links, vc);
        self.queues[queue].push_back(packet);
    }

    /// Does a packet wait in a queue that has sent nothing?
    pub(super) fn waits(&self, queue: usize) -> bool {
        !self.queues[queue].is_empty()
    }

    /// Phits that wait in the queues of a class of service.
    pub(super) fn waiting_of(&self, links: &Links, service: usize) -> u32 {
        let own = |queue: &usize| {
            self.apart && links.service_of(*queue) == service || !self.apart && *queue == service
        };
        let queues = (0..self.queues.len()).filter(own);
        queues.flat_map(|queue| &self.queues[queue]).map(|packet| packet.size).sum()
    }

    /// Is nothing on the wire?
    pub(super) fn is_free(&self, now: u32) -> bool {
        self.busy_until <= now && !self.is_sending() && self.frame.is_none()
    }

    /// A frame goes next.
    pub(super) fn tell(&mut self, frame: Frame) {
        self.frame = Some(frame);
    }

    /// The other end says that queues be silent before some cycle.
    pub(super) fn hear(&mut self, queues: std::ops::Range<usize>, silent_until: u32) {
        self.silent_until[queues].fill(silent_until);
    }

    /// All queues, or the one of a VC.
    pub(super) fn told(&self, links: &Links, whole: bool, vc: usize) -> std::ops::Range<usize> {
        let queue = self.queue_of(links, vc);
        if whole { 0..self.queues.len() } else { queue..queue + 1 }
    }

    /// Is the queue of a VC silent in this cycle?
    pub(super) fn is_silent(&self, links: &Links, vc: usize, now: u32) -> bool {
        self.silent_until[self.queue_of(links, vc)] > now
    }

    /// Queues that are silent in this cycle, and all.
    pub(super) fn silent(&self, now: u32) -> (u32, u32) {
        let silent = self.silent_until.iter().filter(|until| **until > now).count();
        (silent as u32, self.queues.len() as u32)
    }

    /// Has it begun a packet that has not left whole?
    pub(super) fn is_sending(&self) -> bool {
        self.sending.as_ref().is_some_and(|packet| packet.sent < packet.size)
    }

    /// A packet that has not left whole.
    pub(super) fn find(&mut self, packet: usize) -> Option<&mut Outgoing> {
        let all = self.queues.iter_mut().flatten().chain(&mut self.sending);
        all.into_iter().find(|outgoing| outgoing.packet == packet)
    }

    /// Packets that have sent nothing.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Outgoing> {
        self.queues.iter().flatten()
    }

    /// Phits of a queue that are behind the crossbar and have not begun to leave.
    fn phits(&self, queue: usize) -> u64 {
        let sending = self.sending.iter().filter(|_| self.from == queue);
        self.queues[queue].iter().chain(sending).map(|packet| packet.crossed.len() as u64).sum()
    }

    /// Does no buffer hold more phits, beside the packet that leaves: one for each queue, or one for all?
    pub(super) fn fits(&self, (buffer, beside): (u64, u32), apart: bool) -> bool {
        let leaving = self.sending.as_ref().map_or(0, |packet| packet.crossed.len());
        let buffer = buffer.saturating_add(beside.min(leaving as u32).into());
        let mut held = (0..self.queues.len()).map(|queue| self.phits(queue));
        if apart { held.all(|phits| phits <= buffer) } else { held.sum::<u64>() <= buffer }
    }

    /// Phits of all packets of some queues that have not left; of the one that leaves, if it counts.
    pub(super) fn unsent(&self, queues: std::ops::Range<usize>, counts: bool, now: u32) -> u32 {
        let waiting: u32 = self.queues[queues.clone()].iter().flatten().map(|p| p.size).sum();
        let leaving = u32::from(self.busy_until > now);
        let sending = self.sending.as_ref().filter(|_| counts && queues.contains(&self.from));
        waiting + sending.map_or(0, |packet| packet.size - packet.sent + leaving)
    }

    /// Cycles until all packets have left, in the order of the queues, if nothing holds them.
    pub(super) fn backlog(&self, now: u32) -> u32 {
        let mut free = now.max(self.busy_until);
        free += self.sending.as_ref().map_or(0, |packet| packet.size - packet.sent) * self.period;
        for packet in self.waiting() {
            free = free.max(packet.ready).max(self.in_time(packet)) + packet.size * self.period;
        }
        free - now
    }

    /// The first cycle in which a packet could leave so that its last phit is there when it is needed.
    fn in_time(&self, packet: &Outgoing) -> u32 {
        packet.whole.saturating_sub(packet.size * self.period)
    }

    /// Sends what it can in this cycle.
    pub(super) fn step(&mut self, links: &Links, now: u32) -> Step {
        let mut step = Step::default();
        if self.busy_until <= now {
            self.sending = self.sending.take().filter(|packet| packet.sent < packet.size);
            if self.sending.is_none() {
                self.send_frame(now, &mut step);
            }
            if self.sending.is_none() && self.busy_until <= now {
                self.sending = self.next(links, now);
                step.began = self.sending.as_ref().map(|packet| {
                    let Outgoing { packet, vc, size, memory, .. } = *packet;
                    Began { packet, vc, size, memory }
                });
            }
            if self.busy_until <= now {
                self.send_phit(now, &mut step);
            }
        }
        step.busy = self.sending.is_some();
        step
    }

    /// A frame goes first, one phit at a time.
    fn send_frame(&mut self, now: u32, step: &mut Step) {
        let Some(frame) = &mut self.frame else { return };
        if frame.left > 0 {
            frame.left -= 1;
            self.busy_until = now + self.period;
        }
        if frame.left == 0 {
            let left_at = self.busy_until.max(now);
            step.frame = self.frame.take().map(|frame| (frame, left_at));
        }
    }

    /// The next phit of the packet that is leaving.
    fn send_phit(&mut self, now: u32, step: &mut Step) {
        let Some(packet) = &mut self.sending else { return };
        let phit = packet.crossed.pop_front().expect("a link ran dry within a packet");
        assert!(phit.begins <= now, "a link ran dry within a packet");
        assert!(phit.ends < now + self.period, "a link ran dry within a phit");
        let index = packet.sent;
        packet.sent += 1;
        self.busy_until = now + self.period;
        step.phit = Some((packet.vc, Phit { packet: packet.packet, index }));
    }

    /// The packet that leaves now, if one can.
    fn next(&mut self, links: &Links, now: u32) -> Option<Outgoing> {
        if self.errors.as_ref().is_some_and(|errors| errors.waits(now)) {
            return None;
        }
        let can_send = |queue: &usize| {
            let head = self.queues[*queue].front();
            let there = |head: &Outgoing| head.ready <= now && self.in_time(head) <= now;
            self.silent_until[*queue] <= now && head.is_some_and(there)
        };
        let queues: Vec<usize> = (0..self.queues.len()).filter(can_send).collect();
        let apart = self.apart;
        let service_of = |queue| if apart { links.service_of(queue) } else { queue };
        // The queue of a class that comes first, if one of its queues can send.
        let of_class = |turn: &Turn, class: usize| {
            let mine = || queues.iter().filter(|queue| service_of(**queue) == class);
            mine().find(|queue| **queue >= turn.first[class]).or(mine().next()).copied()
        };
        if queues.is_empty() {
            return None;
        }
        let queue = match &links.schedule {
            Schedule::Strict => {
                (0..links.service).rev().find_map(|class| of_class(&self.turn, class))
            }
            Schedule::Ets { quanta, phit } => loop {
                let turn = &mut self.turn;
                let class = turn.class;
                match of_class(turn, class) {
                    None => turn.deficits[class] = 0,
                    Some(queue) => {
                        let size = self.queues[queue][0].size * phit;
                        if size <= turn.deficits[class] {
                            turn.deficits[class] -= size;
                            break Some(queue);
                        }
                    }
                }
                turn.class = (class + 1) % quanta.len();
                turn.deficits[turn.class] += quanta[turn.class];
            },
        };
        let queue = queue?;
        let class = service_of(queue);
        self.turn.first[class] = queue + 1;
        if let Some(errors) = &mut self.errors
            && errors.holds_back((self.queues[queue][0].size, self.period), now)
        {
            return None;
        }
        self.from = queue;
        self.queues[queue].pop_front()
    }
}
