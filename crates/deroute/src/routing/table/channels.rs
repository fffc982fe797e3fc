//! Which buffers wait for which: a bit for each two of them that a packet may take after each other.

use crate::ids::{PortId, RouterId};
use crate::topology::{Peer, Topology};

/// The dependencies between the buffers of all routers, by input port and VC.
pub(super) struct Channels {
    /// First port of each router.
    ports: Vec<usize>,
    /// Where the bits of each router begin, a row for each input channel.
    rows: Vec<usize>,
    bits: Vec<u64>,
    vcs: usize,
}

/// An input port of a router, and a VC.
pub(super) type Channel = (RouterId, u16, u8);

impl Channels {
    /// None depends on another one; links have so many VCs.
    pub(super) fn new(topology: &dyn Topology, vcs: usize) -> Self {
        let (mut ports, mut rows) = (vec![0], vec![0]);
        for router in (0..topology.routers()).map(RouterId) {
            let channels = usize::from(topology.radix(router)) * vcs;
            ports.push(ports[router.index()] + usize::from(topology.radix(router)));
            rows.push(rows[router.index()] + channels * channels.div_ceil(64));
        }
        let bits = vec![0; rows[rows.len() - 1]];
        Self { ports, rows, bits, vcs }
    }

    /// Words of a row of a router.
    fn width(&self, router: RouterId) -> usize {
        let ports = self.ports[router.index() + 1] - self.ports[router.index()];
        (ports * self.vcs).div_ceil(64)
    }

    /// Packets that came in at a port, on a VC, may leave through a port on a VC.
    pub(super) fn depend(&mut self, at: RouterId, from: (u16, u8), to: (u16, u8)) {
        let channel = |(port, vc): (u16, u8)| usize::from(port) * self.vcs + usize::from(vc);
        let (row, column) = (channel(from), channel(to));
        let word = self.rows[at.index()] + row * self.width(at) + column / 64;
        self.bits[word] |= 1 << (column % 64);
    }

    /// The next channel that one depends on, at a place in its row or behind it.
    fn next(&self, (at, port, vc): Channel, from: usize) -> Option<usize> {
        let width = self.width(at);
        let row = self.rows[at.index()] + (usize::from(port) * self.vcs + usize::from(vc)) * width;
        let mut column = from;
        while column < width * 64 {
            let word = self.bits[row + column / 64] >> (column % 64);
            if word != 0 {
                return Some(column + word.trailing_zeros() as usize);
            }
            column = (column / 64 + 1) * 64;
        }
        None
    }

    fn number(&self, (router, port, vc): Channel) -> usize {
        (self.ports[router.index()] + usize::from(port)) * self.vcs + usize::from(vc)
    }

    /// Channels that depend on each other in a cycle, if there are such.
    pub(super) fn cycle(&self, topology: &dyn Topology) -> Option<Vec<Channel>> {
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut marks = vec![0_u8; self.ports[self.ports.len() - 1] * self.vcs];
        let mut walk: Vec<(Channel, usize)> = Vec::new();
        for router in (0..topology.routers()).map(RouterId) {
            for port in 0..topology.radix(router) {
                for vc in 0..self.vcs as u8 {
                    if marks[self.number((router, port, vc))] == DONE {
                        continue;
                    }
                    marks[self.number((router, port, vc))] = OPEN;
                    walk.push(((router, port, vc), 0));
                    while let Some((channel, from)) = walk.last().copied() {
                        let Some(column) = self.next(channel, from) else {
                            marks[self.number(channel)] = DONE;
                            walk.pop();
                            continue;
                        };
                        walk.last_mut()?.1 = column + 1;
                        let (out, vc) = ((column / self.vcs) as u16, (column % self.vcs) as u8);
                        let peer = topology.peer(channel.0, PortId(out));
                        let Peer::Router { router, port, .. } = peer else { continue };
                        let next = (router, port.0, vc);
                        match &mut marks[self.number(next)] {
                            mark @ 0 => *mark = OPEN,
                            &mut OPEN => {
                                let start = walk.iter().position(|(other, _)| *other == next)?;
                                return Some(walk[start..].iter().map(|(one, _)| *one).collect());
                            }
                            _ => continue,
                        }
                        walk.push((next, 0));
                    }
                }
            }
        }
        None
    }
}
