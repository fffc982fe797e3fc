//! Pauses that end by themselves, told by a receiver that says nothing more.

use std::ops::ControlFlow;

use super::Running;
use crate::ids::Cycle;
use crate::kernel::control::PauseFrame;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::ports::PortKind;
use crate::kernel::machines::Ethernet;
use crate::kernel::{RunOptions, Simulation};

/// Phits of a packet.
const SIZE: Cycle = 10;

/// A link that is always busy, in a network where a phit has so many bytes; and its output.
fn busy(phit: u32, quanta: u32) -> (Running<Ethernet>, usize) {
    let spec = toml::from_str(&format!(
        "units = {{ phit = \"{phit} B\" }}\n\
         routing = {{ minimal = {{}} }}\n\
         [network]\ntopology = {{ graph = {{ hosts = 2, edges = [[0, 1]] }} }}\n\
         switch = {{ input_buffered_output_queued = {{}} }}\n\
         links = {{ link = {{ latency = 20, vcs = 1, buffer = 400 }} }}\n\
         flow_control = {{ pfc = {{ response = 0, quanta = {quanta}, lossy = true }} }}\n\
         nic = {{ latency = 5, injection_queue = 100, link = {{ buffer = 400 }} }}\n\
         [traffic]\nload = 1.0\npacket_size = {SIZE}\npattern = {{ pairs = {{ list = [[0, 2], [1, 3]] }} }}\n\
         [run]\nwarmup = 0\nmeasure = 1_000_000\n"
    ));
    let simulation = spec.map(|spec| Simulation::build(&spec));
    let Simulation { spec, model } = simulation.expect("a spec").expect("a network");
    let network = Running::<Ethernet>::begin((&spec, &model), &RunOptions::default());
    let outputs = &network.partitions[0].path.core.outputs;
    let link = outputs.iter().position(|output| output.kind == PortKind::Link);
    (network, link.expect("a link"))
}

/// Runs to the cycle after the one in which the next packet leaves, which it returns.
fn departure(network: &mut Running<Ethernet>, link: usize) -> Cycle {
    let sent = |network: &Running<Ethernet>| network.partitions[0].path.core.outputs[link].sent;
    let before = sent(network);
    while sent(network) == before {
        network.leg.to = network.now + 1;
        let done = network.advance(&mut |_| ControlFlow::Continue(()));
        done.expect("nothing stops it");
    }
    network.now - 1
}

/// Whoever is told to be silent for some quanta leaves its link idle for exactly so many times 512 bits, longer if it is
/// told again, and no longer than until it is told to go on.
#[test]
fn a_pause_ends_by_itself() {
    // A phit has 512 bits, or fewer, or more.
    for (phit, quanta, cycles) in
        [(64, 1, 1), (64, 77, 77), (16, 250, 1_000), (128, 64, 32), (16, 1_000, 4_000)]
    {
        let (mut network, link) = busy(phit, quanta);
        let frame =
            |stops| PauseFrame { stops, whole_link: false, duration: stops.then_some(cycles) };
        let tell = |network: &mut Running<Ethernet>, at, frame: PauseFrame| {
            let signal = Signal::new(link as u32, 0, frame.write());
            network.partitions[0].path.core.signals.push(at, signal);
        };
        while network.now < 500 {
            departure(&mut network, link);
        }
        for told_again in [None, Some((true, cycles / 2)), Some((false, cycles / 2))] {
            let last = departure(&mut network, link);
            assert_eq!(departure(&mut network, link), last + SIZE, "the link is busy");
            // The link is free when the frame arrives.
            let free = last + 2 * SIZE;
            tell(&mut network, free, frame(true));
            let mut until = free + cycles;
            if let Some((stops, later)) = told_again.filter(|(_, later)| (1..100).contains(later)) {
                tell(&mut network, free + later, frame(stops));
                until = free + later + if stops { cycles } else { 0 };
            }
            assert_eq!(departure(&mut network, link), until, "{quanta} quanta, {told_again:?}");
        }
    }
}
