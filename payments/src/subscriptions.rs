//! Ending subscriptions and letting them go on, on a caller's word. What that does to features and credits
//! follows from how the subscription stands afterwards.

use std::sync::Arc;

use actors::{Address, Instructable, InstructionKind, Subscription};
use catalog::ProjectCatalog;
use domain::{
    text::{IdempotencyKey, SubscriptionId},
    wallet::{InstructionStage, SubscriptionStatus, cancel::Cancel, resume::Resume},
};
use port::ObjectRef;

use super::{
    Error, Payments, failpoint,
    instructions::{operation, stage},
};

/// A subscription about which something was done.
#[derive(Debug, Clone)]
pub struct InstructionResult {
    /// As it stands now.
    pub subscription: Subscription,
    /// Whether an earlier call did it.
    pub replayed: bool,
}

/// What is wanted of a subscription.
#[derive(Debug, Clone)]
enum Wanted {
    Cancel(Cancel),
    Resume(Resume),
}

impl Wanted {
    const fn kind(&self) -> InstructionKind {
        match self {
            Self::Cancel(_) => InstructionKind::Cancel,
            Self::Resume(_) => InstructionKind::Resume,
        }
    }

    const fn key(&self) -> &IdempotencyKey {
        match self {
            Self::Cancel(Cancel { key, .. }) | Self::Resume(Resume { key, .. }) => key,
        }
    }

    /// Whether the subscription is as it was wanted to be, whoever made it so.
    fn holds(&self, now: &Subscription) -> bool {
        let is_over = now.status == SubscriptionStatus::Canceled;
        match self {
            Self::Cancel(Cancel { at_period_end, .. }) => {
                is_over || *at_period_end && now.cancel_at_period_end
            }
            Self::Resume(_) => {
                let is_paused = now.collection_paused || now.status == SubscriptionStatus::Paused;
                !is_over && !is_paused && !now.cancel_at_period_end
            }
        }
    }
}

impl Payments {
    /// Ends a wallet's subscription to a product, once under its key.
    ///
    /// # Errors
    ///
    /// [`domain::Rejection::WalletNotFound`], [`domain::Rejection::SubscriptionNotFound`],
    /// [`domain::Rejection::KeyReused`]; else see [`Error`]. After an error of a provider that is silent,
    /// the same call goes on.
    pub async fn cancel(
        &self,
        project: Arc<ProjectCatalog>,
        address: Address,
        cancel: Cancel,
    ) -> Result<InstructionResult, Error> {
        self.instruct(project, address, Wanted::Cancel(cancel))
            .await
    }

    /// Lets a wallet's subscription to a product go on, once under its key.
    ///
    /// # Errors
    ///
    /// As of [`Payments::cancel`].
    pub async fn resume(
        &self,
        project: Arc<ProjectCatalog>,
        address: Address,
        resume: Resume,
    ) -> Result<InstructionResult, Error> {
        self.instruct(project, address, Wanted::Resume(resume))
            .await
    }

    async fn instruct(
        &self,
        project: Arc<ProjectCatalog>,
        address: Address,
        wanted: Wanted,
    ) -> Result<InstructionResult, Error> {
        let payments = self.clone();
        let of = project.project.id;
        let work = async move { payments.instructed(&project, &address, &wanted).await };
        self.0.instructions.carry_out(of, work).await
    }

    async fn instructed(
        &self,
        project: &Arc<ProjectCatalog>,
        address: &Address,
        wanted: &Wanted,
    ) -> Result<InstructionResult, Error> {
        let about = match address {
            Address::External(user) => user.as_str(),
            Address::Code(code) => code.reveal(),
        };
        // A code is hashed with the rest.
        let name = operation(wanted.kind(), project, about, wanted.key())?;
        let _turn = self.0.turns.take(name.as_str()).await;
        let provider = match self.0.context.providers.of(project) {
            Ok(provider) => provider,
            Err(error) => {
                let asked = self
                    .ask_instruction(project, address, wanted, false)
                    .await?;
                let Instructable { subscription, done } = asked;
                return match done {
                    true => {
                        self.instructed_answer(project, address, (subscription, true))
                            .await
                    }
                    false => Err(error),
                };
            }
        };
        let provider = &*provider;
        let Instructable { subscription, done } =
            self.ask_instruction(project, address, wanted, true).await?;
        if done {
            return self
                .instructed_answer(project, address, (subscription, true))
                .await;
        }
        let subject = ObjectRef::Subscription(subscription.clone());
        failpoint::reached("subscription.asked");
        let told = match wanted {
            Wanted::Cancel(Cancel { at_period_end, .. }) => {
                provider.cancel(&subscription, *at_period_end, &name).await
            }
            Wanted::Resume(_) => provider.resume(&subscription, &name).await,
        };
        failpoint::reached("subscription.told");
        match stage(&told) {
            None => {}
            Some(InstructionStage::Refused) => {
                // Where it is so already, as after a first try that nobody heard the end of, a provider
                // may refuse to do it once more.
                self.look_after(project, provider, &subject).await;
                let now = self
                    .subscription_now(project, address, &subscription)
                    .await?;
                if wanted.holds(&now) {
                    self.close_instruction(project, address, wanted, InstructionStage::Done)
                        .await?;
                    let replayed = false;
                    return Ok(InstructionResult {
                        subscription: now,
                        replayed,
                    });
                }
                self.close_instruction(project, address, wanted, InstructionStage::Refused)
                    .await?;
            }
            Some(stage) => {
                self.close_instruction(project, address, wanted, stage)
                    .await?;
                failpoint::reached("subscription.noted");
                self.look_after(project, provider, &subject).await;
            }
        }
        told?;
        self.instructed_answer(project, address, (subscription, false))
            .await
    }

    async fn ask_instruction(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        wanted: &Wanted,
        logs: bool,
    ) -> Result<Instructable, Error> {
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let asked = match wanted.clone() {
            Wanted::Cancel(cancel) => handle.ask_cancel(scope, address, cancel, logs).await,
            Wanted::Resume(resume) => handle.ask_resume(scope, address, resume, logs).await,
        };
        Ok(asked?)
    }

    async fn close_instruction(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        wanted: &Wanted,
        stage: InstructionStage,
    ) -> Result<(), Error> {
        let named = (wanted.kind(), wanted.key().clone());
        let handle = &self.0.context.handle;
        let closed = handle.close_instruction(&project.scope, address, named, stage);
        Ok(closed.await?)
    }

    async fn subscription_now(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        subscription: &SubscriptionId,
    ) -> Result<Subscription, Error> {
        let handle = &self.0.context.handle;
        let found = handle.subscription(&project.scope, address, subscription.clone());
        Ok(found.await?)
    }

    async fn instructed_answer(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        (subscription, replayed): (SubscriptionId, bool),
    ) -> Result<InstructionResult, Error> {
        Ok(InstructionResult {
            subscription: self
                .subscription_now(project, address, &subscription)
                .await?,
            replayed,
        })
    }
}
