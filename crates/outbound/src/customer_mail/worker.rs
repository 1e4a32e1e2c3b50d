//! Sends what is due: mails that wait for another attempt, then those of new events. A few mails of a few projects at once, and
//! only then their cursors are written.

use std::{panic::AssertUnwindSafe, sync::atomic::Ordering};

use actors::{EventRecord, event_number, notes};
use catalog::ProjectCatalog;
use domain::{Timestamp, id::ProjectId};
use futures_util::{FutureExt as _, StreamExt as _, future::join_all, stream};
use persistence::{EventNumber, Note};

use super::{
    Inner, MailSubscription, Pause, Suppression, addressed, composed,
    content::{MailWriter, kind_of},
    outbox::{MailOutcome, Outbox, QueuedMail, is_old},
    suppressions::hash_of,
};
use crate::mail;

/// Mails that are sent concurrently, of one project: as many may be repeated after a crash.
const AT_ONCE: usize = 8;
/// Projects that are served concurrently.
const PROJECTS_AT_ONCE: usize = 8;
/// Events read per page.
const PAGE: usize = 64;
/// Pages read in a round.
const PAGES: usize = 64;
/// The longest pause while the mail server cannot be reached, in seconds.
const MAX_PAUSE_SECONDS: i64 = 600;
/// With so many attempts before, a mail that the server did not answer is not sent again: it may have come each time.
const MAX_UNANSWERED: u32 = 3;

/// A mail that is to be sent now.
struct Job {
    mail: QueuedMail,
    /// The event; `None`: it is no longer kept.
    record: Option<EventRecord>,
}

/// Runs a round, of which there were so many; returns whether there is more to do at once. Notes that could not be written are
/// kept, and nothing is sent before they are written.
pub(super) async fn round(inner: &Inner, rounds: &mut usize) -> bool {
    // The present leader sends mails.
    if !inner.mailer.is_configured() || !inner.handle.leads() {
        return false;
    }
    let unwritten = std::mem::take(&mut *inner.unwritten.lock());
    if !write(inner, unwritten).await {
        return false;
    }
    let waits = |id: &ProjectId| {
        let outboxes = inner.outboxes.lock();
        outboxes.get(id).is_some_and(|outbox| outbox.waiting() > 0)
    };
    let mut due: Vec<ProjectId> = inner
        .catalog
        .current()
        .projects()
        .map(|project| &project.project)
        .filter(|project| project.mails.is_on() || waits(&project.id))
        .map(|project| project.id)
        .collect();
    // So that none is always first.
    *rounds = rounds.wrapping_add(1);
    let first = rounds.checked_rem(due.len()).unwrap_or(0);
    due.rotate_left(first);
    let parts = due.into_iter().map(|id| serve(inner, id));
    let mut parts = stream::iter(parts).buffer_unordered(PROJECTS_AT_ONCE);
    let mut more = false;
    while let Some(has_more) = parts.next().await {
        more |= has_more;
    }
    more
}

/// Writes notes; returns whether they are durable. If not, they are kept for the next round.
async fn write(inner: &Inner, notes: Vec<Note>) -> bool {
    let Err(error) = notes::put_all(&inner.handle, notes.clone()).await else {
        return true;
    };
    tracing::warn!(%error, "What became of mails could not be written; trying again");
    inner.unwritten.lock().extend(notes);
    false
}

/// Does a project's part of a round; returns whether it has more to do at once.
async fn serve(inner: &Inner, id: ProjectId) -> bool {
    let is_paused = inner.pause.lock().until > inner.handle.now();
    let is_written = inner.unwritten.lock().is_empty();
    if is_paused || !is_written || inner.stopping.load(Ordering::Relaxed) {
        return false;
    }
    let Ok(project) = inner.catalog.project(id) else {
        return false;
    };
    match send_due(inner, &project).await {
        Ok((notes, more)) => write(inner, notes).await && more,
        Err(error) => {
            tracing::warn!(%error, project = %id, "Events cannot be read for mails now");
            false
        }
    }
}

/// Sends some of a project's mails; returns the notes about what became of them, and whether there are more.
async fn send_due(
    inner: &Inner,
    project: &ProjectCatalog,
) -> Result<(Vec<Note>, bool), actors::Error> {
    let (id, now) = (project.project.id, inner.handle.now());
    let outbox = inner.outboxes.lock().get(&id).cloned();
    let mut outbox = outbox.unwrap_or_default();
    let mut jobs = Vec::new();
    for mail in outbox.due(now, AT_ONCE) {
        let record = inner.handle.event_by_id(&project.scope, mail.event).await?;
        jobs.push(Job { mail, record });
    }
    let mut more = jobs.len() >= AT_ONCE;
    if project.project.mails.is_on() && outbox.has_room() {
        more |= read(inner, project, &mut outbox, &mut jobs, now).await?;
    }
    if inner.stopping.load(Ordering::Relaxed) {
        return Ok((Vec::new(), false));
    }
    let has_attempted = !jobs.is_empty();
    let attempts = jobs.into_iter().map(|job| attempt(inner, project, job));
    let mut notes = Vec::new();
    for (mail, outcome, recorded) in join_all(attempts).await {
        let now = inner.handle.now();
        notes.extend(outbox.attempted(id, mail, (outcome, recorded), now));
    }
    notes.extend(outbox.news(id, has_attempted));
    inner.outboxes.lock().insert(id, outbox);
    Ok((notes, more))
}

/// Makes one attempt, however it goes; returns also when the mail's event was recorded.
async fn attempt(
    inner: &Inner,
    project: &ProjectCatalog,
    Job { mail, record }: Job,
) -> (QueuedMail, MailOutcome, Timestamp) {
    let Some(record) = record else {
        let outcome = MailOutcome::Failed("the event is no longer kept".into());
        return (mail, outcome, inner.handle.now());
    };
    let delivery = AssertUnwindSafe(deliver(inner, project, &record, &mail));
    let outcome = delivery.catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("An attempt to send a mail panicked");
        MailOutcome::Failed("it could not be made".into())
    });
    (mail, outcome, record.project_event.recorded)
}

/// Reads on, up to as many mails as are sent at once; returns whether there is more to read.
async fn read(
    inner: &Inner,
    project: &ProjectCatalog,
    outbox: &mut Outbox,
    jobs: &mut Vec<Job>,
    now: Timestamp,
) -> Result<bool, actors::Error> {
    let mails = &project.project.mails;
    let mut cursor: EventNumber = outbox.progress.cursor.max(mails.since_any().unwrap_or(0));
    for _ in 0..PAGES {
        let end = inner.handle.last_event_number();
        if outbox.read_to == end || jobs.len() >= AT_ONCE {
            return Ok(outbox.read_to != end);
        }
        let page = inner
            .handle
            .events_from(&project.scope, cursor, PAGE)
            .await?;
        let is_last = page.len() < PAGE;
        let (mut events, mut expired) = (0_usize, 0_u64);
        let mut is_full = false;
        for record in page {
            if jobs.len() >= AT_ONCE {
                is_full = true;
                break;
            }
            events = events.saturating_add(1);
            cursor = event_number(record.id);
            let event = &record.project_event;
            let kind = kind_of(&event.data).filter(|kind| mails.sends_about(*kind, cursor));
            let Some(kind) = kind else { continue };
            if is_old(event.recorded, now) {
                expired = expired.saturating_add(1);
                continue;
            }
            let mail = QueuedMail {
                event: record.id,
                kind,
                wallet: event.key,
                attempts: 0,
                at: now,
                next_at: None,
                error: "".into(),
            };
            let record = Some(record);
            jobs.push(Job { mail, record });
        }
        outbox.read(events, cursor, expired, now);
        if is_last && !is_full {
            outbox.read_to = end;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes one attempt, unless nobody wants the mail.
async fn deliver(
    inner: &Inner,
    project: &ProjectCatalog,
    record: &EventRecord,
    queued: &QueuedMail,
) -> MailOutcome {
    let (event, id, kind) = (&record.project_event, project.project.id, queued.kind);
    let mails = &project.project.mails;
    if !mails.sends_about(kind, event_number(record.id)) {
        return MailOutcome::Done;
    }
    if is_old(event.recorded, inner.handle.now()) {
        return MailOutcome::Failed("it was not accepted within a day".into());
    }
    let unread = || MailOutcome::Retry("the wallet cannot be read now".into());
    let contact = match inner.handle.mail_contact(&project.scope, event.key).await {
        Ok(contact) => contact,
        Err(actors::Error::Rejected(_)) => return MailOutcome::Done,
        Err(_) => return unread(),
    };
    let Some(to) = contact.email else {
        return MailOutcome::Done;
    };
    let address = hash_of(id, &to);
    match inner.suppressions.get((id, address)).await {
        Ok(Some(known)) if known.holds(kind) => return MailOutcome::Done,
        Ok(_) => {}
        Err(_) => return unread(),
    }
    let writer = MailWriter {
        project,
        locale: contact.locale.unwrap_or(mails.locale),
    };
    let leave = kind.is_optional().then(|| {
        inner.links.to(&MailSubscription {
            project: id,
            wallet: event.key,
            address,
            kind,
            locale: writer.locale,
        })
    });
    let text = composed(&writer, kind, &writer.values(event), leave.as_deref());
    let mut mail = addressed(&writer, to, text);
    mail.headers.id = Some(format!("{}.mail", record.id));
    mail.headers.unsubscribe = leave;
    let sent = inner.mailer.send(mail).await;
    note_server(inner, &sent);
    let Err(error) = sent else {
        return MailOutcome::Done;
    };
    if let mail::Error::NoMailbox(code) = error {
        let at = inner.handle.now();
        let change = |before: Option<Suppression>| {
            let before = before.unwrap_or(Suppression::new(event.key, at));
            Some(Suppression {
                no_mailbox: Some(code),
                at,
                ..before
            })
        };
        let changed = inner.suppressions.change((id, address), change).await;
        if changed.is_err() {
            return MailOutcome::Retry(error.to_string());
        }
    }
    outcome_of(&error, queued.attempts)
}

/// What follows from an error, after so many attempts before.
fn outcome_of(error: &mail::Error, before: u32) -> MailOutcome {
    let retries = match error {
        mail::Error::TimedOut => before < MAX_UNANSWERED,
        error => error.is_transient(),
    };
    match retries {
        true => MailOutcome::Retry(error.to_string()),
        false => MailOutcome::Failed(error.to_string()),
    }
}

/// Pauses all mails while the server cannot be reached.
fn note_server(inner: &Inner, sent: &Result<(), mail::Error>) {
    let mut pause = inner.pause.lock();
    match sent {
        Err(mail::Error::Unreachable(_) | mail::Error::Folder(_)) => {}
        // These do not say whether it can be reached.
        Err(mail::Error::TimedOut | mail::Error::Malformed) => return,
        _ => {
            *pause = Pause::default();
            return;
        }
    }
    let now = inner.handle.now();
    // Those that were under way at the same time count once.
    if pause.until > now {
        return;
    }
    let seconds = 5_i64
        .checked_shl(pause.failures)
        .unwrap_or(MAX_PAUSE_SECONDS);
    let seconds = seconds.clamp(5, MAX_PAUSE_SECONDS);
    *pause = Pause {
        failures: pause.failures.saturating_add(1).min(10),
        since: pause.since.or(Some(now)),
        until: now.plus_seconds(seconds),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_that_may_have_come_is_sent_again_three_times_at_most() {
        for (error, before, retries) in [
            (mail::Error::TimedOut, 2, true),
            (mail::Error::TimedOut, 3, false),
            (mail::Error::Unreachable("no connection"), 20, true),
            (mail::Error::Busy(451), 20, true),
            (mail::Error::Refused(550), 0, false),
        ] {
            let outcome = outcome_of(&error, before);
            let is_retried = matches!(outcome, MailOutcome::Retry(_));
            assert_eq!(is_retried, retries, "{error} after {before}");
        }
    }
}
