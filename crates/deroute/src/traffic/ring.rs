//! Rings on which hosts send to others at a fixed distance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fixed::Fixed;
use super::{Pattern, Setting};
use crate::ids::RouterId;
use crate::spec::SpecError;

/// What is moved along a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ring {
    /// The number of the host: one ring of all hosts.
    #[default]
    Hosts,
    /// Every coordinate of the router in a lattice, each on the ring of its dimension; the place on the
    /// router stays.
    Coordinates,
    /// Every digit of the number of the host, in this radix: as in a torus of so many nodes along each
    /// dimension.
    Digits(u32),
}

/// The pattern in which everything on a ring of `n` moves by `step(n)`.
pub(super) fn build(
    (ring, name): (Ring, &str),
    step: fn(u32) -> u32,
    path: &str,
    setting: &Setting<'_>,
) -> Result<Box<dyn Pattern>, SpecError> {
    let (hosts, at) = (setting.topology.hosts(), format!("{path}.{name}.ring"));
    let still = |of: u32| {
        let message = format!("on a ring of {of} {name} does not move");
        Err(SpecError::new(&at, message).choices(["longer rings"]))
    };
    match ring {
        Ring::Hosts if step(hosts) == 0 => still(hosts),
        Ring::Hosts => Fixed::of(|host| ahead(host, step(hosts), hosts), &at, setting),
        Ring::Digits(radix) => {
            let digits = digits(radix, &at, hosts)?;
            if step(radix) == 0 {
                return still(radix);
            }
            let moved = |host: u32| {
                let places = (0..digits).map(|digit| radix.pow(digit));
                places.map(|place| ahead(host / place % radix, step(radix), radix) * place).sum()
            };
            Fixed::of(moved, &at, setting)
        }
        Ring::Coordinates => {
            let Some(lattice) = setting.topology.lattice() else {
                let message = "the routers of this topology form no lattice";
                let choices = ["\"hosts\"", "{ digits = ... }", "network.topology.hyperx"];
                return Err(SpecError::new(at, message).choices(choices));
            };
            let widths = (0..lattice.dims()).map(|dim| lattice.width(dim));
            if widths.clone().all(|width| step(width) == 0) {
                return still(widths.max().unwrap_or(1));
            }
            let places = lattice.hosts();
            let moved = |host: u32| {
                let next = |router, dim| {
                    let width = lattice.width(dim);
                    let to = ahead(lattice.coordinate(router, dim), step(width), width);
                    lattice.moved(router, dim, to)
                };
                let router = (0..lattice.dims()).fold(RouterId(host / places), next);
                router.0 * places + host % places
            };
            Fixed::of(moved, &at, setting)
        }
    }
}

fn ahead(from: u32, step: u32, of: u32) -> u32 {
    ((u64::from(from) + u64::from(step)) % u64::from(of)) as u32
}

/// Digits of the numbers of `hosts` hosts.
fn digits(radix: u32, at: &str, hosts: u32) -> Result<u32, SpecError> {
    let of = |radix: u32| (1..u32::BITS).find(|digits| radix.checked_pow(*digits) == Some(hosts));
    if radix > 1
        && let Some(digits) = of(radix)
    {
        return Ok(digits);
    }
    let message = format!("{hosts} hosts are no power of {radix}");
    let roots = (1..u32::BITS).rev().filter_map(|digits| {
        let root = (2..=hosts.isqrt()).find(|root| root.checked_pow(digits) == Some(hosts));
        root.or((digits == 1 && hosts > 1).then_some(hosts))
    });
    let choices = roots.map(|root| root.to_string());
    Err(SpecError::new(format!("{at}.digits"), message).choices(choices))
}
