//! Congestion point of quantized congestion notification (QCN).
//!
//! # What it does
//! Samples the queue of a class at an output, packets that wait there and one that enters (or what an input
//! buffer holds of a class, where a link from another router ends): each time that
//! some data, packets or cycles have passed. The feedback is the length beyond `q_eq` and `w` times the
//! growth since it was seen last, in 6 bits of the largest possible value, `q_eq` (1 + 2 `w`). If it is not
//! 0, a notification goes to the source of a packet, by `notification_share` of the cases. The interval to
//! the next sample follows from the feedback: by the table of the standard (150 KB to 18.5 KB), linearly to
//! a tenth, or not at all.
//!
//! A notification is a packet: it is put into the output queue of its path in the switch of the congestion
//! point, in a class of service of its own which pause frames never stop, and travels as others do.
//!
//! # Source
//! IEEE 802.1Qau (802.1Q, clauses 30 to 32); its public pseudo code; the variants of the thesis (4.6.2), the
//! HiPINEB 2017 paper and the CEE paper.
//!
//! # Parameters
//! `q_eq` in phits or as an amount of data (default 26 KB), `w` (default 2); `sample`, one of `{ bytes = ..
//! }` (default 150 KB, in phits or as an amount of data), `{ packets = .. }` and `{ cycles = .. }`, the
//! interval at feedback 0; `law`: `table` (default), `linear` or `constant`; `jitter` of an interval (default
//! 0.15); `victim`, whose source is told: the `arriving` packet (default), a `random` one of the queue, or
//! the `oldest`; `growth` since the last `sample` (default) or since the last `notification`;
//! `notification_share`, a probability (default 1); `queue`, whose queues are sampled: those of an `output`
//! (default) or `input`; `ejection`, whether outputs to hosts are congestion
//! points (default true); `notifications`: their `class` (default the highest), `size` on the wire (default
//! 84 B: 64 B with preamble and gap), and `path`: `minimal` (default), or `random-up` a fat tree.
//!
//! # Limits
//! At an output only what waits there counts, behind the crossbar: a switch that has no queues there is refused.
//! Inputs need a flow control that counts what they hold, as PFC does, and a switch whose packets give
//! their memory back when they cross it.
//! A notification that finds no room is lost, and counted. Hosts react if they have a reaction point
//! (`network.nic.reaction_point`).
//!
//! # Example
//! ```toml
//! [network.congestion_point.qcn]
//! q_eq = "20 KB"
//! notifications = { class = 1 }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::feedback::{Every, Feedback, Law};
use super::{CongestionPlan, NoticePlan, SamplePlan, Setting};
use crate::spec::{Quantity, Scale, SpecError};

/// Parameters of the congestion points of QCN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QcnSpec {
    /// Length that a queue should have: phits, or an amount of data. Default `"26 KB"`.
    pub q_eq: Quantity,
    /// Weight of the growth of a queue, 0 to 16. Default 2.
    pub w: f64,
    /// What lies between two samples of a queue that is not too long. Default `{ bytes = "150 KB" }`.
    pub sample: SampleBy,
    /// How much less lies between them if it is. Default `table`.
    pub law: SampleLaw,
    /// Largest deviation of an interval from its mean, as a share of it, 0 to 1. Default 0.15.
    pub jitter: f64,
    /// Whose queues are sampled. Default `output`.
    pub queue: SampledQueue,
    /// The packet whose source is told. Default `arriving`.
    pub victim: Victim,
    /// Since when a queue has grown. Default `sample`.
    pub growth: GrowthSince,
    /// Probability that a sample with feedback is told to anybody, 0 to 1. Default 1.
    pub notification_share: f64,
    /// Outputs to hosts are congestion points as well. Default `true`.
    pub ejection: bool,
    /// What notifications are.
    pub notifications: NotificationSpec,
}

/// What a queue is sampled by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SampleBy {
    /// So much data enters it: phits, or an amount of data.
    Bytes(Quantity),
    /// So many packets enter it.
    Packets(u32),
    /// So much time passes: cycles or a time. Each packet that enters counts as one cycle more.
    Cycles(Quantity),
}

/// Whose queues are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SampledQueue {
    /// Those of an output, of each class of service.
    #[default]
    Output,
    /// Those of an input behind a link between routers, of each class of service: all its VCs together.
    Input,
}

/// How the interval between samples follows from the feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SampleLaw {
    /// By the table of IEEE 802.1Q: 1, 1/2, 1/3, 1/4, 1/5, 1/6, 1/7 and 1/8.1 of it.
    #[default]
    Table,
    /// The rate grows linearly to ten times that of feedback 0 (CEE paper, figure 3).
    Linear,
    /// It does not.
    Constant,
}

/// The packet whose source is told of congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The one that enters the queue.
    #[default]
    Arriving,
    /// Any that is in the queue, each with the same probability.
    Random,
    /// The one that leaves it next.
    Oldest,
}

/// What the growth of a queue is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrowthSince {
    /// The last sample.
    #[default]
    Sample,
    /// The last sample that was told to somebody.
    Notification,
}

/// Packets that tell sources of congestion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NotificationSpec {
    /// Their class of service, which no other traffic has and pause frames never stop. Default: the highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<u8>,
    /// Their size on the wire: phits, or an amount of data. Default `"84 B"`.
    pub size: Quantity,
    /// Their way. Default `minimal`.
    pub path: NotificationPath,
}

/// The way of a notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotificationPath {
    /// That of minimal routing.
    #[default]
    Minimal,
    /// Up a fat tree by any port, and down.
    RandomUp,
}

impl Default for NotificationSpec {
    fn default() -> Self {
        Self { class: None, size: "84 B".into(), path: NotificationPath::Minimal }
    }
}

impl Default for QcnSpec {
    fn default() -> Self {
        Self {
            q_eq: "26 KB".into(),
            w: 2.0,
            sample: SampleBy::Bytes("150 KB".into()),
            law: SampleLaw::Table,
            jitter: 0.15,
            queue: SampledQueue::Output,
            victim: Victim::Arriving,
            growth: GrowthSince::Sample,
            notification_share: 1.0,
            ejection: true,
            notifications: NotificationSpec::default(),
        }
    }
}

pub(super) const PATH: &str = "network.congestion_point.qcn";

fn at(key: &str) -> String {
    format!("{PATH}.{key}")
}

/// What the notifications of congestion or notification points at a path of the spec are, in a network with so many
/// classes of service.
///
/// # Errors
/// A class that does not exist or is that of other traffic, and sizes that are none.
pub(crate) fn notice(
    point: &'static str,
    spec: &NotificationSpec,
    (scale, classes): (&Scale, u8),
) -> Result<NoticePlan, SpecError> {
    let at = |key: &str| format!("{point}.{key}");
    let NotificationSpec { class, size, path } = spec;
    if classes < 2 {
        let message =
            "notifications need a class of service of their own, and there is one for all";
        let choices = ["network.classes.count of 2 or more"];
        return Err(SpecError::new(point, message).choices(choices));
    }
    let class = class.unwrap_or(classes - 1);
    if !(1..classes).contains(&class) {
        let message = match class {
            0 => "class 0 is that of other traffic".to_owned(),
            _ => format!("there is no class {class}: network.classes.count is {classes}"),
        };
        let choices = [format!("1 to {}", classes - 1)];
        return Err(SpecError::new(at("notifications.class"), message).choices(choices));
    }
    let size_at = at("notifications.size");
    let phits = scale.phits_up(&size_at, size)?;
    let size = u16::try_from(phits).ok().filter(|phits| *phits > 0).ok_or_else(|| {
        let message = format!("{phits} phits are no packet");
        SpecError::new(size_at, message).choices(["1 to 65535 phits"])
    })?;
    let random_up = *path == NotificationPath::RandomUp;
    Ok(NoticePlan { point, class, size, random_up })
}

/// Resolves the parameters.
pub(crate) fn plan(spec: &QcnSpec, setting: &Setting) -> Result<CongestionPlan, SpecError> {
    if !setting.output_queues {
        let message = "samples are those of the queues at the outputs, and this switch has none";
        let choices = ["combined_queued", "output_queued", "input_buffered_output_queued"];
        return Err(SpecError::new(PATH, message).choices(choices));
    }
    let refuse = |key: &str, message: String, choice: String| {
        Err(SpecError::new(at(key), message).choices([choice]))
    };
    let q_eq = setting.scale.phits_up(&at("q_eq"), &spec.q_eq)?;
    let longest = match spec.queue {
        SampledQueue::Output => setting.longest,
        SampledQueue::Input if setting.counted_inputs => {
            setting.longest_input.min(u32::MAX.into()) as u32
        }
        SampledQueue::Input => {
            let message = "nobody counts what the inputs of these switches hold".to_owned();
            let choices =
                ["output", "network.flow_control.pfc with network.switch.combined_queued"];
            return Err(SpecError::new(at("queue"), message).choices(choices));
        }
    };
    let q_eq = match u32::try_from(q_eq) {
        Ok(q_eq) if (1..=longest.min(1 << 30)).contains(&q_eq) => q_eq,
        _ => {
            let message = match q_eq {
                0 => "an empty queue is not congested".to_owned(),
                _ => format!("no queue holds {q_eq} phits: its memory is {longest} phits"),
            };
            return refuse("q_eq", message, format!("1 to {} phits", longest.min(1 << 30)));
        }
    };
    if !(0.0..=16.0).contains(&spec.w) {
        return refuse("w", format!("{} is no weight", spec.w), "0 to 16".into());
    }
    for (key, share) in [("jitter", spec.jitter), ("notification_share", spec.notification_share)] {
        if !(0.0..=1.0).contains(&share) {
            return refuse(key, format!("{share} is no share"), "0 to 1".into());
        }
    }
    let law = match spec.law {
        SampleLaw::Table => Law::Table,
        SampleLaw::Linear => Law::Linear,
        SampleLaw::Constant => Law::Constant,
    };
    let every = every(&spec.sample, &setting.scale)?;
    Ok(CongestionPlan::Sample(SamplePlan {
        feedback: Feedback { q_eq, w: spec.w, every, law, jitter: spec.jitter },
        victim: spec.victim,
        since: spec.growth,
        // Exact: scaling by a power of two does not round.
        share: (spec.notification_share * 2f64.powi(32)) as u64,
        queue: spec.queue,
        ejection: spec.ejection,
    }))
}

/// What lies between two samples.
fn every(sample: &SampleBy, scale: &Scale) -> Result<Every, SpecError> {
    let whole = |key: &str, found: u64| {
        u32::try_from(found).ok().filter(|found| (1..1 << 30).contains(found)).ok_or_else(|| {
            let message = format!("{found} is no interval");
            SpecError::new(at(&format!("sample.{key}")), message).choices(["1 to 1073741823"])
        })
    };
    Ok(match sample {
        SampleBy::Bytes(data) => {
            Every::Phits(whole("bytes", scale.phits_up(&at("sample.bytes"), data)?)?)
        }
        SampleBy::Packets(packets) => Every::Packets(whole("packets", (*packets).into())?),
        SampleBy::Cycles(time) => {
            Every::Cycles(whole("cycles", scale.cycles(&at("sample.cycles"), time)?)?)
        }
    })
}
