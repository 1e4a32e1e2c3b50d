//! Cancels and resumes subscriptions at a caller's request. What that does to features and credits
//! follows from the subscription's state afterwards.

use std::sync::Arc;

use actors::{Address, InstructionKind, SubscriptionToInstruct};
use catalog::ProjectCatalog;
use domain::{
    project_event::SubscriptionSnapshot,
    text::{IdempotencyKey, SubscriptionId},
    wallet::{InstructionStage, SubscriptionStatus, cancel::Cancel, resume::Resume},
};
use port::ObjectRef;

use super::{
    Error, Payments, failpoint,
    instructions::{operation, stage},
};

/// The outcome of a cancellation or resumption.
#[derive(Debug, Clone)]
pub struct InstructionResult {
    /// The subscription afterwards.
    pub subscription: SubscriptionSnapshot,
    /// Whether an earlier call did it.
    pub replayed: bool,
}

/// What a caller wants done to a subscription.
#[derive(Debug, Clone)]
enum SubscriptionInstruction {
    Cancel(Cancel),
    Resume(Resume),
}

impl SubscriptionInstruction {
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

    /// Whether the subscription already is in the wanted state, for whatever reason.
    fn holds(&self, now: &SubscriptionSnapshot) -> bool {
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
    /// Cancels a wallet's subscription to a product, once under its key.
    ///
    /// # Errors
    ///
    /// [`domain::Rejection::WalletNotFound`], [`domain::Rejection::SubscriptionNotFound`],
    /// [`domain::Rejection::KeyReused`]; else see [`Error`]. After [`port::Error::Unavailable`] the same call
    /// goes on where it was.
    pub async fn cancel(
        &self,
        project: Arc<ProjectCatalog>,
        address: Address,
        cancel: Cancel,
    ) -> Result<InstructionResult, Error> {
        self.instruct(project, address, SubscriptionInstruction::Cancel(cancel))
            .await
    }

    /// Takes back the cancellation or pause of a wallet's subscription to a product, once under its key.
    ///
    /// # Errors
    ///
    /// The same as [`Payments::cancel`].
    pub async fn resume(
        &self,
        project: Arc<ProjectCatalog>,
        address: Address,
        resume: Resume,
    ) -> Result<InstructionResult, Error> {
        self.instruct(project, address, SubscriptionInstruction::Resume(resume))
            .await
    }

    async fn instruct(
        &self,
        project: Arc<ProjectCatalog>,
        address: Address,
        wanted: SubscriptionInstruction,
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
        wanted: &SubscriptionInstruction,
    ) -> Result<InstructionResult, Error> {
        // A recovery code does not leak: the name is a hash.
        let name = operation(wanted.kind(), project, &address.reveal(), wanted.key())?;
        let _turn = self.0.named_locks.take(name.as_str()).await;
        let provider = match self.0.context.providers.of(project) {
            Ok(provider) => provider,
            Err(error) => {
                let asked = self
                    .ask_instruction(project, address, wanted, false)
                    .await?;
                let SubscriptionToInstruct { subscription, done } = asked;
                return match done {
                    true => {
                        self.instruction_result(project, address, (subscription, true))
                            .await
                    }
                    false => Err(error),
                };
            }
        };
        let provider = &*provider;
        let SubscriptionToInstruct { subscription, done } =
            self.ask_instruction(project, address, wanted, true).await?;
        if done {
            return self
                .instruction_result(project, address, (subscription, true))
                .await;
        }
        let subject = ObjectRef::Subscription(subscription.clone());
        failpoint::reached("subscription.asked");
        let told = match wanted {
            SubscriptionInstruction::Cancel(Cancel { at_period_end, .. }) => {
                provider.cancel(&subscription, *at_period_end, &name).await
            }
            SubscriptionInstruction::Resume(_) => provider.resume(&subscription, &name).await,
        };
        failpoint::reached("subscription.told");
        match stage(&told) {
            None => {}
            Some(InstructionStage::Refused) => {
                // A provider may refuse to cancel what is already canceled, as after a first attempt whose
                // answer was lost.
                self.refresh_quietly(project, provider, &subject).await;
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
                self.refresh_quietly(project, provider, &subject).await;
            }
        }
        told?;
        self.instruction_result(project, address, (subscription, false))
            .await
    }

    async fn ask_instruction(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        wanted: &SubscriptionInstruction,
        logs: bool,
    ) -> Result<SubscriptionToInstruct, Error> {
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let asked = match wanted.clone() {
            SubscriptionInstruction::Cancel(cancel) => {
                handle.ask_cancel(scope, address, cancel, logs).await
            }
            SubscriptionInstruction::Resume(resume) => {
                handle.ask_resume(scope, address, resume, logs).await
            }
        };
        Ok(asked?)
    }

    async fn close_instruction(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        wanted: &SubscriptionInstruction,
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
    ) -> Result<SubscriptionSnapshot, Error> {
        let handle = &self.0.context.handle;
        let found = handle.subscription(&project.scope, address, subscription.clone());
        Ok(found.await?.subscription)
    }

    async fn instruction_result(
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
