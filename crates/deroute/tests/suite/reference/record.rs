//! What the model counts, and how it compares with an [`Outcome`] of the engine.

mod series;

use deroute::outcome::Outcome;
use deroute::probe::PathKind;
use deroute::topology::Peer;

use super::Packet;
use super::guards::GuardRecord;
use super::paused::PauseRecord;
use super::report::Report;
use super::resolved::Resolved;
use super::streams::StreamRecord;

/// One delivered packet.
#[derive(Clone, Copy, Debug)]
struct Delivered {
    generated: u32,
    injected: u32,
    /// The cycle after the consumption of the last phit.
    end: u32,
    size: u32,
    hops: u8,
    kind: PathKind,
    marked: bool,
}

impl Delivered {
    fn latency(&self) -> u64 {
        u64::from(self.end - self.generated)
    }
}

/// Counts of a run.
#[derive(Debug)]
pub struct Record {
    from: u32,
    to: u32,
    hosts: f64,
    series: Option<(u32, u32)>,
    generated: u64,
    refused: u64,
    injected: u64,
    /// Granted the output to their host.
    pub(super) delivered: u64,
    /// Arrived at their host.
    pub(super) consumed: u64,
    pub(super) grants: u64,
    // In the measurement.
    attempted_phits: u64,
    generated_phits: u64,
    injected_packets: u64,
    blocked: u64,
    injected_by_host: Vec<u64>,
    accepted_by_host: Vec<u64>,
    paths: Vec<[u32; PathKind::ALL.len()]>,
    /// Cycles in which phits were sent: `[router][port]`.
    sent: Vec<Vec<u64>>,
    /// Link class, or `None` to a host: `[router][port]`; unused ports have no entry in `sent`.
    ports: Vec<Vec<Peer>>,
    router_of_host: Vec<usize>,
    /// Hosts that have somebody to send to.
    senders: Vec<usize>,
    /// Every packet that was delivered, during the run and after it.
    packets: Vec<Delivered>,
    /// Hops of the longest path.
    most_hops: u8,
    /// What was paused and lost.
    pauses: PauseRecord,
    pub(super) guards: GuardRecord,
    pub(super) streams: StreamRecord,
}

impl Record {
    pub(super) fn new(net: &Resolved) -> Self {
        let routers = net.topology.routers();
        let ports: Vec<Vec<Peer>> = (0..routers)
            .map(deroute::ids::RouterId)
            .map(|r| (0..net.topology.radix(r)).map(move |p| (r, deroute::ids::PortId(p))))
            .map(|ports| ports.map(|(r, p)| net.topology.peer(r, p)).collect())
            .collect();
        let hosts = net.topology.hosts();
        Self {
            from: net.from,
            to: net.to,
            hosts: f64::from(hosts),
            series: net.series,
            generated: 0,
            refused: 0,
            injected: 0,
            delivered: 0,
            consumed: 0,
            grants: 0,
            attempted_phits: 0,
            generated_phits: 0,
            injected_packets: 0,
            blocked: 0,
            injected_by_host: vec![0; hosts as usize],
            accepted_by_host: vec![0; hosts as usize],
            paths: vec![[0; PathKind::ALL.len()]; routers as usize],
            sent: ports.iter().map(|ports| vec![0; ports.len()]).collect(),
            ports,
            router_of_host: (0..hosts)
                .map(|h| net.topology.router_of(deroute::ids::HostId(h)).index())
                .collect(),
            senders: (0..hosts)
                .filter(|h| net.jobs.is_some() || net.workload.sends(deroute::ids::HostId(*h)))
                .map(|h| h as usize)
                .collect(),
            packets: Vec::new(),
            pauses: PauseRecord::new(net),
            guards: GuardRecord::new(net),
            streams: StreamRecord::new(net),
            // In a fat tree the way down takes the VCs of the way up again.
            most_hops: match net.topology.tree() {
                Some(tree) => 2 * (tree.levels() as u8 - 1),
                None => net.plan.vcs.iter().map(|need| need.vcs).sum(),
            },
        }
    }

    /// The run has ended: this is how long it was.
    pub(super) fn end(&mut self, to: u32) {
        self.to = to.max(1);
    }

    pub(super) fn covers(&self, cycle: u32) -> bool {
        (self.from..self.to).contains(&cycle)
    }

    /// A host generates a packet, which the injection queue accepts or refuses.
    pub(super) fn attempt(&mut self, now: u32, size: u32, fits: bool) {
        let phits = if self.covers(now) { u64::from(size) } else { 0 };
        self.attempted_phits += phits;
        if fits {
            self.generated += 1;
            self.generated_phits += phits;
        } else {
            self.refused += 1;
        }
    }

    /// A packet leaves its injection queue.
    pub(super) fn inject(&mut self, packet: &Packet) {
        self.injected += 1;
        if self.covers(packet.injected) {
            self.injected_packets += 1;
            self.injected_by_host[packet.source.index()] += u64::from(packet.size);
        }
    }

    /// A packet leaves the port of its host.
    pub(super) fn path(&mut self, now: u32, router: usize, packet: &Packet) {
        if self.covers(now) {
            self.blocked += u64::from(packet.blocked);
            self.paths[router][packet.header.kind().index()] += 1;
        }
    }

    /// The buffer at the end of a link does not hold a packet.
    pub(super) fn lose(&mut self, now: u32, peer: &Peer, size: u32) {
        if now < self.to {
            self.pauses.lose(peer, size);
        }
    }

    /// A buffer at the end of a link holds so many phits.
    pub(super) fn holds(&mut self, now: u32, peer: &Peer, phits: u32) {
        if now < self.to {
            self.pauses.holds(peer, phits);
        }
    }

    /// A receiver speaks to the sender at the other end of a link.
    pub(super) fn frame(&mut self, peer: &Peer, stops: bool) {
        self.pauses.frame(peer, stops);
    }

    /// So many of the queues before a link are silent in a cycle. The links of hosts go by their ports.
    pub(super) fn silence(&mut self, now: u32, at: (usize, usize), silent: (u32, u32)) {
        if self.covers(now) {
            self.pauses.silence(at, silent);
        }
    }

    /// A phit of a packet is on the wire behind a port.
    pub(super) fn sent(&mut self, now: u32, router: usize, port: usize) {
        self.sent[router][port] += u64::from(self.covers(now));
    }

    /// The last phit of a packet is consumed.
    pub(super) fn consume(&mut self, now: u32, (number, packet): (usize, &Packet)) {
        self.consumed += 1;
        self.streams.consume(now, (number, packet));
        if self.covers(now) {
            self.accepted_by_host[packet.destination.index()] += u64::from(packet.size);
        }
        self.packets.push(Delivered {
            generated: packet.generated,
            injected: packet.injected,
            end: now + 1,
            size: packet.size,
            hops: packet.header.hops,
            kind: packet.header.kind(),
            marked: packet.marked,
        });
    }

    /// Compares everything that can be counted with the engine's result: whole numbers and single
    /// divisions exactly, compound means to the last bits.
    pub fn compare(&self, outcome: &Outcome) -> Result<(), String> {
        let mut report = Report::default();
        self.compare_packets(outcome, &mut report);
        self.compare_latency(outcome, &mut report);
        self.compare_arrays(outcome, &mut report);
        self.compare_links(outcome, &mut report);
        self.compare_series(outcome, &mut report);
        self.pauses.compare(outcome, self.cycles(), &mut report);
        self.guards.compare(outcome, &mut report);
        self.streams.compare(outcome, &mut report);
        report.finish()
    }

    fn measured(&self) -> Vec<Delivered> {
        self.packets.iter().filter(|packet| self.covers(packet.end - 1)).copied().collect()
    }

    fn cycles(&self) -> f64 {
        f64::from(self.to - self.from)
    }

    fn compare_packets(&self, outcome: &Outcome, report: &mut Report) {
        let measured = self.measured();
        let (packets, load) = (&outcome.packets, &outcome.load);
        report.exact("generated", packets.generated, self.generated);
        report.exact("refused", packets.refused, self.refused);
        report.exact("injected", packets.injected, self.injected);
        report.exact("delivered", packets.delivered, self.delivered);
        report.exact(
            "in flight",
            packets.in_flight,
            self.generated - self.delivered - self.pauses.lost(),
        );
        report.exact("lost", packets.lost, self.pauses.lost());
        report.exact("measured", packets.measured, measured.len() as u64);
        let marked = outcome.congestion_point.as_ref().map_or(0, |point| point.marked);
        report.exact("marked", marked, measured.iter().filter(|p| p.marked).count() as u64);
        report.exact("grants", outcome.work.grants, self.grants);
        // A run with a workload goes on for a while after its end.
        let ended = outcome.workload.is_some();
        let cycles = if ended { outcome.measured_cycles } else { outcome.work.cycles };
        report.exact("cycles", cycles, self.to.into());
        let rate = |phits: u64| phits as f64 / (self.hosts * self.cycles());
        let accepted = measured.iter().map(|packet| u64::from(packet.size)).sum();
        report.exact("attempted load", load.attempted, rate(self.attempted_phits));
        report.exact("generated load", load.generated, rate(self.generated_phits));
        report.exact("injected load", load.injected, rate(self.injected_by_host.iter().sum()));
        report.exact("accepted load", load.accepted, rate(accepted));
        let blocked = ratio(self.blocked, self.injected_packets);
        report.exact("blocked attempts", outcome.blocked_attempts_mean, blocked);
        let all = self.paths.iter().flatten().map(|packets| u64::from(*packets)).sum();
        for path in &outcome.paths {
            let column = path.kind.index();
            let packets = self.paths.iter().map(|row| u64::from(row[column])).sum();
            report.exact("path packets", path.packets, packets);
            report.exact("path share", path.share, ratio(packets, all));
        }
    }

    fn compare_latency(&self, outcome: &Outcome, report: &mut Report) {
        let measured = self.measured();
        let latency = &outcome.latency;
        let count = measured.len() as u64;
        let sum: u64 = measured.iter().map(Delivered::latency).sum();
        let waited: u64 = measured.iter().map(|p| u64::from(p.injected - p.generated)).sum();
        report.exact("mean latency", latency.mean, ratio(sum, count));
        report.exact("injection latency", latency.injection_mean, ratio(waited, count));
        report.exact("network latency", latency.network_mean, ratio(sum - waited, count));
        let mut sorted: Vec<u64> = measured.iter().map(Delivered::latency).collect();
        sorted.sort_unstable();
        report.exact("min", latency.min, sorted.first().copied().unwrap_or(0));
        report.exact("max", latency.max, sorted.last().copied().unwrap_or(0));
        for percentile in &latency.percentiles {
            let rank = (percentile.percent / 100.0 * count as f64).ceil() as usize;
            let exact = sorted.get(rank.max(1) - 1).copied().unwrap_or(0);
            let most = (exact as f64 * (1.0 + latency.histogram_error)).floor() as u64;
            if !(exact..=most).contains(&percentile.cycles) {
                report.exact("percentile", percentile.cycles, exact);
            }
        }
        let longest = self.packets.iter().map(|packet| packet.hops).max().unwrap_or(0);
        report.exact("paths of more hops than VCs", longest > self.most_hops, false);
        let hops = measured.iter().map(|packet| u64::from(packet.hops)).sum();
        report.exact("hops", outcome.hops_mean, ratio(hops, count));
    }

    fn compare_arrays(&self, outcome: &Outcome, report: &mut Report) {
        let arrays = &outcome.arrays;
        let rates = |phits: &[u64]| -> Vec<f64> {
            phits.iter().map(|&phits| phits as f64 / self.cycles()).collect()
        };
        let injected = rates(&self.injected_by_host);
        let accepted = rates(&self.accepted_by_host);
        report.exact("injected by host", &arrays.injected_by_host, &injected);
        report.exact("accepted by host", &arrays.accepted_by_host, &accepted);
        let rows: Vec<u32> = self.paths.iter().flatten().copied().collect();
        report.exact("paths by router", &arrays.paths_by_router, &rows);
        let mean = |router: usize, hosts: &[usize]| {
            let here = hosts.iter().filter(|host| self.router_of_host[**host] == router);
            let loads: Vec<f64> = here.map(|host| injected[*host]).collect();
            let sum = loads.iter().sum::<f64>();
            (!loads.is_empty()).then_some(sum / loads.len() as f64)
        };
        let (routers, all) = (0..self.paths.len(), Vec::from_iter(0..injected.len()));
        let by_router: Vec<f64> =
            routers.clone().map(|router| mean(router, &all).unwrap_or(0.0)).collect();
        for (engine, model) in arrays.injected_by_router.iter().zip(&by_router) {
            report.close("injected by router", *engine, *model);
        }
        let homes: Vec<f64> = routers.filter_map(|router| mean(router, &self.senders)).collect();
        let senders: Vec<f64> = self.senders.iter().map(|host| injected[*host]).collect();
        let jain = |loads: &[f64]| {
            let (sum, squares) =
                (loads.iter().sum::<f64>(), loads.iter().map(|load| load * load).sum::<f64>());
            if squares == 0.0 { 1.0 } else { sum * sum / (loads.len() as f64 * squares) }
        };
        report.close("Jain, hosts", outcome.fairness.jain_hosts, jain(&senders));
        report.close("Jain, routers", outcome.fairness.jain_routers, jain(&homes));
    }

    fn compare_links(&self, outcome: &Outcome, report: &mut Report) {
        let ports = self.ports.iter().zip(&self.sent).enumerate().flat_map(|(r, (ports, sent))| {
            ports.iter().zip(sent).enumerate().map(move |(p, (peer, sent))| (r, p, *peer, *sent))
        });
        let (mut at, mut used) = (Vec::new(), Vec::new());
        let mut classes = vec![Vec::new(); outcome.links.len()];
        for (router, port, peer, sent) in ports {
            let rate = sent as f64 / self.cycles();
            match peer {
                Peer::Unused => report.exact("phits to nowhere", sent, 0),
                Peer::Host(_) => classes[outcome.links.len() - 1].push(rate),
                Peer::Router { class, .. } => {
                    classes[usize::from(class)].push(rate);
                    at.extend([router as u32, port as u32]);
                    used.push(rate);
                }
            }
        }
        report.exact("links", &outcome.arrays.link_at, &at);
        report.exact("link use", &outcome.arrays.link_use, &used);
        for (engine, rates) in outcome.links.iter().zip(&classes) {
            let most = rates.iter().copied().fold(0.0, f64::max);
            let least = rates.iter().copied().fold(f64::MAX, f64::min);
            report.exact("links of a class", engine.links as usize, rates.len());
            report.exact("most used link", engine.max, most);
            report.exact("least used link", engine.min, least);
            report.close("link use", engine.mean, rates.iter().sum::<f64>() / rates.len() as f64);
        }
    }
}

fn ratio(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}
