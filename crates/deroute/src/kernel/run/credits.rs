//! What credits did that come back in messages.

use crate::kernel::core::ports::PortKind;
use crate::kernel::inspect::Network;
use crate::outcome::CreditUse;

/// By link class, hosts' last, those whose credits come back in messages; and what is to be said of them.
pub(crate) fn outcome(network: &Network<'_>) -> (Vec<CreditUse>, Vec<String>) {
    let Some(messages) = network.model.messages.as_ref() else { return Default::default() };
    let pipeline = network.model.pipeline;
    let names = network.model.topology.classes().iter().copied().chain(["host"]);
    let mut all: Vec<Option<CreditUse>> = names
        .zip(messages.by_class())
        .map(|(name, plan)| {
            plan.map(|plan| CreditUse {
                class: name.to_owned(),
                links: 0,
                messages: 0,
                lost_messages: 0,
                buffer: plan.buffer,
                round_trip: u64::from(plan.loop_delay + pipeline),
                sustained: plan.sustains(pipeline),
            })
        })
        .collect();
    let last = all.len() - 1;
    for partition in &network.partitions {
        let core = partition.core();
        for (port, input) in (0..).zip(&core.inputs) {
            let class = usize::from(core.outputs[port as usize].class).min(last);
            let used = input.kind != PortKind::Unused;
            if let (Some(found), Some(record)) = (&mut all[class], partition.messages(port))
                && used
            {
                found.links += 1;
                found.messages += record.sent;
                found.lost_messages += record.lost;
            }
        }
    }
    let all: Vec<CreditUse> = all.into_iter().flatten().collect();
    let says = all.iter().flat_map(says).collect();
    (all, says)
}

/// What credits of a class did, and what a short buffer sustains.
fn says(credits: &CreditUse) -> Vec<String> {
    let CreditUse { class, messages, lost_messages, buffer, round_trip, sustained, .. } = credits;
    let lost = match lost_messages {
        0 => String::new(),
        lost => format!(", {lost} of them were lost"),
    };
    let mut says = vec![match messages {
        0 => format!("no credits of {class} came back: nothing left its buffers"),
        _ => format!("credits of {class} came back in {messages} messages{lost}"),
    }];
    if *sustained < 1.0 {
        says.push(format!(
            "a VC alone may have only {:.1} % of the rate of its link ({class}): its buffer holds {buffer} phits, and \
             credits may take {round_trip} cycles to come back",
            100.0 * sustained
        ));
    }
    says
}
