//! What a run keeps in a checkpoint.
//!
//! Plain data is kept whole, by its derives. What is made of state and of things that follow from the spec says which
//! is which with [`state!`], field by field: a new field does not compile until it is named there.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why there is no checkpoint, or why a run cannot go on from one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// A part of the run has a state that cannot be kept.
    #[error("no checkpoint of this run: {0}")]
    Unkept(String),
    /// It is no checkpoint, or a part of one.
    #[error("damaged checkpoint: {0}")]
    Damaged(String),
    /// It is that of another run.
    #[error("the checkpoint does not fit: {0}")]
    Foreign(String),
}

impl CheckpointError {
    /// Of a type that does not say what it remembers.
    pub(crate) fn forgets<T: ?Sized>() -> Self {
        let name = std::any::type_name::<T>();
        Self::Unkept(format!("{name} does not say what it remembers (Routing::save)"))
    }
}

/// Has state that can be kept. What is loaded has been built from the same spec.
pub(crate) trait State {
    /// Appends the state.
    fn save(&self, into: &mut Vec<u8>) -> Result<(), CheckpointError>;

    /// Takes the state off the front.
    fn load(&mut self, from: &mut &[u8]) -> Result<(), CheckpointError>;
}

impl<T: Serialize + DeserializeOwned> State for T {
    fn save(&self, into: &mut Vec<u8>) -> Result<(), CheckpointError> {
        // The buffer is lent, since what is written is to go to its end.
        let written = postcard::to_extend(self, std::mem::take(into));
        *into = written.map_err(|error| CheckpointError::Unkept(error.to_string()))?;
        Ok(())
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), CheckpointError> {
        let taken = postcard::take_from_bytes(from);
        (*self, *from) = taken.map_err(|error| CheckpointError::Damaged(error.to_string()))?;
        Ok(())
    }
}

/// The two functions of [`State`], and of those traits whose implementations have state, for a type with these fields:
/// `keep` are kept, and so is what is in the containers `each`, which have as many members as when they were built;
/// `leave` follow from the spec, or are empty between two cycles.
macro_rules! state {
    ($(keep $($kept:ident),+;)? $(each $($each:ident),+;)? $(leave $($left:ident),+;)?) => {
        #[allow(unused_variables, reason = "there may be nothing to keep")]
        fn save(&self, into: &mut Vec<u8>) -> Result<(), $crate::state::CheckpointError> {
            #[allow(unused_imports, reason = "parts may be routings")]
            use $crate::state::State as _;
            let Self { $($($kept,)+)? $($($each,)+)? $($($left: _,)+)? } = self;
            $($($kept.save(into)?;)+)?
            $($(for part in $each.iter() { part.save(into)?; })+)?
            Ok(())
        }

        #[allow(unused_variables, reason = "there may be nothing to keep")]
        fn load(&mut self, from: &mut &[u8]) -> Result<(), $crate::state::CheckpointError> {
            #[allow(unused_imports, reason = "parts may be routings")]
            use $crate::state::State as _;
            let Self { $($($kept,)+)? $($($each,)+)? $($($left: _,)+)? } = self;
            $($($kept.load(from)?;)+)?
            $($(for part in $each.iter_mut() { part.load(from)?; })+)?
            Ok(())
        }
    };
}

pub(crate) use state;
