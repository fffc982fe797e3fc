//! What the engine and the model do not agree on.

/// Differences found.
#[derive(Default)]
pub(super) struct Report(Vec<String>);

impl Report {
    /// They must be the same.
    pub(super) fn exact<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        engine: T,
        model: T,
    ) {
        if engine != model {
            self.0.push(format!("{what}: engine {engine:?}, model {model:?}"));
        }
    }

    /// They must be the same but for rounding.
    pub(super) fn close(&mut self, what: &str, engine: f64, model: f64) {
        if (engine - model).abs() > 1e-12 * model.abs().max(1e-3) {
            self.0.push(format!("{what}: engine {engine}, model {model}"));
        }
    }

    /// Says what was found, if anything was.
    pub(super) fn finish(self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0.join("\n")) }
    }
}
