//! Entropies: the value that a host gives each packet, from which its path follows.
//!
//! The routing draws the path of a packet from random numbers; with entropies these follow from source, destination
//! and entropy, so that packets of a flow with the same entropy take the same path. An entropy is planned here; the
//! kernel chooses it at every host. To add one: a file with its parameters and its plan, and a line in the catalogue
//! below.

mod paths;
pub mod spec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use paths::follow_entropy;

use crate::catalogue::catalogue;
use crate::ids::Cycle;
use crate::spec::{Routing, Scale, SpecError};

/// Entropies in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntropyPlan {
    /// So many values; a flow keeps one if there is no other.
    pub(crate) values: u32,
    /// Those of packets that came without a mark are used again: so many are kept for each destination.
    pub(crate) recycled: u8,
    /// So long after a timeout there are no new ones.
    pub(crate) freeze: Option<Cycle>,
}

/// What entropies are planned for.
pub(crate) struct Setting<'a> {
    /// The routing.
    pub(crate) routing: &'a Routing,
    /// Receivers acknowledge packets.
    pub(crate) acknowledged: bool,
    /// Switches mark packets.
    pub(crate) marked: bool,
    /// What does not come is sent again.
    pub(crate) resends: bool,
    /// Switches trim packets.
    pub(crate) trims: bool,
    /// The units of the spec.
    pub(crate) scale: Scale,
}

catalogue! {
    /// The value that a host gives each packet, from which its path follows.
    enum Entropy;
    /// Resolves the entropies that the spec asks for.
    ///
    /// # Errors
    /// Values out of range, and what no receiver would report.
    fn build(&Setting<'_>) -> EntropyPlan;

    // One line per kind of entropy.
    /// One for each flow.
    Flow => flow::FlowSpec,
    /// Any, for each packet.
    Oblivious => oblivious::ObliviousSpec,
    /// Those of packets that came without a mark, once more (REPS).
    Reps => reps::RepsSpec,
}

/// Most values of an entropy.
const MOST: u32 = 1 << 16;

/// Refuses routings whose paths follow from anything but draws at the source.
pub(crate) fn check(routing: &Routing) -> Result<(), SpecError> {
    let drawn = match routing {
        Routing::UpOblivious(spec) => spec.draw == crate::spec::Draw::Random,
        // Fixed paths, those that pauses or notifications alone decide, and code from outside.
        Routing::Minimal(_)
        | Routing::ModK(_)
        | Routing::Table(_)
        | Routing::MarBp(_)
        | Routing::SwitchAr(_)
        | Routing::Python(_) => false,
        _ => true,
    };
    if drawn {
        return Ok(());
    }
    let message = format!("the paths of {} do not follow from draws", routing.name());
    let choices = [
        "routing.ecmp or routing.up_oblivious at random in a fat tree",
        "routing.valiant",
        "routing.o1turn",
        "an adaptive routing, such as routing.ugal, routing.dimwar, routing.up_adaptive",
    ];
    Err(SpecError::new("network.nic.entropy", message).choices(choices))
}

/// So many values, if that is a number of them.
fn values(path: &str, values: u32) -> Result<u32, SpecError> {
    if (1..=MOST).contains(&values) {
        return Ok(values);
    }
    let message = format!("{values} is no number of values");
    Err(SpecError::new(path, message).choices([format!("1 to {MOST}")]))
}
