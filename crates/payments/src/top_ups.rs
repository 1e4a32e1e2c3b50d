//! Charges cards on file for attempts that wallets decided. An attempt is logged before its card is charged, and stays open
//! until its outcome is known: the provider is asked again by the attempt's name, never charged under another. Its answer,
//! its events and its list all lead to the same report.

use actors::{Address, TopUpList};
use catalog::ProjectCatalog;
use domain::{
    Rejection, Timestamp,
    id::{OrderId, WalletKey},
    metadata::Metadata,
    text::PageUrl,
    top_up::{ActionPage, COOL_DOWN_SECONDS, ChargeFailure, Decline, DeclineCode, DeclineKind},
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
    Error, NewCardSetup, NewCheckout, Payments, failpoint, project_account::ProjectAccount,
};

/// For how long a charge is repeated under its name: a provider may keep a failed answer under it. Source: Stripe keeps
/// also an error 500 under an idempotency key.
const REPEAT_SECONDS: i64 = 600;
/// When no request to charge can be under way any more, so that the provider's list tells all.
const CERTAIN_SECONDS: i64 = 900;
/// How long a payment that the bank has is left alone: its end comes as an event.
const PROCESSING_SECONDS: i64 = 3600;
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
        context.handle.remove_card(&project.scope, address).await?;
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
        let context = &self.0.context;
        let (handle, scope) = (&context.handle, &project.scope);
        let mut after = None;
        self.0.top_up_pauses.forget_old(handle.now_in(scope));
        loop {
            let now = handle.now_in(scope);
            let page = handle.top_ups(scope, TopUpList::Due, after, now, PAGE_SIZE)?;
            let due = page.iter().map(|(_, wallet)| *wallet);
            let due = due.filter(|wallet| self.0.top_up_pauses.is_over(*wallet, now));
            let due: Vec<_> = due.collect();
            if !due.is_empty() {
                let provider = context.providers.of(project)?.in_background();
                let account = ProjectAccount::new(project, &*provider);
                let charges = due.into_iter().map(|wallet| self.attempt(account, wallet));
                let mut charges = stream::iter(charges).buffer_unordered(CONCURRENCY);
                while charges.next().await.is_some() {}
            }
            after = page.last().copied();
            if page.len() < PAGE_SIZE {
                return Ok(());
            }
        }
    }

    /// Brings a wallet's open attempt on; what hinders it is logged, and it is left alone for a while.
    async fn attempt(&self, account: ProjectAccount<'_>, wallet: WalletKey) {
        let now = self.0.context.handle.now_in(&account.project.scope);
        match self.charge_attempt(account, wallet).await {
            Ok(None) => self.0.top_up_pauses.end(wallet),
            Ok(Some(until)) => self.0.top_up_pauses.set(wallet, until),
            Err(error) => {
                tracing::warn!(%error, ?wallet, "The outcome of an automatic top-up is not known yet");
                self.0.top_up_pauses.double(wallet, now);
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
        let _at_work = context.epochs.begin(account.project).await?;
        let Some(open) = handle.open_attempt(scope, wallet).await? else {
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
        let answer = self.ask(account, &charge).await?;
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
                    .place_paid_order(account, &subject, *paid)
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
                            let subject = ObjectRef::Payment(payment.clone());
                            context.fulfilment.refresh(account, &subject).await?;
                        }
                        canceled => canceled?,
                    }
                }
                let failure = match decline.kind {
                    DeclineKind::ActionRequired => {
                        let page = self.action_page(account.project, &charge).await?;
                        ChargeFailure::ActionRequired(decline, page)
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

    /// What came of a charge, which is made unless that may charge twice.
    async fn ask(&self, account: ProjectAccount<'_>, charge: &CardCharge) -> Result<Answer, Error> {
        // A price never changes: another takes its place.
        let is_agreed = account.project.offered(&charge.reference.price).is_some();
        let now = self.0.context.handle.now_in(&account.project.scope);
        let is_older = |seconds| now >= charge.since.plus_seconds(seconds);
        let is_old = is_older(REPEAT_SECONDS);
        if is_old && !is_older(CERTAIN_SECONDS) {
            let reason = "a request to charge the card may still be under way";
            return Err(payments_port::Error::unavailable(reason).into());
        }
        let refused = match (is_agreed, is_old) {
            (false, _) => ChargeFailure::PriceChanged,
            (true, true) => ChargeFailure::NeverCharged,
            (true, false) => match account.provider.charge_card(charge).await {
                Ok(outcome) => return Ok(Answer::Outcome(outcome)),
                Err(error) if error.is_refusal() => {
                    tracing::warn!(%error, order = %charge.reference.order, "The payment provider refused to charge a card on file");
                    ChargeFailure::Declined(Decline {
                        code: DeclineCode::unnamed(),
                        kind: DeclineKind::Final,
                    })
                }
                Err(error) => return Err(error.into()),
            },
        };
        // An earlier process may have charged it.
        let (order, since) = (charge.reference.order, charge.since);
        let found =
            account
                .provider
                .find_card_charge(order, &charge.customer, &charge.operation, since);
        Ok(found.await?.map_or(Answer::None(refused), Answer::Outcome))
    }

    /// Opens a checkout of the same price, on which the buyer does what the bank asks for.
    async fn action_page(
        &self,
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
        let (order, page) = self.opened(project, &new).await?;
        let url = PageUrl::new(page.url);
        Ok(ActionPage {
            order: order.serial,
            url: url.map_err(|_| Error::Defect("a checkout's address is no page"))?,
        })
    }
}
