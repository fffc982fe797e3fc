//! Queues in time, and pauses by link and VC.

use deroute::RunOptions;
use deroute::ids::{PortId, RouterId};
use deroute::outcome::{Outcome, PauseRow, QueuePlace, QueueSeries, QueueSide};
use deroute::spec::{Forwarding, Spec, Warmup};
use deroute::topology::Peer;

use crate::ethernet::{Setup, build};
use crate::support::catalogue::{HOLDING_SWITCHES, PAUSES, SWITCHES};
use crate::support::{self, value};

/// A Dragonfly whose queues are all recorded, and its congestion trees at the same times.
fn probed(switch: &str, control: &str) -> Spec {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.network.switch = value(switch);
    spec.network.flow_control = value(control);
    for link in spec.network.links.values_mut() {
        link.buffer = 600.into();
    }
    spec.traffic.load = 0.9;
    spec.traffic.packet_size = value("{ min = 1, max = 16 }");
    spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
    spec.run.warmup = Warmup::Fixed(400.into());
    spec.run.measure = 1_000.into();
    spec.probes.series = Some(100.into());
    spec.probes.series_before = Some(200.into());
    spec.probes.queues = Some(value("{ every = 70, ports = 'all' }"));
    spec.probes.congestion = Some(value("{ every = 70 }"));
    spec
}

fn queues(outcome: &Outcome) -> &QueueSeries {
    outcome.queues.as_ref().expect("queues were asked for")
}

/// For each sample the sum over the queues that are wanted.
fn sums(series: &QueueSeries, wanted: impl Fn(&QueuePlace) -> bool) -> Vec<u64> {
    let samples = series.phits.chunks_exact(series.places.len());
    let sum = |sample: &[u32]| -> u64 {
        let queues = series.places.iter().zip(sample).filter(|(place, _)| wanted(place));
        queues.map(|(_, phits)| u64::from(*phits)).sum()
    };
    samples.map(sum).collect()
}

/// The largest length of a queue before each time when it falls below `low`, and the smallest before each when it rises
/// above `high` again.
fn teeth(lengths: &[u64], high: u64, low: u64) -> (Vec<u64>, Vec<u64>) {
    let (mut peaks, mut troughs) = (Vec::new(), Vec::new());
    let (mut rising, mut extreme) = (true, 0);
    for &length in lengths {
        match rising {
            true if length < low && extreme > high => peaks.push(extreme),
            false if length > high => troughs.push(extreme),
            true => {
                extreme = extreme.max(length);
                continue;
            }
            false => {
                extreme = extreme.min(length);
                continue;
            }
        }
        (rising, extreme) = (!rising, length);
    }
    (peaks, troughs)
}

/// `n` saturating senders to one output: each input buffer overshoots XOFF by what still comes, less what leaves,
/// in the time t until a pause takes effect, t (1 - 1/n), and falls below XON by t/n.
#[test]
fn the_sawtooth_of_a_paused_buffer() {
    let (xoff, xon) = (77_600, 64_000);
    // There and back, and a pause frame of 84 B.
    let t = 500.0 + 500.0 + 68.0;
    for n in [2_u32, 4] {
        let topology = format!("{{ crossbar = {{ hosts = {} }} }}", n + 1);
        let setup = Setup {
            topology: &topology,
            frame: 80,
            control: "pfc = { xoff = \"97 KB\", xon = \"80 KB\", response = 0 }",
            traffic: format!("[[traffic.hotspots]]\ndestinations = {{ any = [{n}] }}\n"),
            measure: 400_000,
        };
        let mut spec = build(&setup);
        // Later on, frames of several senders follow each other, and these are not exactly in step any more.
        spec.run.warmup = Warmup::Fixed(0.into());
        spec.probes.queues = Some(value("{ every = 20, ports = { hosts = [0, 1] } }"));
        let outcome = support::run(&spec);
        let series = queues(&outcome);
        assert_eq!((series.start, series.width), (0, 20));
        let senders = |place: &QueuePlace| place.side == QueueSide::Input;
        for place in series.places.iter().filter(|place| senders(place)) {
            assert_eq!((place.xoff, place.xon), (Some(xoff), Some(xon)), "{place:?}");
            assert_eq!((place.capacity, place.vc), (Some(80_000), Some(0)));
            let lengths = sums(series, |other| other == place);
            assert_eq!(lengths.len(), 20_000);
            // A frame of 80 phits counts whole: one that has begun to come, and one that is leaving.
            let near = |found: u64, expected: f64| (found as f64 - expected).abs() < 160.0;
            let share = 1.0 / f64::from(n);
            let (peak, trough) = (f64::from(xoff) + t * (1.0 - share), f64::from(xon) - t * share);
            let (peaks, troughs) = teeth(&lengths, xoff.into(), xon.into());
            let seen = format!("{n}: peaks {peaks:?} for {peak}, troughs {troughs:?} for {trough}");
            assert!(peaks.len() >= 3 && troughs.len() >= 2, "{seen}");
            // The first time, not all senders have begun together.
            assert!(peaks[1..3].iter().all(|phits| near(*phits, peak)), "{seen}");
            assert!(troughs[..2].iter().all(|phits| near(*phits, trough)), "{seen}");
        }
    }
}

/// What is recorded of a port is the sum over its VCs, and a choice of ports records what the record of all has of
/// them.
#[test]
fn sums_and_choices_agree() {
    for (switch, control) in [(HOLDING_SWITCHES[0], PAUSES[0]), (SWITCHES[9], "{ credits = {} }")] {
        let spec = probed(switch, control);
        let series = |text: &str| {
            let mut spec = spec.clone();
            spec.probes.queues = Some(value(text));
            queues(&support::run(&spec)).clone()
        };
        let all = series("{ every = 70, ports = 'all' }");
        assert_eq!((all.start, all.width), (-200, 70));
        assert_eq!(all.phits.len(), all.places.len() * 1_200_usize.div_ceil(70));
        let ports = series("{ every = 70, ports = 'all', by = 'port' }");
        assert!(ports.places.len() < all.places.len());
        for (column, place) in ports.places.iter().enumerate() {
            assert_eq!(place.vc, None);
            let port = |p: &QueuePlace| (p.router, p.port, p.side);
            let sum = sums(&all, |other| port(other) == port(place));
            let own = ports.phits.iter().skip(column).step_by(ports.places.len());
            assert!(own.copied().map(u64::from).eq(sum), "{place:?}");
        }
        for choice in ["{ classes = ['global', 'host'] }", "{ hosts = [7] }", "{ list = [[3, 2]] }"]
        {
            let some = series(&format!("{{ every = 70, ports = {choice} }}"));
            assert!(!some.places.is_empty() && some.places.len() < all.places.len());
            for place in &some.places {
                let column = |series| sums(series, |other: &QueuePlace| other == place);
                assert_eq!(column(&some), column(&all), "{choice}: {place:?}");
            }
        }
        let held = |side| sums(&all, |place| place.side == side);
        assert!(held(QueueSide::Output).iter().any(|phits| *phits > 0));
    }
}

/// Without pauses, the input buffers hold what the congestion trees are made of; with them, no buffer holds more than it
/// can.
#[test]
fn buffers_hold_what_is_in_them() {
    for switch in SWITCHES.into_iter().step_by(3) {
        let spec = probed(switch, "{ credits = {} }");
        if support::routes_too_early(&spec) {
            continue;
        }
        let outcome = support::run(&spec);
        let inputs = sums(queues(&outcome), |place| place.side == QueueSide::Input);
        assert_eq!(inputs, outcome.congestion.unwrap().queued, "{switch}");
    }
    for control in PAUSES {
        for switch in [SWITCHES[0], HOLDING_SWITCHES[0]] {
            let outcome = support::run(&probed(switch, control));
            let series = queues(&outcome);
            let all = series.phits.chunks_exact(series.places.len());
            for (place, phits) in all.flat_map(|sample| series.places.iter().zip(sample)) {
                let capacity = place.capacity.unwrap_or(u32::MAX);
                assert!(*phits <= capacity, "{control}: {phits} in {place:?}");
            }
        }
    }
}

/// A packet keeps its memory in an ideal switch until it leaves: what is at the outputs is also at the inputs.
#[test]
fn what_keeps_its_memory_counts_at_both_ends() {
    for control in ["{ credits = {} }", PAUSES[0], PAUSES[3]] {
        let mut spec = probed(HOLDING_SWITCHES[0], control);
        spec.network.nic.latency = 5.into();
        spec.network.nic.link = control.starts_with("{ p").then(|| value("{ buffer = 200 }"));
        let outcome = support::run(&spec);
        let links = |side| {
            sums(queues(&outcome), move |place: &QueuePlace| {
                // With credits an injection queue is left at the grant.
                place.side == side && (place.side == QueueSide::Output || place.host.is_none())
            })
        };
        let hosts = sums(queues(&outcome), |p| p.side == QueueSide::Input && p.host.is_some());
        let all = links(QueueSide::Input).into_iter().zip(hosts).zip(links(QueueSide::Output));
        let mut some = 0;
        for ((inputs, hosts), outputs) in all {
            // Every packet of an ideal switch goes to its output when its head arrives.
            if control.starts_with("{ p") {
                assert!(outputs <= inputs + hosts, "{control}: {outputs}, {inputs} + {hosts}");
            }
            some += outputs;
        }
        assert!(some > 0, "{control}");
    }
}

/// Neither partitions nor threads matter, nor whether packets wait at outputs or their departure is known.
#[test]
fn divisions_do_not_matter_to_queues() {
    for (switch, control) in [
        (SWITCHES[9], "{ credits = {} }"),
        (HOLDING_SWITCHES[1], "{ credits = {} }"),
        (HOLDING_SWITCHES[0], PAUSES[1]),
        (SWITCHES[0], PAUSES[3]),
    ] {
        let mut spec = probed(switch, control);
        spec.network.forwarding = Forwarding::CutThrough;
        let whole = support::run(&spec);
        for (threads, partitions, queued_outputs) in [(1, 4, false), (2, 9, true)] {
            let partitions = Some(partitions);
            let options =
                RunOptions { threads, partitions, queued_outputs, ..RunOptions::default() };
            let again = support::attempt(&spec, &options).unwrap();
            assert!(whole == again, "{switch} {control}: {options:?}");
        }
    }
}

/// Programs end when they do, and are recorded until then.
#[test]
fn queues_of_a_program() {
    let mut spec = support::dragonfly(2, 4, 2);
    spec.traffic = Default::default();
    let job = "{ ranks = 20, steps = [{ bruck = { size = 80 } }] }";
    spec.workload = Some(value(&format!("{{ packet_size = 4, limit = 50_000, jobs = [{job}] }}")));
    spec.run = Default::default();
    spec.probes.queues = Some(value("{ every = 10, ports = { hosts = [0, 1, 2] }, by = 'port' }"));
    let outcome = support::run(&spec);
    let series = queues(&outcome);
    let samples = series.phits.len() / series.places.len();
    let cycles = outcome.work.cycles as usize;
    assert!(samples <= cycles.div_ceil(10) && samples + 1 >= cycles / 10, "{samples} of {cycles}");
    assert!(series.phits.iter().any(|phits| *phits > 0));
}

/// What is recorded of every link and VC adds up to what is said of its class, and the bins to the whole.
#[test]
fn pauses_by_link_and_vc_add_up() {
    for (control, switch) in PAUSES.into_iter().zip(HOLDING_SWITCHES.into_iter().cycle()) {
        let mut spec = probed(switch, control);
        spec.network.nic.latency = 5.into();
        spec.network.nic.link = Some(value("{ buffer = 200 }"));
        let plain = support::run(&spec);
        spec.probes.pauses = true;
        let outcome = support::run(&spec);
        assert_eq!(outcome.flow_control, plain.flow_control, "{control}: the probe matters");
        let used = outcome.flow_control.clone().expect("a flow control that pauses");
        let series = outcome.pauses.clone().expect("pauses were asked for");
        assert_eq!((series.start, series.width), (-200, 100));
        assert_eq!(series.paused.len(), 12 * series.rows.len());
        let wired = deroute::topology::build(&spec.network.topology).unwrap();
        for (class, total) in used.links.iter().enumerate() {
            let rows = || series.rows.iter().filter(|row| row.class == class as u32);
            let sum = |value: fn(&PauseRow) -> u64| -> u64 { rows().map(value).sum() };
            assert_eq!(sum(|row| row.frames), total.frames, "{control}");
            assert_eq!(sum(|row| row.stops), total.stops, "{control}");
            assert_eq!(sum(|row| row.lost_packets), total.lost_packets, "{control}");
            assert_eq!(sum(|row| row.lost_phits), total.lost_phits, "{control}");
            assert_eq!(rows().map(|row| row.buffer_max).max().unwrap(), total.buffer_max);
            let headroom = total.xoff.map_or(0, |xoff| total.buffer_max.saturating_sub(xoff));
            assert_eq!(rows().map(|row| row.headroom_max).max().unwrap(), headroom, "{control}");
            let paused = sum(|row| row.paused) as f64 / (1_000 * rows().count()) as f64;
            assert!((paused - total.paused_mean).abs() < 1e-12, "{control}: {paused}");
            for row in rows() {
                let (router, port) = (RouterId(row.to[0]), PortId(row.to[1] as u16));
                match wired.peer(router, port) {
                    Peer::Host(host) => assert_eq!((row.from, row.host), (None, Some(host.0))),
                    Peer::Router { router, port, class } => {
                        let from = [router.0, u32::from(port.0)];
                        assert_eq!((row.from, row.class), (Some(from), u32::from(class)));
                    }
                    Peer::Unused => panic!("{row:?}"),
                }
            }
        }
        // The measurement begins with the third bin.
        for (column, row) in series.rows.iter().enumerate() {
            let bins = series.paused.iter().skip(column).step_by(series.rows.len());
            assert!(bins.clone().all(|cycles| *cycles <= 100));
            let measured: u64 = bins.skip(2).map(|cycles| u64::from(*cycles)).sum();
            assert_eq!(measured, row.paused, "{control}: {row:?}");
        }
        let pauses = !control.starts_with("{ lossy");
        assert_eq!(series.rows.iter().any(|row| row.paused > 0), pauses, "{control}");
        let options = RunOptions { threads: 2, partitions: Some(9), ..RunOptions::default() };
        assert!(outcome == support::attempt(&spec, &options).unwrap(), "{control}: the division");
    }
}
