//! Time series.

use std::ops::ControlFlow;
use std::sync::PoisonError;

use deroute::spec::Warmup;
use deroute::{Progress, RunOptions, Simulation};

use super::{ALONE, dragonfly, most, streams, with};

/// Their bins count, of the whole traffic and of streams.
#[test]
fn bins_of_time_series_count() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let plain = dragonfly(3, "{ minimal = {} }");
    let loaded = with(plain.clone(), |spec| spec.traffic.load = 0.1);
    let of_streams = with(streams(plain), |spec| {
        // Those of all hosts, which every partition records.
        spec.traffic.streams.truncate(2);
        spec.traffic.streams.iter_mut().for_each(|stream| stream.load = 0.03);
    });
    for spec in [loaded, of_streams] {
        let spec = with(spec, |spec| {
            (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(100.into()), 40_000.into());
            spec.probes.series = Some(1.into());
        });
        let simulation = Simulation::build(&spec).unwrap_or_else(|error| panic!("{error}"));
        let mut go_on = |_: Progress<'_>| ControlFlow::Continue(());
        let (bytes, result) = most(|| simulation.run(&RunOptions::default(), &mut go_on).map(drop));
        assert_eq!(result, Ok(()));
        let footprint = simulation.footprint();
        let share = footprint.flowing_bytes as f64 / bytes as f64;
        assert!((0.85..1.15).contains(&share), "{share} of {bytes}: {footprint:?}");
        assert!(
            footprint.worst_bytes > bytes && bytes > 2 * footprint.fixed_bytes,
            "{footprint:?}"
        );
    }
}
