//! Refunds, cancellations and resumptions that callers ask for. The wallet decides about a request and logs it
//! before the provider is asked, and logs the outcome afterwards. Nothing here speaks to a provider.

use domain::{
    id::OrderId,
    text::{IdempotencyKey, SubscriptionId},
    wallet::{InstructionStage, cancel::Cancel, refund::Refund, resume::Resume},
};

use super::{Address, Handle, Scope};
use crate::{
    answer::Error,
    wallet::{
        AskCancel, AskRefund, AskResume, Caller, CloseInstruction, FindSubscription,
        InstructionKind, RefundToRequest, SubscriptionDetail, SubscriptionToInstruct,
    },
};

impl Handle {
    /// Asks an order's wallet whether the order may be refunded; with `logs`, the request is logged.
    ///
    /// # Errors
    ///
    /// See [`domain::wallet::Wallet::refund`].
    pub async fn ask_refund(
        &self,
        scope: &Scope,
        order: OrderId,
        refund: Refund,
        logs: bool,
    ) -> Result<RefundToRequest, Error> {
        let place = (order.wallet, Caller::Order(scope.project));
        self.ask(scope, place, AskRefund { refund, logs }).await
    }

    /// Logs the outcome of a refund.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn close_refund(
        &self,
        scope: &Scope,
        order: OrderId,
        key: IdempotencyKey,
        stage: InstructionStage,
    ) -> Result<(), Error> {
        let place = (order.wallet, Caller::Order(scope.project));
        let kind = InstructionKind::Refund;
        let close = CloseInstruction { kind, key, stage };
        self.ask(scope, place, close).await
    }

    /// Asks a wallet whether its subscription to a product may be canceled; with `logs`, the request is logged.
    ///
    /// # Errors
    ///
    /// See [`domain::wallet::Wallet::cancel`].
    pub async fn ask_cancel(
        &self,
        scope: &Scope,
        address: &Address,
        cancel: Cancel,
        logs: bool,
    ) -> Result<SubscriptionToInstruct, Error> {
        self.ask_at(scope, address, AskCancel { cancel, logs })
            .await
    }

    /// Asks a wallet whether its subscription to a product may be resumed; with `logs`, the request is logged.
    ///
    /// # Errors
    ///
    /// See [`domain::wallet::Wallet::resume`].
    pub async fn ask_resume(
        &self,
        scope: &Scope,
        address: &Address,
        resume: Resume,
        logs: bool,
    ) -> Result<SubscriptionToInstruct, Error> {
        self.ask_at(scope, address, AskResume { resume, logs })
            .await
    }

    /// Logs the outcome of a cancellation or resumption.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`] or [`Error::Unavailable`].
    pub async fn close_instruction(
        &self,
        scope: &Scope,
        address: &Address,
        (kind, key): (InstructionKind, IdempotencyKey),
        stage: InstructionStage,
    ) -> Result<(), Error> {
        let close = CloseInstruction { kind, key, stage };
        self.ask_at(scope, address, close).await
    }

    /// A wallet's subscription, current or ended.
    ///
    /// # Errors
    ///
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
