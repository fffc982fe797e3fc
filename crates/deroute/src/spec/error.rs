//! What is wrong with a spec: where, what was found, what would be allowed.

/// An error in a spec. Nothing has been simulated when one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}{}", self.tail())]
pub struct SpecError {
    /// Dotted path of the offending key, as in the file: `network.topology.dragonfly.groups`.
    pub path: String,
    /// What is wrong, with the value that was found.
    pub message: String,
    /// What would be accepted there; may be empty.
    pub choices: Vec<String>,
}

impl SpecError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), choices: Vec::new() }
    }

    /// Adds what would have been accepted.
    pub fn choices<I: IntoIterator<Item = S>, S: Into<String>>(mut self, choices: I) -> Self {
        self.choices = choices.into_iter().map(Into::into).collect();
        self
    }

    fn tail(&self) -> String {
        if self.choices.is_empty() {
            return String::new();
        }
        format!(" (allowed: {})", self.choices.join(", "))
    }
}
