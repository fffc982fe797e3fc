//! What links did that send broken frames again.

use crate::kernel::core::ports::PortKind;
use crate::kernel::inspect::Network;
use crate::outcome::{RetryLinks, RetryUse};
use crate::probe::retry::RetryRecord;

/// The result, if links have errors.
pub(crate) fn outcome(network: &Network<'_>) -> Option<RetryUse> {
    let retries = network.model.egress.retry.as_ref()?;
    let names: Vec<_> = network.model.topology.classes().iter().copied().chain(["host"]).collect();
    let mut sums = vec![(0, RetryRecord::default()); names.len()];
    let mut add = |class: usize, record: Option<RetryRecord>| {
        let Some(record) = record else { return };
        let (links, sum) = &mut sums[class];
        *links += 1;
        sum.frames += record.frames;
        sum.errors += record.errors;
        sum.used += record.used;
        sum.vain += record.vain;
        sum.most = sum.most.max(record.most);
    };
    let host = names.len() - 1;
    for partition in &network.partitions {
        let core = partition.core();
        for (port, output) in (0..).zip(&core.outputs) {
            if output.kind != PortKind::Unused {
                add(usize::from(output.class).min(host), partition.retry(port));
            }
        }
        let outputs = core.outputs.len() as u32;
        (0..core.hosts.len() as u32).for_each(|index| add(host, partition.retry(outputs + index)));
    }
    let links = names.iter().zip(sums).enumerate();
    let links = links.filter(|(class, _)| retries.of(*class as u8).is_some());
    let links: Vec<RetryLinks> = links
        .map(|(_, (name, (links, sum)))| RetryLinks {
            class: (*name).to_owned(),
            links,
            frames: sum.frames,
            errors: sum.errors,
            goodput: sum.used as f64 / (sum.used + sum.vain).max(1) as f64,
            replay_max: sum.most,
        })
        .collect();
    let says = links.iter().map(|link| match link.errors {
        0 => format!("no frame broke on the {} links of {}", link.links, link.class),
        errors => format!(
            "{errors} of {} frames broke on the links of {} and were sent again: {:.2} % of the time in which they sent \
             was for good",
            link.frames,
            link.class,
            100.0 * link.goodput
        ),
    });
    Some(RetryUse { says: says.collect(), links })
}
