//! Refunds, cancellations and resumptions. The wallet decides about a request and logs it before the provider is asked,
//! and logs the outcome afterwards. Nothing here speaks to a provider.

use domain::{
    id::OrderId,
    text::SubscriptionId,
    wallet::{InstructionRecord, cancel::Cancel, loss::Loss, refund::Refund, resume::Resume},
};

use super::{Address, Handle, Scope};
use crate::{
    answer::Error,
    wallet::{
        Caller, CloseInstruction, FindSubscription, Instruct, LossByRefund, SubscriptionDetail,
    },
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
        let place = (order.wallet, Caller::Order(scope.project));
        self.ask(scope, place, Instruct { command, logs }).await
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
        let place = (order.wallet, Caller::Order(scope.project));
        let order = order.serial;
        self.ask(scope, place, LossByRefund { order, cents }).await
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
        let place = (order.wallet, Caller::Order(scope.project));
        self.ask(scope, place, CloseInstruction(outcome)).await
    }

    /// Asks a wallet whether its subscription to a product may be canceled; with `logs`, the request is logged.
    /// # Errors
    /// See [`domain::wallet::Wallet::cancel`].
    pub async fn ask_cancel(
        &self,
        scope: &Scope,
        address: &Address,
        command: Cancel,
        logs: bool,
    ) -> Result<InstructionRecord, Error> {
        self.ask_at(scope, address, Instruct { command, logs })
            .await
    }

    /// Asks a wallet whether its subscription to a product may be resumed; with `logs`, the request is logged.
    /// # Errors
    /// See [`domain::wallet::Wallet::resume`].
    pub async fn ask_resume(
        &self,
        scope: &Scope,
        address: &Address,
        command: Resume,
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
