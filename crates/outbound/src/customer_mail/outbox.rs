//! What is known of a project's mails: how far its events were read, and the mails that wait to be sent again or failed. Of
//! each mail that is a note without an address: where it goes is looked up when it is sent.

use std::collections::BTreeMap;

use actors::{Handle, notes};
use domain::{
    Timestamp,
    catalog::MailKind,
    id::{EventId, ProjectId, WalletKey},
};
use persistence::{EventNumber, Note};
use serde::{Deserialize, Serialize};

/// With so many mails that wait, the events are not read further.
const MAX_WAITING: usize = 1000;
/// The most failed mails that are kept.
const MAX_FAILED: usize = 100;
/// Events read before the cursor is written although they led to no mail.
const NOTED_EVERY: usize = 1000;
/// Seconds before each further attempt; the last pause repeats.
const PAUSES: [i64; 5] = [60, 5 * 60, 15 * 60, 30 * 60, 3600];
/// A mail that was not sent within so many seconds of its event is not sent any more.
const MAX_AGE_SECONDS: i64 = 24 * 3600;

actors::note_kinds! {
    /// How far a project's events were read for mails.
    pub(super) struct MailProgressNote: 68, "progress of a project's mails", ProjectId => MailProgress;
    /// A mail that waits to be sent again, or failed.
    pub(super) struct OutboxNote: 69, "mail to a customer", (ProjectId, u64) => QueuedMail,
        |(_, number), mail| *number == actors::event_number(mail.event);
}

/// How far a project's events were read: each up to there led to no mail, to one that was sent, or to one in the outbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailProgress {
    pub cursor: EventNumber,
    /// Events that were too old for a mail when they were read.
    pub expired: u64,
    pub expired_at: Option<Timestamp>,
}

/// A mail that was not accepted yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueuedMail {
    pub event: EventId,
    pub kind: MailKind,
    pub wallet: WalletKey,
    pub attempts: u32,
    /// When the last attempt was made.
    pub at: Timestamp,
    /// When the next is due; `None`: it failed.
    pub next_at: Option<Timestamp>,
    /// What went wrong, without the address.
    pub error: Box<str>,
}

/// How an attempt went.
#[derive(Debug)]
pub(super) enum MailOutcome {
    /// It was sent, or nobody wants it.
    Done,
    /// Another attempt may succeed.
    Retry(String),
    Failed(String),
}

/// Whether an event is too old for a mail.
pub(super) fn is_old(recorded: Timestamp, now: Timestamp) -> bool {
    now >= recorded.plus_seconds(MAX_AGE_SECONDS)
}

/// One project's mails.
#[derive(Debug, Clone, Default)]
pub(super) struct Outbox {
    pub(super) progress: MailProgress,
    written: MailProgress,
    mails: BTreeMap<EventNumber, QueuedMail>,
    /// Events that were read since the progress was written.
    unwritten: usize,
    /// The log's last event when this project's were read to their end.
    pub(super) read_to: EventNumber,
}

impl Outbox {
    pub(super) fn waiting(&self) -> usize {
        let waiting = self.mails.values().filter(|mail| mail.next_at.is_some());
        waiting.count()
    }

    pub(super) fn has_room(&self) -> bool {
        self.mails.len() < MAX_WAITING || self.waiting() < MAX_WAITING
    }

    pub(super) fn due(&self, now: Timestamp, most: usize) -> Vec<QueuedMail> {
        let is_due = |mail: &&QueuedMail| mail.next_at.is_some_and(|at| at <= now);
        self.mails
            .values()
            .filter(is_due)
            .take(most)
            .cloned()
            .collect()
    }

    /// Those that failed, newest first.
    pub(super) fn failed(&self) -> Vec<QueuedMail> {
        let failed = self.mails.values().filter(|mail| mail.next_at.is_none());
        failed.rev().cloned().collect()
    }

    /// Counts events that were read.
    pub(super) fn read(
        &mut self,
        events: usize,
        cursor: EventNumber,
        expired: u64,
        now: Timestamp,
    ) {
        self.unwritten = self.unwritten.saturating_add(events);
        self.progress.cursor = cursor;
        if expired > 0 {
            self.progress.expired = self.progress.expired.saturating_add(expired);
            self.progress.expired_at = Some(now);
        }
    }

    /// Records how an attempt went for a mail whose event was recorded then; returns the notes about it.
    pub(super) fn attempted(
        &mut self,
        project: ProjectId,
        mut mail: QueuedMail,
        (outcome, recorded): (MailOutcome, Timestamp),
        now: Timestamp,
    ) -> Vec<Note> {
        let number = actors::event_number(mail.event);
        let key = (project, number);
        let (error, retries) = match outcome {
            MailOutcome::Done => {
                let known = self.mails.remove(&number);
                return known
                    .map(|_| notes::forget::<OutboxNote>(&key))
                    .into_iter()
                    .collect();
            }
            MailOutcome::Retry(error) => (error, true),
            MailOutcome::Failed(error) => (error, false),
        };
        let pause = usize::try_from(mail.attempts)
            .ok()
            .and_then(|at| PAUSES.get(at));
        let next = now.plus_seconds(*pause.unwrap_or(&3600));
        mail.attempts = mail.attempts.saturating_add(1);
        mail.at = now;
        mail.next_at = (retries && !is_old(recorded, next)).then_some(next);
        mail.error = error.into();
        let mut notes = vec![notes::put::<OutboxNote>(&key, &mail)];
        self.mails.insert(number, mail);
        let failed = self.mails.iter().filter(|(_, mail)| mail.next_at.is_none());
        let failed: Vec<_> = failed.map(|(number, _)| *number).collect();
        let surplus = failed.len().saturating_sub(MAX_FAILED);
        for number in failed.into_iter().take(surplus) {
            self.mails.remove(&number);
            notes.push(notes::forget::<OutboxNote>(&(project, number)));
        }
        notes
    }

    /// The note of the progress, where it has to be written: what was read before is durable.
    pub(super) fn news(&mut self, project: ProjectId, has_attempted: bool) -> Option<Note> {
        let counts = self.progress.expired != self.written.expired;
        if !(has_attempted || counts || self.unwritten >= NOTED_EVERY)
            || self.progress == self.written
        {
            return None;
        }
        self.unwritten = 0;
        self.written.clone_from(&self.progress);
        Some(notes::put::<MailProgressNote>(&project, &self.progress))
    }
}

/// What an earlier process left.
/// # Errors
/// As [`notes::all`].
pub(super) fn stored(handle: &Handle) -> Result<BTreeMap<ProjectId, Outbox>, notes::Error> {
    let mut all: BTreeMap<ProjectId, Outbox> = BTreeMap::new();
    for (project, progress) in notes::all::<MailProgressNote>(handle)? {
        let outbox = all.entry(project).or_default();
        outbox.written.clone_from(&progress);
        outbox.progress = progress;
    }
    for ((project, number), mail) in notes::all::<OutboxNote>(handle)? {
        all.entry(project).or_default().mails.insert(number, mail);
    }
    Ok(all)
}
