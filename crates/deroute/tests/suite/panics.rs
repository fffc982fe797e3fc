//! What somebody else's routing does wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use deroute::RunOptions;
use deroute::routing::{Header, Hop, RouterView, Routing};

use crate::support;

/// A routing from outside that panics at some router after some time.
struct Panics(Box<dyn Routing>);

impl Routing for Panics {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        assert!(view.router.0 != 5 || view.now < 300, "no way on");
        self.0.route(view, header)
    }
}

/// The run ends, however many threads it has, and the panic is that of the routing.
#[test]
fn panics_end_the_run() {
    let spec = support::dragonfly(1, 2, 1);
    for threads in [1, 2, 3] {
        let simulation = support::wrapped(&spec, Panics);
        let (ended, ends) = channel();
        thread::spawn(move || {
            let options = RunOptions { threads, partitions: Some(5), ..RunOptions::default() };
            let run = AssertUnwindSafe(|| {
                simulation.run(&options, &mut |_| std::ops::ControlFlow::Continue(()))
            });
            let panic = catch_unwind(run).expect_err("a panic");
            ended.send(panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap();
        });
        let said = ends.recv_timeout(Duration::from_secs(60)).expect("the run ends");
        assert_eq!(said.as_deref(), Some("no way on"), "{threads} threads");
    }
}
