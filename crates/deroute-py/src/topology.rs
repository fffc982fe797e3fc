//! The wiring of a network as arrays.

use deroute::ids::{HostId, PortId, RouterId};
use deroute::routing::Hop;
use deroute::topology::{Peer, Topology};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::foreign;

/// Link class of a port that leads to a host, and of one that leads nowhere.
const HOST: i32 = -2;
const UNUSED: i32 = -1;

/// Wiring of the network of `spec` (JSON): `router_of_host`, then by router and port `peer_router`,
/// `peer_port` (-1 where there is no router) and `link_class` (index into `class_names`, -2 for a
/// host, -1 for nothing). Of a fat tree also the `level` of every router, and `children`, `parents` and
/// `parallel` links by level.
#[pyfunction]
pub fn topology<'py>(py: Python<'py>, spec: &str) -> PyResult<Bound<'py, PyDict>> {
    let topology = foreign::wiring(py, spec)?.topology();
    let wiring = Wiring::of(&*topology);
    let hosts = (0..topology.hosts()).map(|host| topology.router_of(HostId(host)).0 as i32);
    let dict = PyDict::new(py);
    dict.set_item("router_of_host", PyArray1::from_vec(py, hosts.collect()))?;
    let parts = [
        ("peer_router", wiring.peer_router),
        ("peer_port", wiring.peer_port),
        ("link_class", wiring.link_class),
    ];
    for (name, values) in parts {
        let shape = [topology.routers() as usize, wiring.radix];
        dict.set_item(name, PyArray1::from_vec(py, values).reshape(shape)?)?;
    }
    dict.set_item("class_names", topology.classes())?;
    if let Some(tree) = topology.tree() {
        let [children, parents, parallel] = tree.shape();
        let levels = (0..topology.routers()).map(|router| tree.level(RouterId(router)) as i32);
        dict.set_item("level", PyArray1::from_vec(py, levels.collect()))?;
        dict.set_item("children", children)?;
        dict.set_item("parents", parents)?;
        dict.set_item("parallel", parallel)?;
    }
    Ok(dict)
}

/// One entry per router and port, row-major.
struct Wiring {
    radix: usize,
    peer_router: Vec<i32>,
    peer_port: Vec<i32>,
    link_class: Vec<i32>,
}

impl Wiring {
    fn of(topology: &dyn Topology) -> Self {
        let routers = (0..topology.routers()).map(RouterId);
        let radix = routers.clone().map(|router| topology.radix(router)).max().unwrap_or(0);
        let mut wiring = Self {
            radix: usize::from(radix),
            peer_router: Vec::new(),
            peer_port: Vec::new(),
            link_class: Vec::new(),
        };
        for router in routers {
            for port in 0..radix {
                let here = port < topology.radix(router);
                let peer = if here { topology.peer(router, PortId(port)) } else { Peer::Unused };
                wiring.push(peer);
            }
        }
        wiring
    }

    fn push(&mut self, peer: Peer) {
        let (router, port, class) = match peer {
            Peer::Router { router, port, class } => {
                (router.0 as i32, i32::from(port.0), i32::from(class))
            }
            Peer::Host(_) => (-1, -1, HOST),
            Peer::Unused => (-1, -1, UNUSED),
        };
        self.peer_router.push(router);
        self.peer_port.push(port);
        self.link_class.push(class);
    }
}

/// The hops of a packet of `spec` (JSON) from host `source` to host `destination` through the empty
/// network, as `(router, port, vc)`; the last one is the port of the destination host. `None` if
/// the packet does not arrive.
#[pyfunction]
pub fn path(
    py: Python<'_>,
    spec: &str,
    source: u32,
    destination: u32,
    seed: u64,
) -> PyResult<Option<Path>> {
    Ok(paths(py, spec, vec![(source, destination)], seed)?.remove(0))
}

/// The hops of packets between pairs of hosts of `spec` (JSON), as [`path`] gives them, for a network that is built
/// once.
#[pyfunction]
pub fn paths(
    py: Python<'_>,
    spec: &str,
    pairs: Vec<(u32, u32)>,
    seed: u64,
) -> PyResult<Vec<Option<Path>>> {
    let simulation = foreign::build(py, spec)?;
    let hosts = simulation.topology().hosts();
    if let Some((from, to)) = pairs.iter().find(|(from, to)| *from.max(to) >= hosts) {
        let message = format!("host {} of {hosts} does not exist", from.max(to));
        return Err(PyIndexError::new_err(message));
    }
    let hop = |(at, hop): (RouterId, Hop)| (at.0, hop.port.0, hop.vc.0);
    let trace = |(from, to)| {
        let hops = simulation.trace(HostId(from), HostId(to), seed)?;
        Some(hops.into_iter().map(hop).collect())
    };
    Ok(py.detach(|| pairs.into_iter().map(trace).collect()))
}

/// Router, port and VC of every hop.
type Path = Vec<(u32, u16, u8)>;

/// Numbers of destination hosts to which packets of `spec` (JSON) leave, by router and port, if one host
/// of each router sends to all others; 0 for ports that are not there. The routing is asked what it would
/// do with each port in turn as the only one with an empty queue; `waiting` phits wait on the others,
/// `None` for more than any buffer holds.
#[pyfunction]
#[pyo3(signature = (spec, waiting=None))]
pub fn destinations<'py>(
    py: Python<'py>,
    spec: &str,
    waiting: Option<u32>,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let simulation = foreign::build(py, spec)?;
    let (topology, counts) =
        py.detach(|| (simulation.topology(), simulation.destinations(waiting)));
    let routers = (0..topology.routers()).map(RouterId);
    let most = routers.clone().map(|router| topology.radix(router)).max().unwrap_or(0);
    let (mut rest, mut table) = (&counts[..], Vec::new());
    for router in routers {
        let ports = usize::from(topology.radix(router));
        table.extend_from_slice(&rest[..ports]);
        table.resize(table.len() + usize::from(most) - ports, 0);
        rest = &rest[ports..];
    }
    PyArray1::from_vec(py, table).reshape([topology.routers() as usize, usize::from(most)])
}
