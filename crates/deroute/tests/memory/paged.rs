//! A trace that is read as it runs.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use deroute::spec::Spec;

/// Rounds of a ring, of four calls and a computation each.
pub(crate) const ROUNDS: u32 = 60_000;
/// Ranks of it.
pub(crate) const RANKS: u32 = 4;
/// Nodes of a round.
pub(crate) const EACH: u32 = 4;

/// A folder with a trace, gone with it.
pub(crate) struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    /// A trace whose ranks compute, send to the next one, receive from the one before, and wait for both.
    pub(crate) fn ring() -> Self {
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
    pub(crate) fn spec(&self, kept: u64) -> Spec {
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
