//! The list of payments without an order, stored as notes and kept in memory. Open ones are bounded: beyond that,
//! events about another one wait in the inbox.

use std::{collections::BTreeMap, sync::Arc};

use actors::{Handle, notes};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    id::{OrderId, ProjectId},
    text::{CheckoutId, PaymentId},
};
use parking_lot::RwLock;
use payments_port::{PartPayment, PaymentWithoutOrder};

use super::{State, UnfulfilledPayment};
use crate::{
    Error,
    named_locks::{NamedLock, NamedLocks},
    note_kinds::UnfulfilledNote,
    project_account::ProjectAccount,
};

/// The most open payments of one project; an operator can decide about some hundreds a day.
const MAX_OPEN: usize = 10_000;

/// The unfulfilled payments of all projects. Cheap to clone.
#[derive(Clone)]
pub struct List(Arc<Inner>);

struct Inner {
    handle: Handle,
    payments: RwLock<BTreeMap<ProjectId, Entries>>,
    named_locks: NamedLocks,
}

#[derive(Default)]
struct Entries {
    by_payment: BTreeMap<PaymentId, UnfulfilledPayment>,
    /// The entry of each further payment of a bill that was paid in parts.
    by_other: BTreeMap<PaymentId, PaymentId>,
}

impl Entries {
    fn get(&self, payment: &PaymentId) -> Option<&UnfulfilledPayment> {
        let listed = self.by_other.get(payment).unwrap_or(payment);
        self.by_payment.get(listed)
    }

    fn insert(&mut self, entry: UnfulfilledPayment) {
        for other in &entry.others {
            self.by_other.insert(other.clone(), entry.payment.clone());
        }
        self.by_payment.insert(entry.payment.clone(), entry);
    }

    fn remove(&mut self, payment: &PaymentId) {
        let entry = self.by_payment.remove(payment);
        for other in entry.iter().flat_map(|entry| &entry.others) {
            self.by_other.remove(other);
        }
    }
}

impl List {
    pub(crate) fn new(handle: Handle) -> Self {
        Self(Arc::new(Inner {
            handle,
            payments: RwLock::default(),
            named_locks: NamedLocks::default(),
        }))
    }

    pub(crate) fn restore(&self, project: ProjectId, payment: UnfulfilledPayment) {
        let mut payments = self.0.payments.write();
        payments.entry(project).or_default().insert(payment);
    }

    /// Waits for the lock of a payment, shared by fulfilment and operators' decisions.
    pub(crate) async fn lock(&self, project: ProjectId, payment: &PaymentId) -> NamedLock {
        let listed = self.get(project, payment);
        let payment = listed.as_ref().map_or(payment, |entry| &entry.payment);
        self.0
            .named_locks
            .take(&format!("{project}/{payment}"))
            .await
    }

    /// A payment on the list, open or decided, by its id or another of its bill.
    pub fn get(&self, project: ProjectId, payment: &PaymentId) -> Option<UnfulfilledPayment> {
        let payments = self.0.payments.read();
        payments.get(&project)?.get(payment).cloned()
    }

    pub(crate) fn is_listed(&self, project: ProjectId, payment: &PaymentId) -> bool {
        self.get(project, payment).is_some()
    }

    /// Open payments, newest first: at most `limit` after a position (see [`UnfulfilledPayment::place`]).
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
            .flat_map(|entries| entries.by_payment.values());
        let mut open: Vec<_> = entries
            .filter(|entry| entry.is_open() && before.is_none_or(|before| entry.place() < before))
            .collect();
        open.sort_unstable_by(|one, other| other.place().cmp(&one.place()));
        open.into_iter().take(limit).cloned().collect()
    }

    /// How many payments are open, of one project or of all.
    pub fn count(&self, project: Option<ProjectId>) -> usize {
        let payments = self.0.payments.read();
        payments
            .iter()
            .filter(|(id, _)| project.is_none_or(|project| project == **id))
            .flat_map(|(_, entries)| entries.by_payment.values())
            .filter(|entry| entry.is_open())
            .count()
    }

    /// Whether a payment does not belong to these orders, because an operator decided about it, or it paid another
    /// order before its metadata changed. The caller holds the payment's lock.
    pub(crate) fn belongs_to_other_order(
        &self,
        project: &ProjectCatalog,
        payment: &PaymentId,
        orders: &[OrderId],
    ) -> Result<bool, Error> {
        let entry = self.get(project.project.id, payment);
        if entry.is_some_and(|entry| entry.state != State::Open) {
            return Ok(true);
        }
        let placed = self.0.handle.order_of(&project.scope, payment)?;
        Ok(placed.is_some_and(|placed| !orders.contains(&placed)))
    }

    /// Adds a payment without an order, unless it was refunded in full or is on the list.
    pub(crate) async fn add(
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
        // The payments of one bill make one entry, even if they arrive together.
        let _turn = match &unplaced.payment.invoice {
            Some(bill) => {
                let name = format!("{id}/bill/{}", bill.as_str());
                Some(self.0.named_locks.take(&name).await)
            }
            None => None,
        };
        let entry = self.get(id, &payment);
        if entry
            .as_ref()
            .is_some_and(|entry| entry.state != State::Refunded)
        {
            return Ok(());
        }
        let payment = entry
            .as_ref()
            .map_or(payment, |entry| entry.payment.clone());
        let Some(charge) = provider.charge(&payment).await? else {
            return Ok(());
        };
        let was_refunded = charge.refunded_cents >= charge.amount_cents;
        // A bank may have returned a refund.
        let round = entry.and_then(|entry| entry.reopened().round);
        let seen_at = self.0.handle.now_in(&project.scope);
        let mut entry = UnfulfilledPayment::new(unplaced, checkout, (payment, charge), seen_at);
        entry.round = round;
        match entry.parts_of_bill(provider).await? {
            Some(parts) if parts.iter().all(PartPayment::is_refunded) => return Ok(()),
            Some(parts) => entry.is_paid_by(parts),
            None if was_refunded => return Ok(()),
            None => {}
        }
        if self.count(Some(id)) >= MAX_OPEN {
            return Err(Error::TooManyUnfulfilled);
        }
        tracing::error!(payment = %entry.payment, reason = ?entry.reason, "A payment leads to no order; it waits among the unfulfilled payments for a decision");
        self.put(id, entry).await
    }

    pub(super) async fn put(
        &self,
        project: ProjectId,
        entry: UnfulfilledPayment,
    ) -> Result<(), Error> {
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
            .flat_map(|entries| entries.by_payment.values());
        all.filter(|entry| entry.paid.email.is_some())
            .cloned()
            .collect()
    }

    /// Erases the buyer's address from a payment; returns whether it had one. The caller holds the payment's lock.
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

    /// Removes a payment that has its order, or that no event names any more.
    pub(crate) async fn remove(
        &self,
        project: ProjectId,
        payment: &PaymentId,
    ) -> Result<(), Error> {
        let Some(entry) = self.get(project, payment) else {
            return Ok(());
        };
        let note = notes::forget::<UnfulfilledNote>(&(project, entry.payment.clone()));
        self.0.handle.put_notes(vec![note]).await?;
        if let Some(of_project) = self.0.payments.write().get_mut(&project) {
            of_project.remove(&entry.payment);
        }
        Ok(())
    }

    /// Closes a payment once its bill is refunded in full, and reopens it when the refund failed.
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
        let entry = match (&entry.state, is_refunded) {
            (State::Open, true) => entry.with(State::Refunded, now),
            (State::Refunded, false) => entry.reopened().with(State::Open, now),
            _ => return Ok(()),
        };
        self.put(project, entry).await
    }

    /// Removes payments that were decided long ago.
    pub(super) async fn forget_decided(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let now = self.0.handle.now_in(&project.scope);
        let id = project.project.id;
        let old: Vec<PaymentId> = {
            let payments = self.0.payments.read();
            let entries = payments
                .get(&id)
                .into_iter()
                .flat_map(|entries| entries.by_payment.values());
            let old = entries.filter(|entry| entry.is_forgotten(now));
            old.map(|entry| entry.payment.clone()).collect()
        };
        for payment in old {
            self.remove(id, &payment).await?;
        }
        Ok(())
    }
}
