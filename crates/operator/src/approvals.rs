//! Answers requests for approval. Nobody approves their own; an approved one is carried out once, with the requester's
//! present role and daily limit. An approved change of the project is made in the same append that forgets its request, so
//! that a crash neither loses nor repeats it.

use catalog::{KeyChange, MintedKey, PriceChange, ProjectCatalog, ProjectChange};
use domain::{Amount, Timestamp, id::ApprovalId, text::IdempotencyKey, wallet::credit::Credit};
use edge::{
    audit::{AuditEvent, retry_key_of_approval},
    refused,
};
use identity::{Action as Request, Approval, Authority, CatalogChange, OutgoingValue, Privilege};
use scrip_http::limits::Client;
use tokio::sync::MutexGuard;
use wire::{Error, ErrorCode};

use crate::{
    Action, AssignPayment, CreatePrice, CreateProduct, GrantCredits, Operator, RefundOrder,
    RefundPayment, ReverseDeduction, UpdateKey, UpdatePrice, UpdateProduct, UpdateProject,
    admission::words,
    keys::{created, key_terms},
    manual_note,
};

/// What became of a request that was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approved {
    /// It was carried out.
    CarriedOut,
    /// It had been carried out, or approved, before.
    Before,
    /// Its requester creates the key, and sees it once.
    Key,
}

impl Operator<'_> {
    /// Declines a request; the requester withdraws it.
    /// # Errors
    /// It was answered, or is being answered; `role_forbidden`.
    pub async fn decline(&self, id: ApprovalId) -> Result<(), Error> {
        let (people, now) = (&self.app.edge.people, self.app.edge.clock.now());
        let waiting = people.answer_approval(self.project.project.id, id, now);
        let (approval, _answering) = waiting.map_err(refused)?;
        self.may_answer(&approval)?;
        let _saving = self.saving(&approval).await;
        let earlier = self.earlier_attempt(&approval).await;
        people.forget_approval(&approval).await.map_err(refused)?;
        let what = match approval.is_of(self.authority) {
            true => format!("Withdrew the request to {}{earlier}", words(&approval)),
            false => format!("Declined to {}{earlier}", asked(&approval)),
        };
        self.record(AuditEvent::Did(what));
        Ok(())
    }

    /// Approves a request and carries it out.
    /// # Errors
    /// As [`Operator::decline`]; `own_approval`; it was refused.
    pub async fn approve(&self, id: ApprovalId, client: Client) -> Result<Approved, Error> {
        let (people, now) = (&self.app.edge.people, self.app.edge.clock.now());
        let waiting = people.answer_approval(self.project.project.id, id, now);
        let (approval, _answering) = waiting.map_err(refused)?;
        self.may_answer(&approval)?;
        if approval.is_of(self.authority) {
            return Err(Error::new(ErrorCode::OwnApproval));
        }
        let _saving = self.saving(&approval).await;
        if approval.approved_by.is_some() {
            self.record(AuditEvent::DoneBefore);
            return Ok(Approved::Before);
        }
        let asked = asked(&approval);
        let attempt = format!("Approve to {asked}");
        let by = Operator {
            // As it is now that nobody else saves.
            project: self.app.catalog.project(self.id())?,
            attempt: Some(&attempt),
            approval: Some(&approval),
            ..*self
        };
        let is_new = by.carry_out(&approval, client, now).await?;
        if is_new && is_new_key(&approval) {
            self.record(AuditEvent::Did(format!("Approved to {asked}")));
            return Ok(Approved::Key);
        }
        people.forget_approval(&approval).await.map_err(refused)?;
        let what = format!("Approved to {asked}: carried out");
        self.record(AuditEvent::once(!is_new, what));
        Ok(match is_new {
            true => Approved::CarriedOut,
            false => Approved::Before,
        })
    }

    /// Creates a secret key that was approved, for its requester alone.
    /// # Errors
    /// As [`Operator::decline`]; `own_approval` until another person approved it.
    pub async fn create_approved_key(&self, id: ApprovalId) -> Result<MintedKey, Error> {
        let (people, now) = (&self.app.edge.people, self.app.edge.clock.now());
        let project = self.project.project.id;
        let (approval, _answering) = people.answer_approval(project, id, now).map_err(refused)?;
        let _saving = self.saving(&approval).await;
        let Some(CatalogChange::NewKey(new)) = change(&approval) else {
            return Err(Error::new(ErrorCode::ApprovalNotFound));
        };
        if !approval.is_of(self.authority) || !self.may(Privilege::Manage) {
            return Err(Error::new(ErrorCode::RoleForbidden));
        }
        let Some(approver) = &approval.approved_by else {
            return Err(Error::new(ErrorCode::OwnApproval));
        };
        let catalog = self.app.catalog.with_notes(vec![approval.forgotten()]);
        let minted = catalog.create_key(project, new.clone()).await?;
        people.approval_is_over(&approval);
        let what = created(&minted.stored, project);
        let what = format!("{what}, approved by {approver} ({})", approval.id);
        self.record(AuditEvent::Did(what));
        Ok(minted)
    }

    fn may(&self, privilege: Privilege) -> bool {
        self.authority.may(privilege, Some(self.project.project.id))
    }

    fn may_answer(&self, approval: &Approval) -> Result<(), Error> {
        match approval.is_of(self.authority) || self.may(Privilege::Manage) {
            true => Ok(()),
            false => Err(Error::new(ErrorCode::RoleForbidden)),
        }
    }

    /// Nobody else saves while a change is approved.
    async fn saving(&self, approval: &Approval) -> Option<MutexGuard<'_, ()>> {
        match change(approval) {
            Some(_) => Some(self.app.edge.saving.lock().await),
            None => None,
        }
    }

    /// The outcome of an earlier attempt, for the audit log.
    async fn earlier_attempt(&self, approval: &Approval) -> &'static str {
        let (log, attempt) = (&self.app.edge.audit, retry_key_of_approval(approval.id));
        let was_unknown = log.is_unknown(&attempt).await;
        log.look_for_proofs(&self.app.catalog, &self.app.payments)
            .await;
        match (was_unknown, log.is_unknown(&attempt).await) {
            (false, _) => "",
            (true, true) => "; an earlier attempt may have carried it out: its outcome is unknown",
            (true, false) => "; an earlier attempt had carried it out",
        }
    }

    /// The requester, with their present permissions.
    async fn requester(&self, approval: &Approval, client: Client) -> Result<Authority, Error> {
        let authority = match approval.asker.user() {
            Some(user) => self.app.authority_of(user, client).await?,
            None => Some(approval.asker.clone()),
        };
        let needed = match &approval.action {
            Request::Outgoing(_) => Privilege::Support,
            Request::Change(_) => Privilege::Manage,
        };
        let may = |it: &Authority| it.may(needed, Some(approval.project));
        authority.filter(may).ok_or_else(|| {
            Error::new(ErrorCode::RoleForbidden)
                .saying("The person who requested it is no longer permitted to do it.")
        })
    }

    /// Carries it out; returns whether that was not done before.
    async fn carry_out(
        &self,
        approval: &Approval,
        client: Client,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let requester = self.requester(approval, client).await?;
        let value = match &approval.action {
            Request::Outgoing(value) => value.clone(),
            Request::Change(change) => {
                self.announce("", None, None).await?;
                return self.change(approval, change).await;
            }
        };
        let key = IdempotencyKey::new(approval.key.as_str());
        let key = key.map_err(|error| Error::text("key", error))?;
        let people = &self.app.edge.people;
        let counted = people
            .count_outgoing(&requester, &value, key.as_str(), now)
            .await;
        counted.map_err(refused)?;
        match value {
            OutgoingValue::Grant {
                wallet,
                product,
                credits,
                expires_at,
            } => {
                let credit = Credit {
                    product,
                    amount: amount(credits)?,
                    expires_at: expires_at.map(Timestamp),
                    key,
                    meta: manual_note(&approval.reason)?,
                };
                self.execute(GrantCredits { wallet, credit }).await
            }
            OutgoingValue::Refund { order, cents } => {
                self.execute(RefundOrder { order, cents, key }).await
            }
            OutgoingValue::Payment { payment, .. } => self.execute(RefundPayment(payment)).await,
            OutgoingValue::Reversal { deduction, credits } => {
                let reverse = ReverseDeduction {
                    deduction,
                    amount: Some(amount(credits)?),
                    key,
                    note: Some(approval.reason.clone()),
                };
                self.execute(reverse).await
            }
            OutgoingValue::Assignment {
                payment, price, to, ..
            } => {
                let assign = AssignPayment {
                    payment,
                    price,
                    wallet: to.address(),
                };
                self.execute(assign).await
            }
        }
    }

    /// Does what was approved; returns whether it was not done before.
    async fn execute<A: Action>(&self, action: A) -> Result<bool, Error> {
        let (_, event) = action.execute(self).await?;
        Ok(matches!(event, AuditEvent::Did(_)))
    }

    /// Makes a change that was approved, unless what it is about was changed since; returns whether there was something to
    /// do. A secret key is only marked as approved: the requester creates it.
    async fn change(&self, approval: &Approval, change: &CatalogChange) -> Result<bool, Error> {
        if is_stale(&self.project, change) {
            return Err(stale());
        }
        let people = &self.app.edge.people;
        let is_new = match change.clone() {
            CatalogChange::NewKey(new) => {
                self.app.catalog.draft().create_key(self.id(), new).await?;
                let approved = people.approve(approval, self.authority).await;
                return approved.map(|()| true).map_err(refused);
            }
            CatalogChange::Key { key, after, .. } => {
                let change = KeyChange {
                    name: Some(after.name),
                    expires_at: Some(after.expires_at),
                };
                self.execute(UpdateKey(key, change)).await?
            }
            CatalogChange::NewProduct(new) => self.execute(CreateProduct(new)).await?,
            CatalogChange::Product { before, after } => {
                self.execute(UpdateProduct(before.id, after.into())).await?
            }
            CatalogChange::NewPrice { product, price } => {
                self.execute(CreatePrice(product, price)).await?
            }
            CatalogChange::OfferPrice { product, price } => {
                let change = PriceChange {
                    active: Some(true),
                    ..PriceChange::default()
                };
                self.execute(UpdatePrice(product, price, change)).await?
            }
            CatalogChange::FreeGrantsForCodeWallets => {
                let change = ProjectChange {
                    free_grants_for_code_wallets: Some(true),
                    ..ProjectChange::default()
                };
                let provider = None;
                self.execute(UpdateProject { change, provider }).await?
            }
        };
        if is_new {
            people.approval_is_over(approval);
        }
        Ok(is_new)
    }
}

fn asked(approval: &Approval) -> String {
    format!(
        "{}, requested by {}",
        words(approval),
        approval.asker.name()
    )
}

fn change(approval: &Approval) -> Option<&CatalogChange> {
    match &approval.action {
        Request::Outgoing(_) => None,
        Request::Change(change) => Some(change),
    }
}

/// Whether it is a secret key, which the requester creates once it is approved.
fn is_new_key(approval: &Approval) -> bool {
    matches!(change(approval), Some(CatalogChange::NewKey(_)))
}

fn amount(credits: i64) -> Result<Amount, Error> {
    Amount::new(credits).ok_or_else(|| Error::missing("amount"))
}

/// Whether what a request is about was changed since it was requested.
#[must_use]
pub fn is_stale(project: &ProjectCatalog, change: &CatalogChange) -> bool {
    match change {
        CatalogChange::Key { key, before, .. } => !project
            .key(key)
            .is_some_and(|key| key.revoked_at.is_none() && key_terms(key) == *before),
        CatalogChange::Product { before, .. } => project.product(&before.id) != Some(before),
        CatalogChange::NewPrice { product, .. } | CatalogChange::OfferPrice { product, .. } => {
            project.product(product).is_none()
        }
        CatalogChange::NewKey(_)
        | CatalogChange::NewProduct(_)
        | CatalogChange::FreeGrantsForCodeWallets => false,
    }
}

/// The refusal of a request that [`is_stale`].
#[must_use]
pub fn stale() -> Error {
    let message = "This was changed since it was requested, so it cannot be approved. Decline it, and have it requested again.";
    Error::new(ErrorCode::ChangedMeanwhile).saying(message)
}
