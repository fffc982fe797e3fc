//! Queues at the outputs: who needs them, and what does not go with them.

use std::collections::BTreeMap;

use super::flow_control::{Messages, Pauses};
use super::links::{self, Retries};
use crate::congestion::{self, CongestionPlan, CongestionPoint, NoticePlan};
use crate::control::LinkClass;
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::kernel::egress::schedule::Schedule;
use crate::notification::{NotificationPoint, Tells};
use crate::queuing::Flows;
use crate::reaction::{self, ReactionPlan, RetransmissionPlan, Told, retransmission};
use crate::routing::{Routing, Signal};
use crate::spec::{Forwarding, Network, Scale, Sensing, SpareVcs, Spec, SpecError};
use crate::switch::{Crossbar, Matching, SwitchPlan};
use crate::topology::{Peer, Topology};

/// VCs that a link can have.
const MOST_VCS: usize = 64;

/// Queues at the outputs.
#[derive(Clone, Debug)]
pub(crate) struct EgressModel {
    /// Somebody needs them.
    pub(crate) needed: bool,
    /// Classes of flows, of service and of the queuing scheme together, and those of the queuing scheme.
    pub(crate) flows: u8,
    pub(crate) schemes: u8,
    /// The class of flows and that of service of each VC, and the VCs of each class of service.
    flow_by_vc: [u8; MOST_VCS],
    class_by_vc: [u8; MOST_VCS],
    vcs_by_class: Box<[u64]>,
    /// An output of some link has a queue for each VC, and not for each class of service.
    pub(crate) queue_per_vc: bool,
    /// A phit takes more than a cycle on some link.
    pub(crate) rated: bool,
    /// The phits of the queues fill the output buffer, and not the time that the link needs for them.
    pub(crate) counts_phits: bool,
    /// Somebody asks when the link of an output would be free.
    pub(crate) times_links: bool,
    /// A packet that leaves has left the output buffer.
    pub(crate) leaves_at_once: bool,
    /// So much may wait for the link of a host that it is in the network yet.
    pub(crate) holds_ends: bool,
    /// A packet keeps its memory in the input buffer until it leaves.
    pub(crate) holds_input: bool,
    /// Pauses end by themselves.
    pub(crate) silence_ends: bool,
    pub(crate) schedule: Schedule,
    /// What switches do with packets whose queue is long.
    pub(crate) congestion_point: Option<CongestionPlan>,
    /// Packets with which they tell sources of it, and what these do then.
    pub(crate) notices: Option<NoticePlan>,
    pub(crate) reaction_point: Option<ReactionPlan>,
    /// When hosts send again what does not come, if they do.
    pub(crate) retransmission: Option<RetransmissionPlan>,
    /// The links that send broken frames again.
    pub(crate) retry: Option<Retries>,
    /// The link of a host, where it is more than a delay.
    pub(crate) nic: Option<LinkClass>,
    /// Cycles that a phit takes on links that are slower than their class, by router and port.
    pub(crate) slow: BTreeMap<(u32, u16), u32>,
}

/// The links, and what goes over them.
#[derive(Clone, Copy)]
pub(super) struct Ends<'a> {
    pub(super) topology: &'a dyn Topology,
    pub(super) links: &'a [LinkClass],
    pub(super) nic: Option<LinkClass>,
    pub(super) flows: &'a Flows,
}

impl EgressModel {
    /// What a network needs.
    ///
    /// # Errors
    /// Congestion points that do not go with the switch, reaction points that do not go with hosts, links of no rate.
    pub(super) fn new(
        spec: &Spec,
        Ends { topology, links, nic, flows }: Ends<'_>,
        ((pause, messages), switch): ((Option<&Pauses>, Option<&Messages>), &SwitchPlan),
        (scale, largest): (Scale, u16),
        (tells, notices): (Option<Tells>, Option<NoticePlan>),
    ) -> Result<Self, SpecError> {
        let network = &spec.network;
        let slow = links::slow(spec, &scale, topology)?;
        let setting = congestion::Setting {
            scale,
            output_queues: !has_no_output_queues(switch),
            longest: longest(topology, (links, nic), switch, pause.is_some()),
            longest_input: links.iter().map(|link| link.memory()).max().unwrap_or(0),
            counted_inputs: pause.is_some_and(Pauses::between_all_switches) && !switch.holds_input,
        };
        let congestion_point = congestion_point(network, &setting, (pause, tells, notices))?;
        let setting = reaction::Setting {
            scale,
            host_period: nic.map(|link| link.period),
            told: told(tells, notices),
            endpoints: congestion_point.as_ref().is_some_and(CongestionPlan::tells_of_endpoints),
            largest,
            lossy: pause.is_some_and(Pauses::lossy),
            trims: pause.is_some_and(|pauses| pauses.header().is_some()),
            resends: network.nic.retransmission.is_some(),
            marks: matches!(congestion_point, Some(CongestionPlan::Mark(_))),
            telemetry: matches!(congestion_point, Some(CongestionPlan::Record)),
        };
        let point = network.nic.reaction_point.as_ref();
        let reaction_point = point.map(|point| reaction::build(point, &setting)).transpose()?;
        let whole = network.forwarding == Forwarding::StoreAndForward;
        let again = (scale, (switch.pipeline, largest, whole));
        let retransmission = retransmission(spec, (topology, links, nic), reaction_point, again)?;
        let rated = !slow.is_empty() || links.iter().chain(&nic).any(|link| link.period > 1);
        let guarded = pause.is_some() || messages.is_some();
        let retry = links::retries(spec, (scale, largest), topology, (links, nic))?;
        let guarded = guarded || retry.as_ref().is_some_and(Retries::wait);
        let counts_phits = switch.holds_input || flows.service() > 1 || guarded || rated;
        let credits_of_hosts = messages.is_some_and(|messages| messages.host().is_some());
        let schemes = flows.classes() / flows.service();
        let flow_by_vc = std::array::from_fn(|vc| vc as u8 % flows.classes());
        let class_by_vc = flow_by_vc.map(|flow| flow / schemes);
        let vcs_of = |class| {
            let own = (0..MOST_VCS).filter(|vc| class_by_vc[*vc] == class);
            own.map(|vc| 1 << vc).sum::<u64>()
        };
        Ok(Self {
            needed: counts_phits
                // Without queues packets count when they are granted, which is to be soon before they leave.
                || switch.holds_ends()
                || retry.is_some()
                || nic.is_some()
                || whole
                || congestion_point.is_some(),
            flows: flows.classes(),
            schemes,
            flow_by_vc,
            class_by_vc,
            vcs_by_class: (0..flows.service()).map(vcs_of).collect(),
            queue_per_vc: pause.is_some_and(Pauses::some_queue_per_vc) || credits_of_hosts,
            rated,
            counts_phits,
            times_links: !counts_phits || network.sensing == Sensing::Waiting,
            leaves_at_once: has_no_output_queues(switch),
            holds_ends: switch.holds_ends(),
            holds_input: switch.holds_input,
            silence_ends: pause.is_some_and(Pauses::ends),
            schedule: Schedule::of(&network.classes, largest),
            congestion_point,
            notices,
            reaction_point,
            retransmission,
            retry,
            nic,
            slow,
        })
    }

    /// Do packets take with them what they meet?
    pub(crate) fn records(&self) -> bool {
        matches!(self.congestion_point, Some(CongestionPlan::Record))
    }

    /// Pauses that do not silence notifications.
    pub(super) fn exempt(&self, mut pauses: Pauses) -> Pauses {
        pauses.exempt = (0..64).filter(|vc| self.notifies(*vc)).map(|vc| 1 << vc).sum();
        pauses
    }

    /// Classes of service.
    pub(crate) fn classes(&self) -> u8 {
        self.flows / self.schemes
    }

    /// The class of flows of a VC.
    #[inline]
    pub(crate) fn flow_of(&self, vc: u8) -> u8 {
        self.flow_by_vc[usize::from(vc) % MOST_VCS]
    }

    /// The class of service of a VC.
    #[inline]
    pub(crate) fn class_of(&self, vc: u8) -> u8 {
        self.class_by_vc[usize::from(vc) % MOST_VCS]
    }

    /// The VC that a routing chooses, in the class of flows of another VC.
    #[inline]
    pub(crate) fn in_class(&self, chosen: VcId, of: u8) -> VcId {
        match self.flows {
            1 => chosen,
            flows => VcId(chosen.0 * flows + self.flow_of(of)),
        }
    }

    /// The VCs of a class of service.
    #[inline]
    pub(crate) fn vcs_of(&self, class: u8) -> u64 {
        self.vcs_by_class[usize::from(class)]
    }

    /// Are the packets of a VC notifications?
    #[inline]
    pub(crate) fn notifies(&self, vc: u8) -> bool {
        self.notices.is_some_and(|notices| notices.class == self.class_of(vc))
    }
}

/// Does nobody tell of congestion?
fn is_silent(network: &Network) -> bool {
    !matches!(network.congestion_point, Some(CongestionPoint::Qcn(_)))
        && !matches!(network.nic.notification_point, Some(NotificationPoint::Cnp(_)))
}

/// Most phits of a class that may wait at an output: in its own memory, or in that of all inputs.
fn longest(
    topology: &dyn Topology,
    (links, nic): (&[LinkClass], Option<LinkClass>),
    switch: &SwitchPlan,
    pauses: bool,
) -> u32 {
    if switch.output_buffer < u32::MAX {
        let vcs = links.iter().map(|link| link.vcs).max().filter(|_| pauses);
        return switch.output_buffer.saturating_mul(vcs.unwrap_or(1).into());
    }
    let memory = |router, port| match topology.peer(router, PortId(port)) {
        Peer::Router { class, .. } => links[usize::from(class)].memory(),
        Peer::Host(_) => nic.map_or(u64::MAX, |link| link.memory()),
        Peer::Unused => 0,
    };
    let of = |router: RouterId| -> u64 {
        let ports = (0..topology.radix(router)).map(|port| memory(router, port));
        ports.fold(0, u64::saturating_add)
    };
    let most = (0..topology.routers()).map(|router| of(RouterId(router))).max();
    most.unwrap_or(0).min(u32::MAX.into()) as u32
}

/// There is nothing behind the crossbar of a switch but its pipeline.
fn has_no_output_queues(switch: &SwitchPlan) -> bool {
    let unlimited = switch.output_buffer == u32::MAX;
    unlimited && !switch.holds_input && switch.crossbar == Crossbar::Speed(1)
}

/// Phits that the output buffer of a port may hold, or that of each VC with priority flow control; `u32::MAX` is
/// unlimited. A switch without one has nothing behind its crossbar but its pipeline: where packets can `wait` there (a
/// pause, another class, a slow link), what is in there must be bounded, and with two packets beside it the link never
/// runs dry.
pub(super) fn output_buffer(switch: &SwitchPlan, wait: bool, largest: u16) -> u32 {
    if wait && has_no_output_queues(switch) {
        return switch.pipeline + 2 * u32::from(largest);
    }
    switch.output_buffer
}

/// Refuses what has no meaning together.
///
/// # Errors
/// The first such pair.
pub(super) fn check(
    spec: &Spec,
    agent: &dyn Routing,
    (nic, (pause, messages), names): (bool, (Option<&Pauses>, Option<&Messages>), &[&str]),
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
    let classes = network.classes.as_ref().map_or(1, |classes| classes.count);
    if network.sensing == Sensing::Waiting && classes > 1 {
        let message = "what a packet waits for its link depends on its class of service";
        return refuse("network.sensing", message, &["both", "output", "downstream", "sent"]);
    }
    let paused = (
        pause.is_some_and(Pauses::between_switches),
        pause.is_some_and(Pauses::between_all_switches),
    );
    match (agent.watches().signal, paused) {
        (Some(Signal::Pauses), (_, false)) => {
            let message = "this routing decides by pauses, and credits know none";
            let choices = ["network.flow_control.pfc", "network.flow_control.pause"];
            return refuse("network.flow_control", message, &choices);
        }
        (Some(Signal::Credits), (true, _)) => {
            let message =
                "this routing decides by credits, and a flow control that pauses has none";
            return refuse("network.flow_control", message, &["network.flow_control.credits"]);
        }
        _ => {}
    }
    if agent.watches().notifications && is_silent(network) {
        let message = "this routing follows notifications, and nobody sends any";
        let choices = ["network.congestion_point.qcn", "network.nic.notification_point.cnp"];
        return refuse("network.congestion_point", message, &choices);
    }
    let guarded = pause.is_some_and(|pauses| pauses.host().is_some())
        || messages.is_some_and(|messages| messages.host().is_some());
    if nic && !guarded {
        let message =
            "credits do not guard the links of hosts: their injection queue is the buffer";
        let choices =
            ["nothing", "network.nic.link.flow_control.pfc", "network.nic.link.flow_control.pause"];
        return refuse("network.nic.link", message, &choices);
    }
    let Some(pauses) = pause else { return Ok(()) };
    recovers(spec, pauses)?;
    if agent.atomic() && pauses.between_switches() {
        let message = "this routing asks for empty VCs, which only credits can tell";
        return refuse("network.flow_control", message, &["credits"]);
    }
    if network.sensing != Sensing::Both && pauses.between_switches() {
        let message = "without credits the length of a queue is what waits at the output";
        return refuse("network.sensing", message, &["both", "network.flow_control.credits"]);
    }
    if network.spare_vcs != SpareVcs::Unused && pauses.between_switches() {
        let message = "without credits nobody knows which VC is emptiest";
        return refuse("network.spare_vcs", message, &["unused", "network.flow_control.credits"]);
    }
    let shares = |name: &str| network.links.get(name).is_some_and(|link| link.shared.is_some());
    let mut paused = pauses.by_class().zip(names).filter(|(plan, _)| plan.is_some());
    if let Some((_, name)) = paused.find(|(_, name)| shares(name)) {
        let message = "memory that VCs share needs credits";
        return refuse(&format!("network.links.{name}.shared"), message, &["nothing"]);
    }
    Ok(())
}

/// What hosts are told, and by whom.
fn told(tells: Option<Tells>, notices: Option<NoticePlan>) -> Told {
    match (tells, notices) {
        (Some(Tells::Marks(_)), _) => Told::Marks,
        (Some(Tells::Packets), _) => Told::Packets,
        (None, Some(_)) => Told::Feedback,
        (None, None) => Told::Nothing,
    }
}

/// What is lost for good must not be waited for.
fn recovers(spec: &Spec, pauses: &Pauses) -> Result<(), SpecError> {
    let again = "network.nic.retransmission";
    if spec.network.nic.retransmission.is_some() {
        return Ok(());
    }
    if pauses.header().is_some() {
        let message = "nobody sends again what switches trim";
        return Err(SpecError::new(again, message).choices(["{}", "{ timeout }"]));
    }
    if spec.workload.is_some() && pauses.lossy() {
        let message = "a message of a workload would wait for ever for a packet that is lost";
        let choices = ["one that is not lossy", again];
        return Err(SpecError::new("network.flow_control", message).choices(choices));
    }
    Ok(())
}

/// When hosts send again what does not come, if they do, over these links.
fn retransmission(
    spec: &Spec,
    links: (&dyn Topology, &[LinkClass], Option<LinkClass>),
    reaction_point: Option<ReactionPlan>,
    (scale, (pipeline, largest, whole)): (Scale, (Cycle, u16, bool)),
) -> Result<Option<RetransmissionPlan>, SpecError> {
    let Some(spec) = &spec.network.nic.retransmission else { return Ok(None) };
    let limited = reaction_point.is_some_and(|plan| plan.law.limits_at_once());
    let round_trip = links::round_trip(links, (pipeline, largest), whole);
    retransmission::plan(spec, (&scale, limited, round_trip)).map(Some)
}

/// What the network asks of its congestion points.
fn congestion_point(
    network: &Network,
    setting: &congestion::Setting,
    (pause, tells, notices): (Option<&Pauses>, Option<Tells>, Option<NoticePlan>),
) -> Result<Option<CongestionPlan>, SpecError> {
    if let (Some(plan), true) = (notices, pause.is_some_and(Pauses::whole_link)) {
        let message = "a pause of the whole link stops notifications as well";
        let choices = ["network.flow_control.pfc", "network.flow_control.credits"];
        return Err(SpecError::new(plan.point, message).choices(choices));
    }
    let point = network.congestion_point.as_ref();
    let plan = point.map(|point| congestion::build(point, setting)).transpose()?;
    if plan == Some(CongestionPlan::Record) && tells != Some(Tells::Packets) {
        let message = "nobody brings back what packets have met";
        let choices = ["network.nic.notification_point.acknowledgement"];
        return Err(SpecError::new("network.congestion_point.int", message).choices(choices));
    }
    Ok(plan)
}
