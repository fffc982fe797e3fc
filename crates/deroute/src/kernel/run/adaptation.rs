//! What a routing did that adapts by what the flow control or notifications tell it.

use std::collections::BTreeMap;

use crate::kernel::inspect::Network;
use crate::outcome::AdaptationUse;

/// The result, if the routing is one that says what it did.
pub(crate) fn outcome(network: &Network<'_>) -> Option<AdaptationUse> {
    let mut order = Vec::new();
    let mut counts = BTreeMap::<String, u64>::new();
    for (name, count) in network.partitions.iter().flat_map(|partition| partition.deeds()) {
        if !order.contains(&name) {
            order.push(name);
        }
        *counts.entry(name.to_owned()).or_default() += count;
    }
    let first = counts.get(*order.first()?)?;
    let rest = order.iter().map(|name| format!("{name} {}", counts[*name]));
    let all = rest.collect::<Vec<_>>().join(", ");
    let says = match first {
        0 => format!("the routing was idle: {all}"),
        _ => format!("the routing acted: {all}"),
    };
    Some(AdaptationUse { says: vec![says], counts })
}
