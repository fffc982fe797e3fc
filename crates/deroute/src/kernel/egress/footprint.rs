//! Bytes of the queues at the outputs, of congestion points and of reaction points.

use super::credited::HostCredits;
use super::injection::InjectionQueues;
use super::marking::Marking;
use super::output_queues::queues;
use super::pacing::Pacing;
use super::port::{Fifo, Port};
use super::queued::Queued;
use super::retry::Retry;
use super::sampling::Sampling;
use super::schedule::Turns;
use super::silence::Silences;
use super::telemetry::Telemetry;
use crate::congestion::CongestionPlan;
use crate::kernel::core::wheel::Wheel;
use crate::kernel::model::Model;
use crate::notification::{NotificationPlan, Tells};

impl Queued {
    /// Bytes of so many outputs, and of hosts if these have links of their own.
    pub(crate) fn bytes(model: &Model, outputs: u64, hosts: u64) -> u64 {
        let ports = outputs + hosts;
        let queue = size_of::<Fifo>() + Silences::bytes(model);
        let turns = Turns::bytes(&model.egress.schedule, model.egress.classes());
        let port = size_of::<Port>() + queues(model) * queue + turns;
        let marking = match model.egress.congestion_point {
            None => 0,
            Some(CongestionPlan::Mark(_)) => Marking::bytes(model, ports),
            Some(CongestionPlan::Sample(_)) => Sampling::bytes(model, outputs),
            Some(CongestionPlan::Record) => Telemetry::bytes(model, outputs),
        };
        let pacing = match model.egress.reaction_point {
            None => 0,
            Some(_) => Pacing::bytes(model, hosts),
        };
        let pacing = pacing + HostCredits::bytes(model, hosts) + Retry::bytes(model, ports);
        let pacing = pacing + InjectionQueues::bytes(model, hosts);
        ports * port as u64 + marking + pacing + ports / 8 + Wheel::<u32>::bytes(model.horizon())
    }

    /// Bytes besides, once a queue of an output has been told to be silent.
    pub(crate) fn silence_bytes(model: &Model, outputs: u64, hosts: u64) -> u64 {
        if model.pause.is_none() && model.messages.is_none() {
            return 0;
        }
        let ports = outputs + if model.egress.nic.is_some() { hosts } else { 0 };
        ports * (size_of::<u64>() + queues(model) * Silences::most_bytes()) as u64
    }

    /// Bytes besides, at the most: what the limits of flows keep where so many packets are under way.
    pub(crate) fn most_bytes(model: &Model, (outputs, hosts): (u64, u64), packets: u64) -> u64 {
        let kept = Retry::most_bytes(model, outputs + hosts);
        let Some(reaction) = model.egress.reaction_point else { return kept };
        let (classes, time) = (u64::from(model.egress.classes()) - 1, model.times.most() as f64);
        let notices = match (model.egress.congestion_point, model.notification_point) {
            (Some(CongestionPlan::Sample(plan)), _) => {
                let smallest = f64::from(model.packet_sizes().0);
                let samples = time / plan.feedback.least_cycles(smallest) + 1.0;
                (samples as u64).saturating_mul(outputs * classes)
            }
            (_, Some(NotificationPlan { tells: Tells::Marks(interval), .. })) => {
                let flows = hosts.saturating_mul(hosts).saturating_mul(classes);
                flows.saturating_mul((time / f64::from(interval)) as u64 + 1)
            }
            _ => 0,
        };
        kept.saturating_add(Pacing::most_bytes(model, &reaction, (notices, packets), hosts))
    }
}
