//! One simulation point: check it, run it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use deroute::{Footprint, Progress, RunError, RunOptions, Watcher};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::{arrays, errors, foreign};

/// Signals are checked and the caller is told at most this often.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);
/// Times that a checkpoint takes that lie between two of them, at the least.
const SELDOM: u32 = 100;

/// Memory in bytes: empty, flowing, saturated, at the most; phits of all messages, number of flows, phits of the largest
/// packet, bytes of a temporary file; the times of [`check`], and what was left to the engine.
type Known = (
    (u64, u64, u64, Option<u64>),
    (u64, u64, u64, u64),
    Option<(u64, u64, u64)>,
    Vec<(String, u32)>,
    Vec<(String, f64)>,
);

/// Builds the network of `spec` (JSON) without simulating it. Returns the bytes of memory that it
/// takes at once, is likely to take while it keeps up and beyond saturation, and takes with every queue full
/// (`None` if a queue is unlimited); the phits of
/// all messages, the number of flows, the phits of the largest packet and the bytes of a temporary file that traces have taken; where the spec fixes a warm-up, the cycles that it lasts, those of a round trip,
/// and those in which a link fills the largest buffer, the paths and values of what the spec leaves to the
/// engine, and the paths of buffers that are too small for their links, with the share that gets through.
#[pyfunction]
pub fn check(py: Python<'_>, spec: &str) -> PyResult<Known> {
    let simulation = foreign::build(py, spec)?;
    let footprint = simulation.footprint();
    let worst_bytes = Some(footprint.worst_bytes).filter(|bytes| *bytes < u64::MAX);
    let times = simulation.ramp().map(|ramp| (ramp.warmup, ramp.round_trip, ramp.fill));
    let (filled, throttles) = (simulation.filled().to_vec(), simulation.throttles());
    let Footprint { fixed_bytes, flowing_bytes, saturated_bytes, .. } = footprint;
    let Footprint { message_phits, flows, packet_phits, file_bytes, .. } = footprint;
    let bytes = (fixed_bytes, flowing_bytes, saturated_bytes, worst_bytes);
    Ok((bytes, (message_phits, flows, packet_phits, file_bytes), times, filled, throttles))
}

/// Simulates `spec` (JSON) without holding the GIL. Returns the outcome's scalars as JSON and its
/// arrays by name.
///
/// `progress(cycle, of)` is called now and then; an exception that it raises ends the simulation,
/// and so does Ctrl-C in the main thread. With `keep`, a function and seconds, the function is called with a checkpoint
/// whenever so many seconds are over, and seldom enough that no more than a hundredth of the time goes into them; never
/// if the state cannot be kept. With `checkpoint`, one of these, the simulation goes on from there.
#[pyfunction]
#[pyo3(signature = (spec, threads=1, partitions=None, progress=None, checkpoint=None, keep=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of a function of Python")]
pub fn simulate<'py>(
    py: Python<'py>,
    spec: &str,
    threads: usize,
    partitions: Option<usize>,
    progress: Option<Py<PyAny>>,
    checkpoint: Option<Vec<u8>>,
    keep: Option<(Py<PyAny>, f64)>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let simulation = foreign::build(py, spec)?;
    let options = RunOptions { threads, partitions, ..RunOptions::default() };
    let keeper = keep.map(|(function, seconds)| Keeper::new(function, seconds)).transpose()?;
    let mut outcome = watched(py, (progress, keeper), |watch| match checkpoint {
        None => simulation.run(&options, watch),
        Some(kept) => simulation.resume(&kept, &options, watch),
    })?;
    let taken = arrays::take(py, &mut outcome)?;
    let scalars = serde_json::to_string(&outcome);
    Ok((scalars.map_err(|error| PyValueError::new_err(error.to_string()))?, taken))
}

/// Warms the network of `spec` (JSON) up without holding the GIL. Returns its state, from which `simulate` goes on.
#[pyfunction]
#[pyo3(signature = (spec, threads=1, partitions=None, progress=None))]
pub fn warm_up<'py>(
    py: Python<'py>,
    spec: &str,
    threads: usize,
    partitions: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let simulation = foreign::build(py, spec)?;
    let options = RunOptions { threads, partitions, ..RunOptions::default() };
    let state = watched(py, (progress, None), |watch| simulation.warm_up(&options, watch))?;
    Ok(PyBytes::new(py, &state))
}

/// Lets the engine work without the GIL, tells how far it is, and keeps its state from time to time.
fn watched<T: Send>(
    py: Python<'_>,
    (progress, mut keeper): (Option<Py<PyAny>>, Option<Keeper>),
    work: impl FnOnce(&mut Watcher<'_>) -> Result<T, RunError> + Send,
) -> PyResult<T> {
    let (mut raised, mut last) = (None, Instant::now());
    let result = py.detach(|| {
        work(&mut |now: Progress<'_>| {
            if last.elapsed() < PROGRESS_INTERVAL {
                return ControlFlow::Continue(());
            }
            last = Instant::now();
            let told = tell(progress.as_ref(), now);
            match told.and_then(|()| keeper.as_mut().map_or(Ok(()), |keeper| keeper.see(now))) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map_err(|error| run_error(py, error)),
    }
}

/// Lets Python handle signals and calls the caller's function.
fn tell(progress: Option<&Py<PyAny>>, now: Progress<'_>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(function) = progress {
            function.call1(py, (now.cycle, now.of))?;
        }
        Ok(())
    })
}

/// Hands out checkpoints from time to time.
struct Keeper {
    function: Py<PyAny>,
    every: Duration,
    next: Instant,
}

impl Keeper {
    fn new(function: Py<PyAny>, seconds: f64) -> PyResult<Self> {
        let every = Duration::try_from_secs_f64(seconds);
        let every = every.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { function, every, next: Instant::now() + every })
    }

    fn see(&mut self, now: Progress<'_>) -> PyResult<()> {
        let begin = Instant::now();
        if begin < self.next {
            return Ok(());
        }
        // A routing from outside may have a state that cannot be kept; the run goes on.
        if let Ok(kept) = now.checkpoint() {
            Python::attach(|py| self.function.call1(py, (PyBytes::new(py, &kept),)))?;
        }
        self.next = Instant::now() + self.every.max(SELDOM * begin.elapsed());
        Ok(())
    }
}

fn run_error(py: Python<'_>, error: RunError) -> PyErr {
    let mut message = error.to_string();
    match error {
        RunError::Interrupted => return PyRuntimeError::new_err(message),
        RunError::Routing(_) => message.extend(foreign::raised(py).map(|what| format!(": {what}"))),
        RunError::Checkpoint(_) => return errors::CheckpointError::new_err(message),
        RunError::Deadlock(_)
        | RunError::Trace(_)
        | RunError::Threads(_)
        | RunError::Invariant(_) => {}
    }
    errors::SimulationError::new_err(message)
}
