//! One process: what it holds of the log, and the production code that decides for it.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use cluster::{
    term::{Claimant, Term},
    watch::Watch,
};
use domain::Timestamp;
use persistence::{
    Append, Heartbeat, LogEvent, Note, Resignation,
    frames::{
        self, FramePosition, Group, LeadershipItem, Window,
        lease::{Lease, Moment},
    },
};

pub(crate) const NOW: Timestamp = Timestamp(1);
const DEPTH: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Following,
    /// Its connection is gone: it has to open.
    Lost,
    /// Its term start is under way.
    Starting,
    Leading,
    /// Its resignation is under way.
    Resigning,
    /// It ended, or has to.
    Over,
}

/// A reader who was shown a state, and what had been acknowledged to anybody when he asked.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) shown: BTreeSet<u64>,
    pub(crate) acknowledged: BTreeSet<u64>,
}

/// What a group is made from: appends, or none for a heartbeat, and who waits for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Load {
    pub(crate) appends: Vec<u64>,
    /// Whether each fills a frame.
    pub(crate) is_full: bool,
    pub(crate) readings: Vec<Reading>,
    pub(crate) sent: Moment,
}

impl Load {
    fn queued(&self) -> Vec<u8> {
        let mut queued = Vec::new();
        for append in &self.appends {
            let body = vec![
                0;
                if self.is_full {
                    Note::MAX_BODY_BYTES
                } else {
                    1
                }
            ];
            let note = Note {
                key: append.to_be_bytes().into(),
                body: Some(body.into()),
            };
            frames::push(&mut queued, &Append::one(&LogEvent::Note(note)).unwrap());
        }
        if self.appends.is_empty() {
            let beat = LeadershipItem::Heartbeat(Heartbeat { at: NOW });
            frames::push(&mut queued, &append(beat));
        }
        queued
    }
}

fn append(item: LeadershipItem) -> Append {
    Append::one(&LogEvent::Leadership(item)).unwrap()
}

/// An answer on its way: to which group, and whether it was added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) last: FramePosition,
    pub(crate) was_added: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// Sent, and not executed.
    pub(crate) sent: VecDeque<Group>,
    pub(crate) answers: VecDeque<Answer>,
}

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) incarnation: u128,
    /// How fast its clock runs, in thousandths, and what it showed at the beginning.
    rate: u64,
    offset: Duration,
    pub(crate) role: Role,
    pub(crate) connection: Connection,
    /// What was sent on connections that were cut, and may arrive all the same.
    pub(crate) late: VecDeque<VecDeque<Group>>,
    pub(crate) watch: Watch,
    /// The head that an answer on its way names, and whether it is a resignation.
    pub(crate) looking: Option<(FramePosition, bool)>,
    pub(crate) lease: Lease,
    pub(crate) term: Term,
    pub(crate) window: Window<Load>,
    /// It has led, and knows all that is before its term start.
    pub(crate) has_led: bool,
    /// To be made into groups.
    pub(crate) queued: VecDeque<Load>,
    /// When its last term start was sent.
    pub(crate) opening_sent: Moment,
    /// All appends that its state is made of.
    pub(crate) memory: BTreeSet<u64>,
    pub(crate) reading: Option<Reading>,
}

impl Process {
    pub(crate) fn new(incarnation: u128, rate: u64) -> Self {
        Self {
            incarnation,
            rate,
            offset: Duration::from_millis(u64::try_from(incarnation).unwrap() * 777),
            role: Role::Following,
            connection: Connection::default(),
            late: VecDeque::new(),
            watch: Watch::default(),
            looking: None,
            lease: Lease::default(),
            term: Term::new(Claimant {
                node: incarnation,
                incarnation,
                address: "http://10.0.0.1:8080".into(),
            }),
            window: Window::new(DEPTH, FramePosition::default()),
            has_led: false,
            queued: VecDeque::new(),
            opening_sent: Moment::default(),
            memory: BTreeSet::new(),
            reading: None,
        }
    }

    /// The same process after it was killed, with what it had sent still on its way.
    pub(crate) fn restarted(&mut self, incarnation: u128) -> Self {
        self.cut();
        let mut next = Self::new(incarnation, self.rate);
        next.late = std::mem::take(&mut self.late);
        next
    }

    /// Whether it answers readers, at once or later.
    pub(crate) fn serves(&self) -> bool {
        self.has_led && matches!(self.role, Role::Leading | Role::Lost | Role::Starting)
    }

    /// What its clock shows.
    pub(crate) fn moment(&self, real: Duration) -> Moment {
        let rate = u32::try_from(self.rate).unwrap();
        self.offset + real * rate / 1000
    }

    pub(crate) fn cut(&mut self) {
        let connection = std::mem::take(&mut self.connection);
        if !connection.sent.is_empty() {
            self.late.push_back(connection.sent);
        }
        self.role = match self.role {
            Role::Leading | Role::Starting | Role::Lost => Role::Lost,
            Role::Resigning => Role::Over,
            role => role,
        };
    }

    /// Sends queued loads while there is room; returns what it made.
    pub(crate) fn send(&mut self, real: Duration) -> Vec<(Group, Vec<u64>)> {
        let mut made = Vec::new();
        while self.role == Role::Leading
            && self.window.has_room()
            && let Some(mut load) = self.queued.pop_front()
        {
            let group = Group::of(&load.queued(), self.window.head(), &mut Vec::new()).unwrap();
            load.sent = self.moment(real);
            self.connection.sent.push_back(group.clone());
            made.push((group.clone(), load.appends.clone()));
            self.window.push(group, load);
        }
        made
    }

    /// Gives up its lease and sends a resignation; `None` where something is still to be done before.
    pub(crate) fn close(&mut self) -> Option<Group> {
        if self.role != Role::Leading || !self.window.is_empty() || !self.queued.is_empty() {
            return None;
        }
        self.lease.give_up();
        let end = LeadershipItem::Resignation(Resignation {
            taken_by: None,
            at: NOW,
        });
        let group = Group::single(&append(end), self.window.head()).unwrap();
        self.connection.sent.push_back(group.clone());
        self.role = Role::Resigning;
        Some(group)
    }

    /// Everything that somebody waits for.
    pub(crate) fn waiting(&mut self) -> Vec<Load> {
        let mut all: Vec<Load> = std::iter::from_fn(|| self.window.pop())
            .map(|(_, load)| load)
            .collect();
        all.extend(self.queued.drain(..));
        all
    }
}
