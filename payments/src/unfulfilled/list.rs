//! The list of payments that lead to no order: stored as notes, one for each payment, and kept in memory. The
//! number of open ones is bounded: at the bound, events about another one wait in the inbox.

use std::{collections::BTreeMap, sync::Arc};

use actors::Handle;
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    id::{OrderId, ProjectId},
    text::{CheckoutId, PaymentId},
};
use parking_lot::RwLock;
use port::PaymentWithoutOrder;

use super::{State, UnfulfilledPayment};
use crate::{
    Error,
    context::ProjectAccount,
    named_locks::{NamedLock, NamedLocks},
    note_kinds::UnfulfilledNote,
};

/// The most open payments of one project. A person can decide about some hundreds a day.
const MOST_OPEN: usize = 10_000;

/// The unfulfilled payments of all projects. Cheap to clone.
#[derive(Clone)]
pub struct List(Arc<Inner>);

struct Inner {
    handle: Handle,
    payments: RwLock<BTreeMap<ProjectId, BTreeMap<PaymentId, UnfulfilledPayment>>>,
    named_locks: NamedLocks,
}

impl List {
    pub(crate) fn new(handle: Handle) -> Self {
        Self(Arc::new(Inner {
            handle,
            payments: RwLock::default(),
            named_locks: NamedLocks::default(),
        }))
    }

    /// Puts a payment into memory, after its note was read or written.
    pub(crate) fn restore(&self, project: ProjectId, payment: UnfulfilledPayment) {
        let mut payments = self.0.payments.write();
        let of_project = payments.entry(project).or_default();
        of_project.insert(payment.payment.clone(), payment);
    }

    /// Waits for the exclusive turn at a payment, which fulfilment and people's decisions both take.
    pub(crate) async fn lock(&self, project: ProjectId, payment: &PaymentId) -> NamedLock {
        self.0
            .named_locks
            .take(&format!("{project}/{payment}"))
            .await
    }

    /// A payment on the list, whether open or decided.
    #[must_use]
    pub fn get(&self, project: ProjectId, payment: &PaymentId) -> Option<UnfulfilledPayment> {
        self.0.payments.read().get(&project)?.get(payment).cloned()
    }

    pub(crate) fn is_listed(&self, project: ProjectId, payment: &PaymentId) -> bool {
        self.get(project, payment).is_some()
    }

    /// Payments that wait for a decision, the newest first: at most `limit` after a position (see
    /// [`UnfulfilledPayment::place`]).
    #[must_use]
    pub fn open(
        &self,
        project: ProjectId,
        before: Option<(Timestamp, &PaymentId)>,
        limit: usize,
    ) -> Vec<UnfulfilledPayment> {
        let payments = self.0.payments.read();
        let entries = payments
            .get(&project)
            .into_iter()
            .flat_map(BTreeMap::values);
        let mut open: Vec<_> = entries
            .filter(|entry| entry.is_open() && before.is_none_or(|before| entry.place() < before))
            .collect();
        open.sort_unstable_by(|one, other| other.place().cmp(&one.place()));
        open.into_iter().take(limit).cloned().collect()
    }

    /// How many payments wait for a decision, of one project or of all.
    #[must_use]
    pub fn count(&self, project: Option<ProjectId>) -> usize {
        let payments = self.0.payments.read();
        payments
            .iter()
            .filter(|(id, _)| project.is_none_or(|project| project == **id))
            .flat_map(|(_, entries)| entries.values())
            .filter(|entry| entry.is_open())
            .count()
    }

    /// Whether a payment does not belong to this order: because a person has decided about it, or because it paid
    /// another order before its metadata was changed. The caller holds the payment's turn.
    pub(crate) fn belongs_to_other_order(
        &self,
        project: &ProjectCatalog,
        payment: &PaymentId,
        order: OrderId,
    ) -> Result<bool, Error> {
        let entry = self.get(project.project.id, payment);
        if entry.is_some_and(|entry| entry.state != State::Open) {
            return Ok(true);
        }
        let placed = self.0.handle.order_of_payment(&project.scope, payment)?;
        Ok(placed.is_some_and(|placed| placed != order))
    }

    /// Adds a payment that leads to no order, unless all of it was refunded or it is on the list already.
    pub(crate) async fn keep(
        &self,
        ProjectAccount { project, provider }: ProjectAccount<'_>,
        unplaced: PaymentWithoutOrder,
        checkout: Option<CheckoutId>,
    ) -> Result<(), Error> {
        let Some(payment) = unplaced.payment.payment.clone() else {
            tracing::warn!(reason = ?unplaced.reason, "A purchase that took no money leads to no order");
            return Ok(());
        };
        let id = project.project.id;
        let entry = self.get(id, &payment);
        // The bank may have returned the money of a refund.
        let came_back = match &entry {
            Some(entry) if entry.state != State::Refunded => return Ok(()),
            Some(entry) => once_more(entry.came_back),
            None => None,
        };
        let charge = provider.charge(&payment).await?;
        let Some(charge) = charge.filter(|charge| charge.refunded_cents < charge.amount_cents)
        else {
            return Ok(());
        };
        if self.count(Some(id)) >= MOST_OPEN {
            return Err(Error::TooManyUnfulfilled);
        }
        let seen_at = self.0.handle.now_in(&project.scope);
        let mut entry = UnfulfilledPayment::new(unplaced, checkout, (payment, charge), seen_at);
        entry.came_back = came_back;
        tracing::error!(payment = %entry.payment, reason = ?entry.reason, "A payment leads to no order; it waits among the unfulfilled payments for a decision");
        self.put(id, entry).await
    }

    async fn put(&self, project: ProjectId, entry: UnfulfilledPayment) -> Result<(), Error> {
        let key = (project, entry.payment.clone());
        let note = notes::put::<UnfulfilledNote>(&key, &entry);
        self.0.handle.put_notes(vec![note]).await?;
        self.restore(project, entry);
        Ok(())
    }

    /// Stores a decision about a payment; returns the payment with it.
    pub(super) async fn decided(
        &self,
        project: &ProjectCatalog,
        entry: UnfulfilledPayment,
        state: State,
    ) -> Result<UnfulfilledPayment, Error> {
        let entry = entry.with(state, self.0.handle.now_in(&project.scope));
        self.put(project.project.id, entry.clone()).await?;
        Ok(entry)
    }

    /// The payments of a project, open or decided, that have their buyer's address.
    pub(super) fn with_address(&self, project: ProjectId) -> Vec<UnfulfilledPayment> {
        let payments = self.0.payments.read();
        let all = payments
            .get(&project)
            .into_iter()
            .flat_map(BTreeMap::values);
        all.filter(|entry| entry.paid.email.is_some())
            .cloned()
            .collect()
    }

    /// Erases the buyer's address from a payment; returns whether it had one. The caller holds the payment's turn.
    pub(super) async fn erase(
        &self,
        project: ProjectId,
        payment: &PaymentId,
    ) -> Result<bool, Error> {
        let entry = self.get(project, payment);
        let Some(mut entry) = entry.filter(|entry| entry.paid.email.is_some()) else {
            return Ok(false);
        };
        entry.paid.email = None;
        self.put(project, entry).await?;
        Ok(true)
    }

    /// Takes a payment off the list, because it has its order or no event names it any more.
    pub(crate) async fn remove(
        &self,
        project: ProjectId,
        payment: &PaymentId,
    ) -> Result<(), Error> {
        if !self.is_listed(project, payment) {
            return Ok(());
        }
        let note = notes::forget::<UnfulfilledNote>(&(project, payment.clone()));
        self.0.handle.put_notes(vec![note]).await?;
        if let Some(of_project) = self.0.payments.write().get_mut(&project) {
            of_project.remove(payment);
        }
        Ok(())
    }

    /// Closes a payment once all of it is refunded, and opens it again when the refund failed.
    pub(crate) async fn refunded(
        &self,
        project: ProjectId,
        payment: &PaymentId,
        refunded_cents: i64,
        now: Timestamp,
    ) -> Result<(), Error> {
        let Some(entry) = self.get(project, payment) else {
            return Ok(());
        };
        let is_refunded = refunded_cents >= entry.paid.amount_cents;
        let (state, came_back) = match (&entry.state, is_refunded) {
            (State::Open, true) => (State::Refunded, entry.came_back),
            (State::Refunded, false) => (State::Open, once_more(entry.came_back)),
            _ => return Ok(()),
        };
        let mut entry = entry.with(state, now);
        entry.came_back = came_back;
        self.put(project, entry).await
    }

    /// Takes payments off the list that were settled long ago.
    pub(super) async fn forget_settled(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let now = self.0.handle.now_in(&project.scope);
        let id = project.project.id;
        let old: Vec<PaymentId> = {
            let payments = self.0.payments.read();
            let entries = payments.get(&id).into_iter().flat_map(BTreeMap::values);
            let old = entries.filter(|entry| entry.is_forgotten(now));
            old.map(|entry| entry.payment.clone()).collect()
        };
        for payment in old {
            self.remove(id, &payment).await?;
        }
        Ok(())
    }
}

fn once_more(times: Option<u32>) -> Option<u32> {
    Some(times.unwrap_or_default().saturating_add(1))
}
