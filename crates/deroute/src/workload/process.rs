//! A rank at work: it begins nodes of its program when all that they need has happened.

mod calls;
mod causes;
mod course;
mod messages;
mod report;
mod terms;

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use self::calls::Calls;
pub use self::causes::{Begun, Cause, Causes, NO_NODE};
pub use self::course::Course;
pub use self::report::Doing;
pub use self::terms::{Activity, Descriptor, Kind, Services};
use super::Job;
use super::actions::{Action, Then};
use super::matching::{Matching, Pattern, Waiter};
use crate::ids::Cycle;
use crate::table::Table;

/// What is to be done in this cycle.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Todo {
    Begin(u32),
    End(Waiter),
}

/// One rank of a job. What most messages need comes first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Process {
    /// Cycle in which it was told something last.
    heard: Cycle,
    rank: u32,
    matching: Matching,
    /// Cycles that it has spent computing, or is going to.
    pub computed: u64,
    /// Nodes that have not ended.
    left: u32,
    /// It has begun.
    begun: bool,
    /// Nodes that need more than has happened: how much more.
    unmet: Table<u32, u32>,
    todo: VecDeque<Todo>,
    /// What ends at which cycle.
    timers: BinaryHeap<Reverse<(Cycle, u32, Waiter)>>,
    /// Timers that were set.
    timed: u32,
    /// Streams, and until when each computes.
    streams: Vec<(u8, Cycle)>,
    calls: Calls,
    /// Sends that wait until their receive is posted, by receiver and number: who waits, and their phits.
    asked: BTreeMap<(u32, u32), (Waiter, u32, Pattern)>,
    /// Messages to each rank.
    sent: Table<u32, u32>,
    /// Nodes under way that hold the rank, by activity.
    active: [u32; Activity::COUNT],
    /// Cycles that it has spent with each activity, until it went on for the last time.
    spent: [u64; Activity::COUNT],
    /// Since when it does what it does.
    since: Cycle,
    /// When it did what, if its job keeps that.
    pub course: Course,
    /// What made it go on, if its job keeps that.
    pub causes: Option<Box<Causes>>,
}

/// Where a rank does something: its job, the cycle, its interface.
struct Site<'a, S> {
    job: &'a Job,
    now: Cycle,
    services: &'a mut S,
}

impl Process {
    /// A rank of a job that has not begun.
    pub fn new(rank: u32, job: &Job) -> Self {
        Self {
            heard: 0,
            rank,
            matching: Matching::default(),
            computed: 0,
            left: job.program.size(rank),
            begun: false,
            unmet: Table::default(),
            todo: VecDeque::new(),
            timers: BinaryHeap::from([Reverse((job.start, 0, Waiter::Start))]),
            timed: 0,
            streams: Vec::new(),
            calls: Calls::default(),
            asked: BTreeMap::new(),
            sent: Table::default(),
            active: [0; Activity::COUNT],
            spent: [0; Activity::COUNT],
            since: job.start,
            course: Course::default(),
            causes: job.critical_path.then(Box::default),
        }
    }

    /// Bytes that it takes beside itself when it has begun: the least room of its lists.
    pub fn bytes() -> u64 {
        let timer = size_of::<(Cycle, u32, Waiter)>();
        (timer + 4 * size_of::<Todo>() + Calls::bytes()) as u64
    }

    /// All its nodes have ended.
    pub fn is_done(&self) -> bool {
        self.begun && self.left == 0
    }

    /// Messages that it has not received.
    pub fn unreceived(&self) -> usize {
        self.matching.left()
    }

    /// Cycle in which the next thing ends that takes a known time.
    pub fn next_timer(&self) -> Option<Cycle> {
        self.timers.peek().map(|Reverse((at, ..))| *at)
    }

    /// Goes on as far as it can.
    pub fn advance(&mut self, job: &Job, now: Cycle, services: &mut impl Services) {
        self.account(job, now);
        let mut site = Site { job, now, services };
        loop {
            while let Some(todo) = self.todo.pop_front() {
                match todo {
                    Todo::Begin(node) => self.begin(node, &mut site),
                    Todo::End(waiter) => self.wake(waiter, &mut site),
                }
            }
            match self.timers.peek() {
                Some(Reverse((at, number, waiter))) if *at <= now => {
                    if let Some(causes) = &mut self.causes {
                        causes.note_timer(now, *number);
                    }
                    self.todo.push_back(Todo::End(*waiter));
                    self.timers.pop();
                }
                _ => return,
            }
        }
    }

    /// What it does.
    fn activity(&self) -> Activity {
        use Activity::{Collective, Compute, Receive, Send, Wait};
        let holds = |what: &Activity| self.active[*what as usize] > 0;
        [Compute, Collective, Receive, Send].into_iter().find(holds).unwrap_or(Wait)
    }

    /// Nothing is to be done in this cycle because of what it was told.
    pub fn is_waiting(&self) -> bool {
        self.todo.is_empty()
    }

    /// Cycles that it has spent with an activity, until it was told something or went on for the last time.
    pub fn spent(&self, what: Activity) -> u64 {
        let goes_on = self.begun && !self.is_done() && what as usize == self.activity() as usize;
        let since = if goes_on { self.heard.saturating_sub(self.since) } else { 0 };
        self.spent[what as usize] + u64::from(since)
    }

    /// Counts the time until now.
    pub fn account(&mut self, job: &Job, now: Cycle) {
        if self.begun && !self.is_done() && now > self.since {
            let what = self.activity();
            self.spent[what as usize] += u64::from(now - self.since);
            if job.kept > 0 {
                self.course.note(self.since, what, job.kept);
            }
        }
        self.since = self.since.max(now);
    }

    /// What somebody has waited for has ended.
    fn wake<S: Services>(&mut self, waiter: Waiter, site: &mut Site<'_, S>) {
        match waiter {
            Waiter::Start => {
                self.begun = true;
                let roots = site.job.program.roots(self.rank);
                self.todo.extend(roots.iter().map(|root| Todo::Begin(*root)));
            }
            Waiter::Node(node) => self.end(node, site),
            Waiter::Lane { call, lane } => self.run_lane(call, lane, site),
            Waiter::Computes { call, lane } => {
                self.active[Activity::Compute as usize] -= 1;
                self.run_lane(call, lane, site);
            }
            Waiter::Sent { call } => {
                if self.calls.sent(call) {
                    self.end_call(call, site);
                }
            }
        }
    }

    /// A node begins.
    fn begin<S: Services>(&mut self, id: u32, site: &mut Site<'_, S>) {
        let node = site.job.program.node(self.rank, id);
        if node.then == Then::Begun {
            self.meet(id + 1, site);
        }
        for edge in site.job.program.edges(self.rank, id).iter().filter(|edge| edge.begun()) {
            self.meet(edge.to(), site);
        }
        let hold =
            |what: Activity, held: u32| (what as usize, u32::from(!node.in_background()) * held);
        let waiter = Waiter::Node(id);
        let (what, ended) = match node.action {
            Action::Join => (hold(Activity::Wait, 0), true),
            Action::Compute { cycles, stream } => {
                self.computed += u64::from(cycles);
                let until = self.reserve(stream, cycles, site.now);
                if until > site.now {
                    self.set_timer(until, waiter);
                }
                (hold(Activity::Compute, 1), until <= site.now)
            }
            Action::Idle { cycles } => {
                self.set_timer(site.now.saturating_add(cycles), waiter);
                (hold(Activity::Wait, 0), false)
            }
            Action::Send { to, phits, tag, comm, synchronous } => {
                let key = Pattern { context: 2 * comm, from: self.rank, tag };
                let ended = self.send(to, key, (phits, synchronous), waiter, site);
                (hold(Activity::Send, 1), ended)
            }
            Action::Receive { from, tag, comm } => {
                let pattern = Pattern { context: 2 * comm, from, tag };
                (hold(Activity::Receive, 1), self.post(pattern, waiter, site))
            }
            Action::Collective { schedule, comm, member, first_tag } => {
                let (what, held) = hold(Activity::Collective, 1);
                self.active[what] += held;
                self.begin_call(id, (schedule, first_tag), (comm, member), site);
                return;
            }
        };
        self.active[what.0] += what.1;
        if ended {
            self.todo.push_front(Todo::End(waiter));
        }
    }

    /// A node ends.
    fn end<S: Services>(&mut self, id: u32, site: &mut Site<'_, S>) {
        let node = site.job.program.node(self.rank, id);
        let what = match node.action {
            Action::Join | Action::Idle { .. } => None,
            Action::Compute { .. } => Some(Activity::Compute),
            Action::Send { .. } => Some(Activity::Send),
            Action::Receive { .. } => Some(Activity::Receive),
            Action::Collective { .. } => Some(Activity::Collective),
        };
        if let Some(what) = what.filter(|_| !node.in_background()) {
            self.active[what as usize] -= 1;
        }
        self.left -= 1;
        if let Some(causes) = self.causes.as_mut().filter(|_| self.left == 0) {
            causes.end();
        }
        if let Some(iteration) = site.job.program.iteration_after(id) {
            site.services.iteration(iteration);
        }
        if node.then == Then::Ended && id + 1 < site.job.program.size(self.rank) {
            self.meet(id + 1, site);
        }
        for edge in site.job.program.edges(self.rank, id).iter().filter(|edge| !edge.begun()) {
            self.meet(edge.to(), site);
        }
    }

    /// Something that a node needs has happened.
    fn meet<S: Services>(&mut self, id: u32, site: &Site<'_, S>) {
        let needs = site.job.program.node(self.rank, id).needs;
        if needs > 1 {
            let left = self.unmet.entry(id).or_insert(needs);
            *left -= 1;
            if *left > 0 {
                return;
            }
            self.unmet.remove(&id);
        }
        self.todo.push_back(Todo::Begin(id));
    }

    /// Has a stream compute, after what it does already; returns the cycle in which that ends.
    fn reserve(&mut self, stream: u8, cycles: Cycle, now: Cycle) -> Cycle {
        let place = self.streams.iter().position(|(own, _)| *own == stream).unwrap_or_else(|| {
            self.streams.push((stream, now));
            self.streams.len() - 1
        });
        let until = &mut self.streams[place].1;
        *until = (*until).max(now).saturating_add(cycles);
        *until
    }

    fn set_timer(&mut self, at: Cycle, waiter: Waiter) {
        if self.causes.is_some() {
            let node = self.node_of(waiter);
            self.causes.iter_mut().for_each(|causes| causes.set_timer(node));
        }
        self.timed = self.timed.wrapping_add(1);
        self.timers.push(Reverse((at, self.timed, waiter)));
    }
}
