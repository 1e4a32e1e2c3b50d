//! Charges cards on file for attempts that wallets decided. An attempt is logged before its card is charged, and stays open
//! until its outcome is known: the provider is asked again by the attempt's name, never charged under another. Its answer,
//! its events and its list all lead to the same report.

use std::time::Duration;

use actors::{Address, TopUpList};
use catalog::ProjectCatalog;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, WalletKey},
    metadata::Metadata,
    text::PageUrl,
    top_up::{
        ActionPage, COOL_DOWN_SECONDS, ChargeFailure, Decline, DeclineCode, DeclineKind, TopUpPlace,
    },
    wallet::{
        Currency,
        purchase::{OrderReport, Purchase},
    },
};
use futures_util::{StreamExt as _, stream};
use payments_port::{
    CardCharge, CardOutcome, CardSetupRequest, Discount, ObjectRef, Operation, OrderReference,
};

use super::{
    Error, NewCardSetup, NewCheckout, Payments, failpoint, named_locks::NamedLock,
    project_account::ProjectAccount,
};

/// For how long a charge is repeated under its name: a provider may keep a failed answer under it. Source: Stripe keeps
/// also an error 500 under an idempotency key.
const REPEAT_SECONDS: i64 = 600;
/// When no request to charge can be under way any more, so that the provider's list tells all.
const CERTAIN_SECONDS: i64 = 900;
/// How long a payment that the bank has is left alone: its end comes as an event.
const PROCESSING_SECONDS: i64 = 3600;
/// How long a request to charge may take, its wait for a turn included: less than is between the two above.
const CHARGE_TIMEOUT: Duration = Duration::from_secs(240);
/// The position in the list of what is due behind all open attempts.
const AFTER_OPEN: (Timestamp, WalletKey) = (TopUpPlace::OPEN, WalletKey([u8::MAX; 16]));
const PAGE_SIZE: usize = 64;
const CONCURRENCY: usize = 16;

/// What is known of a charge.
enum Answer {
    Outcome(CardOutcome),
    /// The provider certainly has no such payment, for this reason.
    None(ChargeFailure),
}

impl Payments {
    /// Opens a page on which a user enters a card; its URL.
    /// # Errors
    /// See [`Error`].
    pub async fn open_card_setup(
        &self,
        project: &ProjectCatalog,
        new: NewCardSetup,
    ) -> Result<String, Error> {
        let context = &self.0.context;
        let provider = context.providers.of(project)?;
        let _at_work = context.epochs.begin(project).await?;
        let address = Address::External(new.user.clone());
        let (handle, scope) = (&context.handle, &project.scope);
        let card = match handle.top_up(scope, &address).await {
            Ok(detail) => detail.top_up.card,
            Err(actors::Error::Rejected(Rejection::WalletNotFound)) => None,
            Err(error) => return Err(error.into()),
        };
        let customer = match card {
            Some(card) => Some(card.customer),
            None => handle.customer(scope, &address, None).await.ok(),
        };
        let request = CardSetupRequest {
            project: project.project.id,
            user: &new.user,
            customer,
            email: None,
            return_url: &new.return_url,
            locale: new.locale.as_deref(),
        };
        let page = provider.open_card_setup(&request).await?;
        self.expect(project.project.id);
        Ok(page.url)
    }

    /// Forgets a wallet's card on file: first at the provider, so that a failure leaves nothing behind there.
    /// # Errors
    /// See [`Error`].
    pub async fn remove_card(
        &self,
        project: &ProjectCatalog,
        address: &Address,
    ) -> Result<(), Error> {
        let context = &self.0.context;
        let detail = context.handle.top_up(&project.scope, address).await?;
        let Some(card) = detail.top_up.card else {
            return Ok(());
        };
        let provider = context.providers.of(project)?;
        let _at_work = context.epochs.begin(project).await?;
        provider.forget_card(&card.id).await?;
        // Not one that was entered meanwhile.
        let removed = (context.handle).remove_card(&project.scope, address, Some(card.id));
        removed.await?;
        Ok(())
    }

    /// Decides and charges what is due of a project's automatic top-ups.
    pub(super) async fn charge_due(&self, project: &ProjectCatalog) {
        match self.charge_all(project).await {
            Ok(()) | Err(Error::NotConfigured | Error::Changing) => {}
            Err(error) => {
                tracing::warn!(%error, project = %project.project.id, "Automatic top-ups could not be charged; trying again later");
            }
        }
    }

    async fn charge_all(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let now = self.0.context.handle.now_in(&project.scope);
        self.0.top_up_pauses.forget_old(project.project.id, now);
        // Nothing new is bought for an archived project.
        let mut waiting = (!project.project.archived).then_some(AFTER_OPEN);
        loop {
            // Before each page of those that may wait: an attempt must be asked for while its request is fresh.
            let mut open = None;
            loop {
                open = self.charge_page(project, open, true).await?;
                if open.is_none() {
                    break;
                }
            }
            let Some(after) = waiting else {
                return Ok(());
            };
            waiting = self.charge_page(project, Some(after), false).await?;
        }
    }

    /// Charges a page of open attempts, or of wallets whose needed attempt is due; the position after it, if there are
    /// more.
    async fn charge_page(
        &self,
        project: &ProjectCatalog,
        after: Option<(Timestamp, WalletKey)>,
        open: bool,
    ) -> Result<Option<(Timestamp, WalletKey)>, Error> {
        let context = &self.0.context;
        let (handle, scope, id) = (&context.handle, &project.scope, project.project.id);
        let now = handle.now_in(scope);
        let until = if open { TopUpPlace::OPEN } else { now };
        let page = handle.top_ups(scope, TopUpList::Due, after, until, PAGE_SIZE)?;
        let due = page.iter().map(|(_, wallet)| *wallet);
        let due = due.filter(|wallet| self.0.top_up_pauses.is_over((id, *wallet), now));
        let due: Vec<_> = due.collect();
        if !due.is_empty() {
            let provider = context.providers.of(project)?.in_background();
            let account = ProjectAccount::new(project, &*provider);
            let charges = due.into_iter().map(|wallet| self.attempt(account, wallet));
            let mut charges = stream::iter(charges).buffer_unordered(CONCURRENCY);
            while charges.next().await.is_some() {}
        }
        Ok(page.last().copied().filter(|_| page.len() == PAGE_SIZE))
    }

    /// Brings a wallet's open attempt on; what hinders it is logged, and it is left alone for a while.
    async fn attempt(&self, account: ProjectAccount<'_>, wallet: WalletKey) {
        let now = self.0.context.handle.now_in(&account.project.scope);
        let (pauses, of) = (&self.0.top_up_pauses, (account.project.project.id, wallet));
        match self.charge_attempt(account, wallet).await {
            Ok(None) => pauses.end(of),
            Ok(Some(until)) => pauses.set(of, until),
            Err(error) => {
                tracing::warn!(%error, ?wallet, "The outcome of an automatic top-up is not known yet");
                pauses.double(of, now);
            }
        }
    }

    /// Charges an open attempt and reports what came of it; until when to leave it alone, if it is still open.
    async fn charge_attempt(
        &self,
        account: ProjectAccount<'_>,
        wallet: WalletKey,
    ) -> Result<Option<Timestamp>, Error> {
        let context = &self.0.context;
        let (handle, scope) = (&context.handle, &account.project.scope);
        let at_work = context.epochs.begin(account.project).await?;
        let sells = !account.project.project.archived;
        let Some(open) = handle.open_attempt(scope, wallet, sells).await? else {
            // As of a frozen wallet: none is decided sooner than that after another.
            return Ok(Some(handle.now_in(scope).plus_seconds(COOL_DOWN_SECONDS)));
        };
        let order = OrderId {
            serial: open.attempt.order,
            wallet,
        };
        let Some(terms) = open.terms.clone() else {
            return Err(Error::Defect("an open attempt has no order"));
        };
        let name = Operation::new(open.attempt.name(wallet));
        let charge = CardCharge {
            reference: OrderReference {
                project: account.project.project.id,
                order,
                price: terms.price,
                user: open.user.clone(),
                quantity: open.quantity,
            },
            customer: open.attempt.customer.clone(),
            card: open.attempt.card.clone(),
            amount_cents: open.attempt.cents,
            currency: Currency::new(&terms.currency)
                .ok_or(Error::Defect("a price has no currency"))?,
            description: terms.label.as_deref().unwrap_or("Credits").to_owned(),
            operation: name.ok_or(Error::Defect("an attempt has no name"))?,
            since: open.attempt.at,
        };
        failpoint::reached("top_up.charging");
        let answer = self.ask(account, &charge, sells && open.is_wanted).await?;
        failpoint::reached("top_up.charged");
        let failed = |failure| {
            let report = Purchase::Report(order.serial, OrderReport::ChargeFailed(failure));
            handle.report(scope, wallet, report)
        };
        match answer {
            Answer::Outcome(CardOutcome::Paid(paid)) => {
                let subject = paid.payment.payment.clone();
                let subject = subject.ok_or(Error::Defect("a charge has no payment"))?;
                let subject = ObjectRef::Payment(subject);
                let fulfilment = &context.fulfilment;
                fulfilment
                    .place_within(&at_work, account, (&subject, *paid))
                    .await?;
            }
            Answer::Outcome(CardOutcome::Processing(_)) => {
                let report = Purchase::Report(order.serial, OrderReport::Processing);
                handle.report(scope, wallet, report).await?;
                let now = handle.now_in(scope);
                return Ok(Some(now.plus_seconds(PROCESSING_SECONDS)));
            }
            Answer::Outcome(CardOutcome::Declined(decline, payment)) => {
                // So that it is not paid beside the checkout, or the next attempt.
                if let Some(payment) = &payment {
                    match account.provider.cancel_card_charge(payment).await {
                        Err(error) if error.is_refusal() => {
                            let (subject, fulfilment) =
                                (ObjectRef::Payment(payment.clone()), &context.fulfilment);
                            fulfilment
                                .refresh_within(&at_work, account, &subject)
                                .await?;
                        }
                        canceled => canceled?,
                    }
                }
                let failure = match decline.kind {
                    DeclineKind::ActionRequired => {
                        match self.action_page(&at_work, account.project, &charge).await {
                            Ok(page) => ChargeFailure::ActionRequired(decline, page),
                            Err(error) if error.opens_no_page() => {
                                tracing::warn!(%error, %order, "No page for a top-up that the bank wants the buyer for");
                                ChargeFailure::Declined(decline)
                            }
                            Err(error) => return Err(error),
                        }
                    }
                    DeclineKind::Retryable | DeclineKind::Final => ChargeFailure::Declined(decline),
                };
                failed(failure).await?;
            }
            Answer::None(failure) => drop(failed(failure).await?),
        }
        failpoint::reached("top_up.reported");
        Ok(None)
    }

    /// What came of a charge, which is made if it is still wanted, unless that may charge twice.
    async fn ask(
        &self,
        account: ProjectAccount<'_>,
        charge: &CardCharge,
        is_wanted: bool,
    ) -> Result<Answer, Error> {
        let unavailable = |reason| Error::from(payments_port::Error::unavailable(reason));
        // A price never changes: another takes its place.
        let is_agreed = account.project.offered(&charge.reference.price).is_some();
        let now = self.0.context.handle.now_in(&account.project.scope);
        let is_older = |seconds| now >= charge.since.plus_seconds(seconds);
        let refused = match (is_wanted, is_agreed) {
            (true, false) => ChargeFailure::PriceChanged,
            (true, true) if !is_older(REPEAT_SECONDS) => {
                let made = account.provider.charge_card(charge);
                // Also one that had to wait for its turn ends before the provider's list has to tell all.
                let made = tokio::time::timeout(CHARGE_TIMEOUT, made).await;
                match made.map_err(|_| unavailable("it took too long"))? {
                    Ok(outcome) => return Ok(Answer::Outcome(outcome)),
                    Err(error) if error.is_refusal() => {
                        tracing::warn!(%error, order = %charge.reference.order, "The payment provider refused to charge a card on file");
                        ChargeFailure::Declined(Decline {
                            code: DeclineCode::unnamed(),
                            kind: DeclineKind::Final,
                        })
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            _ => ChargeFailure::NeverCharged,
        };
        // An earlier process may have charged it.
        let (order, since) = (charge.reference.order, charge.since);
        let found =
            account
                .provider
                .find_card_charge(order, &charge.customer, &charge.operation, since);
        match found.await? {
            Some(outcome) => Ok(Answer::Outcome(outcome)),
            None if refused == ChargeFailure::NeverCharged && !is_older(CERTAIN_SECONDS) => Err(
                unavailable("a request to charge the card may still be under way"),
            ),
            None => Ok(Answer::None(refused)),
        }
    }

    /// Opens a checkout of the same price, on which the buyer does what the bank asks for.
    async fn action_page(
        &self,
        at_work: &NamedLock,
        project: &ProjectCatalog,
        charge: &CardCharge,
    ) -> Result<ActionPage, Error> {
        let home = self.0.context.providers.public_url();
        let of_ours = |page: &str| format!("{home}/checkout/{page}");
        let new = NewCheckout {
            price: charge.reference.price,
            wallet: charge.reference.user.clone().map(Address::External),
            success_url: of_ours("success"),
            cancel_url: of_ours("cancelled"),
            email: None,
            discount: Discount::None,
            quantity: charge.reference.quantity,
            metadata: Metadata::default(),
            locale: None,
            save_card: true,
        };
        let (order, page) = self.opened(at_work, project, &new).await?;
        let url = PageUrl::new(page.url);
        Ok(ActionPage {
            order: order.serial,
            url: url.map_err(|_| Error::Defect("a checkout's address is no page"))?,
        })
    }
}
