//! A process that follows a log in the database into books of its own, and leads it once no other process does. It goes that
//! way once: a leader that loses the log ends, and restarts as a follower. Where its cell does not exist yet, it
//! follows the log that the cell will come from, stops at the frame where that divides, and goes on as a member of the
//! cell.

use std::{sync::Arc, thread, time::Duration};

use persistence::{
    Books as _, Error, Log as _, Options, SledJournal,
    frames::{
        FramePosition, LeadershipItem, StoredFrame,
        lease::{self, Moment},
        parse_leadership, splits_off,
    },
    went_elsewhere,
};

use super::{
    Standing,
    joining::{Joining, Run},
    log::PostgresFrames,
    member::{Followed, Member},
    rows::ROWS,
    schedule::Schedule,
    segments::Segments,
    term_start::OpenAttempt,
};
use crate::watch::Watch;

/// Pause between two looks at a log that has not moved.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often it is asked who leads, where the frames that were read do not say so, and whether a cell exists.
const ASK_INTERVAL: Duration = Duration::from_secs(1);
/// How much longer a process whose disk is full waits for others to open.
const FULL_DISK_DELAY: Duration = Duration::from_secs(5);
/// Pause after the database did not answer.
const BACKOFF: Duration = Duration::from_millis(250);

/// See the module.
pub struct Follower {
    options: Options,
    member: Member,
    run: Run,
    journal: Arc<SledJournal>,
    frames: Arc<PostgresFrames>,
    watch: Watch,
    /// Whether the last frame that was read is the split behind which the log of this process's future cell begins.
    is_at_split: bool,
    /// When the database was last asked for that cell.
    looked: Moment,
    /// Whether a term start was seen, or noted in the database, with nothing behind it that ends it.
    knows_leader: bool,
    /// When the database was last asked who leads.
    asked: Moment,
    /// When this process might have opened first, since it last saw the log move.
    might_open: Option<Moment>,
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").finish_non_exhaustive()
    }
}

impl Follower {
    /// Opens the data directory and reads the log as far as it goes. The first process makes the tables; where its
    /// directory has data, the log goes on behind it. Where the directory's books cannot go on with the log, they are
    /// rebuilt from the newest snapshot, or from the first frame on.
    /// # Errors
    /// Those of [`SledJournal::open`] and [`crate::backup::restore_member`], and [`Error::Unusable`] when database and directory
    /// do not belong together, or the database has lost frames that it had acknowledged to this process: then nothing is
    /// touched.
    pub fn join(options: Options, member: Member) -> Result<Self, Error> {
        Self::join_as(options, member, Run::new())
    }

    fn join_as(options: Options, member: Member, run: Run) -> Result<Self, Error> {
        let (journal, frames, rows) = Joining::new(&member, &options, &run)?.open()?;
        let head = journal.head();
        let is_at_split = match frames.identity().joins {
            Some(cell) => match frames.at(head.lsn)? {
                Some(last) if !last.bytes.is_empty() => splits_off(&last.bytes, cell)?,
                _ => false,
            },
            None => false,
        };
        // Only members of a cell make snapshots of its log.
        if let Some(every) = member.snapshot_every
            && frames.identity().joins.is_none()
        {
            let schedule = Schedule {
                rows,
                frames: Arc::clone(&frames),
                journal: Arc::downgrade(&journal),
                every,
            };
            journal.run_beside("snapshots", move |stop| schedule.run(stop))?;
        }
        let mut follower = Self {
            options,
            member,
            run,
            journal,
            frames,
            watch: Watch::default(),
            is_at_split,
            looked: Moment::ZERO,
            knows_leader: false,
            asked: Moment::ZERO,
            might_open: None,
        };
        follower.ask_who_leads()?;
        Ok(follower)
    }

    /// How far this process has come, also once it goes on with another log, and once it leads.
    pub fn standing(&self) -> Arc<Standing> {
        Arc::clone(&self.run.standing)
    }

    /// The cell that this process is to become, where it still follows the log that the cell comes from: until then it
    /// does not lead. `None`: it belongs to the cell whose log it follows.
    pub fn joins(&self) -> Option<i16> {
        self.frames.identity().joins
    }

    /// Follows the log until this process leads it, or `stop` says so; that of its cell from where it begins, if the
    /// process has followed another so far. Blocks.
    /// # Errors
    /// The directory failed, the log is damaged, or it has gone another way than this process has read:
    /// [`Error::Fenced`], after which the process restarts. Those of [`Follower::join`] for its cell.
    pub fn follow(mut self, stop: &dyn Fn() -> bool) -> Result<Followed, Error> {
        let mut is_down = false;
        loop {
            if stop() {
                self.journal.close()?;
                return Ok(Followed::Stopped);
            }
            if let Some(failure) = self.journal.failure() {
                return Err(failure);
            }
            let pause = match self.step() {
                Ok(Step::Leads) => {
                    let clock = self.frames.opener().former_clock();
                    let journal = self.journal;
                    return Ok(Followed::Leads { journal, clock });
                }
                Ok(Step::Taken(by)) => {
                    self.journal.flush()?;
                    self.journal.close()?;
                    let is_own = by == self.frames.identity().node.as_u128();
                    return Ok(Followed::Taken { is_own });
                }
                Ok(Step::CellExists) => match self.join_cell(stop)? {
                    Some(member) => {
                        self = member;
                        Duration::ZERO
                    }
                    None => return Ok(Followed::Stopped),
                },
                Ok(Step::ThereIsMore) => Duration::ZERO,
                Ok(Step::Waiting) => POLL_INTERVAL,
                Err(Error::Unreachable(why)) => {
                    if !is_down {
                        tracing::warn!(error = why, "The log cannot be followed for now");
                    }
                    is_down = true;
                    thread::sleep(BACKOFF);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if is_down {
                tracing::info!("The log is followed again");
                is_down = false;
            }
            thread::sleep(pause);
        }
    }

    /// Looks once, and opens where that is allowed.
    fn step(&mut self) -> Result<Step, Error> {
        let head = self.journal.head();
        // While the outcome of this process's own term start is unknown, its frame would look like another process's.
        if self.frames.is_opening() {
            return self.open(head);
        }
        if let Some(cell) = self.joins()
            && let Some(step) = self.look_for(cell, head)?
        {
            return Ok(step);
        }
        let kept = self.frames.behind(head.lsn)?;
        if !kept.is_empty() {
            self.take_in(&kept)?;
            self.might_open = None;
            // A log that is being written always has a little more: it is not chased frame by frame.
            return Ok(match (kept.len() as u64) < ROWS.unsigned_abs() {
                true => Step::Waiting,
                false => Step::ThereIsMore,
            });
        }
        let last = match self.frames.at(head.lsn)? {
            Some(last) if last.place == head => last,
            _ => return Err(went_elsewhere(head.lsn)),
        };
        let is_closed = match last.bytes.is_empty() {
            // The place before the first frame: no process has ever led.
            true => true,
            false => match parse_leadership(&last.bytes)? {
                Some(LeadershipItem::Resignation(end)) => match end.taken_by {
                    Some(by) => return Ok(Step::Taken(by)),
                    None => true,
                },
                _ => false,
            },
        };
        self.watch.saw(head, is_closed, lease::now());
        let may_open = self.watch.may_open(lease::now());
        let may_open = may_open.filter(|_| self.joins().is_none() && self.has_room());
        let Some(head) = may_open else {
            let since = lease::now().saturating_sub(self.asked);
            if !self.knows_leader && !is_closed && since >= ASK_INTERVAL {
                self.ask_who_leads()?;
            }
            return Ok(Step::Waiting);
        };
        self.saw_leader(None);
        self.open(head)
    }

    /// Whether the disk has room, or those who have any have had time to open first.
    fn has_room(&mut self) -> bool {
        let now = lease::now();
        let since = *self.might_open.get_or_insert(now);
        !self.journal.is_disk_full() || now.saturating_sub(since) >= FULL_DISK_DELAY
    }

    /// Looks for the cell that this process is to become. `None`: the log is to be followed on.
    fn look_for(&mut self, cell: i16, head: FramePosition) -> Result<Option<Step>, Error> {
        let now = lease::now();
        if !self.is_at_split && now.saturating_sub(self.looked) < ASK_INTERVAL {
            return Ok(None);
        }
        self.looked = now;
        match self.frames.base_of(cell)? {
            // Also where this process has read on: its books are rebuilt then.
            Some(base) if base.lsn <= head.lsn => return Ok(Some(Step::CellExists)),
            // Where another has seen it divide once more.
            Some(_) => {}
            None if !self.is_at_split => {}
            // From here on others find the cell's log, and only who has these books can go on with it.
            None => {
                self.journal.flush()?;
                let segments = Segments::new(cell, self.member.segment_frames_log2);
                return match self.frames.divide(segments, head)? {
                    true => Ok(Some(Step::ThereIsMore)),
                    false => Err(went_elsewhere(head.lsn)),
                };
            }
        }
        self.is_at_split = false;
        Ok(None)
    }

    /// Goes on as a member of the cell that this process belongs to, which exists by now. `None`: it was asked to stop.
    fn join_cell(self, stop: &dyn Fn() -> bool) -> Result<Option<Self>, Error> {
        let (options, member, run) = (self.options, self.member, self.run);
        let clock = *self.frames.opener().former_clock.lock();
        self.journal.flush()?;
        self.journal.close()?;
        drop((self.journal, self.frames));
        tracing::info!(
            cluster.cell = member.cell,
            "The cell exists: its log is followed from here on"
        );
        loop {
            match Self::join_as(options.clone(), member.clone(), run.clone()) {
                Ok(joined) => {
                    *joined.frames.opener().former_clock.lock() = clock;
                    return Ok(Some(joined));
                }
                Err(Error::Unreachable(_)) if stop() => return Ok(None),
                Err(Error::Unreachable(why)) => {
                    tracing::warn!(error = why, "The cell's log cannot be joined for now");
                    thread::sleep(BACKOFF);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// A leader whose term start is in the books already has noted its address, or will soon.
    fn ask_who_leads(&mut self) -> Result<(), Error> {
        let address = self.frames.cell()?.map(|cell| cell.leader_address);
        self.saw_leader(address.as_deref().filter(|address| !address.is_empty()));
        self.asked = lease::now();
        Ok(())
    }

    fn saw_leader(&mut self, address: Option<&str>) {
        self.knows_leader = address.is_some();
        // The leader of another cell's log does not answer this process' own requests.
        if self.joins().is_none() {
            (self.member.on_leader)(address);
        }
    }

    fn open(&mut self, head: FramePosition) -> Result<Step, Error> {
        match self.frames.open_behind(head)? {
            OpenAttempt::Leads(found, ()) => {
                self.journal.lead(&found)?;
                Ok(Step::Leads)
            }
            OpenAttempt::NotYet(why) => {
                tracing::warn!(error = why, "The log cannot be taken over yet");
                Ok(Step::Waiting)
            }
            OpenAttempt::Beaten => Ok(Step::Waiting),
        }
    }

    /// Takes in frames that follow what was read; none behind one from which this process' cell goes on.
    fn take_in(&mut self, frames: &[StoredFrame]) -> Result<(), Error> {
        let mut count = 0_usize;
        for stored in frames {
            count += 1;
            if let Some(cell) = self.joins()
                && splits_off(&stored.bytes, cell)?
            {
                self.is_at_split = true;
                break;
            }
        }
        let frames = frames.get(..count).unwrap_or(frames);
        self.journal.extend(frames)?;
        for stored in frames {
            let Some(item) = parse_leadership(&stored.bytes)? else {
                continue;
            };
            self.frames.opener().saw_clock(item.at());
            match item {
                LeadershipItem::TermStart(start) => self.saw_leader(Some(&start.address)),
                LeadershipItem::Resignation(_) => self.saw_leader(None),
                LeadershipItem::Heartbeat(_) | LeadershipItem::Split(_) => {}
            }
        }
        Ok(())
    }
}

/// What a look at the log came to.
enum Step {
    Leads,
    /// Frames were read, and there are more.
    ThereIsMore,
    /// The cell that this process waits to join is there.
    CellExists,
    /// What there was has been read.
    Waiting,
    Taken(u128),
}
