//! Reverses deductions. A ledger entry's id names its wallet and record.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    Rejection,
    history::Record,
    id::LedgerId,
    text::Meta,
    time::Span,
    wallet::{
        reverse_deduction::{ReverseDeduction, TracedDeduction, named_within},
        taken::NAMING_INTERVAL,
    },
};

use super::{Address, Handle, Scope, ledger::Records};
use crate::{
    answer::{Error, ReversalAnswer, ReversibleDeduction},
    keyring::ledger_id,
    wallet::{AskGivenBack, AskReversible, RecordQuery, Reverse},
};

impl Handle {
    /// Reverses a deduction, in full or in part. `command` is made with the deduction's note.
    /// # Errors
    /// [`Rejection::DeductionNotFound`], and those of [`domain::wallet::Wallet::reverse_deduction`]; else see
    /// [`Error`].
    pub async fn reverse_deduction(
        &self,
        scope: &Scope,
        id: LedgerId,
        command: impl FnOnce(Option<&Meta>) -> ReverseDeduction,
    ) -> Result<ReversalAnswer, Error> {
        let deduction = self.traced(scope, id).await?;
        let command = command(deduction.meta.as_ref());
        let reverse = Reverse { deduction, command };
        self.ask_at(scope, &Address::Stored(id.wallet), reverse)
            .await
    }

    /// A deduction, and how much of it can be given back.
    /// # Errors
    /// [`Rejection::DeductionNotFound`], [`Rejection::HoldOpen`]; else see [`Error`].
    pub async fn reversible(
        &self,
        scope: &Scope,
        id: LedgerId,
    ) -> Result<ReversibleDeduction, Error> {
        let deduction = self.traced(scope, id).await?;
        let ask = AskReversible(deduction);
        self.ask_at(scope, &Address::Stored(id.wallet), ask).await
    }

    /// How much of these deductions of a wallet was given back, by number; deductions without a reversal are left out.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn given_back(
        &self,
        scope: &Scope,
        address: &Address,
        deductions: Vec<u64>,
    ) -> Result<BTreeMap<u64, i64>, Error> {
        if deductions.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.ask_at(scope, address, AskGivenBack(deductions)).await
    }

    async fn traced(&self, scope: &Scope, id: LedgerId) -> Result<TracedDeduction, Error> {
        let unknown = || Error::from(Rejection::DeductionNotFound);
        let seq = id.number();
        let mut near = self.records_up_to(scope, id, 1).await?;
        let record = near.matches.first().filter(|record| record.seq == seq);
        let record = record.ok_or_else(unknown)?;
        if ledger_id(near.wallet, seq, record.at) != id {
            return Err(unknown());
        }
        if TracedDeduction::needs_former(record) {
            let all = usize::try_from(NAMING_INTERVAL).unwrap_or(usize::MAX);
            near = self.records_up_to(scope, id, all.saturating_add(1)).await?;
        }
        let numbers = named_within(seq);
        let near = near.matches.iter();
        let near = near.filter(|record: &&Record| numbers.contains(&record.seq));
        TracedDeduction::of(near).ok_or_else(unknown)
    }

    async fn records_up_to(
        &self,
        scope: &Scope,
        id: LedgerId,
        limit: usize,
    ) -> Result<Records, Error> {
        let query = RecordQuery {
            before: Some(id.number().saturating_add(1)),
            within: Span::ALWAYS,
            limit,
            wants: Arc::new(|_| true),
        };
        let address = Address::Stored(id.wallet);
        match self.records(scope, &address, query).await {
            Err(Error::Rejected(Rejection::WalletNotFound)) => {
                Err(Rejection::DeductionNotFound.into())
            }
            records => records,
        }
    }
}
