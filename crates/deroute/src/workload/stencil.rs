//! Halo exchange of a stencil.
//!
//! # What it does
//! The ranks form a grid of up to three dimensions. Every rank sends a message to each neighbour that
//! shares a face, an edge or a corner with it (26 in three dimensions), all at once, and then waits
//! for a message from each.
//!
//! # Source
//! McDonald et al., SC 2019, 6.2 and Fig. 7b.
//!
//! # Parameters
//! `shape`, the ranks along each dimension; `periodic` (default true); `messages`: `equal` parts of a
//! total, a total divided by weights (`weighted`), or `sizes`.
//!
//! # Limits
//! In a closed grid two ranks wide a neighbour is met on both sides, and gets two messages; one rank
//! wide, it is the rank itself and gets none. All ranks send to their neighbours in the same order.
//!
//! # Example
//! ```toml
//! steps = [{ stencil = { shape = [8, 8, 4], messages = { equal = "100 KB" } } }]
//! ```

use super::{Op, Site, Step, spec};
use crate::spec::SpecError;

/// Most dimensions.
const DIMS: usize = 3;

struct Stencil {
    shape: [u32; DIMS],
    periodic: bool,
    /// Where each rank is at the lower end of a dimension, and at the upper one: two bits for each.
    ends: Box<[u8]>,
    /// Displacements to the neighbours, and the phits of the message; the one at the other end of
    /// the list is the opposite.
    ways: Vec<Way>,
}

/// A way to a neighbour.
#[derive(Clone, Copy)]
struct Way {
    steps: [i32; DIMS],
    /// How much greater the rank of the neighbour is than one's own, where no end is in the way, and these ends.
    beyond: i32,
    ends: u8,
    phits: u32,
}

pub(super) fn build(spec: &spec::StencilSpec, site: &Site<'_>) -> Result<Box<dyn Step>, SpecError> {
    let path = format!("{}.shape", site.path);
    let dims = spec.shape.len();
    if !(1..=DIMS).contains(&dims) {
        let message = format!("{dims} dimensions is out of range");
        return Err(SpecError::new(path, message).choices(["1 to 3 dimensions"]));
    }
    let product = spec.shape.iter().try_fold(1u32, |all, &width| all.checked_mul(width));
    if product != Some(site.ranks) {
        let message = format!("{:?} is not a grid of {} ranks", spec.shape, site.ranks);
        let choices = [format!("numbers whose product is {}", site.ranks)];
        return Err(SpecError::new(path, message).choices(choices));
    }
    let sizes = sizes(&spec.messages, dims as u32, site)?;
    let mut shape = [1; DIMS];
    shape[..dims].copy_from_slice(&spec.shape);
    let axis = |dim: usize| if dim < dims { -1..=1 } else { 0..=0 };
    let mut ways = Vec::new();
    for z in axis(2) {
        for y in axis(1) {
            for x in axis(0) {
                let way = [x, y, z];
                if let Some(kind) = way.iter().filter(|step| **step != 0).count().checked_sub(1) {
                    ways.push(Way::new(way, shape, sizes[kind]));
                }
            }
        }
    }
    let ends = (0..site.ranks).map(|rank| ends(rank, shape)).collect();
    Ok(Box::new(Stencil { shape, periodic: spec.periodic, ends, ways }))
}

/// The ends of the grid at which a rank is.
fn ends(rank: u32, shape: [u32; DIMS]) -> u8 {
    let (mut rest, mut ends) = (rank, 0);
    for (dim, width) in shape.into_iter().enumerate() {
        let coordinate = rest % width;
        rest /= width;
        ends |= u8::from(coordinate == 0) << (2 * dim);
        ends |= u8::from(coordinate == width - 1) << (2 * dim + 1);
    }
    ends
}

/// Phits of a message to a neighbour that shares a face, an edge, a corner.
fn sizes(
    messages: &spec::StencilMessages,
    dims: u32,
    site: &Site<'_>,
) -> Result<[u32; DIMS], SpecError> {
    // Neighbours of each kind.
    let counts = match dims {
        1 => [2, 0, 0],
        2 => [4, 4, 0],
        _ => [6, 12, 8],
    };
    match messages {
        spec::StencilMessages::Equal(total) => {
            let total = site.phits("messages.equal", total)?;
            Ok([total.div_ceil(counts.iter().sum()); DIMS])
        }
        spec::StencilMessages::Weighted { total, face, edge, corner } => {
            let total = u64::from(site.phits("messages.weighted.total", total)?);
            let weights = [*face, *edge, *corner].map(u64::from);
            let names = ["face", "edge", "corner"];
            if let Some(kind) = (0..dims as usize).find(|&kind| weights[kind] == 0) {
                let path = format!("{}.messages.weighted.{}", site.path, names[kind]);
                let message = "0 is no weight: every neighbour gets a message";
                return Err(SpecError::new(path, message).choices(["at least 1"]));
            }
            let all: u64 = weights.iter().zip(counts).map(|(w, n)| w * u64::from(n)).sum();
            Ok(weights.map(|weight| (total * weight).div_ceil(all) as u32))
        }
        spec::StencilMessages::Sizes { face, edge, corner } => Ok([
            site.phits("messages.sizes.face", face)?,
            site.phits("messages.sizes.edge", edge)?,
            site.phits("messages.sizes.corner", corner)?,
        ]),
    }
}

impl Way {
    fn new(steps: [i32; DIMS], shape: [u32; DIMS], phits: u32) -> Self {
        let (mut stride, mut beyond, mut ends) = (1, 0, 0);
        for (dim, (width, step)) in shape.into_iter().zip(steps).enumerate() {
            if step != 0 {
                beyond += step * stride;
                ends |= 1 << (2 * dim + usize::from(step > 0));
            }
            stride *= width as i32;
        }
        Self { steps, beyond, ends, phits }
    }
}

impl Stencil {
    /// The neighbour of a rank; `None` beyond the edge of an open grid, and if it is the rank itself.
    #[inline]
    fn neighbour(&self, rank: u32, way: &Way) -> Option<u32> {
        let ends = self.ends[rank as usize];
        if ends & way.ends == 0 {
            return Some(rank.wrapping_add_signed(way.beyond));
        }
        self.around(rank, ends, way.steps)
    }

    /// The same where a rank is at these ends of the grid.
    fn around(&self, rank: u32, ends: u8, way: [i32; DIMS]) -> Option<u32> {
        let (mut stride, mut found) = (1, rank);
        for ((dim, width), step) in self.shape.into_iter().enumerate().zip(way) {
            if step != 0 {
                let at_end = ends >> (2 * dim + usize::from(step > 0)) & 1 == 1;
                if at_end && !self.periodic {
                    return None;
                }
                // Beyond the end it is at the other one.
                let (far, back) = if at_end { (width - 1, step > 0) } else { (1, step < 0) };
                let moved = far * stride;
                found = if back { found - moved } else { found + moved };
            }
            stride *= width;
        }
        (found != rank).then_some(found)
    }
}

impl Step for Stencil {
    fn name(&self) -> &'static str {
        "stencil"
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let count = self.ways.len() as u32;
        let sends = index < count;
        let tag = if sends { index } else { index - count };
        let way = self.ways.get(tag as usize)?;
        let Some(neighbour) = self.neighbour(rank, way) else { return Some(Op::NOTHING) };
        Some(if sends {
            Op::Send { to: neighbour, phits: way.phits, tag }
        } else {
            // What the neighbour sent the opposite way.
            Op::Wait { from: neighbour, tag: count - 1 - tag }
        })
    }

    fn tags(&self) -> u32 {
        self.ways.len() as u32
    }

    fn uniform(&self) -> bool {
        self.periodic
    }
}
