//! Stand-in for the engine, deleted when it lands.
use std::ops::ControlFlow;

use deroute::outcome::*;
use deroute::probe::PathKind;
use deroute::spec::*;

pub const VERSION: &str = "0.0.0-fake";
pub struct Footprint {
    pub fixed_bytes: u64,
    pub worst_bytes: u64,
}
pub struct RunOptions {
    #[allow(dead_code)]
    pub threads: usize,
    #[allow(dead_code)]
    pub partitions: Option<usize>,
}
pub struct Progress {
    pub cycle: u64,
    pub of: u64,
}
#[derive(Debug)]
#[allow(dead_code)]
pub enum RunError {
    Interrupted,
    Deadlock(String),
    Invariant(String),
}
impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}
pub struct Simulation {
    spec: Spec,
}

impl Simulation {
    pub fn build(spec: &Spec) -> Result<Self, SpecError> {
        if !(0.0..=1.0).contains(&spec.traffic.load) {
            return Err(SpecError::new(
                "traffic.load",
                format!("{} is not within 0 and 1", spec.traffic.load),
            )
            .choices(["0 to 1"]));
        }
        for (class, link) in &spec.network.links {
            Scale::new(&spec.units.cycle, &spec.units.phit)?
                .cycles(&format!("network.links.{class}.latency"), &link.latency)?;
        }
        Ok(Self { spec: spec.clone() })
    }

    pub fn footprint(&self) -> Footprint {
        Footprint { fixed_bytes: 5_000_000, worst_bytes: 20_000_000 }
    }

    pub fn run(
        &mut self,
        _: &RunOptions,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Outcome, RunError> {
        let scale = Scale::new(&self.spec.units.cycle, &self.spec.units.phit).unwrap();
        let measure = scale.cycles("", &self.spec.run.measure).unwrap();
        for cycle in (0..measure).step_by(1000) {
            std::thread::sleep(std::time::Duration::from_millis(10));
            if progress(Progress { cycle, of: measure }).is_break() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(outcome(&self.spec, measure))
    }
}

fn outcome(spec: &Spec, measure: u64) -> Outcome {
    let load = spec.traffic.load;
    let cap = match spec.traffic.pattern {
        Pattern::Uniform => 0.9,
        _ => 0.4,
    };
    let accepted = load.min(cap);
    let mean = 500.0 / (1.001 - (accepted / cap).min(0.99)).sqrt() + spec.run.seed as f64;
    Outcome {
        verdict: Verdict {
            state: if load > cap { State::Saturated } else { State::Steady },
            reasons: if load > cap { vec!["accepted less than offered".into()] } else { vec![] },
        },
        cycle_ns: 1.0,
        phit_bytes: 25.0,
        size: Size { hosts: 72, routers: 36, links: 90 },
        measured_from: 1000,
        measured_cycles: measure,
        load: Load {
            offered: load,
            attempted: load,
            generated: accepted,
            injected: accepted,
            accepted,
            accepted_ci95: 0.001,
        },
        packets: Packets {
            generated: 1000,
            refused: 0,
            injected: 1000,
            delivered: 990,
            in_flight: 10,
            measured: 900,
        },
        latency: Latency {
            mean,
            ci95: 2.0,
            injection_mean: mean - 400.0,
            network_mean: 400.0,
            min: 100,
            max: 5000,
            percentiles: [50.0, 90.0, 99.0, 99.9]
                .map(|percent| Percentile { percent, cycles: (mean * (1.0 + percent / 50.0)) as u64 })
                .to_vec(),
            histogram_error: 0.01,
        },
        hops_mean: 2.5,
        fairness: Fairness {
            jain_hosts: 0.99,
            jain_routers: 0.995,
            max_min_hosts: 1.2,
            max_min_routers: 1.1,
        },
        paths: PathKind::ALL
            .map(|kind| PathShare { kind, packets: 200, share: 0.2 })
            .to_vec(),
        links: ["local", "global"]
            .map(|class| LinkUse { class: class.into(), links: 45, mean: 0.3, min: 0.1, max: 0.5 })
            .to_vec(),
        blocked_attempts_mean: 0.5,
        work: Work { cycles: measure, grants: 100_000 },
        arrays: Arrays {
            injected_by_host: vec![accepted; 72],
            accepted_by_host: vec![accepted; 72],
            injected_by_router: vec![accepted; 36],
            paths_by_router: vec![1; 36 * 5],
            path_kinds: PathKind::ALL.to_vec(),
            link_use: if spec.probes.links { vec![0.5; 90] } else { vec![] },
            link_at: if spec.probes.links { vec![3; 180] } else { vec![] },
        },
        series: spec.probes.series.as_ref().map(|_| {
            let columns = SeriesColumns {
                packets: vec![10; 50],
                phits: vec![100; 50],
                latency_sum: (0..50).map(|i| 5000 + i * 10).collect(),
                nonminimal: (0..50).map(|i| i / 5).collect(),
            };
            Series { start: -1000, width: 100, by_generation: columns.clone(), by_delivery: columns }
        }),
    }
}
