//! What callers have the provider do. The wallet decides and logs that it was asked for, before anybody
//! asks; and what came of it. Nothing here speaks to a provider.

use domain::{
    id::OrderId,
    text::{IdempotencyKey, SubscriptionId},
    wallet::{InstructionStage, cancel::Cancel, refund::Refund, resume::Resume},
};

use super::{Address, Handle, Scope};
use crate::{
    answer::{Error, Subscription},
    wallet::{
        AskCancel, AskRefund, AskResume, Caller, CloseInstruction, FindSubscription, Instructable,
        InstructionKind, Refunding,
    },
};

impl Handle {
    /// Asks the wallet of an order whether money of it may go back; with `logs`, that it is to is logged.
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
    ) -> Result<Refunding, Error> {
        let place = (order.wallet, Caller::Order(scope.project));
        self.ask(scope, place, AskRefund { refund, logs }).await
    }

    /// Notes what came of a refund.
    ///
    /// # Errors
    ///
    /// See [`Error`].
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

    /// Asks a wallet whether its subscription to a product may end; with `logs`, that it is to is logged.
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
    ) -> Result<Instructable, Error> {
        self.ask_at(scope, address, AskCancel { cancel, logs })
            .await
    }

    /// Asks a wallet whether its subscription to a product may go on; with `logs`, that it is to is
    /// logged.
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
    ) -> Result<Instructable, Error> {
        self.ask_at(scope, address, AskResume { resume, logs })
            .await
    }

    /// Notes what came of an instruction about a subscription.
    ///
    /// # Errors
    ///
    /// See [`Error`].
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

    /// A wallet's subscription as it stands, also one that is over.
    ///
    /// # Errors
    ///
    /// [`domain::Rejection::SubscriptionNotFound`]; else see [`Error`].
    pub async fn subscription(
        &self,
        scope: &Scope,
        address: &Address,
        id: SubscriptionId,
    ) -> Result<Subscription, Error> {
        self.ask_at(scope, address, FindSubscription(id)).await
    }
}
