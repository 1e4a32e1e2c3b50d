//! The daily proof: the provider's own lists of charges, refunds and disputes are held against the orders,
//! without any event. Every cent is an order's, an unfulfilled payment's, or another product's. What differs
//! is looked at again, as after a report, and if it still does it is kept and shown.
//!
//! Lists are read a page at a time, at the background's pace; nothing is kept of a line that fits. A proof
//! that is killed begins anew.

mod judge;
mod result;

use std::sync::Arc;

use actors::Handle;
use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, ProjectId},
    wallet::{Order, Receipt, pay::Payment},
};
use futures_util::{StreamExt as _, stream};
use parking_lot::Mutex;
use port::{
    Book, Charge, Entry, InvoiceName, ObjectRef, PaymentTarget, Provider, Report, Unplaceable,
    Unplaced,
};

pub use self::result::{Difference, DifferenceKind, Proof, Sum};
use self::{
    judge::{Facts, Known, judge},
    result::Owner,
};
use crate::{Context, Error, Payments, fulfilment::orders_of, note_kinds::ProofNote};

/// So far back are the books read: a payment that takes longer to be told of is one that was not.
pub const DAYS: i64 = 3;
const DAY_SECONDS: i64 = 24 * 3600;
/// After one that could not be ended.
const AGAIN_SECONDS: i64 = 3600;
/// Where there was none yet.
const FIRST_SECONDS: i64 = 3600;
/// Payments that lead to no order are looked at again so often.
const LOOK_AGAIN_SECONDS: i64 = 3600;
/// Lines of a page that are compared at once: each may wake a wallet.
const AT_ONCE: usize = 16;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Proofs(Arc<Inner>);

struct Inner {
    context: Context,
    projects: DashMap<ProjectId, ProofState>,
}

#[derive(Debug, Clone, Default)]
struct ProofState {
    last: Option<Proof>,
    /// What is being read, as far as it is.
    running: Option<Arc<Mutex<Proof>>>,
    error: Option<String>,
    /// When one was begun last, by the machine's clock.
    began: Option<Timestamp>,
    looked: Option<Timestamp>,
}

/// How a project's proofs stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProofStatus {
    /// The one that is being made, as far as it is.
    pub running: Option<Proof>,
    /// The last one that ended.
    pub last: Option<Proof>,
    /// Why one that was begun since did not end.
    pub error: Option<String>,
}

impl Proofs {
    pub(crate) fn new(context: Context) -> Self {
        Self(Arc::new(Inner {
            context,
            projects: DashMap::new(),
        }))
    }

    pub(crate) fn restore(&self, project: ProjectId, proof: Proof) {
        let mut known = self.0.projects.entry(project).or_default();
        known.began = Some(Timestamp(proof.began_at));
        known.last = Some(proof);
    }

    /// How a project's proofs stand.
    #[must_use]
    pub fn status(&self, project: ProjectId) -> ProofStatus {
        let known = self.0.projects.get(&project);
        let Some(known) = known.map(|known| known.clone()) else {
            return ProofStatus::default();
        };
        ProofStatus {
            running: known.running.map(|running| running.lock().clone()),
            last: known.last,
            error: known.error,
        }
    }

    /// Of all projects: the oldest end of a last proof, by the machine's clock, and the differences of all.
    #[must_use]
    pub fn oldest(&self) -> (Option<Timestamp>, u64) {
        let (mut oldest, mut differences) = (None::<i64>, 0_u64);
        for known in &self.0.projects {
            if let Some(last) = &known.last {
                oldest = Some(oldest.map_or(last.ended_at, |it| it.min(last.ended_at)));
                differences = differences.saturating_add(last.differences);
            }
        }
        (oldest.map(Timestamp), differences)
    }

    /// Begins the one that is due once a day, now.
    ///
    /// # Errors
    ///
    /// As [`Proofs::begin`].
    pub fn begin_daily(&self, project: &Arc<ProjectCatalog>) -> Result<bool, Error> {
        let until = self.0.context.handle.now_in(&project.scope);
        let from = until.plus_seconds(DAYS.saturating_mul(DAY_SECONDS).saturating_neg());
        self.begin(project, from, until)
    }

    /// Begins one over a span; it goes on when this returns. Whether it began: there is one at a time for
    /// each project.
    ///
    /// # Errors
    ///
    /// [`Error::NotConfigured`], [`Error::Provider`]: there is nobody to be asked.
    pub fn begin(
        &self,
        project: &Arc<ProjectCatalog>,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<bool, Error> {
        let id = project.project.id;
        let provider = self.0.context.providers.of(project)?.in_background();
        let handle = &self.0.context.handle;
        let running = Arc::new(Mutex::new(Proof {
            from: from.0,
            until: until.0,
            began_at: handle.now().0,
            ..Proof::default()
        }));
        {
            let mut known = self.0.projects.entry(id).or_default();
            if known.running.is_some() {
                return Ok(false);
            }
            known.running = Some(Arc::clone(&running));
            known.began = Some(handle.now());
        }
        let (proofs, project) = (self.clone(), Arc::clone(project));
        let ending = Ending(self.clone(), id);
        tokio::spawn(async move {
            let _ending = ending;
            proofs.run(&project, &*provider, &running).await;
        });
        Ok(true)
    }

    async fn run(&self, project: &ProjectCatalog, provider: &dyn Provider, proof: &Mutex<Proof>) {
        let id = project.project.id;
        let read = self.read(project, provider, proof).await;
        let ended = match read {
            Ok(()) => {
                proof.lock().ended_at = self.0.context.handle.now().0;
                let ended = proof.lock().clone();
                if !ended.adds_up() {
                    tracing::error!(project = %id, differences = ended.differences, "The payment provider's books and the orders do not add up");
                }
                let note = notes::put::<ProofNote>(&id, &ended);
                let kept = self.0.context.handle.put_notes(vec![note]).await;
                kept.map(|()| ended).map_err(Error::from)
            }
            Err(error) => Err(error),
        };
        let mut known = self.0.projects.entry(id).or_default();
        match ended {
            Ok(ended) => (known.last, known.error) = (Some(ended), None),
            Err(error) => {
                tracing::warn!(%error, project = %id, "The payment provider's books could not be read to their end");
                known.error = Some(error.to_string());
            }
        }
    }

    async fn read(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        proof: &Mutex<Proof>,
    ) -> Result<(), Error> {
        let (from, until) = {
            let proof = proof.lock();
            (Timestamp(proof.from), Timestamp(proof.until))
        };
        // Bills first: what they lead to is known when their charges are held against it.
        for book in [Book::Bills, Book::Charges, Book::Refunds, Book::Disputes] {
            let mut page = None;
            loop {
                let some = provider.book(book, from, until, page.as_deref()).await?;
                let lines = stream::iter(some.entries)
                    .map(|entry| self.compare(project, provider, book, entry, proof));
                let mut lines = lines.buffer_unordered(AT_ONCE);
                while let Some(compared) = lines.next().await {
                    compared?;
                }
                page = some.next;
                if page.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn compare(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        book: Book,
        entry: Entry,
        proof: &Mutex<Proof>,
    ) -> Result<(), Error> {
        let known = self.known(project, &entry.charge).await?;
        if book == Book::Bills && !matches!(known, Known::Ours(_)) {
            return Ok(());
        }
        let mut judged = judge(&entry, &known);
        let differed = judged.is_err();
        if differed {
            let known = self.mend(project, provider, &entry).await?;
            judged = judge(&entry, &known);
        }
        let mut proof = proof.lock();
        match book {
            Book::Charges => proof.charges = proof.charges.saturating_add(1),
            Book::Refunds => proof.refunds = proof.refunds.saturating_add(1),
            Book::Disputes => proof.disputes = proof.disputes.saturating_add(1),
            Book::Bills => {}
        }
        if differed && judged.is_ok() {
            proof.mended = proof.mended.saturating_add(1);
        }
        if book == Book::Charges {
            let owner = *judged.as_ref().unwrap_or(&Owner::Nobody);
            proof.took(owner, entry.charge.amount_cents, &entry.charge.currency);
        }
        if let Err(difference) = judged {
            proof.differs(difference);
        }
        Ok(())
    }

    /// What is known of a charge, without asking anybody. Of a customer of ours it should be an order's.
    async fn known(&self, project: &ProjectCatalog, charge: &Charge) -> Result<Known, Error> {
        let Some(payment) = &charge.payment else {
            return Ok(Known::Nothing);
        };
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        if let Some(order) = handle.order_of_payment(scope, payment)? {
            let facts = facts(handle, project, order, charge).await?;
            return Ok(facts.map_or(Known::Ours(Some(order)), Known::Order));
        }
        if self
            .0
            .context
            .unfulfilled
            .is_listed(project.project.id, payment)
        {
            return Ok(Known::Unfulfilled);
        }
        if let Some(order) = charge.order {
            return Ok(Known::Ours(Some(order)));
        }
        Ok(match &charge.customer {
            Some(customer) if !handle.orders_of_customer(scope, customer, 1)?.is_empty() => {
                Known::Ours(None)
            }
            _ => Known::Nothing,
        })
    }

    /// Looks at everything that a charge may be of, as after a report; what is known of it then.
    async fn mend(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        entry: &Entry,
    ) -> Result<Known, Error> {
        let charge = &entry.charge;
        let Some(payment) = &charge.payment else {
            return Ok(Known::Nothing);
        };
        let (context, scope) = (&self.0.context, &project.scope);
        let looked = ObjectRef::Payment(payment.clone());
        let owners = crate::fulfilment::WalletOwners {
            handle: &context.handle,
            project,
        };
        let reports = provider.look(&looked, &owners).await?;
        let mut of = None;
        for report in reports {
            let Report::Reversed(reversal) = report else {
                continue;
            };
            let subject = match reversal.of {
                PaymentTarget::Order(order) => {
                    of = Some(order);
                    let known = order_of(&context.handle, project, order).await?;
                    known.and_then(|known| known.checkout.map(ObjectRef::Checkout))
                }
                PaymentTarget::Invoice(first, invoice) => {
                    let handle = &context.handle;
                    of = Some(OrderId {
                        serial: handle.renewal_order(scope, &invoice.id, invoice.created),
                        wallet: first.wallet,
                    });
                    Some(ObjectRef::Invoice(invoice.id))
                }
            };
            if let Some(subject) = subject {
                self.look(project, provider, &subject).await?;
            }
        }
        self.look(project, provider, &looked).await?;
        let known = self.known(project, charge).await?;
        let Known::Ours(_) = known else {
            return Ok(known);
        };
        let Some(order) = of.or(charge.order) else {
            // A customer of ours bought something else.
            return Ok(Known::Nothing);
        };
        // One of several payments of a bill, which is found by another one.
        if let Some(facts) = facts(&context.handle, project, order, charge).await? {
            return Ok(Known::Order(facts));
        }
        let unplaced = Unplaced {
            why: Unplaceable::UnknownOrder,
            payment: Payment {
                amount_cents: charge.amount_cents,
                payment: Some(payment.clone()),
                invoice: None,
                customer: charge.customer.clone(),
                email: None,
                receipt: Receipt::default(),
            },
            billing: None,
        };
        context
            .unfulfilled
            .keep(project, provider, unplaced, None)
            .await?;
        self.known(project, charge).await
    }

    /// What cannot be looked at now stays what it is.
    async fn look(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        subject: &ObjectRef,
    ) -> Result<(), Error> {
        match self
            .0
            .context
            .fulfilment
            .look(project, provider, subject)
            .await
        {
            Err(error) if error.is_about_the_account() || error.is_silence() => Err(error),
            Err(error) => {
                tracing::warn!(%error, ?subject, "What differs cannot be looked at again");
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Begins what is due for a project by now.
    pub(crate) async fn tend(&self, payments: &Payments, project: &Arc<ProjectCatalog>) {
        let id = project.project.id;
        let handle = &self.0.context.handle;
        let now = handle.now();
        let past =
            |at: Option<Timestamp>, seconds| at.is_none_or(|at| at.plus_seconds(seconds) <= now);
        let known = self.0.projects.get(&id).map(|known| known.clone());
        let known = known.unwrap_or_default();
        if past(known.looked, LOOK_AGAIN_SECONDS) {
            self.0.projects.entry(id).or_default().looked = Some(now);
            if let Err(error) = payments.look_again(project).await {
                tracing::warn!(%error, project = %id, "Unfulfilled payments could not be looked at again");
            }
            // What nobody asks for would stay missing, whatever the key may do by now.
            if let Ok(provider) = self.0.context.providers.of(project)
                && let Err(error) = provider.in_background().try_missing().await
            {
                tracing::warn!(%error, project = %id, "What the key may do could not be tried");
            }
        }
        let every = match known.error {
            Some(_) => AGAIN_SECONDS,
            None => DAY_SECONDS,
        };
        if known.began.is_none() {
            let began = now.plus_seconds(FIRST_SECONDS.saturating_sub(DAY_SECONDS));
            self.0.projects.entry(id).or_default().began = Some(began);
        } else if past(known.began, every)
            && let Err(error) = self.begin_daily(project)
        {
            tracing::warn!(%error, project = %id, "The payment provider's books could not be opened");
        }
    }
}

/// How an order stands that a charge paid, or some of it; `None`: it is not there.
async fn facts(
    handle: &Handle,
    project: &ProjectCatalog,
    order: OrderId,
    charge: &Charge,
) -> Result<Option<Facts>, Error> {
    let Some(known) = order_of(handle, project, order).await? else {
        return Ok(None);
    };
    let mut facts = Facts {
        order,
        paid: known.paid_at.is_some(),
        whole: known.payment == charge.payment,
        amount_cents: known.amount_cents,
        currency: known.terms.currency,
        refunded_cents: known.reversal.refunded_cents,
        disputed_cents: known.reversal.disputed_cents,
    };
    let Some(id) = known.invoice else {
        return Ok(Some(facts));
    };
    if facts.amount_cents != charge.amount_cents {
        // A bill that settles switches, too, makes two orders.
        let created = order.serial.made_at();
        let name = InvoiceName { id, created };
        let serials = orders_of(handle, &project.scope, &name);
        for serial in serials.into_iter().filter(|it| *it != order.serial) {
            if let Some(other) = order_of(handle, project, OrderId { serial, ..order }).await? {
                let sum = |of: &mut i64, more: i64| *of = of.saturating_add(more);
                sum(&mut facts.amount_cents, other.amount_cents);
                sum(&mut facts.refunded_cents, other.reversal.refunded_cents);
                sum(&mut facts.disputed_cents, other.reversal.disputed_cents);
            }
        }
        // A bill may be paid by several payments, and from the customer's balance.
        facts.whole &= facts.amount_cents == charge.amount_cents;
    }
    Ok(Some(facts))
}

/// An order as it stands; `None`: it is not there.
async fn order_of(
    handle: &Handle,
    project: &ProjectCatalog,
    order: OrderId,
) -> Result<Option<Order>, Error> {
    match handle.order(&project.scope, order).await {
        Ok(known) => Ok(Some(known.order)),
        Err(actors::Error::Rejected(Rejection::OrderNotFound | Rejection::WalletNotFound)) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whatever becomes of a proof, the next one may begin.
struct Ending(Proofs, ProjectId);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(mut known) = self.0.0.projects.get_mut(&self.1) {
            known.running = None;
        }
    }
}
