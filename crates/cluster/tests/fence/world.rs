//! A log, its processes and everything on its way between them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use cluster::term::Verdict;
use persistence::{
    Outcome,
    frames::{FramePosition, Group},
};

use super::{
    Step,
    process::{Answer, Load, NOW, Process, Reading, Role},
    shared_log::SharedLog,
};

/// How often what matters happened.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) take_overs: u32,
    pub(crate) goings_on: u32,
    pub(crate) found_durable: u32,
    pub(crate) framed_again: u32,
    pub(crate) fenced: u32,
    pub(crate) reads_from_memory: u32,
    pub(crate) reads_by_the_log: u32,
    pub(crate) handed_over: u32,
}

impl Seen {
    pub(crate) fn add(&mut self, more: &Self) {
        self.take_overs += more.take_overs;
        self.goings_on += more.goings_on;
        self.found_durable += more.found_durable;
        self.framed_again += more.framed_again;
        self.fenced += more.fenced;
        self.reads_from_memory += more.reads_from_memory;
        self.reads_by_the_log += more.reads_by_the_log;
        self.handed_over += more.handed_over;
    }
}

/// What a frame is, by its hash.
#[derive(Debug, Clone)]
struct Origin {
    incarnation: u128,
    appends: Vec<u64>,
    is_opening: bool,
    is_closing: bool,
}

pub(crate) struct World {
    log: SharedLog,
    processes: Vec<Process>,
    now: Duration,
    /// All frames ever made.
    origins: BTreeMap<[u8; 32], Origin>,
    appends: u64,
    incarnations: u128,
    reported: BTreeMap<u64, Outcome>,
    acknowledged: BTreeSet<u64>,
    executed_last: Option<Group>,
    pub(crate) seen: Seen,
}

impl World {
    pub(crate) fn new(clocks: &[u64]) -> Self {
        let processes: Vec<_> = (1..)
            .zip(clocks)
            .map(|(incarnation, rate)| Process::new(incarnation, *rate))
            .collect();
        Self {
            log: SharedLog::default(),
            incarnations: u128::try_from(processes.len()).unwrap(),
            processes,
            now: Duration::from_secs(1),
            origins: BTreeMap::new(),
            appends: 0,
            reported: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            executed_last: None,
            seen: Seen::default(),
        }
    }

    pub(crate) fn take(&mut self, step: Step) {
        match step {
            Step::Pass(millis) => self.now += Duration::from_millis(millis),
            Step::Append(who, many, is_full) => self.append(who, many, is_full),
            Step::Heartbeat(who) => self.queue(who, Load::default()),
            Step::Execute(who) => self.execute(who),
            Step::ExecuteLate(who) => self.execute_late(who),
            Step::ExecuteAgain => {
                if let Some(group) = &self.executed_last {
                    let _ = self.log.insert(group);
                }
            }
            Step::Replicate => self.log.replicate(),
            Step::Answer(who) => self.answer(who),
            Step::Warn(who) => self.warn(who),
            Step::Cut(who) => self.processes[who].cut(),
            Step::FailOver => self.fail_over(),
            Step::Look(who) => self.look(who),
            Step::Watch(who, looks) => self.watch(who, looks),
            Step::TakeOver(who, looks) => {
                self.watch(who, looks);
                self.open(who);
                self.work(who);
                self.append(who, 1, false);
                self.work(who);
            }
            Step::Open(who) => self.open(who),
            Step::Work(who) => self.work(who),
            Step::Read(who, at_once) => {
                self.read(who);
                if at_once {
                    self.read(who);
                }
            }
            Step::HandOver(who) => self.hand_over(who),
            Step::Restart(who) => self.restart(who),
        }
    }

    fn append(&mut self, who: usize, many: u64, is_full: bool) {
        // One that is not connected refuses before anything is done.
        if self.processes[who].role != Role::Leading {
            return;
        }
        let appends: Vec<u64> = (self.appends..self.appends + many).collect();
        self.appends += many;
        self.processes[who].memory.extend(&appends);
        self.queue(
            who,
            Load {
                appends,
                is_full,
                ..Load::default()
            },
        );
    }

    /// Has a leader send something, now or once there is room.
    fn queue(&mut self, who: usize, load: Load) {
        let process = &mut self.processes[who];
        if process.serves() {
            process.queued.push_back(load);
            self.send(who);
        }
    }

    fn send(&mut self, who: usize) {
        let incarnation = self.processes[who].incarnation;
        for (group, appends) in self.processes[who].send(self.now) {
            // Full appends fill a frame each, others share one.
            let each = appends.len().div_ceil(group.frames.len().max(1)).max(1);
            let mut rest = appends.chunks(each);
            for frame in &group.frames {
                let appends = rest.next().unwrap_or_default().to_vec();
                self.made(frame.place, incarnation, appends, false, false);
            }
            assert!(rest.next().is_none());
        }
    }

    fn made(
        &mut self,
        place: FramePosition,
        incarnation: u128,
        appends: Vec<u64>,
        is_opening: bool,
        is_closing: bool,
    ) {
        let origin = Origin {
            incarnation,
            appends,
            is_opening,
            is_closing,
        };
        let former = self.origins.insert(place.hash, origin);
        if let Some(former) = former {
            // A heartbeat is the same bytes wherever it follows the same frame: so it counts as this process's.
            assert!(
                !is_opening && former.incarnation == incarnation,
                "two frames are the same"
            );
        }
    }

    fn execute(&mut self, who: usize) {
        if let Some(group) = self.processes[who].connection.sent.pop_front() {
            let was_added = self.log.insert(&group);
            let last = group.last();
            self.executed_last = Some(group);
            let answers = &mut self.processes[who].connection.answers;
            answers.push_back(Answer { last, was_added });
        }
    }

    fn execute_late(&mut self, who: usize) {
        let late = &mut self.processes[who].late;
        if let Some(sent) = late.front_mut() {
            if let Some(group) = sent.pop_front() {
                let _ = self.log.insert(&group);
            }
            if sent.is_empty() {
                late.pop_front();
            }
        }
    }

    fn answer(&mut self, who: usize) {
        let Some(answer) = self.processes[who].connection.answers.front().copied() else {
            return;
        };
        if !answer.was_added {
            return self.processes[who].cut();
        }
        // A commit waits for the standby.
        if answer.last.lsn > self.log.safe() {
            return;
        }
        self.processes[who].connection.answers.pop_front();
        match self.processes[who].role {
            Role::Starting => self.opened(who),
            Role::Leading => self.acknowledge(who),
            Role::Resigning => {
                self.processes[who].role = Role::Over;
                self.seen.handed_over += 1;
            }
            role => panic!("an answer to one that is {role:?}"),
        }
    }

    /// Added here, and nobody says whether the standby has it: that is as good as no answer.
    fn warn(&mut self, who: usize) {
        if !self.processes[who].connection.answers.is_empty() {
            self.processes[who].cut();
        }
    }

    fn fail_over(&mut self) {
        self.log.fail_over();
        for process in &mut self.processes {
            process.cut();
        }
    }

    fn look(&mut self, who: usize) {
        let moment = self.processes[who].moment(self.now);
        let process = &mut self.processes[who];
        if process.role != Role::Following {
            return;
        }
        match process.looking.take() {
            Some((head, is_closed)) => process.watch.saw(head, is_closed, moment),
            None => {
                let head = self.log.head();
                let origin = self.origins.get(&head.hash);
                let is_closed = origin.is_some_and(|origin| origin.is_closing);
                process.looking = Some((head, is_closed));
            }
        }
    }

    fn watch(&mut self, who: usize, looks: u32) {
        for _ in 0..looks {
            self.look(who);
            self.look(who);
            let moment = self.processes[who].moment(self.now);
            if self.processes[who].watch.may_open(moment).is_some() {
                break;
            }
            self.now += Duration::from_millis(350);
        }
    }

    fn open(&mut self, who: usize) {
        let moment = self.processes[who].moment(self.now);
        let process = &mut self.processes[who];
        match process.role {
            Role::Following => match process.watch.may_open(moment) {
                Some(head) => process.term.behind(head),
                None => return,
            },
            Role::Lost => {}
            _ => return,
        }
        let kept = self.log.from(process.term.known().lsn);
        match process.term.judge(&kept, NOW).unwrap() {
            Verdict::Open(group) => {
                process.connection.sent.push_back(group.clone());
                process.opening_sent = moment;
                process.role = Role::Starting;
                let incarnation = process.incarnation;
                self.made(group.last(), incarnation, Vec::new(), true, false);
            }
            Verdict::Beaten => {
                assert!(process.waiting().is_empty(), "it has led");
                process.role = Role::Following;
                process.watch = Default::default();
            }
            Verdict::Fenced => self.end(who),
        }
    }

    /// A process ends: waiting callers get the outcome `Unknown`.
    fn end(&mut self, who: usize) {
        let process = &mut self.processes[who];
        process.role = Role::Over;
        self.seen.fenced += 1;
        for load in process.waiting() {
            for append in load.appends {
                assert_eq!(self.reported.insert(append, Outcome::Unknown), None);
            }
        }
    }

    fn opened(&mut self, who: usize) {
        let process = &mut self.processes[who];
        let is_new = !process.has_led;
        let found = process.term.opened();
        process.lease.renew(process.opening_sent);
        process.role = Role::Leading;
        process.has_led = true;
        let resolved = process.window.resolve(&found);
        let start = process.term.known();
        let prefix = self.prefix(start.lsn);
        let process = &mut self.processes[who];
        if is_new {
            process.memory.clone_from(&prefix);
            self.seen.take_overs += 1;
        } else {
            self.seen.goings_on += 1;
        }
        self.seen.found_durable += u32::try_from(resolved.durable.len()).unwrap();
        self.seen.framed_again += u32::try_from(resolved.again.len()).unwrap();
        let mut expected = process.memory.clone();
        for load in resolved.again.iter().chain(&process.queued) {
            expected.retain(|append| !load.appends.contains(append));
        }
        assert_eq!(
            prefix, expected,
            "a leader's memory has what was logged before its term start"
        );
        // Its term start may be an old one, whose answer came late.
        let later = self.log.from(start.lsn + 1);
        if !later
            .iter()
            .any(|kept| self.origins[&kept.place.hash].is_opening)
        {
            let lost = self.acknowledged.difference(&process.memory).next();
            assert_eq!(lost, None, "a successor lacks what was acknowledged");
        }
        for load in resolved.again.into_iter().rev() {
            process.queued.push_front(load);
        }
        for (_, load) in resolved.durable {
            self.tell(load);
        }
        self.send(who);
    }

    fn acknowledge(&mut self, who: usize) {
        let process = &mut self.processes[who];
        let (group, load) = process.window.pop().expect("an answer to nothing");
        process.term.acknowledged(group.last());
        process.lease.renew(load.sent);
        self.tell(load);
        self.send(who);
    }

    fn tell(&mut self, load: Load) {
        let safe = self.prefix(self.log.safe());
        for append in load.appends {
            assert!(
                safe.contains(&append),
                "it was acknowledged and may be lost"
            );
            assert_eq!(
                self.reported.insert(append, Outcome::Durable),
                None,
                "it was reported twice"
            );
            self.acknowledged.insert(append);
        }
        for reading in load.readings {
            self.seen.reads_by_the_log += 1;
            self.shown(&reading);
        }
    }

    /// All appends in the log up to a frame, each once.
    fn prefix(&self, lsn: u64) -> BTreeSet<u64> {
        let mut all = BTreeSet::new();
        for kept in self
            .log
            .from(1)
            .iter()
            .take_while(|kept| kept.place.lsn <= lsn)
        {
            for append in &self.origins[&kept.place.hash].appends {
                assert!(all.insert(*append), "append {append} is in the log twice");
            }
        }
        all
    }

    fn read(&mut self, who: usize) {
        let moment = self.processes[who].moment(self.now);
        let process = &mut self.processes[who];
        // It may not know yet that it leads no more, or has begun to end.
        if !process.has_led {
            return;
        }
        let Some(reading) = process.reading.take() else {
            process.reading = Some(Reading {
                shown: process.memory.clone(),
                acknowledged: self.acknowledged.clone(),
            });
            return;
        };
        // What is shown is durable, and nobody else can have written: both looked at after it was read.
        let durable = reading
            .shown
            .iter()
            .all(|append| self.reported.get(append) == Some(&Outcome::Durable))
            || process.window.is_empty() && process.queued.is_empty();
        if durable && process.lease.holds(moment) {
            self.seen.reads_from_memory += 1;
            self.shown(&reading);
        } else {
            self.queue(
                who,
                Load {
                    readings: vec![reading],
                    ..Load::default()
                },
            );
        }
    }

    /// A reader is answered with what he was shown.
    fn shown(&self, reading: &Reading) {
        let missing = reading.acknowledged.difference(&reading.shown).next();
        assert_eq!(
            missing, None,
            "a reader was shown less than was acknowledged before he asked"
        );
        let safe = self.prefix(self.log.safe());
        let unsafe_yet = reading.shown.difference(&safe).next();
        assert_eq!(unsafe_yet, None, "a reader was shown what may be lost");
    }

    fn hand_over(&mut self, who: usize) {
        let incarnation = self.processes[who].incarnation;
        if let Some(group) = self.processes[who].close() {
            self.made(group.last(), incarnation, Vec::new(), false, true);
        }
    }

    fn restart(&mut self, who: usize) {
        for load in self.processes[who].waiting() {
            for append in load.appends {
                assert_eq!(self.reported.insert(append, Outcome::Unknown), None);
            }
        }
        self.incarnations += 1;
        self.processes[who] = self.processes[who].restarted(self.incarnations);
    }

    fn work(&mut self, who: usize) {
        for _ in 0..self.processes[who].connection.sent.len() {
            self.execute(who);
        }
        self.log.replicate();
        for _ in 0..self.processes[who].connection.answers.len() {
            self.answer(who);
        }
    }

    /// Trouble ends: what is late arrives, and waiting callers are answered.
    pub(crate) fn heal(&mut self) {
        for round in 0.. {
            assert!(round < 1000, "somebody waits for ever");
            let mut is_quiet = true;
            for who in 0..self.processes.len() {
                is_quiet &= self.processes[who].late.is_empty();
                self.execute_late(who);
                let role = self.processes[who].role;
                is_quiet &= matches!(role, Role::Following | Role::Leading | Role::Over);
                self.open_if_lost(who);
                self.work(who);
                let process = &mut self.processes[who];
                is_quiet &= process.window.is_empty() && process.queued.is_empty();
            }
            if is_quiet {
                break;
            }
        }
        // And a new one takes over.
        self.restart(0);
        for _ in 0..3 {
            self.watch(0, 12);
            self.open(0);
            self.work(0);
        }
        assert_eq!(self.processes[0].role, Role::Leading);
    }

    fn open_if_lost(&mut self, who: usize) {
        if self.processes[who].role == Role::Lost {
            self.open(who);
        }
    }

    /// What must be true of any log, and of what was reported.
    pub(crate) fn judge(&self) {
        let rows = self.log.from(0);
        let mut leader = None;
        for pair in rows.windows(2) {
            let (before, kept) = (&pair[0], &pair[1]);
            assert_eq!(kept.place.lsn, before.place.lsn + 1, "a hole");
            assert_eq!(kept.bytes[17..49], before.place.hash, "the chain is broken");
            let origin = &self.origins[&kept.place.hash];
            if origin.is_opening {
                leader = Some(origin.incarnation);
            }
            assert_eq!(
                leader,
                Some(origin.incarnation),
                "a frame inside another's term"
            );
        }
        let all = self.prefix(u64::MAX);
        for append in 0..self.appends {
            match self.reported.get(&append) {
                Some(Outcome::Durable) => assert!(all.contains(&append), "{append} is lost"),
                Some(Outcome::Unknown) => {}
                None => panic!("no outcome was reported for {append}"),
            }
        }
        assert_eq!(
            all, self.processes[0].memory,
            "the last leader has all of it"
        );
    }
}
