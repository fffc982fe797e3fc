//! The interfaces of hosts, and how switches forward.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Entropy, FlowControl, InjectionQueues, NotificationPoint, Quantity, ReactionPoint,
    RetransmissionSpec, RetrySpec,
};

/// The link between a host and its router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicLink {
    /// Input buffer of the router for each class: phits, or an amount of data.
    pub buffer: Quantity,
    /// Rate, as that of other links. Default: a phit a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity>,
    /// When a host may send. Default: `network.flow_control`. Not `credits`: a host that has nothing but these has
    /// no link of its own, and its injection queue is the buffer of the router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_control: Option<FlowControl>,
    /// Frames that break are sent again, both ways. Default: none breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySpec>,
}

/// When a switch passes a packet on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// As soon as its first phit is there.
    #[default]
    CutThrough,
    /// When it has arrived whole.
    StoreAndForward,
}

/// A host's network interface. Its injection queue is the input buffer of a router port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Nic {
    /// Delay between host and router, each way. Default 0.
    pub latency: Quantity,
    /// Injection queue of a host, for each class of the queuing scheme, and each of `queues`; unlimited when
    /// absent. A packet generated while it is full is refused: it counts as offered, not as generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub injection_queue: Option<Quantity>,
    /// Several injection queues for each class: a packet that cannot leave holds up those of its queue. One
    /// when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<InjectionQueues>,
    /// The link to the router, where it is more than a delay: its rate, and a buffer at the router
    /// with flow control of its own. Packets wait in the injection queue for it. Without one, the
    /// injection queue is the input buffer of the router.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<NicLink>,
    /// Packets of synthetic traffic reach the receiving host in the order in which its source has generated
    /// them, stream by stream: one that arrives early waits at the interface. Default: as they arrive.
    /// Messages of a workload are put together in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resequencing: Option<Resequencing>,
    /// The value that a host gives each packet, from which its path follows; the routing draws it when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<Entropy>,
    /// What a receiving host tells the source of a packet; nothing when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification_point: Option<NotificationPoint>,
    /// How fast a host sends after it has been told of congestion; as fast as ever when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reaction_point: Option<ReactionPoint>,
    /// Packets that do not come are sent again. Nothing is when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmission: Option<RetransmissionSpec>,
}

/// What the interface of a host does with packets that arrive before an earlier one of their stream and source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Resequencing {
    /// Phits, or data, that can wait at a host. A packet for which there is no room is dropped, and nobody waits
    /// for it any more. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Quantity>,
}
