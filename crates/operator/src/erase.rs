//! Erases the personal data of a wallet.

use actors::Address;
use domain::id::WalletKey;
use edge::audit::AuditEvent;
use payments::failpoint;
use wire::Error;

use crate::{Action, Confirmation, ConfirmationResult, Execution, Operator};

/// Erases what is known of the person behind a wallet.
#[derive(Debug)]
pub struct Erase(pub WalletKey);

/// What was erased.
#[derive(Debug)]
pub struct ErasedData {
    /// The wallet's identifier.
    pub wallet: String,
    /// Orders that had a buyer's address or metadata.
    pub orders: usize,
    /// Operators' notes about it.
    pub notes: usize,
}

impl Action for Erase {
    type Answer = ErasedData;

    async fn confirmation(&self, _: &Operator<'_>) -> ConfirmationResult {
        let facts = vec![
            ("What goes", "The e-mail address and the metadata of all orders, paid or not, the address on payments that led to no order, and the notes about this wallet. It is not found by such an address any more, and no code is mailed there. This cannot be undone.".into()),
            ("What stays", "Credits, the ledger with callers’ notes (meta), sums of orders, the user id, and the provider’s name for the customer, which refunds need.".into()),
            ("What is elsewhere", "What the provider has, webhooks that were sent, events for 30 days, superseded records on the disk, which nothing shows, and backups until they are deleted.".into()),
            ("Later orders", "An order that is made or paid after this has its buyer’s address.".into()),
        ];
        let title = "Erase this customer?".into();
        Ok(Some(Confirmation { title, facts }))
    }

    async fn execute(self, by: &Operator<'_>) -> Execution<ErasedData> {
        let view = by.wallet(self.0).await?;
        let words = format!("Erase the customer of {}", view.id);
        by.announce(&words, None, Some("")).await?;
        let payments = by
            .app
            .payments
            .erase_unfulfilled(&by.project, view.key)
            .await;
        let payments = payments.map_err(|error| Error::from_payments(error, &by.project))?;
        failpoint::reached("erase.payments");
        let orders = by
            .app
            .handle
            .erase(&by.project.scope, &Address::Stored(self.0))
            .await;
        let orders = orders.map_err(|error| by.refused(error))?;
        failpoint::reached("erase.orders");
        let notes = by.app.wallet_notes.remove(view.key, None).await?;
        let what = format!(
            "Erased the customer of {}: {orders} orders, {notes} notes, {payments} payments without an order",
            view.id
        );
        let event = AuditEvent::once(orders == 0 && notes == 0 && payments == 0, what);
        let wallet = view.id.to_string();
        Ok((
            ErasedData {
                wallet,
                orders,
                notes,
            },
            event,
        ))
    }
}
