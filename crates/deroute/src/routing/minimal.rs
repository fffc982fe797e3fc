//! Minimal routing (MIN).
//!
//! # What it does
//! Every packet takes a shortest path. In a fat tree, that of D-mod-K.
//!
//! # Source
//! Thesis 2.3.1.
//!
//! # Parameters
//! None.
//!
//! # Deadlock freedom
//! A VC for each hop of a class on the longest of the shortest paths: a Dragonfly needs 2 local and 1
//! global VC.
//!
//! # Limits
//! Adversarial traffic saturates one link: 1/(2 h^2) under ADV+i, 1/(2 h) under ADVC and 1/p under
//! ADVL in a balanced Dragonfly.
//!
//! # Example
//! ```toml
//! [routing.minimal]
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Follows, Header, Hop, Ladder, Plan, RouterView, Routing, follow, mod_k};
use crate::spec::SpecError;
use crate::state::state;
use crate::topology::Topology;

/// Parameters of minimal routing: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinimalSpec {}

struct Minimal {
    topology: Arc<dyn Topology>,
    ladder: Ladder,
}

/// Checks the parameters against the network.
///
/// # Errors
/// None: every topology has shortest paths.
pub fn plan(_spec: &MinimalSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    if fabric.topology.tree().is_some() {
        // Which path depends on the host, and not only on its router.
        return mod_k::by_destination(fabric);
    }
    let topology = Arc::clone(&fabric.topology);
    let ladder = Ladder::minimal(&*topology, "routing.minimal")?;
    let vcs = ladder.needs();
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        Box::new(Minimal { topology: Arc::clone(&topology), ladder: ladder.clone() })
    });
    Ok(Plan { agent, vcs })
}

impl Routing for Minimal {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        follow(&*self.topology, &self.ladder, view.router, header)
    }

    fn follows(&self) -> Option<Follows> {
        Some(Follows { ladder: self.ladder.clone(), at_source: true })
    }

    state! { leave topology, ladder; }
}
