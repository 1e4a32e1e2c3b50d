//! Refunds, cancellations and resumptions. The wallet decides about a request and logs it before the provider is asked,
//! and logs the outcome afterwards. Nothing here speaks to a provider.

use domain::{
    id::OrderId,
    text::SubscriptionId,
    wallet::{InstructionRecord, SubscriptionInstruction, loss::Loss, refund::Refund},
};

use super::{Address, Handle, Scope};
use crate::{
    answer::Error,
    wallet::{CloseInstruction, FindSubscription, Instruct, LossByRefund, SubscriptionDetail},
};

impl Handle {
    /// Asks an order's wallet whether the order may be refunded; with `logs`, the request is logged.
    /// # Errors
    /// See [`domain::wallet::Wallet::refund`].
    pub async fn ask_refund(
        &self,
        scope: &Scope,
        order: OrderId,
        command: Refund,
        logs: bool,
    ) -> Result<InstructionRecord, Error> {
        let instruct = Instruct { command, logs };
        self.ask_order(scope, order.wallet, instruct).await
    }

    /// What an order's wallet would lose if this much more of the order were refunded.
    /// # Errors
    /// [`domain::Rejection::OrderNotFound`] when there is no such wallet; else see [`Error`].
    pub async fn loss_by_refund(
        &self,
        scope: &Scope,
        order: OrderId,
        cents: i64,
    ) -> Result<Loss, Error> {
        let (wallet, order) = (order.wallet, order.serial);
        self.ask_order(scope, wallet, LossByRefund { order, cents })
            .await
    }

    /// Logs the outcome of a refund: its record with its new stage.
    /// # Errors
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn close_refund(
        &self,
        scope: &Scope,
        order: OrderId,
        outcome: InstructionRecord,
    ) -> Result<(), Error> {
        self.ask_order(scope, order.wallet, CloseInstruction(outcome))
            .await
    }

    /// Asks a wallet whether its subscription may be canceled or resumed; with `logs`, the request is logged.
    /// # Errors
    /// See [`domain::wallet::Wallet::instruct_subscription`].
    pub async fn ask_instruction(
        &self,
        scope: &Scope,
        address: &Address,
        command: SubscriptionInstruction,
        logs: bool,
    ) -> Result<InstructionRecord, Error> {
        self.ask_at(scope, address, Instruct { command, logs })
            .await
    }

    /// Logs the outcome of a cancellation or resumption: its record with its new stage.
    /// # Errors
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn close_instruction(
        &self,
        scope: &Scope,
        address: &Address,
        outcome: InstructionRecord,
    ) -> Result<(), Error> {
        self.ask_at(scope, address, CloseInstruction(outcome)).await
    }

    /// A wallet's subscription, current or ended.
    /// # Errors
    /// [`domain::Rejection::SubscriptionNotFound`]; else see [`Error`].
    pub async fn subscription(
        &self,
        scope: &Scope,
        address: &Address,
        id: SubscriptionId,
    ) -> Result<SubscriptionDetail, Error> {
        self.ask_at(scope, address, FindSubscription(id)).await
    }
}
