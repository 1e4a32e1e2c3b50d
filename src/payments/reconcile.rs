//! Asking about orders that stay pending, so that a lost webhook loses no payment: some minutes after
//! the buyer was sent off, some hours, and shortly before the order expires, when the provider has
//! closed its session. A session that is complete and waits for its money is asked about until the
//! money came or will not.
//!
//! Orders are found in the books by the time at which they expire: each is looked at once for each
//! age, and no other one on the way.

use actors::Handle;
use dashmap::DashMap;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, OrderSerial, ProjectId},
    wallet::{OrderStatus, place_order::PENDING_SECONDS},
};
use persistence::Note;

use super::{Error, Payments, fulfil::Reports};
use crate::{
    catalog::ProjectCatalog,
    provider::stripe::{self, checkout_sessions::Session, id::SessionId},
};

/// How far asking has come, by project.
const REACHED: &[u8] = b"reconciled/";
/// Orders whose session is complete and not paid yet.
const AWAITED: &[u8] = b"awaited/";
/// Ages at which an order is asked about, in seconds. The last one is after its session closed (see
/// `OPEN_SECONDS`) and before it expires.
const AGES: [i64; 3] = [600, 2 * 3600, PENDING_SECONDS - 45];
/// Without a note of how far asking has come: everything that may still be pending.
const FIRST_SECONDS: i64 = PENDING_SECONDS + 3600;
/// How far asking comes is noted so often.
const NOTE_EVERY_SECONDS: i64 = 60;
/// An awaited payment is asked about so often, for so long.
const AWAITED_EVERY_SECONDS: i64 = 3600;
const AWAITED_SECONDS: i64 = 30 * 24 * 3600;
/// Orders read from the books at once.
const AT_ONCE: usize = 64;

/// See the module.
pub(super) struct Reconciler {
    projects: DashMap<ProjectId, Reached>,
    awaited: DashMap<OrderId, Awaited>,
}

#[derive(Debug, Clone, Copy)]
struct Reached {
    to: Timestamp,
    noted: Timestamp,
}

#[derive(Debug, Clone, Copy)]
struct Awaited {
    project: ProjectId,
    next: Timestamp,
    end: Timestamp,
}

impl Reconciler {
    pub(super) fn load(handle: &Handle) -> Result<Self, persistence::Error> {
        let projects = DashMap::new();
        for (key, body) in handle.notes(REACHED)? {
            let project = text(key.strip_prefix(REACHED)).and_then(|id| id.parse().ok());
            if let (Some(project), Some(to)) = (project, instant(&body)) {
                projects.insert(project, Reached { to, noted: to });
            }
        }
        let awaited = DashMap::new();
        for (key, body) in handle.notes(AWAITED)? {
            let names = text(key.strip_prefix(AWAITED)).and_then(|names| names.split_once('/'));
            let Some((project, order)) = names else {
                continue;
            };
            if let (Ok(project), Ok(order), Some(end)) =
                (project.parse(), order.parse::<OrderId>(), instant(&body))
            {
                let next = Timestamp(i64::MIN);
                awaited.insert(order, Awaited { project, next, end });
            }
        }
        Ok(Self { projects, awaited })
    }
}

impl Payments {
    /// Asks about all orders of a project that came to one of the ages since it was last asked. Stops
    /// where the provider does not answer, and goes on from there the next time.
    pub(super) async fn reconcile(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let id = project.project.id;
        let now = self.0.handle.now_in(&project.scope);
        let reports = Reports::of(self, project)?;
        let known = self.0.reconciler.projects.get(&id).map(|known| *known);
        let Reached { to: from, noted } = known.unwrap_or(Reached {
            to: now.plus_seconds(-FIRST_SECONDS),
            noted: Timestamp(i64::MIN),
        });
        if now > from {
            for age in AGES {
                let until_due = PENDING_SECONDS.saturating_sub(age);
                let (first, last) = (from.plus_seconds(until_due), now.plus_seconds(until_due));
                self.ask_about(project, &reports, first, last).await?;
            }
            let mut reached = Reached { to: now, noted };
            if now.0.saturating_sub(noted.0) >= NOTE_EVERY_SECONDS.saturating_mul(1000) {
                reached.noted = now;
                let key = [REACHED, id.to_string().as_bytes()].concat();
                self.note(&key, Some(now)).await?;
            }
            self.0.reconciler.projects.insert(id, reached);
        }
        self.ask_about_awaited(project, &reports, now).await
    }

    /// Asks about pending orders that expire after `first` and no later than `last`.
    async fn ask_about(
        &self,
        project: &ProjectCatalog,
        reports: &Reports<'_>,
        first: Timestamp,
        last: Timestamp,
    ) -> Result<(), Error> {
        let mut after = (first, OrderSerial(u128::MAX));
        loop {
            let handle = &self.0.handle;
            let pending = handle.pending(&project.scope, Some(after), last, AT_ONCE)?;
            for place in &pending {
                self.ask(project, reports, place.order).await?;
                after = place.place();
            }
            if pending.len() < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Asks about one order, unless it is settled.
    async fn ask(
        &self,
        project: &ProjectCatalog,
        reports: &Reports<'_>,
        order: OrderId,
    ) -> Result<(), Error> {
        let known = match self.0.handle.order(&project.scope, order).await {
            Ok(known) => known,
            Err(actors::Error::Rejected(Rejection::OrderNotFound)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let settled = match known.order.status() {
            OrderStatus::Pending | OrderStatus::Expired => false,
            OrderStatus::Paid | OrderStatus::Failed | OrderStatus::Refunded => true,
        };
        let checkout = known.order.checkout.filter(|_| !settled);
        let Some(session) = checkout.and_then(|id| SessionId::new(id.as_str())) else {
            return self.stop_awaiting(project, order).await;
        };
        let session = match reports.read_session(&session).await {
            Ok(session) => session,
            // Of a provider that the project had before.
            Err(Error::Provider(stripe::Error::Refused(refusal))) if refusal.is_missing() => {
                return self.stop_awaiting(project, order).await;
            }
            Err(error) => return Err(error),
        };
        let open = reports.session(&session).await?;
        if open && is_complete(&session) {
            self.await_payment(project, order).await
        } else {
            self.stop_awaiting(project, order).await
        }
    }

    async fn ask_about_awaited(
        &self,
        project: &ProjectCatalog,
        reports: &Reports<'_>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let awaited = self.0.reconciler.awaited.iter();
        let due = awaited.filter(|entry| {
            entry.value().project == project.project.id && entry.value().next <= now
        });
        let due: Vec<(OrderId, Timestamp)> =
            due.map(|entry| (*entry.key(), entry.value().end)).collect();
        for (order, end) in due {
            if end <= now {
                self.stop_awaiting(project, order).await?;
                continue;
            }
            self.ask(project, reports, order).await?;
            if let Some(mut awaited) = self.0.reconciler.awaited.get_mut(&order) {
                awaited.next = now.plus_seconds(AWAITED_EVERY_SECONDS);
            }
        }
        Ok(())
    }

    async fn await_payment(&self, project: &ProjectCatalog, order: OrderId) -> Result<(), Error> {
        if self.0.reconciler.awaited.contains_key(&order) {
            return Ok(());
        }
        let now = self.0.handle.now_in(&project.scope);
        let end = now.plus_seconds(AWAITED_SECONDS);
        self.note(&awaited_key(project, order), Some(end)).await?;
        let awaited = Awaited {
            project: project.project.id,
            next: now.plus_seconds(AWAITED_EVERY_SECONDS),
            end,
        };
        self.0.reconciler.awaited.insert(order, awaited);
        Ok(())
    }

    async fn stop_awaiting(&self, project: &ProjectCatalog, order: OrderId) -> Result<(), Error> {
        if self.0.reconciler.awaited.remove(&order).is_some() {
            self.note(&awaited_key(project, order), None).await?;
        }
        Ok(())
    }

    async fn note(&self, key: &[u8], instant: Option<Timestamp>) -> Result<(), Error> {
        let note = Note {
            key: key.into(),
            body: instant.map(|instant| instant.0.to_be_bytes().into()),
        };
        Ok(self.0.handle.put_notes(vec![note]).await?)
    }
}

fn is_complete(session: &Session) -> bool {
    use crate::provider::stripe::checkout_sessions::SessionStatus;
    session.status == Some(SessionStatus::Complete)
}

fn awaited_key(project: &ProjectCatalog, order: OrderId) -> Vec<u8> {
    let names = format!("{}/{order}", project.project.id);
    [AWAITED, names.as_bytes()].concat()
}

fn text(bytes: Option<&[u8]>) -> Option<&str> {
    std::str::from_utf8(bytes?).ok()
}

fn instant(body: &[u8]) -> Option<Timestamp> {
    Some(Timestamp(i64::from_be_bytes(body.try_into().ok()?)))
}
