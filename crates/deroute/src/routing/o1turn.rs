//! O1TURN: one of several dimension orders.
//!
//! # What it does
//! Draws an order of the dimensions at the head of the injection queue; the packet takes a shortest path
//! in this order.
//!
//! # Source
//! Seo et al., "Near-optimal worst-case throughput routing for two-dimensional mesh networks", ISCA 2005,
//! there with two dimensions; named by McDonald et al., SC 2019, 2.2.
//!
//! # Parameters
//! `orders` (default `two`): the orders to draw from: the first dimension first or the last one first, or
//! every order that there is. In two dimensions these are the same.
//!
//! # Deadlock freedom
//! Every order has its own class of VCs, within which dimensions are in order: two classes, or with
//! `all` N! for N dimensions.
//!
//! # Limits
//! Needs a lattice. As all shortest paths: a complement along one dimension of width w leaves 1/w of
//! the load.
//!
//! # Example
//! ```toml
//! [routing.o1turn]
//! orders = "all"
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Header, Hop, Memo, Plan, RouterView, Routing, VcNeed, require_lattice};
use crate::ids::VcId;
use crate::spec::SpecError;
use crate::state::state;
use crate::topology::Topology;

/// Parameters of O1TURN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct O1TurnSpec {
    /// The dimension orders to draw from. Default `two`.
    pub orders: Orders,
}

/// Dimension orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Orders {
    /// The first dimension first, or the last one first.
    #[default]
    Two,
    /// Every order.
    All,
}

impl Orders {
    /// The orders of some dimensions, or how many there would be if that is more than `most`.
    fn list(self, dims: usize, most: usize) -> Result<Vec<Vec<usize>>, usize> {
        let ascending: Vec<usize> = (0..dims).collect();
        if dims == 1 {
            return Ok(vec![ascending]);
        }
        if self == Self::Two {
            let descending = ascending.iter().rev().copied().collect();
            return Ok(vec![ascending, descending]);
        }
        let count = (1..=dims).product();
        if count > most {
            return Err(count);
        }
        Ok((0..count).map(|index| permutation(dims, index)).collect())
    }
}

/// A permutation by its number.
fn permutation(dims: usize, mut index: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..dims).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        order.push(left.remove(index % left.len()));
        index /= left.len() + 1;
    }
    order
}

struct O1Turn {
    topology: Arc<dyn Topology>,
    orders: Arc<[Vec<usize>]>,
}

/// VCs that a link may have.
const MOST: usize = 64;

/// Checks the parameters against the network.
///
/// # Errors
/// A topology that is no lattice, and more orders of its dimensions than a link may have VCs.
pub fn plan(spec: &O1TurnSpec, fabric: &Fabric) -> Result<Plan, SpecError> {
    require_lattice(fabric, "routing.o1turn")?;
    let topology = Arc::clone(&fabric.topology);
    let dims = topology.classes().len();
    let orders = spec.orders.list(dims, MOST).map_err(|count| {
        let message = format!("{dims} dimensions have {count} orders, and a link has {MOST} VCs");
        SpecError::new("routing.o1turn.orders", message).choices(["two"])
    })?;
    let why = "every dimension order has its own class of VCs";
    let count = orders.len() as u8;
    let need = |class: &&'static str| VcNeed { class, vcs: count, why: why.into() };
    let vcs = topology.classes().iter().map(need).collect();
    let orders: Arc<[Vec<usize>]> = orders.into();
    let agent = Box::new(move |_, _| -> Box<dyn Routing> {
        Box::new(O1Turn { topology: Arc::clone(&topology), orders: Arc::clone(&orders) })
    });
    Ok(Plan { agent, vcs })
}

impl Routing for O1Turn {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let Some(lattice) = self.topology.lattice() else { unreachable!("checked by `plan`") };
        let drawn = match header.memo() {
            Memo::DimensionOrder(order) => order,
            _ => {
                let order = view.rng.below(self.orders.len() as u32);
                header.remember(Memo::DimensionOrder(order));
                order
            }
        };
        let (at, to) = (view.router, header.destination);
        let order = &self.orders[drawn as usize];
        let unaligned = |&&dim: &&usize| lattice.coordinate(at, dim) != lattice.coordinate(to, dim);
        let dim = order.iter().find(unaligned).copied().unwrap_or(0);
        let (from, target) = (lattice.coordinate(at, dim), lattice.coordinate(to, dim));
        let port = lattice.port(dim, from, target, to.0 % lattice.trunk());
        Hop { port, vc: VcId(drawn as u8), position: header.position + 1 }
    }

    state! { leave topology, orders; }
}

#[cfg(test)]
mod tests {
    use super::Orders;

    #[test]
    fn all_orders_are_all_permutations() {
        let mut orders = Orders::All.list(4, 64).unwrap();
        assert!(orders.iter().all(|order| (0..4).all(|dim| order.contains(&dim))));
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 24);
        assert_eq!(Orders::All.list(5, 64), Err(120));
        assert_eq!(Orders::Two.list(3, 64).unwrap(), [[0, 1, 2], [2, 1, 0]]);
    }
}
