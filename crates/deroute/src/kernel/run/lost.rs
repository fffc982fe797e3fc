//! A disk that loses the trace while it is read.

use std::fmt::Write;
use std::ops::ControlFlow;

use super::run;
use crate::kernel::machines::Ethernet;
use crate::kernel::{RunError, RunOptions, Simulation};

/// Two ranks with many short messages: what they do is in a temporary file.
fn simulation() -> Simulation {
    let mut text = "num_ranks 2\n".to_owned();
    for (rank, what) in [(0, "send 64b to 1"), (1, "recv 64b from 0")] {
        write!(text, "rank {rank} {{\nm0: {what}\n").expect("a string");
        for index in 1..2_000 {
            let before = index - 1;
            writeln!(text, "m{index}: {what}\nm{index} requires m{before}").expect("a string");
        }
        text.push_str("}\n");
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("it can be written");
    let spec = toml::from_str(&format!(
        "units = {{ phit = '8 B' }}\n\
         routing = {{ minimal = {{}} }}\n\
         [network]\ntopology = {{ crossbar = {{ hosts = 2 }} }}\n\
         switch = {{ output_queued = {{ pipeline = 3 }} }}\n\
         flow_control = {{ pfc = {{ response = 0 }} }}\n\
         nic = {{ latency = 5, link = {{ buffer = 400 }} }}\n\
         [workload]\npacket_size = 8\nlimit = 10_000_000\n\
         [[workload.jobs]]\ntrace = {{ file = '{}', format = 'goal', kept = 0 }}\n",
        file.path().display()
    ));
    Simulation::build(&spec.expect("a spec")).expect("a trace")
}

/// The run ends with an error, wherever it is.
#[test]
fn a_run_says_that_its_trace_is_lost() {
    for looks in [0, 1, 3] {
        let Simulation { spec, model } = simulation();
        let jobs = model.jobs.as_ref().expect("a workload");
        let mut left = looks;
        if looks == 0 {
            jobs.jobs[0].program.lose();
        }
        // One machine is compiled for these tests, that of `super::expiry`.
        let what = (&spec, &model, None);
        let result = run::<Ethernet>(what, &RunOptions::default(), &mut |_| {
            left -= 1;
            if left == 0 {
                jobs.jobs[0].program.lose();
            }
            ControlFlow::Continue(())
        });
        let Err(RunError::Trace(told)) = result.map(drop) else { panic!("it is lost") };
        assert!(told.starts_with("job job1: the temporary file in "), "{told}");
    }
}
