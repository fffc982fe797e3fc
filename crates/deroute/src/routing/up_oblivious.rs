//! Oblivious routing up a fat tree: at random, or in turn.
//!
//! # What it does
//! Takes any of the ports that lead up, whatever the queues are: at random, or one after the other. Either
//! every switch chooses its port, or the switch of the source host chooses the whole way up, that is, the
//! common ancestor in which the packet turns.
//!
//! # Source
//! Rocher-Gonzalez et al. 2.2; Crisan, Gusat and Minkenberg III-B.
//!
//! # Parameters
//! `draw`: `random` (default) or `round-robin`. `when`: at each `hop` (default) or at the `source`. In
//! turn, a switch has one pointer for all that go up through it, a source host one of its own.
//!
//! # Deadlock freedom
//! Up and then down, on one VC.
//!
//! # Limits
//! Needs a fat tree. Packets overtake each other.
//!
//! # Example
//! ```toml
//! [routing.up_oblivious]
//! draw = "random"
//! when = "hop"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::upward::{self, Climb, Rise};
use super::{Fabric, Header, Memo, Plan, RouterView};
use crate::ids::RouterId;
use crate::spec::SpecError;
use crate::state::{State, state};
use crate::topology::Tree;

/// Parameters of oblivious routing up a fat tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpObliviousSpec {
    /// How a way up is chosen. Default `random`.
    pub draw: Draw,
    /// Where it is chosen. Default `hop`.
    pub when: When,
}

/// How one of several ways is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// Each with the same probability.
    #[default]
    Random,
    /// One after the other.
    RoundRobin,
}

/// Where the way up a fat tree is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// In each switch on the way: its port.
    #[default]
    Hop,
    /// In the switch of the source host: all ports on the way.
    Source,
}

struct Oblivious {
    spec: UpObliviousSpec,
    first: RouterId,
    /// Pointers: `when = "hop"` has one for each switch, `"source"` one for each host port of each.
    turns: Vec<u32>,
    /// Pointers of a switch.
    pointers: u32,
    /// Ways up to a switch of each level, from 1 on, and to one of the top.
    ways: Vec<u32>,
}

impl Oblivious {
    fn new(spec: &UpObliviousSpec, tree: &Tree, (first, count): (RouterId, u32)) -> Self {
        let pointers = match (spec.draw, spec.when) {
            (Draw::Random, _) => 0,
            (Draw::RoundRobin, When::Hop) => 1,
            (Draw::RoundRobin, When::Source) => tree.hosts_of_leaf(),
        };
        let mut ways = vec![1];
        for level in 1..tree.levels() {
            ways.push(ways[level - 1] * tree.ups(level));
        }
        let turns = vec![0; (pointers * count) as usize];
        Self { spec: spec.clone(), first, turns, pointers, ways }
    }

    /// A number below `bound`, drawn or the next one of a pointer.
    #[inline]
    fn number(&mut self, view: &mut RouterView<'_>, pointer: u32, bound: u32) -> u32 {
        match self.spec.draw {
            Draw::Random => view.rng.below(bound),
            Draw::RoundRobin => {
                let router = view.router.0 - self.first.0;
                let turn = &mut self.turns[(router * self.pointers + pointer) as usize];
                let number = *turn % bound;
                *turn = (number + 1) % bound;
                number
            }
        }
    }
}

impl State for Oblivious {
    state! { keep turns; leave spec, first, pointers, ways; }
}

impl Climb for Oblivious {
    #[inline]
    fn choose(
        &mut self,
        tree: &Tree,
        view: &mut RouterView<'_>,
        header: &mut Header,
        rise: Rise,
    ) -> u32 {
        if self.spec.when == When::Hop {
            return self.number(view, 0, rise.ups);
        }
        let way = match header.memo() {
            Memo::WayUp(way) => way,
            _ => {
                let ways = self.ways[tree.levels() - 1];
                let way = self.number(view, u32::from(view.input.0), ways);
                header.remember(Memo::WayUp(way));
                way
            }
        };
        way / self.ways[rise.level - 1] % rise.ups
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.turns)
    }
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no fat tree, and more ways up than a source can number.
pub fn plan(spec: &UpObliviousSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    let path = "routing.up_oblivious";
    if let Some(tree) = fabric.topology.tree() {
        let ups = (1..tree.levels()).map(|level| u64::from(tree.ups(level)));
        let ways = ups.fold(1, u64::saturating_mul);
        if ways > u64::from(u32::MAX) && spec.when == When::Source {
            let message = format!("{ways} ways up are too many for a source to number");
            return Err(SpecError::new(format!("{path}.when"), message).choices(["hop"]));
        }
    }
    let spec = spec.clone();
    upward::plan(fabric, path, move |tree, first, count| {
        Oblivious::new(&spec, tree, (first, count))
    })
}
