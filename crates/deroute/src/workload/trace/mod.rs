//! Traces: what the ranks of a job do, read from a file. The catalogue of formats; `README.md` beside
//! this file says what each is, and how a workload names it.

mod amounts;
mod calls;
mod chakra;
mod check;
mod dimemas;
mod draft;
mod dumpi;
mod fault;
mod files;
mod goal;
mod goal_binary;
mod lines;
mod mpi_trace;
mod nodes;
mod paraver;
mod rooted;
pub mod spec;
mod time_independent;
mod unequal;

use self::amounts::Amounts;
use self::draft::Draft;
use self::fault::{Fault, Place};
use self::files::Files;
use self::spec::{TraceFormat, TraceSpec};
use super::collective;
use super::comms::Comms;
use super::origin::Origin;
use super::program::Program;
use super::schedule::Schedule;
use super::uses::Uses;
use crate::spec::{Scale, SpecError};

/// A format: how its beginning is told, and who reads it.
struct Format {
    name: TraceFormat,
    /// Where a node is.
    place: fn(u64) -> Place,
    /// Whether a file begins so: its name, and its first bytes.
    begins: fn(&str, &[u8]) -> bool,
    read: fn(&Files, &mut Draft<'_>) -> Result<(), Fault>,
}

/// One line per format.
const FORMATS: [Format; 8] = [
    Format {
        name: TraceFormat::MpiTrace,
        place: Place::Line,
        begins: mpi_trace::begins,
        read: mpi_trace::read,
    },
    Format { name: TraceFormat::Goal, place: Place::Line, begins: goal::begins, read: goal::read },
    Format {
        name: TraceFormat::GoalBinary,
        place: Place::Byte,
        begins: goal_binary::begins,
        read: goal_binary::read,
    },
    Format {
        name: TraceFormat::TimeIndependent,
        place: Place::Line,
        begins: time_independent::begins,
        read: time_independent::read,
    },
    Format {
        name: TraceFormat::Dimemas,
        place: Place::Line,
        begins: dimemas::begins,
        read: dimemas::read,
    },
    Format {
        name: TraceFormat::Chakra,
        place: Place::Byte,
        begins: chakra::begins,
        read: chakra::read,
    },
    Format {
        name: TraceFormat::Paraver,
        place: Place::Line,
        begins: paraver::begins,
        read: paraver::read,
    },
    Format {
        name: TraceFormat::Dumpi,
        place: Place::Byte,
        begins: dumpi::begins,
        read: dumpi::read,
    },
];

/// What a trace says.
pub(super) struct Loaded {
    pub(super) ranks: u32,
    pub(super) program: Program,
    /// The collectives in it, and who takes part in them.
    pub(super) schedules: Vec<Schedule>,
    pub(super) comms: Comms,
    /// What they count as.
    pub(super) uses: Uses,
    /// Where its nodes stand.
    pub(super) origin: Origin,
    /// Messages and phits.
    pub(super) work: (u64, u64),
    /// Some receive takes more than one source or tag.
    pub(super) wildcards: bool,
}

/// Reads a trace.
pub(super) fn load(
    spec: &TraceSpec,
    ranks: Option<u32>,
    scale: &Scale,
    path: &str,
) -> Result<Loaded, SpecError> {
    let told = |fault: Fault| SpecError::new(format!("{path}.file"), fault.to_string());
    let files = Files::open(&spec.file).map_err(told)?;
    let format = format(spec, &files, path)?;
    let amounts = Amounts::new(spec, scale, path)?;
    collective::asked::check_all(&spec.collectives, &format!("{path}.collectives"))?;
    let mut draft = Draft::new(amounts, &spec.collectives, spec.kept);
    (format.read)(&files, &mut draft).map_err(told)?;
    let read = draft.finish(&files, format.place).map_err(told)?;
    if let Some(asked) = ranks.filter(|asked| *asked as usize != read.trace.ranks.len()) {
        let path = path.trim_end_matches(".trace");
        let message = format!("{asked} ranks, but the trace has {}", read.trace.ranks.len());
        let choices = [format!("{}, or nothing", read.trace.ranks.len())];
        return Err(SpecError::new(format!("{path}.ranks"), message).choices(choices));
    }
    let origin = Origin { files: read.files, unit: (format.place)(0).unit() };
    Ok(Loaded {
        ranks: read.trace.ranks.len() as u32,
        program: Program::Trace(read.trace),
        schedules: read.schedules,
        comms: read.comms,
        uses: read.uses,
        origin,
        work: read.work,
        wildcards: read.wildcards,
    })
}

/// The format that is asked for, or the one that the first file begins with which begins like a trace.
fn format(spec: &TraceSpec, files: &Files, path: &str) -> Result<&'static Format, SpecError> {
    let mut more = "";
    let found = match spec.format {
        Some(name) => FORMATS.iter().find(|format| format.name == name),
        None => {
            let told = |fault: Fault| SpecError::new(format!("{path}.file"), fault.to_string());
            let of = |name: &str, head: &[u8]| {
                if more.is_empty() {
                    more = advice(name, head);
                }
                FORMATS.iter().find(|format| (format.begins)(name, head))
            };
            files.find(of).map_err(told)?
        }
    };
    found.ok_or_else(|| {
        let message = format!("{:?} begins like no trace{more}", spec.file);
        let choices = FORMATS.iter().map(|format| format.name.name());
        SpecError::new(format!("{path}.file"), message).choices(choices)
    })
}

/// What to do with a file that only the lab reads, or whose name does not say enough.
fn advice(name: &str, first: &[u8]) -> &'static str {
    let layers = String::from_utf8_lossy(first);
    let ends = |end: &str| name.trim_end_matches(".gz").ends_with(end);
    if [".otf2", ".def", ".evt"].into_iter().any(ends) {
        "; OTF2 has to be converted before: deroute trace convert"
    } else if layers.contains("model_parallel_NPU_group:") {
        "; layers of SimAI have to be converted before: deroute trace convert"
    } else if ends(".et") {
        "; a graph of Chakra is named PREFIX.R.et, R is its rank"
    } else {
        ""
    }
}
