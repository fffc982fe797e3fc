//! Retransmission: what does not come is sent again.
//!
//! What it does: a source keeps a copy of each packet of a flow until it is acknowledged. It sends it again when the receiver
//! asks for it, of which a switch has left the header (`network.flow_control.trim`), and when nobody has acknowledged it for
//! a timeout after it left. Only that packet is sent, before what the flow has not sent yet, and by its window. A receiver
//! drops what it has already, and acknowledges it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::{Quantity, Scale, SpecError};

/// Retransmission of packets that do not come, for hosts with windows or rates by acknowledgements (Ultra Ethernet
/// Specification 1.0, 3.5; timeouts as in RFC 6298).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetransmissionSpec {
    /// Time from which on a packet counts as lost that has left and is not acknowledged: cycles or a time, no less than the
    /// longest round trip without queues. Default: for each flow the smoothed round trip and four times its mean
    /// deviation, no less than twice that round trip; its first packets are looked for when 64 times it is over, and no
    /// earlier. Twice as long after each time that it is over, up to 8 times, until something new is acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Quantity>,
}

/// The same in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RetransmissionPlan {
    /// Cycles, if they do not follow from round trips.
    timeout: Option<f64>,
    /// Longest round trip without queues.
    round_trip: f64,
}

/// What a flow knows of its round trips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoundTrips {
    /// Smoothed, and the mean deviation, once there is one.
    known: Option<(f64, f64)>,
    /// How many times longer a timeout is.
    times: f64,
}

/// The most that timeouts are prolonged.
const LONGEST: f64 = 8.0;

/// Timeout before the first acknowledgement, in round trips.
const FIRST: f64 = 64.0;

const PATH: &str = "network.nic.retransmission";

/// Resolves the timeout, where flows have limits of their own from the start, and a round trip takes so many cycles.
pub(crate) fn plan(
    spec: &RetransmissionSpec,
    (scale, limited, round_trip): (&Scale, bool, u64),
) -> Result<RetransmissionPlan, SpecError> {
    if !limited {
        let message = "what is sent again waits in the queue of its flow, and flows have none";
        let choices = ["window", "swift", "nscc", "timely", "hpcc", "dctcp"];
        let choices = choices.map(|name| format!("network.nic.reaction_point.{name}"));
        return Err(SpecError::new(PATH, message).choices(choices));
    }
    let path = format!("{PATH}.timeout");
    let timeout = spec.timeout.as_ref().map(|time| scale.duration(&path, time)).transpose()?;
    if let Some(timeout) = timeout.filter(|timeout| u64::from(*timeout) < round_trip) {
        let message = format!(
            "{timeout} cycles are over before an acknowledgement can come: the longest round trip without queues \
             takes {round_trip}"
        );
        return Err(SpecError::new(path, message).choices([format!("at least {round_trip}")]));
    }
    Ok(RetransmissionPlan { timeout: timeout.map(f64::from), round_trip: round_trip as f64 })
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self { known: None, times: 1.0 }
    }
}

impl RetransmissionPlan {
    /// Cycles after which a packet of a flow counts as lost.
    pub(crate) fn timeout(&self, own: &RoundTrips) -> f64 {
        self.timeout.unwrap_or_else(|| {
            let usual = match own.known {
                None => FIRST * self.round_trip,
                Some((smoothed, deviation)) => {
                    (smoothed + 4.0 * deviation).max(2.0 * self.round_trip)
                }
            };
            usual * own.times
        })
    }
}

impl RoundTrips {
    /// A packet that was not known to have come is acknowledged, so many cycles after it left: RFC 6298, 2.2 and 2.3.
    pub(crate) fn hear(&mut self, round_trip: f64) {
        self.times = 1.0;
        self.known = Some(match self.known {
            None => (round_trip, round_trip / 2.0),
            Some((smoothed, deviation)) => {
                let off = (smoothed - round_trip).abs();
                (smoothed + (round_trip - smoothed) / 8.0, deviation + (off - deviation) / 4.0)
            }
        });
    }

    /// A timeout is over.
    pub(crate) fn expire(&mut self) {
        self.times = (2.0 * self.times).min(LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_follow_round_trips() {
        let plan = RetransmissionPlan { timeout: None, round_trip: 100.0 };
        let mut own = RoundTrips::default();
        assert_eq!(plan.timeout(&own), 6_400.0);
        own.hear(160.0);
        assert_eq!(plan.timeout(&own), 160.0 + 4.0 * 80.0);
        own.hear(240.0);
        assert_eq!(plan.timeout(&own), 170.0 + 4.0 * 80.0);
        (0..10).for_each(|_| own.expire());
        assert_eq!(plan.timeout(&own), 8.0 * 490.0);
        (0..100).for_each(|_| own.hear(120.0));
        assert!((plan.timeout(&own) - 200.0).abs() < 1e-3, "twice the round trip at the least");
        let given = RetransmissionPlan { timeout: Some(150.0), ..plan };
        own.expire();
        assert_eq!(given.timeout(&own), 150.0);
    }
}
