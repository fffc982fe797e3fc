//! Link-level retry: frames that arrive broken are sent again over the same link.
//!
//! What it does: a sender keeps every frame in a replay buffer until the other end has acknowledged it. A frame with a
//! bit error is reported, and it and all that followed are sent again (go-back-N). What is lost is time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinkClass;
use crate::ids::Cycle;
use crate::spec::{Quantity, Scale, SpecError, holds};

/// Link-level retry (Ultra Ethernet Specification 1.0.2, 5.1) of links that have bit errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetrySpec {
    /// Bit error rate, 0 or more and less than 1. A frame with an error anywhere is sent again. Frames of flow control
    /// and acknowledgements have none, and the latter take nothing of the link back.
    pub bit_error_rate: f64,
    /// What a sender keeps of frames that are not acknowledged: phits, or an amount of data. It begins none that does not
    /// fit. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_buffer: Option<Quantity>,
    /// From the end of a frame at the receiver to the start of the answer: cycles or a time. Default 0.
    #[serde(default, skip_serializing_if = "crate::spec::is_default")]
    pub response: Quantity,
}

/// The same in numbers, for the links of a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RetryPlan {
    /// Bit error rate.
    rate: f64,
    /// Bits of a phit.
    bits: u32,
    /// Phits that are not acknowledged, at the most.
    pub(crate) replay: u32,
    /// Cycles from the end of a frame at its sender to the arrival of the answer.
    pub(crate) answer: Cycle,
}

impl RetryPlan {
    /// A frame may have to wait.
    pub(crate) fn waits(&self) -> bool {
        self.rate > 0.0 || self.replay < u32::MAX
    }

    /// The chance that a frame of so many phits has an error.
    ///
    /// That of twice as many bits follows from that of so many, by arithmetic that is the same on every machine.
    pub(crate) fn error(&self, phits: u32) -> f64 {
        let both = |one: f64, other: f64| one + other - one * other;
        let (mut bits, mut share, mut error) = (phits * self.bits, self.rate, 0.0);
        while bits > 0 {
            if bits % 2 == 1 {
                error = both(error, share);
            }
            share = both(share, share);
            bits /= 2;
        }
        error
    }
}

/// Resolves the retry of the links of a class, at a path.
///
/// # Errors
/// A rate that is none, and a replay buffer without room for the largest packet.
pub(crate) fn plan(
    spec: &RetrySpec,
    path: &str,
    link: &LinkClass,
    (scale, largest): (Scale, u16),
) -> Result<RetryPlan, SpecError> {
    if !(0.0..1.0).contains(&spec.bit_error_rate) {
        let message = format!("{} is no bit error rate", spec.bit_error_rate);
        let path = format!("{path}.bit_error_rate");
        return Err(SpecError::new(path, message).choices(["0 or more, below 1"]));
    }
    let at = format!("{path}.replay_buffer");
    let replay = spec.replay_buffer.as_ref().map(|size| scale.buffer(&at, size)).transpose()?;
    holds(replay.unwrap_or(u32::MAX), largest, at)?;
    let response = scale.interval(&format!("{path}.response"), &spec.response, 0)?;
    Ok(RetryPlan {
        rate: spec.bit_error_rate,
        bits: (8.0 * scale.phit_bytes()).ceil() as u32,
        replay: replay.unwrap_or(u32::MAX),
        answer: 2 * link.latency + response,
    })
}

#[cfg(test)]
mod tests {
    use super::RetryPlan;

    #[test]
    fn errors_of_a_frame_follow_from_those_of_a_bit() {
        let plan = |rate| RetryPlan { rate, bits: 80, replay: 1, answer: 1 };
        for (rate, phits) in [(1e-3, 1), (1e-3, 7), (1e-6, 200), (0.5, 1)] {
            let expected = 1.0 - (1.0_f64 - rate).powi(80 * phits);
            let found = plan(rate).error(phits as u32);
            assert!((found - expected).abs() < 1e-9, "{rate} {phits}: {found} {expected}");
        }
        assert_eq!(plan(0.0).error(1_000), 0.0);
        // Where 1 - rate is 1 for a machine.
        assert!((plan(1e-18).error(100) / 8e-15 - 1.0).abs() < 1e-9);
    }
}
