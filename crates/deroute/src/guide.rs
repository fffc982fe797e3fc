//! One example for each concept.
//!
//! All of them start from a Dragonfly of 72 hosts, `examples/dragonfly.toml`, read into `spec`. `value` reads a value of TOML,
//! and `run` builds a spec and runs it.
//!
//! # A spec
//!
//! A [`Spec`](crate::spec::Spec) is plain data, read by any format of serde. Quantities carry their units until it is built; what is
//! impossible has a path, and what is allowed there.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! # fn value<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Box<dyn std::error::Error>> {
//! #     let table: std::collections::BTreeMap<String, T> = toml::from_str(&format!("it = {text}"))?;
//! #     table.into_values().next().ok_or_else(|| "empty".into())
//! # }
//! spec.network.links.get_mut("local").ok_or("no such class")?.vcs = 1.into();
//! spec.routing = value("{ valiant = {} }")?;
//! let error = Simulation::build(&spec).err().ok_or("possible")?;
//! assert_eq!(error.path, "network.links.local.vcs");
//! assert_eq!(error.choices, ["4 to 64"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What follows from the rest
//!
//! VCs and buffers that a spec leaves out follow from the routing and from the links.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! let simulation = Simulation::build(&spec)?;
//! let (path, vcs) = &simulation.filled()[0];
//! assert_eq!((path.as_str(), *vcs), ("network.links.local.vcs", 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A topology
//!
//! A [`Topology`](crate::topology::Topology) is wiring: who is behind each port, and the next hop of a shortest path.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! use deroute::ids::{PortId, RouterId};
//! use deroute::topology::{self, Peer};
//!
//! let topology = topology::build(&spec.network.topology)?;
//! assert_eq!((topology.hosts(), topology.routers(), topology.groups()), (72, 36, 9));
//! assert!(matches!(topology.peer(RouterId(0), PortId(0)), Peer::Host(_)));
//! assert_eq!(topology.distance(RouterId(0), RouterId(1)), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A routing
//!
//! The path of a packet through the empty network, with the VC of every hop.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! # fn value<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Box<dyn std::error::Error>> {
//! #     let table: std::collections::BTreeMap<String, T> = toml::from_str(&format!("it = {text}"))?;
//! #     table.into_values().next().ok_or_else(|| "empty".into())
//! # }
//! use deroute::ids::HostId;
//!
//! spec.routing = value("{ valiant = {} }")?;
//! let simulation = Simulation::build(&spec)?;
//! let path = simulation.trace(HostId(0), HostId(71), 7).ok_or("it never arrives")?;
//! let (_, last) = path.last().ok_or("no hop")?;
//! assert!(path.len() > 2 && last.port.0 < 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A routing of your own
//!
//! [`Simulation::build_with`](crate::Simulation::build_with) takes any [`Routing`](crate::routing::Routing): here one that counts what an existing one does.
//! `routing::build` has the algorithms of the catalogue.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{CheckpointError, RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! use deroute::ids::{RouterId, VcId};
//! use deroute::routing::{self, Header, Hop, Message, Plan, Queues, RouterView, Routing, Wrapper};
//!
//! struct Counted {
//!     inner: Box<dyn Routing>,
//!     decisions: Arc<AtomicU64>,
//! }
//!
//! impl Wrapper for Counted {
//!     fn inner(&self) -> &dyn Routing {
//!         &*self.inner
//!     }
//!
//!     fn inner_mut(&mut self) -> &mut dyn Routing {
//!         &mut *self.inner
//!     }
//!
//!     fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
//!         self.decisions.fetch_add(1, Ordering::Relaxed);
//!         self.inner.route(view, header)
//!     }
//!
//!     fn follows(&self) -> Option<routing::Follows> {
//!         None // Ask at every hop.
//!     }
//!
//!     fn escape(&self) -> Option<VcId> {
//!         self.inner.escape()
//!     }
//!
//!     fn queues_changed(&mut self, at: RouterId, queues: &dyn Queues, mail: &mut Vec<Message>) {
//!         self.inner.queues_changed(at, queues, mail);
//!     }
//!
//!     fn save(&self, into: &mut Vec<u8>) -> Result<(), CheckpointError> {
//!         self.inner.save(into) // It has no state of its own.
//!     }
//!
//!     fn load(&mut self, from: &mut &[u8]) -> Result<(), CheckpointError> {
//!         self.inner.load(from)
//!     }
//! }
//!
//! let decisions = Arc::new(AtomicU64::new(0));
//! let simulation = Simulation::build_with(&spec, &|fabric| {
//!     let Plan { agent, vcs } = routing::build(&spec.routing, fabric)?;
//!     let counter = Arc::clone(&decisions);
//!     let agent = Box::new(move |first, count| -> Box<dyn Routing> {
//!         Box::new(Counted { inner: agent(first, count), decisions: Arc::clone(&counter) })
//!     });
//!     Ok(Plan { agent, vcs })
//! })?;
//! let outcome = simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))?;
//! assert!(decisions.load(Ordering::Relaxed) > outcome.packets.delivered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A switch
//!
//! Switches are entries of a catalogue, and a spec names one.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! # fn value<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Box<dyn std::error::Error>> {
//! #     let table: std::collections::BTreeMap<String, T> = toml::from_str(&format!("it = {text}"))?;
//! #     table.into_values().next().ok_or_else(|| "empty".into())
//! # }
//! # let run = |spec: &deroute::spec::Spec| -> Result<_, Box<dyn std::error::Error>> {
//! #     let simulation = Simulation::build(spec)?;
//! #     Ok(simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))?)
//! # };
//! let buffered = run(&spec)?;
//! spec.network.switch = value("{ input_queued = { pipeline = \"90 ns\" } }")?;
//! let plain = run(&spec)?;
//! assert!(plain.latency.mean > buffered.latency.mean);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Flow control
//!
//! With pauses in place of credits; the outcome says what acted.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! # fn value<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Box<dyn std::error::Error>> {
//! #     let table: std::collections::BTreeMap<String, T> = toml::from_str(&format!("it = {text}"))?;
//! #     table.into_values().next().ok_or_else(|| "empty".into())
//! # }
//! # let run = |spec: &deroute::spec::Spec| -> Result<_, Box<dyn std::error::Error>> {
//! #     let simulation = Simulation::build(spec)?;
//! #     Ok(simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))?)
//! # };
//! spec.network.flow_control = value("{ pfc = {} }")?;
//! for link in spec.network.links.values_mut() {
//!     link.buffer = "60 kB".into();
//! }
//! let outcome = run(&spec)?;
//! assert!(outcome.flow_control.is_some_and(|control| !control.says.is_empty()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Queuing schemes
//!
//! Classes of flows share the VCs out; three of them take three times as many.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! # fn value<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Box<dyn std::error::Error>> {
//! #     let table: std::collections::BTreeMap<String, T> = toml::from_str(&format!("it = {text}"))?;
//! #     table.into_values().next().ok_or_else(|| "empty".into())
//! # }
//! spec.network.queuing = Some(value("{ dbbm = { queues = 3 } }")?);
//! let simulation = Simulation::build(&spec)?;
//! assert_eq!(simulation.filled()[0].1, 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Traffic
//!
//! Patterns say who sends to whom; a verdict says whether the network keeps up.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! # fn value<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Box<dyn std::error::Error>> {
//! #     let table: std::collections::BTreeMap<String, T> = toml::from_str(&format!("it = {text}"))?;
//! #     table.into_values().next().ok_or_else(|| "empty".into())
//! # }
//! # let run = |spec: &deroute::spec::Spec| -> Result<_, Box<dyn std::error::Error>> {
//! #     let simulation = Simulation::build(spec)?;
//! #     Ok(simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))?)
//! # };
//! use deroute::outcome::State;
//!
//! spec.traffic.pattern = value("{ adversarial = { offset = 1 } }")?;
//! spec.traffic.load = 0.8;
//! let outcome = run(&spec)?;
//! assert_eq!(outcome.verdict.state, State::Saturated);
//! assert!(outcome.load.accepted < 0.2 && !outcome.verdict.reasons.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Workloads
//!
//! Programs whose ranks send messages and wait for them; a run ends when they do.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! # fn value<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Box<dyn std::error::Error>> {
//! #     let table: std::collections::BTreeMap<String, T> = toml::from_str(&format!("it = {text}"))?;
//! #     table.into_values().next().ok_or_else(|| "empty".into())
//! # }
//! # let run = |spec: &deroute::spec::Spec| -> Result<_, Box<dyn std::error::Error>> {
//! #     let simulation = Simulation::build(spec)?;
//! #     Ok(simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))?)
//! # };
//! (spec.traffic, spec.run) = Default::default();
//! spec.workload = Some(value(
//!     "{ packet_size = '250 B', limit = '1 ms', jobs = [{ name = 'sum', ranks = 16, \
//!        steps = [{ recursive_doubling = { size = '2 kB' } }] }] }",
//! )?);
//! let outcome = run(&spec)?;
//! let workload = outcome.workload.ok_or("no workload")?;
//! assert!(workload.makespan > 0 && workload.jobs[0].finished);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Probes
//!
//! What is recorded beyond the standard result costs nothing where it is not asked for.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! # let run = |spec: &deroute::spec::Spec| -> Result<_, Box<dyn std::error::Error>> {
//! #     let simulation = Simulation::build(spec)?;
//! #     Ok(simulation.run(&RunOptions::default(), &mut |_| ControlFlow::Continue(()))?)
//! # };
//! spec.probes.series = Some("500 ns".into());
//! let series = run(&spec)?.series.ok_or("not recorded")?;
//! assert_eq!(series.by_delivery.packets.len(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Threads
//!
//! How a run is divided changes nothing in its result.
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use deroute::{Progress, RunOptions, Simulation};
//! # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/dragonfly.toml"));
//! # let mut spec: deroute::spec::Spec = toml::from_str(text)?;
//! let simulation = Simulation::build(&spec)?;
//! let mut watch = |_: Progress<'_>| ControlFlow::Continue(());
//! let one = simulation.run(&RunOptions::default(), &mut watch)?;
//! let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
//! assert!(simulation.run(&options, &mut watch)? == one);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
