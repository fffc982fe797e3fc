//! Memory that the ports of a switch share.
//!
//! # What it does
//! Beside the buffers of its ports a switch has memory for all of them. A buffer that holds more than its
//! `xoff` takes what is beyond from there, and its sender is told to be silent only when that is more than
//! a threshold: `alpha` times what is left of the shared memory (dynamic), or `limit` (static). What
//! arrives after that has the headroom of the buffer itself. The sender is told to go on when the buffer could hold
//! `xoff` less `xon` more without passing the threshold, or holds no more than `xon`. With
//! `n` buffers that fill up, each takes `alpha / (1 + n alpha)` of the shared memory.
//!
//! # Source
//! Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches, IEEE/ACM
//! Trans. Networking 1998; with pauses: the switch of Li et al., HPCC, SIGCOMM 2019.
//!
//! # Parameters
//! `shared_buffer` of `network.flow_control.pfc` or `pause` (default: none): `size`, the memory of a switch
//! with the buffers of all its ports, in phits or as an amount of data; either `alpha`, 1/1024 to 1024,
//! or `limit`, in phits or as an amount of data. `buffer` of `network.links` and `network.nic.link` is what a VC has
//! for itself: its reserve up to `xoff`, and its headroom.
//!
//! # Deadlock freedom
//! That of the flow control: a buffer that has drained down to `xon` goes on, whatever others hold.
//!
//! # Limits
//! All switches have the same memory; what is shared depends on their ports. A threshold that falls
//! is seen by a buffer when the next packet arrives there. At most so much is shared as there is, and
//! headroom is never shared, so that nothing is lost.
//!
//! # Example
//! ```toml
//! [network.flow_control.pfc]
//! shared_buffer = { size = "12 MB", alpha = 0.125 }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::{Quantity, Scale, SpecError};

/// Memory that the ports of a switch share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedBufferSpec {
    /// Memory of a switch, with the buffers of all its ports: phits, or an amount of data. What these leave is
    /// shared.
    pub size: Quantity,
    /// A buffer may take this times what is left of the shared memory, 1/1024 to 1024. Either this or `limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// A buffer may take so much of the shared memory: phits, or an amount of data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Quantity>,
}

/// The same in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedPlan {
    /// Phits of a switch, with the buffers of its ports.
    pub(crate) size: u32,
    pub(crate) threshold: Threshold,
}

/// Phits of the shared memory that a buffer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threshold {
    /// In parts of 2^16 of what is left.
    Dynamic(u64),
    Static(u32),
}

impl Threshold {
    /// What it is when so many phits are left.
    pub(crate) fn of(self, free: u32) -> u64 {
        match self {
            Self::Dynamic(alpha) => (alpha * u64::from(free)) >> 16,
            Self::Static(limit) => limit.into(),
        }
    }
}

/// Resolves the memory that the table at `path` describes.
pub(super) fn plan(
    spec: &SharedBufferSpec,
    path: &str,
    scale: &Scale,
) -> Result<SharedPlan, SpecError> {
    let size = scale.buffer(&format!("{path}.size"), &spec.size)?;
    let threshold = match (spec.alpha, &spec.limit) {
        (Some(alpha), None) if (1.0 / 1024.0..=1024.0).contains(&alpha) => {
            Threshold::Dynamic((alpha * 65_536.0).round() as u64)
        }
        (Some(alpha), None) => {
            let message = format!("{alpha} is out of range");
            return Err(
                SpecError::new(format!("{path}.alpha"), message).choices(["1/1024 to 1024"])
            );
        }
        (None, Some(limit)) => Threshold::Static(scale.buffer(&format!("{path}.limit"), limit)?),
        (alpha, _) => {
            let given = if alpha.is_some() { "both are" } else { "neither is" };
            let message =
                format!("a buffer needs a threshold, dynamic or static, and {given} given");
            return Err(SpecError::new(path, message).choices(["alpha", "limit"]));
        }
    };
    Ok(SharedPlan { size, threshold })
}

#[cfg(test)]
mod tests {
    use super::Threshold;

    /// The arithmetic of the DCQCN paper (Zhu et al., SIGCOMM 2015, 4), in bytes: 12 MB, 32 ports of 8 classes with 22.4 KB of
    /// headroom each. 24.47 KB for each buffer at once; with a threshold of beta / 256 of what is left, and beta = 8, all of
    /// them end at 21.75 KB.
    #[test]
    fn buffers_of_the_dcqcn_paper() {
        let shared = 12_000_000 - 256 * 22_400;
        let most = |threshold: Threshold| {
            let all = (0..=shared / 256).rev();
            let fits = |each: &u32| u64::from(*each) <= threshold.of(shared - 256 * each);
            all.into_iter().find(fits)
        };
        assert_eq!(most(Threshold::Static(u32::MAX)), Some(24_475));
        assert_eq!(most(Threshold::Dynamic(8 * 65_536 / 256)), Some(21_755));
    }
}
