//! D-mod-K and S-mod-K routing.
//!
//! # What it does
//! One path for every destination (D-mod-K) or every source (S-mod-K): at each level, hosts take the
//! ports that lead up in turn. Above level 1 it is the blocks of hosts that share a port below who take
//! turns, so that every port of a level carries as many destinations. In a tree with `K` ports up
//! everywhere, port `floor(D / K^(l - 1)) mod K` at level `l`. `minimal` routing does the same with the
//! destination.
//!
//! # Source
//! Zahavi, JPDC 2012; Gómez et al., IPDPS 2007; Rocher-Gonzalez et al. 2.2.
//!
//! # Parameters
//! `of`: whose number counts, `destination` (default) or `source`.
//!
//! # Deadlock freedom
//! Up and then down, on one VC.
//!
//! # Limits
//! Needs a fat tree. Packets of a flow stay in order; what happens to share a port waits for it.
//!
//! # Example
//! ```toml
//! [routing.mod_k]
//! of = "destination"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::upward::{self, Climb, Rise};
use super::{Fabric, Header, Memo, Plan, RouterView};
use crate::ids::HostId;
use crate::spec::SpecError;
use crate::state::{State, state};
use crate::topology::Tree;

/// Parameters of D-mod-K and S-mod-K.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModKSpec {
    /// Whose number gives the path. Default `destination`.
    pub of: Number,
}

/// Whose number gives the path up a fat tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// D-mod-K.
    #[default]
    Destination,
    /// S-mod-K.
    Source,
}

struct ByDestination;

impl State for ByDestination {
    state! {}
}

impl Climb for ByDestination {
    #[inline]
    fn choose(
        &mut self,
        tree: &Tree,
        _view: &mut RouterView<'_>,
        _header: &mut Header,
        rise: Rise,
    ) -> u32 {
        tree.share(rise.level, rise.host)
    }
}

struct BySource;

impl State for BySource {
    state! {}
}

impl Climb for BySource {
    #[inline]
    fn choose(
        &mut self,
        tree: &Tree,
        view: &mut RouterView<'_>,
        header: &mut Header,
        rise: Rise,
    ) -> u32 {
        let source = match header.memo() {
            Memo::Source(host) => host,
            _ => {
                let source = HostId(upward::source(tree, view));
                header.remember(Memo::Source(source));
                source
            }
        };
        tree.share(rise.level, source.0)
    }
}

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no fat tree.
pub fn plan(spec: &ModKSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    match spec.of {
        Number::Destination => by_destination(fabric),
        Number::Source => upward::plan(fabric, "routing.mod_k", |_, _, _| BySource),
    }
}

/// D-mod-K.
pub(super) fn by_destination(fabric: &Fabric) -> Result<Plan, SpecError> {
    upward::plan(fabric, "routing.mod_k", |_, _, _| ByDestination)
}
