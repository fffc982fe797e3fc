//! A trace that is read as it runs.

use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::PoisonError;

use deroute::spec::Spec;
use deroute::{Progress, RunOptions, Simulation};

use super::{ALONE, most};

/// Rounds of a ring, of four calls and a computation each.
const ROUNDS: u32 = 60_000;
/// Ranks of it.
const RANKS: u32 = 4;
/// Nodes of a round.
const EACH: u32 = 4;

/// A folder with a trace, gone with it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    /// A trace whose ranks compute, send to the next one, receive from the one before, and wait for both.
    fn ring() -> Self {
        let folder = std::env::temp_dir().join(format!("deroute-ring-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for rank in 0..RANKS {
            let (to, from) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
            let mut text = format!("mpi-trace 1\nrank {rank} of {RANKS}\n");
            for _ in 0..ROUNDS {
                let lines =
                    format!("5 0 isend {to} 64 7 0 1\n0 0 irecv {from} 64 7 0 2\n0 0 wait 1 2\n");
                text.write_str(&lines).expect("a string");
            }
            fs::write(folder.join(format!("{rank}.txt")), text).expect("a file");
        }
        Self(folder)
    }

    /// Its job on an ideal switch, with room for so many nodes in memory.
    fn spec(&self, kept: u64) -> Spec {
        let text = format!(
            "units = {{ cycle = '1 ns', phit = '1 B' }}
             routing = {{ minimal = {{}} }}
             [network]
             topology = {{ crossbar = {{ hosts = {RANKS} }} }}
             switch = {{ output_queued = {{ pipeline = 3 }} }}
             flow_control = {{ pfc = {{ response = 0 }} }}
             nic = {{ latency = 1, link = {{ buffer = 1000 }} }}
             [workload]
             packet_size = 64
             limit = 2000000000
             [[workload.jobs]]
             trace = {{ file = '{}', kept = {kept} }}",
            self.0.display()
        );
        toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A trace that is kept takes 32 bytes a node, and what its footprint says. One that is not takes next to nothing, however
/// long it is, and is in a file of as many bytes.
#[test]
fn a_trace_takes_the_memory_that_it_may() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ring = Folder::ring();
    let nodes = u64::from(RANKS * ROUNDS * EACH) * 32;
    let mut outcomes = Vec::new();
    for (kept, least, worst) in [(1 << 30, nodes, 3 * nodes), (0, 0, nodes / 10)] {
        let spec = ring.spec(kept);
        let (bytes, (footprint, outcome)) = most(|| {
            let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
            let mut go_on = |_: Progress<'_>| ControlFlow::Continue(());
            let outcome = simulation.run(&RunOptions::default(), &mut go_on);
            (simulation.footprint(), outcome.unwrap_or_else(|error| panic!("{error}")))
        });
        assert!((least..worst).contains(&bytes), "{kept}: {bytes} of {nodes}");
        assert!((least..worst).contains(&footprint.fixed_bytes), "{kept}: {footprint:?}");
        let file = if kept == 0 { nodes..nodes * 5 / 4 } else { 0..1 };
        assert!(file.contains(&footprint.file_bytes), "{kept}: {footprint:?}");
        outcomes.push(outcome);
    }
    assert!(outcomes[0] == outcomes[1]);
}
