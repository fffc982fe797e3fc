//! Classes of service: traffic that does not wait for other traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SpecError;

/// Classes of service. Each has VCs of its own on every link, queues of its own at every output, and an
/// injection queue of its own at every host. With a queuing scheme each has all of its classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceClasses {
    /// Number of classes, 1 to 16. Streams name theirs (`traffic.stream`); other traffic is of class 0.
    pub count: u8,
    /// How they share a link. Default `strict`.
    #[serde(default)]
    pub schedule: ClassSchedule,
}

/// How the classes of service share a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ClassSchedule {
    /// The highest class that can send does (IEEE 802.1Q, 8.6.8.1).
    #[default]
    Strict,
    /// Enhanced transmission selection (IEEE 802.1Qaz) by deficit round robin: the share of each class in
    /// percent. What a class does not use goes to the others.
    Ets(Vec<u32>),
}

impl ServiceClasses {
    /// The number of classes.
    ///
    /// # Errors
    /// Values out of range, and shares that are not one for each class, or not 100 in all.
    pub(crate) fn check(&self) -> Result<u8, SpecError> {
        let path = "network.classes";
        if !(1..=16).contains(&self.count) {
            let message = format!("{} classes are out of range", self.count);
            return Err(SpecError::new(format!("{path}.count"), message).choices(["1 to 16"]));
        }
        let ClassSchedule::Ets(shares) = &self.schedule else { return Ok(self.count) };
        let path = format!("{path}.schedule.ets");
        if shares.len() != usize::from(self.count) {
            let message = format!("{} shares for {} classes", shares.len(), self.count);
            return Err(SpecError::new(path, message).choices([format!("{} shares", self.count)]));
        }
        if let Some(class) = shares.iter().position(|share| *share == 0) {
            let message = format!("class {class} would never send");
            return Err(SpecError::new(format!("{path}[{class}]"), message).choices(["1 to 100"]));
        }
        let sum: u64 = shares.iter().map(|share| u64::from(*share)).sum();
        if sum != 100 {
            let message = format!("the shares are {sum} percent in all");
            return Err(SpecError::new(path, message).choices(["100 in all"]));
        }
        Ok(self.count)
    }
}
