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
use crate::spec::{Spec, Warmup};
use crate::state::{CheckpointError, State};

/// What a checkpoint is of.
#[derive(Serialize, Deserialize)]
pub(super) struct Heading {
    /// Of the engine.
    version: String,
    /// A hash of the spec but for what may be another when a run goes on, and that.
    spec: u64,
    seed: u64,
    /// The bits of the load, which is no integer.
    load: u64,
    /// A hash of how the warm-up ends.
    warmup: u64,
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
            seed: spec.run.seed,
            load: spec.traffic.load.to_bits(),
            warmup: hash(&format!("{:?}", spec.run.warmup)),
            measure: model.times.measure,
            machine: std::any::type_name::<M>().to_owned(),
            firsts: firsts.to_vec(),
        }
    }

    /// The same, of a network that is warmed up and has no end of its warm-up yet.
    pub(super) fn warm(self) -> Self {
        Self { warmup: 0, ..self }
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

    /// What a run of this spec is to change when it goes on.
    pub(super) fn changes(&self, spec: &Spec) -> Changes {
        let seed = spec.run.seed;
        Changes {
            seed: (seed != self.seed).then_some(seed),
            load: spec.traffic.load.to_bits() != self.load,
            warmup: hash(&format!("{:?}", spec.run.warmup)) != self.warmup,
        }
    }
}

/// What is another in the spec of a run that goes on, beside how long is measured.
#[derive(Clone, Copy)]
pub(super) struct Changes {
    /// The seed, if it is another.
    pub(super) seed: Option<u64>,
    pub(super) load: bool,
    pub(super) warmup: bool,
}

impl Changes {
    /// Is anything another?
    pub(super) fn any(self) -> bool {
        self.traffic() || self.warmup
    }

    /// Does the traffic begin again?
    pub(super) fn traffic(self) -> bool {
        self.seed.is_some() || self.load
    }
}

/// A hash of what a spec says, without what may be another when a run goes on, and of what it has led to: files that it names
/// can change.
fn fingerprint(spec: &Spec, model: &Model) -> u64 {
    let mut spec = spec.clone();
    (spec.run.seed, spec.traffic.load, spec.run.measure) = (0, 0.0, 0.into());
    // Times of traffic count from the end of the warm-up.
    if spec.traffic.then.is_empty() && spec.traffic.hotspots.is_empty() {
        spec.run.warmup = Warmup::Fixed(0.into());
    }
    let built = (model.topology.hosts(), model.links(), &model.classes);
    let work = model.jobs.as_ref().map(|jobs| jobs.work());
    hash(&format!("{spec:?} {built:?} {work:?}"))
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, fold)
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
        seed: 0,
        load: 0,
        warmup: 0,
        measure: 0,
        machine: String::new(),
        firsts: Vec::new(),
    };
    heading.load(&mut rest)?;
    let read = bytes.len() - rest.len();
    bytes.drain(..read);
    Ok((heading, bytes))
}
