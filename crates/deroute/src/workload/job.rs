//! A job, resolved.

use std::collections::BTreeSet;

use super::actions::Action;
use super::comms::Comms;
use super::flows::{self, Flows};
use super::node::{Node, Within};
use super::origin::Origin;
use super::program::Program;
use super::schedule::Schedule;
use super::step::{self, Op};
use super::steps;
use super::uses::Uses;
use super::{placement, spec, trace};
use crate::ids::{Cycle, HostId};
use crate::spec::{Scale, SpecError};

/// Activities of all ranks of a job whose times are kept, at the most.
const MOST_ACTIVITIES: usize = 1_000_000;

/// How messages of ranks travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Phits of the largest message that is sent without asking.
    pub eager_limit: u32,
    /// What is sent without asking has ended at once for its sender.
    pub buffered: bool,
    /// Phits of a message that asks whether data may be sent, or says that it may.
    pub control: u32,
}

/// A job, resolved.
pub struct Job {
    /// Its name.
    pub name: String,
    /// The host of each rank.
    pub hosts: Vec<HostId>,
    /// First cycle.
    pub start: Cycle,
    /// What its ranks do.
    pub program: Program,
    /// The collectives in it.
    pub schedules: Vec<Schedule>,
    /// Who takes part in them.
    pub comms: Comms,
    /// What they count as in results.
    pub uses: Uses,
    /// How messages travel.
    pub protocol: Protocol,
    /// How they do within a host.
    pub within: Within,
    /// How they do within a node, if it has nodes.
    pub node: Option<Node>,
    /// Where its program stands.
    pub origin: Origin,
    /// Some receives take more than one source or tag.
    pub wildcards: bool,
    /// Its flows, if these are what it does.
    pub flows: Option<Flows>,
    /// Activities of each rank whose times are kept.
    pub kept: usize,
    /// What made its ranks go on is kept.
    pub critical_path: bool,
    /// Messages and phits of one iteration.
    work: (u64, u64),
}

impl Job {
    pub(super) fn build(
        spec: &spec::Job,
        index: usize,
        (scale, seed, limit): (&Scale, u64, Cycle),
        room: (usize, usize),
    ) -> Result<(Self, u32), SpecError> {
        let path = format!("workload.jobs[{index}]");
        let wrong = |key: &str, message: String, choices: &str| {
            Err(SpecError::new(format!("{path}.{key}"), message).choices([choices]))
        };
        let name = spec.name.clone().unwrap_or_else(|| format!("job{}", index + 1));
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "_-+".contains(c)) {
            return wrong("name", format!("{name:?} is not a name"), "letters, digits, _ - +");
        }
        let start = step::duration(scale, &format!("{path}.start"), &spec.start)?;
        let protocol = protocol(&spec.protocol, scale, &format!("{path}.protocol"))?;
        let within = Within::build(&spec.within_host, scale, &format!("{path}.within_host"))?;
        let node = Node::build(spec, scale, &path)?;
        if let Some(trace) = &spec.trace {
            let given = [
                ("steps", !spec.steps.is_empty()),
                ("iterations", spec.iterations != spec::once()),
                ("flows", spec.flows.is_some()),
            ];
            for (key, given) in given {
                if given {
                    let message = "a job does what its trace says".to_owned();
                    return wrong(key, message, "nothing beside `trace`");
                }
            }
            let path = format!("{path}.trace");
            let trace::Loaded { ranks, program, schedules, comms, uses, origin, work, wildcards } =
                trace::load(trace, spec.ranks, scale, &path)?;
            let parts = (schedules, comms, uses);
            let job = Self { wildcards, ..Self::of_trace(program, parts, origin, work) };
            let kept = kept(spec, ranks);
            let critical_path = spec.critical_path;
            return Ok((
                Self { name, start, protocol, within, node, kept, critical_path, ..job },
                ranks,
            ));
        }
        if let Some(flows) = &spec.flows {
            let ranks = spec.ranks.unwrap_or(room.0 as u32);
            placement::hosts_for(spec, ranks, &path, room)?;
            check_flows(spec, &path)?;
            let path = format!("{path}.flows");
            let site = flows::Site { ranks, seed, class: flows.class, scale, path };
            let flows = Flows::build(flows, &site, (start, limit))?;
            let (none, work) = ((Vec::new(), Comms::world(), Uses::default()), flows.work());
            let job = Self::of_trace(flows.program(ranks), none, Origin::default(), work);
            return Ok((Self { name, start, within, flows: Some(flows), ..job }, ranks));
        }
        let Some(ranks) = spec.ranks else {
            return wrong("ranks", "is missing".into(), "a number, `trace`, or `flows`");
        };
        placement::hosts_for(spec, ranks, &path, room)?;
        let job = Self::of_steps(spec, ranks, scale, &path)?;
        let kept = kept(spec, ranks);
        let critical_path = spec.critical_path;
        Ok((Self { name, start, protocol, within, node, kept, critical_path, ..job }, ranks))
    }

    /// A job without a name that does what a trace says.
    fn of_trace(
        program: Program,
        (schedules, comms, uses): (Vec<Schedule>, Comms, Uses),
        origin: Origin,
        work: (u64, u64),
    ) -> Self {
        let (name, hosts, protocol) = (String::new(), Vec::new(), Protocol::EAGER);
        Self {
            name,
            hosts,
            start: 0,
            within: Within { latency: 1, phits_per_cycle: 1 },
            node: None,
            program,
            schedules,
            comms,
            uses,
            protocol,
            origin,
            wildcards: false,
            flows: None,
            kept: 0,
            critical_path: false,
            work,
        }
    }

    /// A job without a name that takes steps.
    fn of_steps(
        spec: &spec::Job,
        ranks: u32,
        scale: &Scale,
        path: &str,
    ) -> Result<Self, SpecError> {
        let wrong = |key: &str, message: String, choices: &str| {
            Err(SpecError::new(format!("{path}.{key}"), message).choices([choices]))
        };
        if !(1..=1 << 20).contains(&spec.iterations) {
            let message = format!("{} iterations is out of range", spec.iterations);
            return wrong("iterations", message, "1 to 1048576");
        }
        if spec.steps.is_empty() {
            let message = "a program without steps does nothing".to_owned();
            return wrong("steps", message, "a list of steps, `trace`, or `flows`");
        }
        let (mut schedules, mut first_tags) = (Vec::new(), Vec::new());
        let (mut tags, mut work) = (0u64, (0u64, 0u64));
        for (i, each) in spec.steps.iter().enumerate() {
            let schedule = steps::build(each, &format!("{path}.steps[{i}]"), ranks, scale)?;
            first_tags.push(tags as u32);
            tags += u64::from(schedule.tags());
            let (messages, phits) = effort(&schedule, ranks);
            work = (work.0.saturating_add(messages), work.1.saturating_add(phits));
            schedules.push(schedule);
        }
        if tags * u64::from(spec.iterations) > u32::MAX.into() {
            let most = format!("at most {}", u64::from(u32::MAX) / tags);
            let message = format!("{} iterations of {tags} tags are too many", spec.iterations);
            return wrong("iterations", message, &most);
        }
        let program = Program::Steps { first_tags, tags: tags as u32, iterations: spec.iterations };
        let (uses, origin) = (Uses::new(&schedules), Origin::default());
        let collectives = (schedules, Comms::world(), uses);
        Ok(Self { work, ..Self::of_trace(program, collectives, origin, work) })
    }

    /// What its ranks do when is not kept, and they send no flows.
    pub(crate) fn keeps_nothing(&self) -> bool {
        self.kept == 0 && !self.critical_path && self.flows.is_none()
    }

    /// The class of service of a message with a tag.
    pub fn service(&self, tag: u32) -> u8 {
        self.flows.as_ref().map_or(0, |flows| flows.all[tag as usize].class)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Steps of an iteration; of a trace there is one, which has none.
    pub fn steps(&self) -> u32 {
        match &self.program {
            Program::Steps { first_tags, .. } => first_tags.len() as u32,
            Program::Trace(_) => 0,
        }
    }

    /// Times that all steps are taken.
    pub fn iterations(&self) -> u32 {
        match self.program {
            Program::Steps { iterations, .. } => iterations,
            Program::Trace(_) => 1,
        }
    }

    /// An operation of a rank in a program of steps; `None` after the last one of the step.
    pub fn op(&self, rank: u32, iteration: u32, step: u32, index: u32) -> Option<Op> {
        let node = self.program.node(rank, iteration * self.steps() + step);
        let Action::Collective { first_tag: base, .. } = node.action else { return None };
        Some(match self.schedules[step as usize].op(rank, (0, 0), index)? {
            Op::Send { to, phits, tag } => Op::Send { to, phits, tag: base + tag },
            Op::Wait { from, tag } => Op::Wait { from, tag: base + tag },
            compute => compute,
        })
    }

    /// What a node of a rank is called.
    pub fn name_of(&self, rank: u32, node: u32) -> &str {
        match self.program.node(rank, node).action {
            Action::Join | Action::Idle { .. } => "wait",
            Action::Compute { .. } => "compute",
            Action::Send { .. } => "send",
            Action::Receive { .. } => "receive",
            Action::Collective { schedule, .. } => &self.schedules[schedule as usize].name,
        }
    }

    /// A node of a rank, and where it stands.
    pub fn place(&self, rank: u32, node: u32) -> String {
        let name = self.name_of(rank, node);
        match &self.program {
            Program::Steps { iterations, .. } => {
                format!("iteration {} of {iterations}, {name}", node / self.steps() + 1)
            }
            Program::Trace(_) => {
                let place = self.program.node(rank, node).place;
                format!("{name}, {}", self.origin.place(rank, place))
            }
        }
    }

    /// How messages travel and match, one sentence each.
    pub fn says(&self) -> Vec<String> {
        let Protocol { eager_limit, buffered, control } = self.protocol;
        let ends = if buffered { "at once" } else { "when its last phit has left the host" };
        let mut says = vec![match eager_limit {
            u32::MAX => "all messages but those of synchronous sends go without asking".to_owned(),
            limit => format!(
                "messages of more than {limit} phits ask with a message of {control} phits, and go \
                 when their receive is posted and another one has come back"
            ),
        }];
        says.push(format!("the send of a message that goes without asking ends {ends}"));
        says.push(
            match self.wildcards {
                true => {
                    "what arrives first decides what a receive from any rank or with any tag takes"
                }
                false => "every receive takes the rank and the tag that the program names",
            }
            .to_owned(),
        );
        says
    }

    /// Messages and phits of all iterations.
    pub fn work(&self) -> (u64, u64) {
        let times = u64::from(self.iterations());
        (self.work.0.saturating_mul(times), self.work.1.saturating_mul(times))
    }

    /// Messages and phits that are likely to be under way at a time: what all ranks send before they wait, if they do
    /// as the first one; of a trace as many messages as are kept in a queue.
    pub(crate) fn at_once(&self) -> (u64, u64) {
        let (ranks, (messages, phits)) = (u64::from(self.ranks()), self.work());
        if self.steps() == 0 {
            let kept = messages.min(256 * ranks);
            return (kept, phits / messages.max(1) * kept);
        }
        let (mut most, mut sent) = ((0_u64, 0_u64), (0, 0));
        for step in 0..self.steps() {
            for op in (0..).map_while(|index| self.op(0, 0, step, index)) {
                match op {
                    Op::Send { phits, .. } => sent = (sent.0 + 1, sent.1 + u64::from(phits)),
                    _ => sent = (0, 0),
                }
                most = (most.0.max(sent.0), most.1.max(sent.1));
            }
        }
        (messages.min(most.0.saturating_mul(ranks)), phits.min(most.1.saturating_mul(ranks)))
    }

    /// Pairs of ranks of which one sends to the other, if all ranks send to as many as the first one.
    pub(crate) fn pairs(&self) -> u64 {
        if self.flows.is_some() {
            return 0;
        }
        let nodes = if self.steps() > 0 { self.steps() } else { self.program.size(0) };
        let (mut seen, mut to) = (BTreeSet::new(), BTreeSet::new());
        for id in 0..nodes {
            match self.program.node(0, id).action {
                Action::Send { to: peer, .. } => to.extend([peer]),
                Action::Collective { schedule, member, .. } if seen.insert((schedule, member)) => {
                    to.extend(self.schedules[schedule as usize].sends(member).map(|(to, _)| to));
                }
                _ => {}
            }
        }
        u64::from(self.ranks()) * to.len() as u64
    }
}

/// Refuses what has no meaning beside flows.
fn check_flows(spec: &spec::Job, path: &str) -> Result<(), SpecError> {
    let given = [
        ("steps", !spec.steps.is_empty()),
        ("iterations", spec.iterations != spec::once()),
        ("protocol", spec.protocol != spec::Protocol::default()),
        ("node", spec.node.is_some()),
        ("timeline", spec.timeline),
        ("critical_path", spec.critical_path),
    ];
    let Some((key, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let message = "a job of flows sends them, and nothing else";
    Err(SpecError::new(format!("{path}.{key}"), message).choices(["nothing beside `flows`"]))
}

impl Protocol {
    /// Everything is sent without asking.
    pub const EAGER: Self = Self { eager_limit: u32::MAX, buffered: true, control: 1 };
}

/// Resolves the protocol.
fn protocol(spec: &spec::Protocol, scale: &Scale, path: &str) -> Result<Protocol, SpecError> {
    let eager_limit = match &spec.eager_limit {
        None => u32::MAX,
        Some(limit) => {
            let path = format!("{path}.eager_limit");
            u32::try_from(scale.phits_down(&path, limit)?).unwrap_or(u32::MAX)
        }
    };
    let path = format!("{path}.control");
    let control = scale.phits_up(&path, &spec.control)?;
    let Some(control) = u32::try_from(control).ok().filter(|size| (1..1 << 16).contains(size))
    else {
        let message = format!("{control} phits is no size of a message");
        return Err(SpecError::new(path, message).choices(["1 to 65535 phits"]));
    };
    let buffered = spec.send_ends == spec::SendEnds::Buffered;
    Ok(Protocol { eager_limit, buffered, control })
}

/// Messages and phits that all ranks send in a collective.
fn effort(schedule: &Schedule, ranks: u32) -> (u64, u64) {
    if schedule.uniform() {
        let (messages, phits) = schedule.sent(0);
        return (messages * u64::from(ranks), phits * u64::from(ranks));
    }
    let all = (0..ranks).map(|rank| schedule.sent(rank));
    all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Activities of each rank whose times are kept.
fn kept(spec: &spec::Job, ranks: u32) -> usize {
    if spec.timeline { (MOST_ACTIVITIES / ranks.max(1) as usize).max(1) } else { 0 }
}
