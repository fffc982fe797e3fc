//! What the flow control did, by class of links.

use std::collections::BTreeMap;

use deroute::outcome::{Outcome, PauseUse};
use deroute::topology::Peer;

use super::report::Report;
use super::resolved::Resolved;

/// Counts of a class of links, or of those of hosts.
#[derive(Clone, Debug, Default)]
struct Counts {
    frames: u64,
    stops: u64,
    most: u32,
    lost_packets: u64,
    lost_phits: u64,
    capacity: u32,
    xoff: u32,
    /// By router and port of a sender: cycles in which its queues were silent, added up, and how many they are.
    silent: BTreeMap<(usize, usize), (u64, u32)>,
}

/// Counts of all links, those of hosts last.
#[derive(Debug)]
pub(super) struct PauseRecord {
    counts: Vec<Counts>,
    names: Vec<String>,
    /// Those of them with receivers that say what they hold.
    counted: Vec<bool>,
    /// Class of the link behind each port.
    class_at: BTreeMap<(usize, usize), usize>,
}

/// The class of a link, and what comes after the last of them at the port of a host.
fn class_of(peer: &Peer, classes: usize) -> usize {
    match peer {
        Peer::Router { class, .. } => usize::from(*class),
        _ => classes,
    }
}

impl PauseRecord {
    pub(super) fn new(net: &Resolved) -> Self {
        let mut names: Vec<String> = net.topology.classes().iter().map(|n| n.to_string()).collect();
        let (mut class_at, classes) = (BTreeMap::new(), names.len());
        names.push("host".to_owned());
        let mut counts = vec![Counts::default(); names.len()];
        for router in 0..net.topology.routers() {
            let id = deroute::ids::RouterId(router);
            for port in 0..net.topology.radix(id) {
                let peer = net.topology.peer(id, deroute::ids::PortId(port));
                let Some((pauses, limits)) = net.links.limits(&peer) else { continue };
                let (at, class) = ((router as usize, usize::from(port)), class_of(&peer, classes));
                class_at.insert(at, class);
                let vcs = net.links.class(&peer).or(net.links.nic.as_ref()).map_or(0, |c| c.vcs);
                let queues = if pauses.whole_link { net.links.service } else { vcs };
                counts[class].silent.insert(at, (0, queues as u32));
                (counts[class].capacity, counts[class].xoff) = (limits.capacity, limits.xoff);
            }
        }
        let pauses = net.links.pauses.iter().chain([&net.links.host]);
        let counted = pauses.map(Option::is_some).collect();
        Self { counts, names, counted, class_at }
    }

    fn of(&mut self, peer: &Peer) -> &mut Counts {
        let class = class_of(peer, self.names.len() - 1);
        &mut self.counts[class]
    }

    pub(super) fn lose(&mut self, peer: &Peer, size: u32) {
        let counts = self.of(peer);
        counts.lost_packets += 1;
        counts.lost_phits += u64::from(size);
    }

    pub(super) fn holds(&mut self, peer: &Peer, phits: u32) {
        let counts = self.of(peer);
        counts.most = counts.most.max(phits);
    }

    pub(super) fn frame(&mut self, peer: &Peer, stops: bool) {
        let counts = self.of(peer);
        counts.frames += 1;
        counts.stops += u64::from(stops);
    }

    pub(super) fn silence(&mut self, at: (usize, usize), (silent, queues): (u32, u32)) {
        let Some(class) = self.class_at.get(&at) else { return };
        let (cycles, all) = self.counts[*class].silent.get_mut(&at).expect("a known link");
        assert_eq!(queues, *all, "queues of a link");
        *cycles += u64::from(silent);
    }

    /// Packets lost on all links.
    pub(super) fn lost(&self) -> u64 {
        self.counts.iter().map(|counts| counts.lost_packets).sum()
    }

    pub(super) fn compare(&self, outcome: &Outcome, cycles: f64, report: &mut Report) {
        let used = outcome.flow_control.as_ref().map_or(&[][..], |used| &used.links);
        let mine = self.counts.iter().zip(&self.names).zip(&self.counted);
        let mine = mine.filter(|(_, counted)| **counted).map(|((counts, name), _)| {
            let shares = counts.silent.values();
            let shares =
                shares.map(|(silent, queues)| *silent as f64 / (cycles * f64::from(*queues)));
            let silent: u64 = counts.silent.values().map(|(silent, _)| silent).sum();
            let queues: u32 = counts.silent.values().map(|(_, queues)| queues).sum();
            PauseUse {
                class: name.clone(),
                links: counts.silent.len() as u32,
                frames: counts.frames,
                stops: counts.stops,
                paused_mean: silent as f64 / (cycles * f64::from(queues.max(1))),
                paused_max: shares.fold(0.0, f64::max),
                buffer_max: counts.most,
                buffer: counts.capacity,
                xoff: (counts.xoff < u32::MAX).then_some(counts.xoff),
                lost_packets: counts.lost_packets,
                lost_phits: counts.lost_phits,
                trimmed_packets: 0,
            }
        });
        for (engine, model) in used.iter().zip(mine.clone()) {
            report.exact("flow control", engine, &model);
        }
        report.exact("classes with flow control", used.len(), mine.count());
    }
}
