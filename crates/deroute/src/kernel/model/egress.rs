//! Queues at the outputs: who needs them, and what does not go with them.

use std::collections::BTreeMap;

use crate::control::{LinkClass, PausePlan};
use crate::kernel::egress::schedule::Schedule;
use crate::queuing::Flows;
use crate::routing::Routing;
use crate::spec::{Forwarding, Network, Sensing, SpareVcs, Spec, SpecError};
use crate::switch::{Matching, SwitchPlan};

/// Queues at the outputs.
#[derive(Clone, Debug)]
pub(crate) struct EgressModel {
    /// Somebody needs them.
    pub(crate) needed: bool,
    /// Classes of flows, of service and of the queuing scheme together, and those of the queuing scheme.
    pub(crate) flows: u8,
    pub(crate) schemes: u8,
    /// Each VC has a queue, and not each class of service.
    pub(crate) queue_per_vc: bool,
    /// The phits of the queues fill the output buffer, and not the time that the link needs for them.
    pub(crate) counts_phits: bool,
    /// A packet keeps its memory in the input buffer until it leaves.
    pub(crate) holds_input: bool,
    /// Pauses end by themselves.
    pub(crate) silence_ends: bool,
    pub(crate) schedule: Schedule,
    /// The link of a host, where it is more than a delay.
    pub(crate) nic: Option<LinkClass>,
    /// Cycles that a phit takes on links that are slower than their class, by router and port.
    pub(crate) slow: BTreeMap<(u32, u16), u32>,
}

/// What the queues at the outputs follow from.
pub(super) struct Parts<'a> {
    pub(super) flows: &'a Flows,
    pub(super) links: &'a [LinkClass],
    pub(super) nic: Option<LinkClass>,
    pub(super) slow: BTreeMap<(u32, u16), u32>,
    pub(super) pause: Option<&'a PausePlan>,
    pub(super) switch: &'a SwitchPlan,
    pub(super) largest: u16,
}

impl EgressModel {
    pub(super) fn new(network: &Network, parts: Parts<'_>) -> Self {
        let Parts { flows, links, nic, slow, pause, switch, largest } = parts;
        let whole = network.forwarding == Forwarding::StoreAndForward;
        let rated = !slow.is_empty() || links.iter().chain(&nic).any(|link| link.period > 1);
        let counts_phits =
            switch.holds_input || network.classes.is_some() || pause.is_some() || rated;
        Self {
            needed: counts_phits || nic.is_some() || whole,
            flows: flows.classes(),
            schemes: flows.classes() / flows.service(),
            queue_per_vc: pause.is_some_and(|plan| !plan.whole_link),
            counts_phits,
            holds_input: switch.holds_input,
            silence_ends: pause.is_some_and(|plan| plan.duration.is_some()),
            schedule: Schedule::of(&network.classes, largest),
            nic,
            slow,
        }
    }
}

/// Refuses what has no meaning together.
///
/// # Errors
/// The first such pair.
pub(super) fn check(
    spec: &Spec,
    agent: &dyn Routing,
    (nic, pause): (bool, Option<&PausePlan>),
    switch: &SwitchPlan,
) -> Result<(), SpecError> {
    let network = &spec.network;
    let refuse = |path: &str, message: &str, choices: &[&str]| {
        Err(SpecError::new(path, message).choices(choices.iter().copied()))
    };
    if network.forwarding == Forwarding::StoreAndForward
        && matches!(switch.matching, Matching::Islip { .. })
    {
        let message = "virtual output queues pass a packet on as soon as its first phit is there";
        return refuse("network.forwarding", message, &["cut-through", "another switch"]);
    }
    let Some(plan) = pause else {
        if nic {
            let message =
                "credits do not guard the links of hosts: their injection queue is the buffer";
            let choices = ["nothing", "network.flow_control.pfc", "network.flow_control.pause"];
            return refuse("network.nic.link", message, &choices);
        }
        return Ok(());
    };
    if spec.workload.is_some() && plan.lossy {
        let message = "a message of a workload would wait for ever for a packet that is lost";
        return refuse("network.flow_control", message, &["one that is not lossy"]);
    }
    if agent.atomic() {
        let message = "this routing asks for empty VCs, which only credits can tell";
        return refuse("network.flow_control", message, &["credits"]);
    }
    if network.sensing != Sensing::Both {
        let message = "without credits the length of a queue is what waits at the output";
        return refuse("network.sensing", message, &["both", "network.flow_control.credits"]);
    }
    if network.spare_vcs != SpareVcs::Unused {
        let message = "without credits nobody knows which VC is emptiest";
        return refuse("network.spare_vcs", message, &["unused", "network.flow_control.credits"]);
    }
    if let Some((name, _)) = network.links.iter().find(|(_, link)| link.shared.is_some()) {
        let message = "memory that VCs share needs credits";
        return refuse(&format!("network.links.{name}.shared"), message, &["nothing"]);
    }
    Ok(())
}
