//! Reverses deductions. A ledger entry's id names its wallet, and its record there.

use std::sync::Arc;

use domain::{
    Rejection,
    history::Record,
    id::LedgerId,
    text::Meta,
    time::Span,
    wallet::{
        reverse_deduction::{ReverseDeduction, TracedDeduction, named_within},
        taken::NAMED_EVERY,
    },
};

use super::{Address, Handle, Scope, ledger::Records};
use crate::{
    answer::{Error, ReversalAnswer},
    keyring::ledger_id,
    wallet::{RecordQuery, Reverse},
};

impl Handle {
    /// Gives back what a deduction took, all of it or a part. `command` is made with the deduction's own note.
    ///
    /// # Errors
    ///
    /// [`Rejection::DeductionNotFound`], and those of [`domain::wallet::Wallet::reverse_deduction`]; else see
    /// [`Error`].
    pub async fn reverse_deduction(
        &self,
        scope: &Scope,
        id: LedgerId,
        command: impl FnOnce(Option<&Meta>) -> ReverseDeduction,
    ) -> Result<ReversalAnswer, Error> {
        let unknown = || Error::from(Rejection::DeductionNotFound);
        let seq = id.number();
        let mut near = self.records_up_to(scope, id, 1).await?;
        let record = near.matches.first().filter(|record| record.seq == seq);
        let record = record.ok_or_else(unknown)?;
        if ledger_id(near.wallet, seq, record.at) != id {
            return Err(unknown());
        }
        if TracedDeduction::needs_former(record) {
            let all = usize::try_from(NAMED_EVERY).unwrap_or(usize::MAX);
            near = self.records_up_to(scope, id, all.saturating_add(1)).await?;
        }
        let numbers = named_within(seq);
        let near = near.matches.iter();
        let near = near.filter(|record: &&Record| numbers.contains(&record.seq));
        let deduction = TracedDeduction::of(near).ok_or_else(unknown)?;
        let command = command(deduction.meta.as_ref());
        let reverse = Reverse { deduction, command };
        self.ask_at(scope, &Address::Stored(id.wallet), reverse)
            .await
    }

    /// The records of a wallet up to an entry's, the newest first.
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
