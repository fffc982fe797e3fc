//! Checkpoints: a run goes on from one as if it had never stopped, or says why it cannot. That every kind of run does is
//! tested beside its division (`support::attempt`) and its pinned outcome.

use std::ops::ControlFlow;

use deroute::routing::{Header, Hop, RouterView, Routing};
use deroute::spec::{Spec, Warmup};
use deroute::{CheckpointError, Progress, RunError, RunOptions, Simulation};

use crate::support::{self, value};

fn go_on(_: Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The state of a run when so many cycles are over.
fn kept(spec: &Spec, options: &RunOptions, cycle: u64) -> Result<Vec<u8>, CheckpointError> {
    let mut kept = None;
    let result = Simulation::build(spec).unwrap().run(options, &mut |progress| {
        if progress.cycle < cycle {
            return ControlFlow::Continue(());
        }
        kept = Some(progress.checkpoint());
        ControlFlow::Break(())
    });
    assert_eq!(result.err(), Some(RunError::Interrupted));
    kept.expect("the run is long enough")
}

/// A cycle of short packets takes longer: a large network of them can be ended and kept more often.
#[test]
fn short_packets_are_looked_at_more_often() {
    let mut spec = support::dragonfly(4, 8, 4);
    spec.traffic.packet_size = value("1");
    spec.traffic.load = 0.001;
    spec.run.warmup = Warmup::Fixed(2_000.into());
    let mut cycles = vec![0];
    let outcome = Simulation::build(&spec).unwrap().run(&RunOptions::default(), &mut |progress| {
        cycles.push(progress.cycle);
        ControlFlow::Continue(())
    });
    outcome.unwrap();
    let longest = cycles.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    // Of 1,056 hosts: half a million packets at full load, in whole windows.
    assert!(longest <= 500, "{longest}");
}

/// A run that breaks off in any place at which it can, again and again, with other threads each time.
#[test]
fn a_run_goes_on_from_any_place() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.routing = value("{ lian = {} }");
    spec.probes.agents = Some(value("{ every = 150 }"));
    let simulation = Simulation::build(&spec).unwrap();
    let whole = support::run(&spec);
    let options = |threads| RunOptions { threads, ..RunOptions::default() };
    let mut last: Option<Vec<u8>> = None;
    for breaks in 0.. {
        let mut kept = None;
        let mut stop = |progress: Progress<'_>| {
            kept = Some(progress.checkpoint());
            ControlFlow::Break(())
        };
        let result = match &last {
            None => simulation.run(&options(1), &mut stop),
            Some(kept) => simulation.resume(kept, &options(1 + breaks % 2), &mut stop),
        };
        match kept {
            Some(kept) => last = Some(kept.unwrap()),
            None => {
                assert!(breaks > 10, "{breaks}");
                assert!(result.unwrap() == whole);
                return;
            }
        }
    }
}

/// What has not begun can be measured for longer, as if that had been asked for from the first cycle on; what has begun
/// cannot.
#[test]
fn a_warmed_up_network_is_measured_for_longer() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.routing = value("{ ugal = {} }");
    spec.traffic.load = 0.5;
    (spec.probes.series, spec.probes.series_before) = (Some(100.into()), Some(200.into()));
    for warmup in ["500", "{ rule = 'stops-growing', interval = 50, limit = 3000 }"] {
        spec.run.warmup = value(warmup);
        let kept = kept(&spec, &RunOptions::default(), 500).unwrap();
        for measure in [1_500, 1_700, 20_000] {
            let mut other = spec.clone();
            other.run.measure = measure.into();
            let simulation = Simulation::build(&other).unwrap();
            let outcome = simulation.resume(&kept, &RunOptions::default(), &mut go_on).unwrap();
            assert!(outcome == support::run(&other), "{warmup} {measure}");
        }
    }
    spec.run.warmup = value("500");
    let refused = |kept: &[u8], measure: u32| {
        let mut other = spec.clone();
        other.run.measure = u64::from(measure).into();
        let simulation = Simulation::build(&other).unwrap();
        let result = simulation.resume(kept, &RunOptions::default(), &mut go_on);
        result.unwrap_err().to_string()
    };
    let early = kept(&spec, &RunOptions::default(), 500).unwrap();
    let why = refused(&early, 1_499);
    assert!(why.contains("it can only measure for longer: it measures, for 1500"), "{why}");
    let late = kept(&spec, &RunOptions::default(), 1_000).unwrap();
    let message = "the checkpoint does not fit: it has begun to measure, for 1500 cycles, and the \
                   spec says 9000";
    assert_eq!(refused(&late, 9_000), message);
}

/// A network that is warmed up goes on with another load or seed, to the same result in every division, and as well as one
/// that has had it from the beginning.
#[test]
fn a_warmed_up_network_goes_on_with_other_traffic() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.routing = value("{ ugal = {} }");
    (spec.traffic.load, spec.run.warmup) = (0.2, value("5000"));
    let kept = kept(&spec, &RunOptions::default(), 4_000).unwrap();
    let resumed = |spec: &Spec, from: &[u8], threads: usize| {
        let options = RunOptions { threads, ..RunOptions::default() };
        Simulation::build(spec).unwrap().resume(from, &options, &mut go_on).unwrap()
    };
    (spec.run.warmup, spec.run.measure) = (value("8000"), 20_000.into());
    // Warmed up for longer, as if from the first cycle on.
    assert!(resumed(&spec, &kept, 1) == support::run(&spec));
    for (load, seed) in [(0.5, 1), (0.5, 2), (0.2, 2)] {
        (spec.traffic.load, spec.run.seed) = (load, seed);
        let outcome = resumed(&spec, &kept, 1);
        assert!(outcome == resumed(&spec, &kept, 2));
        let fresh = support::run(&spec);
        assert!(outcome != fresh);
        let alike = |a: f64, b: f64, share: f64| (a - b).abs() < share * b;
        assert!(alike(outcome.load.accepted, fresh.load.accepted, 0.02), "{load} {seed}");
        assert!(alike(outcome.latency.mean, fresh.latency.mean, 0.03), "{load} {seed}");
        let later = self::later(&spec, &kept, 6_000);
        assert!(resumed(&spec, &later, 1) == outcome);
    }
    // Warmed up once, for many seeds.
    (spec.run.warmup, spec.run.measure) = (value("4000"), 2_000.into());
    let simulation = Simulation::build(&spec).unwrap();
    let warm = simulation.warm_up(&RunOptions::default(), &mut go_on).unwrap();
    assert!(resumed(&spec, &warm, 2) == support::run(&spec));
    let seeds = [7, 8].map(|seed| {
        spec.run.seed = seed;
        resumed(&spec, &warm, 1)
    });
    assert!(seeds[0] != seeds[1]);
}

/// The state of a run that goes on from another one when so many cycles are over.
fn later(spec: &Spec, from: &[u8], cycle: u64) -> Vec<u8> {
    let mut kept = None;
    let mut stop = |progress: Progress<'_>| {
        if progress.cycle < cycle {
            return ControlFlow::Continue(());
        }
        kept = Some(progress.checkpoint().unwrap());
        ControlFlow::Break(())
    };
    let simulation = Simulation::build(spec).unwrap();
    let result = simulation.resume(from, &RunOptions::default(), &mut stop);
    assert_eq!(result.err(), Some(RunError::Interrupted));
    kept.expect("the run is long enough")
}

#[test]
fn other_traffic_needs_a_warm_up_to_go_on_in() {
    let mut spec = support::dragonfly(1, 2, 1);
    spec.run.warmup = value("5000");
    let options = RunOptions::default();
    let [early, near, late] = [1_000, 4_999, 6_000].map(|at| kept(&spec, &options, at).unwrap());
    let refused = |spec: &Spec, from: &[u8]| {
        let simulation = Simulation::build(spec).unwrap();
        let error = simulation.resume(from, &options, &mut go_on).unwrap_err().to_string();
        let what =
            "the checkpoint does not fit: a run cannot go on with another load, seed or warm-up ";
        error.strip_prefix(what).map(str::to_owned).expect(&error)
    };
    spec.run.seed += 1;
    assert_eq!(refused(&spec, &late), "once it measures");
    spec.run.warmup = value("9000");
    assert_eq!(refused(&spec, &near), "of its own: cycle 5000 is too near to 5000, its end");
    spec.run.warmup = value("1000");
    assert_eq!(refused(&spec, &early), "before cycle 1041: 1001 are over");
    spec.run.warmup = value("{ rule = 'stops-growing', interval = 50, limit = 3000 }");
    assert_eq!(refused(&spec, &early), "unless `run.warmup` is a time");
    let error = Simulation::build(&spec).unwrap().warm_up(&options, &mut go_on).unwrap_err();
    assert!(error.to_string().ends_with("unless `run.warmup` is a time"), "{error}");
}

/// Nothing goes on from something else.
#[test]
fn other_checkpoints_are_refused() {
    let spec = support::dragonfly(1, 2, 1);
    let options = RunOptions::default();
    let kept = kept(&spec, &options, 700).unwrap();
    let resumed = |spec: &Spec, bytes: &[u8], options: &RunOptions| {
        let simulation = Simulation::build(spec).unwrap();
        simulation.resume(bytes, options, &mut go_on).map_err(|error| error.to_string())
    };
    assert!(resumed(&spec, &kept, &options).unwrap() == support::run(&spec));
    let refused = |spec: &Spec, bytes: &[u8], options: &RunOptions, why: &str| {
        let message = resumed(spec, bytes, options).unwrap_err();
        assert!(message.contains(why), "{message}");
    };
    let mut other = spec.clone();
    other.traffic.packet_size = value("7");
    refused(&other, &kept, &options, "does not fit: it is of another spec");
    let queued = RunOptions { queued_outputs: true, ..options.clone() };
    refused(&spec, &kept, &queued, "other options (queued_outputs)");
    refused(&spec, b"", &options, "damaged checkpoint");
    refused(&spec, b"seed = 1", &options, "damaged checkpoint");
    for part in [10, kept.len() / 2, kept.len() - 1] {
        refused(&spec, &kept[..part], &options, "damaged checkpoint");
        let mut broken = kept.clone();
        broken[part] ^= 1;
        refused(&spec, &broken, &options, "damaged checkpoint");
    }
}

/// A routing from outside that does not say what it remembers.
struct Outside(Box<dyn Routing>);

impl Routing for Outside {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        self.0.route(view, header)
    }
}

/// Nothing is forgotten silently.
#[test]
fn what_cannot_be_kept_is_said() {
    let spec = support::dragonfly(1, 2, 1);
    let simulation = support::wrapped(&spec, Outside);
    let mut said = None;
    let outcome = simulation.run(&RunOptions::default(), &mut |progress| {
        said = progress.checkpoint().err();
        ControlFlow::Continue(())
    });
    assert!(outcome.is_ok());
    let said = said.expect("it is refused").to_string();
    let message = "no checkpoint of this run: suite::checkpoint::Outside does not say what it remembers \
                   (Routing::save)";
    assert_eq!(said, message);
}
