//! Ranks and their messages, one operation and one phit at a time.

use std::collections::VecDeque;

use deroute::ids::HostId;
use deroute::outcome::Outcome;
use deroute::routing::Header;
use deroute::workload::{Job, Jobs, Op, Seat};

use super::{Model, Packet};

/// A rank on its host.
struct Rank {
    seat: Seat,
    /// What it still has to do.
    ops: VecDeque<Op>,
    /// It computes before this cycle.
    busy_until: u32,
    /// Sender and tag of the messages that have come.
    inbox: Vec<(u32, u32)>,
    /// Messages to be cut, and the phits that have been.
    outbox: VecDeque<(usize, u32)>,
    ended: Option<u32>,
}

/// A message, from its send to the end of the run.
struct Message {
    from: Seat,
    tag: u32,
    to: HostId,
    issued: u32,
    /// Which of its phits have come.
    phits: Vec<bool>,
    arrived: Option<u32>,
}

/// All ranks and messages.
pub(super) struct Office {
    jobs: Jobs,
    /// By host.
    ranks: Vec<Option<Rank>>,
    messages: Vec<Message>,
    /// By packet: the message, and the phits before it.
    parts: Vec<(usize, u32)>,
    held: u64,
    most_held: u32,
}

/// Every operation of a rank.
fn program(job: &Job, rank: u32) -> VecDeque<Op> {
    let mut ops = VecDeque::from([Op::Compute { cycles: job.start }]);
    for iteration in 0..job.iterations() {
        for step in 0..job.steps() {
            ops.extend((0..).map_while(|index| job.op(rank, iteration, step, index)));
        }
    }
    ops
}

impl Office {
    pub(super) fn new(jobs: Jobs, hosts: u32) -> Self {
        let rank = |host| {
            let seat = *jobs.seats(HostId(host)).first()?;
            Some(Rank {
                seat,
                ops: program(&jobs.jobs[seat.job as usize], seat.rank),
                busy_until: 0,
                inbox: Vec::new(),
                outbox: VecDeque::new(),
                ended: None,
            })
        };
        let ranks = (0..hosts).map(rank).collect();
        Self { jobs, ranks, messages: Vec::new(), parts: Vec::new(), held: 0, most_held: 0 }
    }

    /// Everything has ended and arrived.
    pub(super) fn is_done(&self) -> bool {
        self.ranks.iter().flatten().all(|rank| rank.ended.is_some())
            && self.messages.iter().all(|message| message.arrived.is_some())
    }

    /// The last cycle in which something ended or arrived.
    pub(super) fn last(&self) -> u32 {
        let ends = self.ranks.iter().flatten().map(|rank| rank.ended);
        let all = ends.chain(self.messages.iter().map(|message| message.arrived));
        all.flatten().max().unwrap_or(0)
    }

    /// A rank does all that it can in this cycle.
    fn act(&mut self, host: usize, now: u32) {
        let Some(rank) = &mut self.ranks[host] else { return };
        while rank.busy_until <= now {
            let Some(op) = rank.ops.front().copied() else {
                rank.ended.get_or_insert(now);
                return;
            };
            match op {
                Op::Compute { cycles } => rank.busy_until = now + cycles,
                Op::Wait { from, tag } => {
                    let here = rank.inbox.iter().position(|message| *message == (from, tag));
                    let Some(here) = here else { return };
                    rank.inbox.remove(here);
                }
                Op::Send { to, phits, tag } => {
                    rank.outbox.push_back((self.messages.len(), 0));
                    self.messages.push(Message {
                        from: rank.seat,
                        tag,
                        to: self.jobs.jobs[rank.seat.job as usize].hosts[to as usize],
                        issued: now,
                        phits: vec![false; phits as usize],
                        arrived: None,
                    });
                }
            }
            rank.ops.pop_front();
        }
    }

    /// Phits that have come to a host before one that belongs before them.
    fn waiting(&self, host: HostId) -> u32 {
        let early = |message: &Message| {
            let gap = message.phits.iter().position(|here| !here).unwrap_or(message.phits.len());
            message.phits[gap..].iter().filter(|here| **here).count() as u32
        };
        self.messages.iter().filter(|message| message.to == host).map(early).sum()
    }

    /// The last phit of a packet is consumed in this cycle.
    pub(super) fn consume(&mut self, packet: usize, size: u32, now: u32) {
        let (index, offset) = self.parts[packet];
        let message = &mut self.messages[index];
        let early = message.phits[..offset as usize].contains(&false);
        message.phits[offset as usize..(offset + size) as usize].fill(true);
        if message.phits.iter().all(|here| *here) {
            message.arrived = Some(now + 1);
        }
        if early {
            self.held += 1;
            self.most_held = self.most_held.max(self.waiting(self.messages[index].to));
        }
    }

    /// What the engine says of each job.
    pub(super) fn compare(&self, outcome: &Outcome) -> Result<(), String> {
        let workload = outcome.workload.as_ref().ok_or("the engine had no workload")?;
        let same = |what: &str, engine: f64, model: f64| {
            let message = format!("{what}: engine {engine}, model {model}");
            if engine == model { Ok(()) } else { Err(message) }
        };
        same("makespan", workload.makespan as f64, self.last().into())?;
        let (mut held, mut most_held) = (0, 0);
        for (index, job) in workload.jobs.iter().enumerate() {
            let mine = |seat: &Seat| seat.job as usize == index;
            let messages = self.messages.iter().filter(|message| mine(&message.from));
            let latencies = messages.map(|m| m.arrived.expect("all have arrived") - m.issued);
            let latencies: Vec<u64> = latencies.map(u64::from).collect();
            let mean = latencies.iter().sum::<u64>() as f64 / latencies.len().max(1) as f64;
            same("messages", job.messages.received as f64, latencies.len() as f64)?;
            same("message latency", job.messages.latency.mean, mean)?;
            for rank in self.ranks.iter().flatten().filter(|rank| mine(&rank.seat)) {
                let end = rank.ended.expect("all have ended") - job.start as u32;
                let engine = job.arrays.rank_end[rank.seat.rank as usize];
                same("end of a rank", engine as f64, end.into())?;
            }
            held += job.messages.resequenced;
            most_held = most_held.max(job.messages.resequencing_buffer_max);
        }
        same("packets put in order", held as f64, self.held as f64)?;
        same("buffer to put them in order", most_held.into(), self.most_held.into())
    }
}

impl Model {
    /// Messages that were whole in the cycle before reach their ranks; all ranks act.
    pub(super) fn work(&mut self) {
        let Some(office) = &mut self.office else { return };
        for message in office.messages.iter().filter(|m| m.arrived == Some(self.now)) {
            let rank = office.ranks[message.to.index()].as_mut().expect("a rank is there");
            rank.inbox.push((message.from.rank, message.tag));
        }
        for host in 0..self.hosts.len() {
            if let Some(office) = &mut self.office {
                office.act(host, self.now);
            }
            self.cut(host);
        }
    }

    /// The place in a host's outbox of the message to be cut, its injection queue, and the phits of the next packet:
    /// messages wait for those of their queue alone, and for room in its queue.
    fn next_cut(&self, host: usize) -> Option<(usize, usize, u32)> {
        let office = self.office.as_ref()?;
        let outbox = &office.ranks[host].as_ref()?.outbox;
        let mut waiting = Vec::new();
        for (place, (index, cut)) in outbox.iter().enumerate() {
            let message = &office.messages[*index];
            let size = (message.phits.len() as u32 - cut).min(office.jobs.packet.into());
            let ends = (HostId(host as u32), message.to);
            let queue = usize::from(self.net.flows.queue(0, ends, message.tag));
            let fits = u64::from(self.hosts[host].queued[queue] + size) <= self.net.nic_queue;
            if fits && !waiting.contains(&queue) {
                return Some((place, queue, size));
            }
            waiting.push(queue);
        }
        None
    }

    /// A host puts one packet into an injection queue, if there is one and room for it.
    fn cut(&mut self, host: usize) {
        let Some((place, queue, size)) = self.next_cut(host) else { return };
        let Some(office) = &mut self.office else { return };
        let Some(rank) = &mut office.ranks[host] else { return };
        let (index, cut) = &mut rank.outbox[place];
        let message = &office.messages[*index];
        office.parts.push((*index, *cut));
        *cut += size;
        let (destination, generated) = (message.to, message.issued);
        if *cut == message.phits.len() as u32 {
            rank.outbox.remove(place);
        }
        self.hosts[host].queued[queue] += size;
        self.record.attempt(self.now, size, true);
        let packet = self.packets.len();
        self.packets.push(Packet {
            source: HostId(host as u32),
            destination,
            queue,
            class: queue % usize::from(self.net.flows.classes()),
            size,
            generated,
            injected: u32::MAX,
            whole: 0,
            lost_at: None,
            stream: None,
            marked: false,
            blocked: 0,
            header: Header::new(self.net.topology.router_of(destination)),
        });
        self.launch(packet);
    }
}
