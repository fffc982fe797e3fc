//! What the entropies of packets did.

use super::statistics::ratio;
use crate::kernel::inspect::Network;
use crate::outcome::EntropyUse;
use crate::probe::entropies::EntropyRecord;

/// The result, if hosts give packets entropies.
pub(crate) fn outcome(network: &Network<'_>) -> Option<EntropyUse> {
    let plan = network.model.entropy?;
    let mut all = EntropyRecord::default();
    network.partitions.iter().filter_map(|part| part.entropies()).for_each(|part| all.add(&part));
    let EntropyRecord { packets, recycled, heard, marked, freezes } = all;
    let mut says = vec![match (plan.recycled, heard, recycled) {
        (0, ..) if packets == 0 => "no packet got an entropy".to_owned(),
        (0, ..) if plan.values == 1 => format!("{packets} packets kept the paths of their flows"),
        (0, ..) => format!("{packets} packets were sprayed over {} entropies", plan.values),
        (_, 0, _) => "no entropy came back: no host heard of its packets".to_owned(),
        (.., 0) => {
            format!("no entropy was used again, of {heard} packets, {marked} of them marked")
        }
        _ => format!("{recycled} of {packets} packets took an entropy that had come back unmarked"),
    }];
    if plan.freeze.is_some() {
        says.push(match freezes {
            0 => "no timeout froze entropies".to_owned(),
            _ => format!("{freezes} times a timeout froze the entropies for a destination"),
        });
    }
    let recycled_share = ratio(recycled, packets);
    Some(EntropyUse { says, packets, recycled, recycled_share, heard, marked, freezes })
}
