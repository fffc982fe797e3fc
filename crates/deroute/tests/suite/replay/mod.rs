//! Traces in a network.

mod anchors;
mod beside;
mod chakra;
mod collectives;
mod formats;
mod hostile;
mod nodes;
mod paged;
mod path;
mod programs;
mod rules;
mod unequal;

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use deroute::outcome::{JobOutcome, Outcome, State};
use deroute::spec::Spec;

use crate::support;

/// A file among the test data.
fn data(file: &str) -> String {
    format!("{}/tests/data/traces/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// A file with a trace that a test has written, gone with it.
struct Written(PathBuf);

impl Written {
    fn new(text: impl AsRef<[u8]>) -> Self {
        Self::with_end(text, "")
    }

    fn with_end(text: impl AsRef<[u8]>, end: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("deroute-trace-{}-{count}{end}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut file = std::fs::File::create(&path).expect("a file can be made");
        file.write_all(text.as_ref()).expect("a file can be written");
        Self(path)
    }

    /// A file beside it of the same name, but for how it ends.
    fn beside(&self, end: &str, text: &[u8]) -> Self {
        let path = self.0.with_extension(end);
        std::fs::write(&path, text).expect("a file can be written");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path is text")
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Files in an archive.
fn archive(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, bytes.as_slice()).expect("memory takes it");
    }
    archive.into_inner().expect("memory takes it")
}

/// An archive of the calls of some ranks: `1 TIME CALL` becomes a line.
fn mpi(ranks: &[&str]) -> Written {
    let file = |(rank, calls): (usize, &&str)| {
        let text = format!("mpi-trace 1\nrank {rank} of {}\n{calls}\n", ranks.len());
        (format!("rank{rank}.txt"), text.into_bytes())
    };
    let files: Vec<(String, Vec<u8>)> = ranks.iter().enumerate().map(file).collect();
    Written::with_end(archive(&files), ".tar")
}

/// An ideal switch with so many hosts where a message of `s` bytes takes `rest + s` cycles: a phit is a byte, and hosts
/// have links. A job follows a trace, with more keys of its own.
fn ideal(hosts: u32, rest: u32, file: &str, more: &str) -> Spec {
    with_job(hosts, rest, &format!("trace.file = '{file}'\n{more}"))
}

/// The same with any job.
fn with_job(hosts: u32, rest: u32, job: &str) -> Spec {
    let pipeline = rest - 2;
    support::parse(&format!(
        "units = {{ cycle = '1 ns', phit = '1 B' }}
         routing = {{ minimal = {{}} }}
         [network]
         topology = {{ crossbar = {{ hosts = {hosts} }} }}
         switch = {{ output_queued = {{ pipeline = {pipeline} }} }}
         flow_control = {{ pfc = {{ response = 0 }} }}
         nic = {{ latency = 1, link = {{ buffer = 1000000 }} }}
         [workload]
         packet_size = 4096
         limit = 2000000000
         [[workload.jobs]]
         {job}"
    ))
}

fn completed(spec: &Spec) -> Outcome {
    let outcome = support::run(spec);
    assert_eq!(outcome.verdict.state, State::Completed, "{:?}", outcome.verdict.reasons);
    outcome
}

fn job(outcome: &Outcome) -> &JobOutcome {
    &outcome.workload.as_ref().expect("there is a workload").jobs[0]
}
