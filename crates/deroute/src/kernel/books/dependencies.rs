//! Dependencies between channels, as observed in a run.
//!
//! A packet that sits in one channel (router, input port, VC) and is granted the next one makes the
//! first depend on the second. If no run can close a cycle of such dependencies, no set of packets
//! can wait for each other (Dally and Seitz 1987).

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::ids::{PortId, RouterId};
use crate::kernel::model::Model;
use crate::topology::Peer;

/// A channel: the input buffer of a router port and VC, or that of all VCs where the whole link is paused.
pub(crate) type Channel = (u32, u16, Option<u8>);

/// A turn taken in a switch: local router, input (port, VC), output (port, VC).
type Turn = (u32, (u16, u8), (u16, u8));

/// Turns taken in one partition.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Observed {
    turns: BTreeSet<Turn>,
}

impl Observed {
    /// Records a grant. Packets from a host or to a host depend on nothing, or hold up nothing.
    #[cold]
    pub(crate) fn add(&mut self, router: u32, from: Option<(u16, u8)>, to: Option<(u16, u8)>) {
        if let (Some(from), Some(to)) = (from, to) {
            self.turns.insert((router, from, to));
        }
    }

    /// The dependencies as pairs of channels; `first` is the first router of the partition.
    pub(crate) fn pairs(&self, model: &Model, first: u32) -> Vec<(Channel, Channel)> {
        let class = |router, port| match model.topology.peer(RouterId(router), PortId(port)) {
            Peer::Router { class, .. } => class,
            _ => u8::MAX,
        };
        let of = |class, vc: u8| (!model.pauses_whole_link(class)).then_some(vc);
        let pair = |&(router, (in_port, in_vc), (out_port, out_vc)): &Turn| {
            let router = first + router;
            match model.topology.peer(RouterId(router), PortId(out_port)) {
                Peer::Router { router: next, port, class: over } => {
                    let from = (router, in_port, of(class(router, in_port), in_vc));
                    Some((from, (next.0, port.0, of(over, out_vc))))
                }
                _ => None,
            }
        };
        self.turns.iter().filter_map(pair).collect()
    }
}

/// A cycle among the dependencies, if there is one.
pub(crate) fn cycle(pairs: &[(Channel, Channel)]) -> Option<Vec<Channel>> {
    let graph: DiGraphMap<Channel, ()> = pairs.iter().map(|&(a, b)| (a, b)).collect();
    let knot = tarjan_scc(&graph)
        .into_iter()
        .find(|scc| scc.len() > 1 || graph.contains_edge(scc[0], scc[0]))?;
    // Walk inside the component until a channel repeats.
    let mut walk = vec![knot[0]];
    loop {
        let last = walk[walk.len() - 1];
        let next = graph.neighbors(last).find(|next| knot.contains(next))?;
        if let Some(start) = walk.iter().position(|&channel| channel == next) {
            return Some(walk.split_off(start));
        }
        walk.push(next);
    }
}

/// A list of channels as a sentence fragment.
pub(crate) fn describe(channels: &[Channel]) -> String {
    let names: Vec<String> = channels.iter().map(name).collect();
    names.join(" -> ")
}

/// What a channel is called in messages.
pub(crate) fn name((router, port, vc): &Channel) -> String {
    let vc = vc.map_or("all VCs".to_owned(), |vc| format!("VC {vc}"));
    format!("(router {router}, port {port}, {vc})")
}
