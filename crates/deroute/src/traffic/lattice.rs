//! Patterns of a lattice: complements of coordinates.
//!
//! # What it does
//! The complement of a coordinate `c` along a dimension of width `w` is `w - 1 - c`.
//! - `complement` (URB): one coordinate is complemented, the others and the place are uniform.
//! - `swap2` (S2): hosts with an even place complement the first coordinate, the others the second.
//! - `swap2_shift`: the same, half-way around a dimension in place of the complement.
//! - `dimension_complement_reverse` (DCR): the first coordinate becomes the complement of the last, those
//!   between are complemented, the last and the place are uniform, so that the routers of a line send to
//!   those of one other line.
//! - `dimension_complement_reverse_fixed`: every coordinate becomes the complement of the one that is as far from
//!   the other end, and the place stays: a permutation.
//!
//! # Source
//! McDonald et al., SC 2019, 6.1. The paper draws a line's hosts alike and does not say where the others go; the
//! fixed and shifted ones are the readings of other simulators.
//!
//! # Parameters
//! `dimension` of `complement`, counted from 1; the others have none.
//!
//! # Limits
//! Needs a HyperX; `swap2` and DCR one of at least two dimensions.
//!
//! # Example
//! ```toml
//! pattern = { complement = { dimension = 2 } }
//! ```

use super::fixed::Fixed;
use super::{Pattern, Setting};
use crate::ids::{HostId, RouterId};
use crate::rng::Stream;
use crate::spec::SpecError;
use crate::topology::Lattice;

/// Which coordinates are complemented.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    One(usize),
    Swap2,
    Reverse,
}

struct Complement {
    lattice: Lattice,
    kind: Kind,
}

impl Complement {
    fn flip(&self, router: RouterId, dim: usize) -> RouterId {
        let to = self.lattice.width(dim) - 1 - self.lattice.coordinate(router, dim);
        self.lattice.moved(router, dim, to)
    }

    fn once(&self, source: HostId, rng: &mut Stream) -> HostId {
        let (lattice, hosts) = (&self.lattice, self.lattice.hosts());
        let (router, place) = (RouterId(source.0 / hosts), source.0 % hosts);
        let mut drawn = |router, dim| lattice.moved(router, dim, rng.below(lattice.width(dim)));
        let (to, place) = match self.kind {
            Kind::One(one) => {
                let others = (0..lattice.dims()).filter(|&dim| dim != one);
                (others.fold(self.flip(router, one), &mut drawn), None)
            }
            Kind::Swap2 => (self.flip(router, (place % 2) as usize), Some(place)),
            Kind::Reverse => {
                let last = lattice.dims() - 1;
                let far = lattice.width(last) - 1 - lattice.coordinate(router, last);
                let to = lattice.moved(router, 0, far);
                let to = (1..last).fold(to, |to, dim| self.flip(to, dim));
                (drawn(to, last), None)
            }
        };
        HostId(to.0 * hosts + place.unwrap_or_else(|| rng.below(hosts)))
    }
}

impl Pattern for Complement {
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId {
        loop {
            let to = self.once(source, rng);
            if to != source {
                return to;
            }
        }
    }
}

fn lattice<'a>(path: &str, setting: &Setting<'a>) -> Result<&'a Lattice, SpecError> {
    setting.topology.lattice().ok_or_else(|| {
        let message = "the routers of this topology form no lattice";
        SpecError::new(path, message).choices(["network.topology.hyperx"])
    })
}

/// The lattice, if it has two dimensions at least.
fn plane<'a>(path: &str, setting: &Setting<'a>) -> Result<&'a Lattice, SpecError> {
    let lattice = lattice(path, setting)?;
    if lattice.dims() < 2 {
        let error = SpecError::new(path, "one dimension is too few");
        return Err(error.choices(["two dimensions or more"]));
    }
    Ok(lattice)
}

/// S2 with half of a dimension's width in place of the complement.
pub(super) fn half_shift(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let lattice = plane(path, setting)?;
    let to = |host: u32| {
        let (router, place) = (RouterId(host / lattice.hosts()), host % lattice.hosts());
        let dim = (place % 2) as usize;
        let width = lattice.width(dim);
        let ahead = (lattice.coordinate(router, dim) + width / 2) % width;
        lattice.moved(router, dim, ahead).0 * lattice.hosts() + place
    };
    Fixed::of(to, path, setting)
}

/// DCR without anything drawn.
pub(super) fn reverse(path: &str, setting: &Setting<'_>) -> Result<Box<dyn Pattern>, SpecError> {
    let lattice = plane(path, setting)?;
    let (dims, hosts) = (lattice.dims(), lattice.hosts());
    if let Some(dim) = (0..dims).find(|&dim| lattice.width(dim) != lattice.width(dims - 1 - dim)) {
        let message = format!("dimensions {} and {} have different widths", dim + 1, dims - dim);
        return Err(SpecError::new(path, message).choices(["equal widths"]));
    }
    let to = |host: u32| {
        let router = RouterId(host / hosts);
        let turned = |to, dim| {
            let other = dims - 1 - dim;
            lattice.moved(to, dim, lattice.width(other) - 1 - lattice.coordinate(router, other))
        };
        (0..dims).fold(router, turned).0 * hosts + host % hosts
    };
    Fixed::of(to, path, setting)
}

pub(super) fn build(
    kind: Kind,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let lattice = lattice(path, setting)?;
    let (dims, odd) = (lattice.dims(), |dim: usize| lattice.width(dim) % 2 == 1);
    let refuse = |message: String, choices: &str| {
        Err(SpecError::new(path, message).choices([choices.to_owned()]))
    };
    match kind {
        Kind::One(dim) if dim >= dims => {
            let message = format!("there is no dimension {}", dim.wrapping_add(1));
            return refuse(message, &format!("1 to {dims}"));
        }
        Kind::One(dim) if dims == 1 && odd(dim) && lattice.hosts() == 1 => {
            return refuse("the host in the middle would send to itself".into(), "an even width");
        }
        Kind::Swap2 | Kind::Reverse if dims < 2 => {
            return refuse("one dimension is too few".into(), "two dimensions or more");
        }
        Kind::Swap2 if odd(0) || odd(1) && lattice.hosts() > 1 => {
            return refuse("routers in the middle would send to themselves".into(), "even widths");
        }
        Kind::Reverse if lattice.width(0) != lattice.width(dims - 1) => {
            let message = "the first and the last dimension have different widths".into();
            return refuse(message, "equal widths");
        }
        _ => {}
    }
    Ok(Box::new(Complement { lattice: lattice.clone(), kind }))
}
