//! Sends what is due: mails that wait for another attempt, then those of new events. A few at once, and only then the cursor
//! is written.

use std::sync::Arc;

use actors::{EventRecord, event_number, notes};
use catalog::ProjectCatalog;
use domain::{Timestamp, catalog::MailKind};
use persistence::{EventNumber, Note};
use tokio::task::JoinSet;

use super::{
    Inner, MailSubscription, Pause, Suppression, addressed, composed,
    content::{MailWriter, kind_of},
    outbox::{MailOutcome, QueuedMail, is_old},
    suppressions::hash_of,
};
use crate::mail;

/// Mails that are sent concurrently, of one project: as many may be repeated after a crash.
const AT_ONCE: usize = 8;
/// Events read per page.
const PAGE: usize = 64;
/// Pages read in a round.
const PAGES: usize = 64;
/// The longest pause while the mail server cannot be reached, in seconds.
const MAX_PAUSE_SECONDS: i64 = 600;

/// A mail that is to be sent now.
struct Job {
    mail: QueuedMail,
    /// The event; `None`: it is no longer kept.
    record: Option<EventRecord>,
}

/// Runs a round; returns whether there is more to do at once. Notes that could not be written stay in `unwritten`, and
/// nothing is sent before they are.
pub(super) async fn round(inner: &Arc<Inner>, unwritten: &mut Vec<Note>) -> bool {
    // The present leader sends mails.
    if !inner.mailer.is_configured() || !inner.handle.leads() || !write(inner, unwritten).await {
        return false;
    }
    let catalog = Arc::clone(&inner.catalog.current());
    let mut more = false;
    for project in catalog.projects() {
        let id = project.project.id;
        let waits = |outbox: &super::Outbox| outbox.waiting() > 0;
        let is_on = project.project.mails.is_on();
        if !is_on && !inner.outboxes.lock().get(&id).is_some_and(waits) {
            continue;
        }
        if inner.pause.lock().until > inner.handle.now() {
            return false;
        }
        match round_of(inner, project, unwritten).await {
            Ok(has_more) => more |= has_more,
            Err(error) => {
                tracing::warn!(%error, project = %id, "Events cannot be read for mails now")
            }
        }
        if !write(inner, unwritten).await {
            return false;
        }
    }
    more
}

/// Returns whether everything is durable.
async fn write(inner: &Inner, unwritten: &mut Vec<Note>) -> bool {
    if unwritten.is_empty() {
        return true;
    }
    match notes::put_all(&inner.handle, unwritten.clone()).await {
        Ok(()) => {
            unwritten.clear();
            true
        }
        Err(error) => {
            tracing::warn!(%error, "What became of mails could not be written; trying again");
            false
        }
    }
}

async fn round_of(
    inner: &Arc<Inner>,
    project: &Arc<ProjectCatalog>,
    unwritten: &mut Vec<Note>,
) -> Result<bool, actors::Error> {
    let (id, now) = (project.project.id, inner.handle.now());
    let mut outbox = inner.outboxes.lock().get(&id).cloned().unwrap_or_default();
    let mut jobs = Vec::new();
    for mail in outbox.due(now, AT_ONCE) {
        let record = inner.handle.event_by_id(&project.scope, mail.event).await?;
        jobs.push(Job { mail, record });
    }
    let mut more = jobs.len() >= AT_ONCE;
    if project.project.mails.is_on() && outbox.has_room() {
        more |= read(inner, project, &mut outbox, &mut jobs, now).await?;
    }
    let has_attempted = !jobs.is_empty();
    let mut tasks = JoinSet::new();
    for Job { mail, record } in jobs {
        let (inner, project) = (Arc::clone(inner), Arc::clone(project));
        tasks.spawn(async move {
            let Some(record) = record else {
                let outcome = MailOutcome::Failed("the event is no longer kept".into());
                return (mail, outcome, now);
            };
            let (recorded, kind) = (record.project_event.recorded, mail.kind);
            let attempt = async move { deliver(&inner, &project, &record, kind).await };
            let outcome = tokio::spawn(attempt).await;
            let outcome = outcome.unwrap_or_else(|error| {
                tracing::error!(%error, "An attempt to send a mail panicked");
                MailOutcome::Failed("it could not be made".into())
            });
            (mail, outcome, recorded)
        });
    }
    while let Some(done) = tasks.join_next().await {
        let Ok((mail, outcome, recorded)) = done else {
            continue;
        };
        let now = inner.handle.now();
        unwritten.extend(outbox.attempted(id, mail, (outcome, recorded), now));
    }
    unwritten.extend(outbox.news(id, has_attempted));
    inner.outboxes.lock().insert(id, outbox);
    Ok(more)
}

/// Reads on, up to as many mails as are sent at once; returns whether there is more to read.
async fn read(
    inner: &Inner,
    project: &ProjectCatalog,
    outbox: &mut super::Outbox,
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
    kind: MailKind,
) -> MailOutcome {
    let (event, id) = (&record.project_event, project.project.id);
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
    match sent {
        Ok(()) => MailOutcome::Done,
        Err(error @ mail::Error::NoMailbox(code)) => {
            let at = inner.handle.now();
            let change = |before: Option<Suppression>| {
                let before = before.unwrap_or(Suppression::new(event.key, at));
                Some(Suppression {
                    no_mailbox: Some(code),
                    at,
                    ..before
                })
            };
            match inner.suppressions.change((id, address), change).await {
                Ok(_) => MailOutcome::Failed(error.to_string()),
                Err(_) => MailOutcome::Retry(error.to_string()),
            }
        }
        Err(error) if error.is_transient() => MailOutcome::Retry(error.to_string()),
        Err(error) => MailOutcome::Failed(error.to_string()),
    }
}

/// Pauses all mails while the server cannot be reached.
fn note_server(inner: &Inner, sent: &Result<(), mail::Error>) {
    let mut pause = inner.pause.lock();
    if !matches!(
        sent,
        Err(mail::Error::Unreachable(_) | mail::Error::Folder(_))
    ) {
        *pause = Pause::default();
        return;
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
