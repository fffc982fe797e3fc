//! Coordinates of a lattice whose routers are fully connected in every dimension.

use std::ops::Range;

use crate::ids::{PortId, RouterId};

/// Most dimensions of a lattice.
const DIMS: usize = 8;

/// A lattice of routers.
#[derive(Clone, Debug)]
pub struct Lattice {
    widths: Vec<u32>,
    /// Routers between two neighbours along each dimension.
    strides: Vec<u32>,
    /// First port of each dimension, and the total.
    ports: Vec<u16>,
    hosts: u32,
    trunk: u32,
    /// The dimension of every port; `None` for a host.
    dimensions: Vec<Option<u8>>,
    /// Coordinates of every router: cheaper than dividing.
    coordinates: Vec<[u8; DIMS]>,
}

impl Lattice {
    /// A lattice of at most 8 dimensions, 2 to 256 routers wide, with `trunk` links between
    /// neighbours.
    pub(super) fn new(widths: &[u32], hosts: u32, trunk: u32) -> Self {
        let (mut strides, mut ports, mut stride, mut port) = (vec![], vec![hosts as u16], 1, hosts);
        for &width in widths {
            strides.push(stride);
            stride *= width;
            port += (width - 1) * trunk;
            ports.push(port as u16);
        }
        let dimension = |port: u16| ports.partition_point(|&first| first <= port).checked_sub(1);
        let dimensions =
            (0..port as u16).map(|port| dimension(port).map(|dim| dim as u8)).collect();
        let of = |router: u32| {
            let mut coordinates = [0; DIMS];
            for (dim, &width) in widths.iter().enumerate() {
                coordinates[dim] = (router / strides[dim] % width) as u8;
            }
            coordinates
        };
        let coordinates = (0..stride).map(of).collect();
        Self { widths: widths.to_vec(), strides, ports, hosts, trunk, dimensions, coordinates }
    }

    /// Number of dimensions.
    pub fn dims(&self) -> usize {
        self.widths.len()
    }

    /// Routers along a dimension.
    pub fn width(&self, dim: usize) -> u32 {
        self.widths[dim]
    }

    /// Number of routers.
    pub fn routers(&self) -> u32 {
        self.coordinates.len() as u32
    }

    /// Hosts of a router.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Parallel links between two neighbours.
    pub fn trunk(&self) -> u32 {
        self.trunk
    }

    /// Ports of a router.
    pub fn radix(&self) -> u16 {
        self.ports[self.dims()]
    }

    /// Coordinate of a router along a dimension.
    #[inline]
    pub fn coordinate(&self, router: RouterId, dim: usize) -> u32 {
        u32::from(self.coordinates[router.index()][dim])
    }

    /// The router that differs from this one only by its coordinate `to`.
    #[inline]
    pub fn moved(&self, router: RouterId, dim: usize, to: u32) -> RouterId {
        RouterId(
            router.0 + to * self.strides[dim] - self.coordinate(router, dim) * self.strides[dim],
        )
    }

    /// The port from coordinate `from` to another coordinate `to`, over one of the parallel links.
    #[inline]
    pub fn port(&self, dim: usize, from: u32, to: u32, copy: u32) -> PortId {
        let slot = to - u32::from(to > from);
        PortId(self.ports[dim] + (slot * self.trunk + copy) as u16)
    }

    /// The ports of a dimension.
    #[inline]
    pub fn ports(&self, dim: usize) -> Range<u16> {
        self.ports[dim]..self.ports[dim + 1]
    }

    /// The ports from coordinate `from` to another coordinate `to`.
    #[inline]
    pub fn ports_to(&self, dim: usize, from: u32, to: u32) -> Range<u16> {
        let PortId(first) = self.port(dim, from, to, 0);
        first..first + self.trunk as u16
    }

    /// Dimension, coordinate and number of the link behind a port; `None` for a host.
    pub fn link(&self, router: RouterId, port: PortId) -> Option<(usize, u32, u32)> {
        let dim = self.dimension(port)?;
        let (slot, copy) = {
            let number = u32::from(port.0 - self.ports[dim]);
            (number / self.trunk, number % self.trunk)
        };
        let from = self.coordinate(router, dim);
        Some((dim, slot + u32::from(slot >= from), copy))
    }

    /// The dimension of a port; `None` for a host.
    #[inline]
    pub fn dimension(&self, port: PortId) -> Option<usize> {
        self.dimensions[port.index()].map(usize::from)
    }

    /// The first dimension in which two routers differ.
    #[inline]
    pub fn first_unaligned(&self, a: RouterId, b: RouterId) -> Option<usize> {
        let (a, b) = (&self.coordinates[a.index()], &self.coordinates[b.index()]);
        (0..self.dims()).find(|&dim| a[dim] != b[dim])
    }

    /// The dimensions in which two routers differ.
    pub fn unaligned(&self, a: RouterId, b: RouterId) -> impl Iterator<Item = usize> + '_ {
        let (a, b) = (self.coordinates[a.index()], self.coordinates[b.index()]);
        (0..self.dims()).filter(move |&dim| a[dim] != b[dim])
    }
}
