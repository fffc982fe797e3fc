//! How a collective goes: steps among groups of its members, one after the other in each of its lanes, and all
//! lanes at once.

use super::step::{Op, Step};

/// Which members take a step together, and who of them is who.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// All of them, as they are.
    All,
    /// Groups of `count` members that are `stride` apart.
    Strided {
        /// Distance from one to the next.
        stride: u32,
        /// Members of a group.
        count: u32,
    },
    /// All of them, in another order.
    Ordered {
        /// Members in that order.
        members: Box<[u32]>,
        /// Place of each member in it.
        places: Box<[u32]>,
    },
    /// Groups that are listed, of a size that the step knows; who is in none takes no part.
    Listed {
        /// Members of each group.
        groups: Box<[Box<[u32]>]>,
        /// The group of each member, and its place there.
        places: Box<[Option<(u32, u32)>]>,
    },
}

impl Group {
    /// All members in another order.
    pub fn ordered(members: Vec<u32>) -> Self {
        let mut places = vec![0; members.len()];
        (0..).zip(&members).for_each(|(place, member)| places[*member as usize] = place);
        Self::Ordered { members: members.into(), places: places.into() }
    }

    /// Groups of some of so many members.
    pub fn listed(all: u32, groups: impl Iterator<Item = Box<[u32]>>) -> Self {
        let groups: Box<[Box<[u32]>]> = groups.collect();
        let mut places = vec![None; all as usize];
        for (own, group) in (0..).zip(&groups) {
            (0..).zip(group).for_each(|(at, member)| places[*member as usize] = Some((own, at)));
        }
        Self::Listed { groups, places: places.into() }
    }

    /// Which one of its group a member is, if it is in one.
    pub fn place(&self, member: u32) -> Option<u32> {
        match self {
            Self::All => Some(member),
            Self::Strided { stride, count } => Some(member / stride % count),
            Self::Ordered { places, .. } => Some(places[member as usize]),
            Self::Listed { places, .. } => places[member as usize].map(|(_, place)| place),
        }
    }

    /// The member that is at a place of the group of another.
    fn member(&self, of: u32, place: u32) -> u32 {
        match self {
            Self::All => place,
            Self::Strided { stride, count } => of - of / stride % count * stride + place * stride,
            Self::Ordered { members, .. } => members[place as usize],
            Self::Listed { groups, places } => match places[of as usize] {
                Some((own, _)) => groups[own as usize][place as usize],
                None => of,
            },
        }
    }
}

/// A step of a lane.
pub struct Part {
    /// What is done.
    pub step: Box<dyn Step>,
    /// By whom with whom.
    pub group: Group,
    /// First of its tags.
    first_tag: u32,
}

/// A collective, resolved.
pub struct Schedule {
    /// Its name in messages.
    pub name: String,
    lanes: Vec<Vec<Part>>,
    tags: u32,
    /// Members, data in phits, and how much of it a member has to send at least, if it is a named collective.
    data: Option<(u32, u64, f64)>,
    /// The algorithm that was asked for and does not fit.
    instead_of: Option<&'static str>,
}

impl Schedule {
    /// One lane after the other is added.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), lanes: Vec::new(), tags: 0, data: None, instead_of: None }
    }

    /// A step of all members.
    pub fn of(step: Box<dyn Step>) -> Self {
        Self::new(step.name()).lane([(step, Group::All)])
    }

    /// Adds a lane of steps.
    pub fn lane(mut self, parts: impl IntoIterator<Item = (Box<dyn Step>, Group)>) -> Self {
        let mut lane = Vec::new();
        for (step, group) in parts {
            let first_tag = self.tags;
            self.tags = self.tags.saturating_add(step.tags());
            lane.push(Part { step, group, first_tag });
        }
        self.lanes.push(lane);
        self
    }

    /// It is a collective of so many members and phits, of which a member has to send a part at least.
    pub fn of_data(self, members: u32, phits: u64, factor: f64) -> Self {
        Self { data: Some((members, phits, factor)), ..self }
    }

    /// Members, data in phits, and how much of it a member has to send at least, if it is a named collective.
    pub fn data(&self) -> Option<(u32, u64, f64)> {
        self.data
    }

    /// It goes otherwise than was asked for, since that does not fit.
    pub fn instead_of(self, asked: &'static str) -> Self {
        Self { instead_of: Some(asked), ..self }
    }

    /// The algorithm that was asked for, if it does not fit.
    pub fn asked(&self) -> Option<&'static str> {
        self.instead_of
    }

    /// Number of lanes.
    pub fn lanes(&self) -> u32 {
        self.lanes.len() as u32
    }

    /// Number of tags.
    pub fn tags(&self) -> u32 {
        self.tags
    }

    /// Number of steps of a lane.
    pub fn parts(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].len() as u32
    }

    /// An operation of a member in a step of a lane; `None` after the last one of the step.
    pub fn op(&self, member: u32, (lane, part): (u32, u32), index: u32) -> Option<Op> {
        let Part { step, group, first_tag } = &self.lanes[lane as usize][part as usize];
        Some(match step.op(group.place(member)?, index)? {
            Op::Send { to, phits, tag } => {
                Op::Send { to: group.member(member, to), phits, tag: first_tag + tag }
            }
            Op::Wait { from, tag } => {
                Op::Wait { from: group.member(member, from), tag: first_tag + tag }
            }
            compute => compute,
        })
    }

    /// Messages and phits that a member sends.
    pub fn sent(&self, member: u32) -> (u64, u64) {
        self.sends(member).fold((0, 0), |sum, (_, phits)| (sum.0 + 1, sum.1 + u64::from(phits)))
    }

    /// Messages that a member sends, in no order of time: to whom, and phits.
    pub fn sends(&self, member: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let parts = |lane| (0..self.parts(lane)).map(move |part| (lane, part));
        let ops = move |place| (0..).map_while(move |index| self.op(member, place, index));
        (0..self.lanes()).flat_map(parts).flat_map(ops).filter_map(|op| match op {
            Op::Send { to, phits, .. } => Some((to, phits)),
            _ => None,
        })
    }

    /// Every member sends as much as the others.
    pub fn uniform(&self) -> bool {
        let all_take_part = |group: &Group| !matches!(group, Group::Listed { .. });
        self.lanes.iter().flatten().all(|part| all_take_part(&part.group) && part.step.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_name_their_members() {
        // Twelve members on three nodes of four: those of a node, and those of a rail.
        let (node, rail) =
            (Group::Strided { stride: 1, count: 4 }, Group::Strided { stride: 4, count: 3 });
        assert_eq!((node.place(6), node.member(6, 0), node.member(6, 3)), (Some(2), 4, 7));
        assert_eq!((rail.place(6), rail.member(6, 0), rail.member(6, 2)), (Some(1), 2, 10));
        let turned = Group::ordered(vec![2, 0, 1]);
        assert_eq!((turned.place(2), turned.member(2, 1)), (Some(0), 0));
        let some = Group::listed(5, [[0, 3].into(), [4, 1].into()].into_iter());
        assert_eq!((some.place(4), some.member(4, 1), some.place(2)), (Some(0), 1, None));
    }
}
