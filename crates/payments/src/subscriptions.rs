//! Cancels and resumes subscriptions at a caller's request. Features and credits follow from the subscription's state
//! afterwards.

use std::sync::Arc;

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    project_event::SubscriptionSnapshot,
    text::SubscriptionId,
    wallet::{
        InstructionRecord, InstructionStage, SubscriptionAction, SubscriptionInstruction,
        SubscriptionStatus,
    },
};
use payments_port::ObjectRef;

use super::{
    Error, Payments, failpoint,
    instructions::{KeyedResult, operation, stage},
    project_account::ProjectAccount,
};

/// The first part of the provider's operation names.
const fn kind(wanted: SubscriptionAction) -> &'static str {
    match wanted {
        SubscriptionAction::Cancel { .. } => "cancel",
        SubscriptionAction::Resume => "resume",
    }
}

/// Whether the subscription already is in the requested state.
fn is_met_by(wanted: SubscriptionAction, current: &SubscriptionSnapshot) -> bool {
    let is_over = current.status == SubscriptionStatus::Canceled;
    match wanted {
        SubscriptionAction::Cancel { at_period_end } => {
            is_over || at_period_end && current.cancel_at_period_end
        }
        SubscriptionAction::Resume => {
            let is_paused =
                current.collection_paused || current.status == SubscriptionStatus::Paused;
            !is_over && !is_paused && !current.cancel_at_period_end
        }
    }
}

impl Payments {
    /// Cancels or resumes a wallet's subscription to a product, once under its key.
    /// # Errors
    /// [`domain::Rejection::WalletNotFound`], [`domain::Rejection::SubscriptionNotFound`],
    /// [`domain::Rejection::KeyReused`]; else see [`Error`]. After [`payments_port::Error::Unavailable`] the same call
    /// goes on where it was.
    pub async fn instruct(
        &self,
        project: Arc<ProjectCatalog>,
        address: Address,
        wanted: SubscriptionInstruction,
    ) -> Result<KeyedResult<SubscriptionSnapshot>, Error> {
        let payments = self.clone();
        let id = project.project.id;
        let work = async move { payments.instructed(&project, &address, wanted).await };
        self.0.instructions.carry_out(id, work).await
    }

    async fn instructed(
        &self,
        project: &Arc<ProjectCatalog>,
        address: &Address,
        wanted: SubscriptionInstruction,
    ) -> Result<KeyedResult<SubscriptionSnapshot>, Error> {
        let action = wanted.action;
        // The name is a hash, so no recovery code leaks.
        let name = operation(kind(action), project, &address.reveal(), &wanted.key)?;
        let _turn = self.0.named_locks.take(name.as_str()).await;
        let provider = self.0.context.providers.of(project);
        // A completed instruction is replayed even without a provider.
        let logs = provider.is_ok();
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let record = handle.ask_instruction(scope, address, wanted, logs).await?;
        let subscription = record.instruction.subscription();
        let subscription = subscription
            .cloned()
            .ok_or(Error::Defect("an instruction names no subscription"))?;
        let subject = ObjectRef::Subscription(subscription.clone());
        if record.is_done() {
            let result = || self.instruction_result(project, address, subscription.clone(), true);
            let current = result().await?;
            // A crash may have hidden its outcome, or it changed since.
            let Some(provider) = provider.ok().filter(|_| !is_met_by(action, &current.after))
            else {
                return Ok(current);
            };
            let account = ProjectAccount::new(project, &*provider);
            self.refresh_quietly(account, &subject).await;
            return result().await;
        }
        let provider = provider?;
        let account = ProjectAccount::new(project, &*provider);
        failpoint::reached("subscription.before");
        let provider = account.provider;
        let answer = match action {
            SubscriptionAction::Cancel { at_period_end } => {
                provider.cancel(&subscription, at_period_end, &name).await
            }
            SubscriptionAction::Resume => provider.resume(&subscription, &name).await,
        };
        failpoint::reached("subscription.after");
        let close = |stage| {
            let outcome = InstructionRecord {
                stage,
                ..record.clone()
            };
            handle.close_instruction(scope, address, outcome)
        };
        match stage(&answer) {
            None => {}
            Some(InstructionStage::Refused { .. }) => {
                // A provider may refuse to cancel twice, as after a lost answer.
                self.refresh_quietly(account, &subject).await;
                let result = self
                    .instruction_result(project, address, subscription.clone(), false)
                    .await?;
                if is_met_by(action, &result.after) {
                    close(InstructionStage::Done).await?;
                    return Ok(result);
                }
                close(InstructionStage::REFUSED).await?;
            }
            Some(stage) => {
                close(stage).await?;
                failpoint::reached("subscription.noted");
                self.refresh_quietly(account, &subject).await;
            }
        }
        answer?;
        self.instruction_result(project, address, subscription, false)
            .await
    }

    async fn instruction_result(
        &self,
        project: &ProjectCatalog,
        address: &Address,
        subscription: SubscriptionId,
        replayed: bool,
    ) -> Result<KeyedResult<SubscriptionSnapshot>, Error> {
        let (handle, scope) = (&self.0.context.handle, &project.scope);
        let detail = handle.subscription(scope, address, subscription).await?;
        Ok(KeyedResult {
            after: detail.subscription,
            replayed,
        })
    }
}
