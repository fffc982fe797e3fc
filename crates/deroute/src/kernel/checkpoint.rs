//! Checkpoints: the state of a run between two cycles, from which it goes on as if it had never stopped.
//!
//! Only state is kept. What follows from the spec is built again, so that a checkpoint fits one spec and one version of
//! the engine.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::model::Model;
use crate::VERSION;
use crate::ids::Cycle;
use crate::spec::Spec;
use crate::state::{CheckpointError, State};

/// What a checkpoint is of.
#[derive(Serialize, Deserialize)]
pub(super) struct Heading {
    /// Of the engine.
    version: String,
    /// A hash of the spec but for the length of the measurement, and that.
    spec: u64,
    pub(super) measure: Cycle,
    machine: String,
    /// First router of each partition, and the total.
    pub(super) firsts: Vec<u32>,
}

impl Heading {
    /// That of a run of machine `M`, divided like this.
    pub(super) fn new<M>(spec: &Spec, model: &Model, firsts: &[u32]) -> Self {
        Self {
            version: VERSION.to_owned(),
            spec: fingerprint(spec, model),
            measure: model.times.measure,
            machine: std::any::type_name::<M>().to_owned(),
            firsts: firsts.to_vec(),
        }
    }

    /// Refuses what is not of this run.
    pub(super) fn check<M>(&self, spec: &Spec, model: &Model) -> Result<(), CheckpointError> {
        let own = Self::new::<M>(spec, model, &[]);
        if self.spec != own.spec {
            return Err(CheckpointError::Foreign("it is of another spec".into()));
        }
        if self.machine != own.machine {
            let message = "it was taken with other options (queued_outputs)";
            return Err(CheckpointError::Foreign(message.into()));
        }
        Ok(())
    }
}

/// A hash of what a spec says, without how long is measured, and of what it has led to: files that it names can change.
fn fingerprint(spec: &Spec, model: &Model) -> u64 {
    let mut spec = spec.clone();
    spec.run.measure = 0.into();
    let built = (model.topology.hosts(), model.links(), &model.classes);
    let work = model.jobs.as_ref().map(|jobs| jobs.work());
    // FNV-1a, 64 bits.
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{spec:?} {built:?} {work:?}").bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}

/// A checkpoint of this state. Its compression has the checksum.
pub(super) fn pack(heading: &Heading, state: &dyn State) -> Result<Vec<u8>, CheckpointError> {
    let mut bytes = Vec::new();
    heading.save(&mut bytes)?;
    state.save(&mut bytes)?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    let done = packed.write_all(&bytes).and_then(|()| packed.finish());
    done.map_err(|error| CheckpointError::Unkept(error.to_string()))
}

/// The heading of a checkpoint, and the state that follows.
pub(super) fn unpack(checkpoint: &[u8]) -> Result<(Heading, Vec<u8>), CheckpointError> {
    let mut bytes = Vec::new();
    let read = GzDecoder::new(checkpoint).read_to_end(&mut bytes);
    read.map_err(|error| CheckpointError::Damaged(error.to_string()))?;
    let mut rest = &bytes[..];
    let mut version = String::new();
    version.load(&mut &*rest)?;
    if version != VERSION {
        let message = format!("it is of version {version} of the engine, and this is {VERSION}");
        return Err(CheckpointError::Foreign(message));
    }
    let mut heading = Heading {
        version: String::new(),
        spec: 0,
        measure: 0,
        machine: String::new(),
        firsts: Vec::new(),
    };
    heading.load(&mut rest)?;
    let read = bytes.len() - rest.len();
    bytes.drain(..read);
    Ok((heading, bytes))
}
