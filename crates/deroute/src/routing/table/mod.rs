//! Forwarding tables.
//!
//! # What it does
//! A packet goes where the rules of its router say: of those that fit its destination, its source and the port by
//! which it entered, the one of the highest priority. Rules are text, one in each line, with cells between
//! commas that the first line names:
//!
//! | column | |
//! |---|---|
//! | `router` | number of the router, from 0 |
//! | `in_port` | port by which the packet entered; any if empty |
//! | `destination`, `destination_mask` | address of a host, or a block of them: a number, or a MAC address such as `02:00:00:00:01:05`; any if empty |
//! | `source`, `source_mask` | the same of the source |
//! | `priority` | the highest that fits counts; 0 if empty |
//! | `condition`, `condition_port` | `not-paused`, and the port of the rule |
//! | `ports` | a port, with a VC if wanted (`7:1`), or several between blanks, of which a hash of the packet's ends chooses one |
//!
//! Lines of a router follow one another; `#` begins a comment.
//!
//! # Source
//! OpenFlow 1.0, section 3.4; thesis 4.3 and 4.5.
//!
//! # Parameters
//! `rules`, or in the lab a `file` of them (CSV, Parquet, or a folder of dumps of Open vSwitch), which is handed
//! over `packed` if it is large; `addressing` (default `number`): what the rules call the hosts; `detours` (default
//! `false`) and `vc_use`: rules for the port of a host lead around, as those of MAR-bP and Valiant with `-g-`;
//! `count_hops` (default `false`): the n-th hop takes the n-th VC, as where MAR-bP takes dimensions in any order.
//!
//! # Deadlock freedom
//! Checked, with everything else, before anything runs: every packet reaches its host, whatever the
//! conditions are. Where the rules name no VCs, a hop takes that of minimal routing: the next one of its link
//! class, or the only one of a fat tree, unless hops are counted. Where that does not order the channels, the dependencies between them must
//! have no cycle.
//!
//! # Limits
//! Up to 1024 ports, 16 VCs that rules name, and 32,766 different lists of rules for one destination
//! that look at more than that.
//!
//! # Example
//! ```toml
//! [routing.table]
//! rules = """
//! router,destination,ports
//! 0,0,0
//! 0,1,1
//! 1,0,1
//! 1,1,0
//! """
//! ```

mod addresses;
mod channels;
mod check;
mod compile;
mod forward;
mod lookup;
mod paint;
mod rows;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use addresses::Addressing;

use super::{Fabric, Ladder, Plan, Routing, VcNeed};
use crate::spec::{PhaseA, SpecError, VcUse};
use compile::Compiled;
use forward::{Counted, Forward, Named, Vcs};

/// Parameters of forwarding tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableSpec {
    /// The rules, one in each line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// The same in base64 of gzip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packed: Option<String>,
    /// A file of them instead, whose path is relative to the experiment file: CSV, Parquet, or a
    /// folder with `sN.flows` as `ovs-ofctl dump-flows` prints them for each router N. The lab reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What the hosts are called in the rules. Default `number`.
    pub addressing: Addressing,
    /// A rule for the port of a host leads its packets to a router from which they go on as if they came from
    /// there. Default `false`.
    pub detours: bool,
    /// How the VC follows from the position on a path with a detour. Default `path-position`.
    pub vc_use: VcUse,
    /// The n-th hop of a path takes the n-th VC, over whichever link. Default `false`.
    pub count_hops: bool,
}

/// Which VC a hop takes.
enum Moves {
    /// That of a ladder, and whether it orders the channels.
    Ladder(Ladder, bool),
    /// The one whose number is that of the hops before it, of so many.
    Counted(u8),
    /// The only one.
    Single,
    /// That of the rule.
    Named,
}

/// Checks the rules against the network.
///
/// # Errors
/// Rules that are none, or that contradict one another, and packets that do not arrive or may wait for
/// each other for ever.
pub fn plan(spec: &TableSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    if let Some(file) = &spec.file {
        let message = format!("{file:?}: the engine reads no files");
        return Err(SpecError::new("routing.table.file", message).choices(["rules", "packed"]));
    }
    let moves = moves(spec, fabric)?;
    let Compiled { table, addresses, most_vc } = compile::compile(spec, fabric, &moves)?;
    let vcs = match moves {
        Moves::Ladder(..) => fabric.topology.hop_vcs().unwrap_or(1),
        Moves::Counted(hops) => hops,
        Moves::Single => 1,
        Moves::Named => most_vc.iter().flatten().max().map_or(1, |last| last + 1),
    };
    check::check(spec, fabric, (&table, &addresses), &moves, vcs)?;
    let table = Arc::new(table);
    let classes = fabric.topology.classes();
    Ok(match moves {
        Moves::Ladder(ladder, _) => {
            let vcs = ladder.needs();
            Plan { agent: agents(table, ladder), vcs }
        }
        Moves::Counted(_) => {
            let why = "each hop of a path takes the next VC";
            Plan { agent: agents(table, Counted), vcs: everywhere(classes, vcs, why) }
        }
        Moves::Single => {
            let why = "the rules name no VC";
            Plan { agent: agents(table, Named), vcs: everywhere(classes, vcs, why) }
        }
        Moves::Named => {
            let why = "a rule names the last of them";
            let need = |(class, vc): (&&'static str, &Option<u8>)| {
                vc.map(|vc| VcNeed { class, vcs: vc + 1, why: why.into() })
            };
            let vcs = classes.iter().zip(&most_vc).filter_map(need).collect();
            Plan { agent: agents(table, Named), vcs }
        }
    })
}

/// As many VCs in every class of links.
fn everywhere(classes: &[&'static str], vcs: u8, why: &str) -> Vec<VcNeed> {
    classes.iter().map(|class| VcNeed { class, vcs, why: why.into() }).collect()
}

fn agents<V: Vcs + Sync>(table: Arc<forward::Table>, vcs: V) -> super::AgentFactory {
    Box::new(move |_, _| -> Box<dyn Routing> {
        let (table, vcs) = (Arc::clone(&table), vcs.clone());
        Box::new(Forward { table, vcs, looked: 0, diverted: 0 })
    })
}

/// How VCs are found: by the rules if the first one names any.
fn moves(spec: &TableSpec, fabric: &Fabric) -> Result<Moves, SpecError> {
    let topology = &*fabric.topology;
    let first = rows::Rows::new(spec)?.next()?;
    let named = first.is_some_and(|rule| rule.action.exits.iter().any(|exit| exit.vc.is_some()));
    let at = "routing.table.detours";
    if spec.detours && named {
        let message = "the rules name VCs, which a detour takes by its position on the path";
        return Err(SpecError::new(at, message).choices(["false"]));
    }
    if spec.count_hops && (spec.detours || named) {
        let other = if named { "the rules name VCs" } else { "a detour has VCs of its own" };
        let at = "routing.table.count_hops";
        return Err(SpecError::new(at, other).choices(["false"]));
    }
    if named {
        return Ok(Moves::Named);
    }
    if spec.count_hops {
        let hops: u8 = topology.hop_kinds().iter().map(|kind| kind.most).sum();
        return Ok(Moves::Counted(hops.max(1)));
    }
    if topology.tree().is_some() {
        return match spec.detours {
            true => {
                let message = "what goes up a fat tree twice is not free of deadlocks";
                Err(SpecError::new(at, message).choices(["false"]))
            }
            false => Ok(Moves::Single),
        };
    }
    let ladder = match spec.detours {
        true if topology.policies().contains(&PhaseA::G) => {
            let kinds = topology.phase_a_kinds(PhaseA::G, false);
            Ladder::detour(topology, "routing.table", kinds, spec.vc_use)?
        }
        true => {
            let message = "detours have no meaning in this topology";
            return Err(SpecError::new(at, message).choices(["false"]));
        }
        false => Ladder::minimal(topology, "routing.table")?,
    };
    Ok(Moves::Ladder(ladder, topology.hop_vcs().is_none()))
}
