//! What of algorithms that are asked for cannot be, whatever the members.

use super::spec::{Algorithm, CollectiveChoices, CollectiveKind, RingOrder};
use super::takes;
use crate::spec::SpecError;

/// Most rings, and most chunks.
const MOST_CHANNELS: u32 = 1024;
const MOST_CHUNKS: u32 = 1 << 16;

/// One of each algorithm.
const ALL: [Algorithm; 10] = [
    Algorithm::Dissemination,
    Algorithm::Binomial,
    Algorithm::RecursiveDoubling,
    Algorithm::HalvingDoubling,
    Algorithm::RING,
    Algorithm::DoubleBinaryTree { chunks: 1 },
    Algorithm::Bruck,
    Algorithm::Pairwise,
    Algorithm::Linear,
    Algorithm::Hierarchical { group: 1 },
];

/// Checks the algorithm of a collective.
///
/// # Errors
/// What is out of range, and an algorithm that the collective never takes.
pub fn check(kind: CollectiveKind, algorithm: &Algorithm, path: &str) -> Result<(), SpecError> {
    let own = format!("{path}.{}", algorithm.name());
    let within = |key: &str, value: u32, most: u32| {
        if (1..=most).contains(&value) {
            return Ok(());
        }
        let message = format!("{value} is out of range");
        Err(SpecError::new(format!("{own}.{key}"), message).choices([format!("1 to {most}")]))
    };
    match algorithm {
        Algorithm::Ring { channels, chunks, order } => {
            within("channels", *channels, MOST_CHANNELS)?;
            within("chunks", *chunks, MOST_CHUNKS)?;
            order.as_ref().map_or(Ok(()), |order| check_order(order, &format!("{own}.order")))?;
        }
        Algorithm::DoubleBinaryTree { chunks } => within("chunks", *chunks, MOST_CHUNKS)?,
        Algorithm::Hierarchical { group } => within("group", *group, u32::MAX)?,
        _ => {}
    }
    if !takes(kind, algorithm) {
        let message = format!("{} does not go by {}", kind.name(), algorithm.name());
        let choices = ALL.iter().filter(|other| takes(kind, other)).map(Algorithm::name);
        return Err(SpecError::new(path, message).choices(choices));
    }
    Ok(())
}

/// Checks the algorithms of all collectives of a trace.
///
/// # Errors
/// The first that is out of range, or that its collective never takes.
pub fn check_all(choices: &CollectiveChoices, path: &str) -> Result<(), SpecError> {
    CollectiveKind::ALL.into_iter().try_for_each(|kind| {
        let asked = choices.of(kind);
        asked.map_or(Ok(()), |own| check(kind, own, &format!("{path}.{}", kind.name())))
    })
}

/// Every ring has the members from 0 on, each once.
fn check_order(order: &RingOrder, path: &str) -> Result<(), SpecError> {
    let wrong = |path: String, message: String, choice: String| {
        Err(SpecError::new(path, message).choices([choice]))
    };
    let rings = match order {
        RingOrder::Members(rings) => rings,
        RingOrder::File(file) => {
            let message = format!("{file:?}: the engine reads no files");
            return wrong(format!("{path}.file"), message, "members".into());
        }
    };
    let path = format!("{path}.members");
    if rings.is_empty() {
        return wrong(path, "is empty".into(), "at least one ring".into());
    }
    for (index, ring) in rings.iter().enumerate() {
        let mut seen = vec![false; ring.len()];
        for (place, member) in ring.iter().enumerate() {
            let path = || format!("{path}[{index}][{place}]");
            match seen.get_mut(*member as usize) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => {
                    let message = format!("member {member} is in the ring twice");
                    return wrong(path(), message, "each member once".into());
                }
                None => {
                    let message = format!("{member} is no member of a ring of {}", ring.len());
                    return wrong(path(), message, format!("0 to {}", ring.len() - 1));
                }
            }
        }
    }
    Ok(())
}
