//! What operators do, by the dashboard, the admin API and the terminal alike: a type for each action says who may do it,
//! which value counts towards daily limits and approvals, what it takes away, what it calls, and what the audit log says.
//! Callers parse and show.
//!
//! It must never answer in HTML or JSON.

/// Which privilege actions need, beside them: `needs!(Support: GrantCredits, DeductCredits)`.
macro_rules! needs {
    ($privilege:ident: $($action:ty),* $(,)?) => { $(
        impl edge::permission::Needs for $action {
            const PRIVILEGE: identity::Privilege = identity::Privilege::$privilege;
        }
    )* };
}

mod admission;
mod approvals;
mod changes;
mod confirmation;
mod grant;
mod keys;
mod limits;
mod mails;
mod notes;
mod people;
mod products;
mod projects;
mod provider;
mod rate_cards;
mod refund;
mod replace_code;
mod reverse_deduction;
mod sandboxes;
mod server;
mod state;
mod subscription;
mod unfulfilled;
mod wallet_changes;
mod webhooks;

use std::{future::ready, sync::Arc};

use actors::{Address, WalletView};
use catalog::{CatalogStore, ProjectCatalog};
use domain::id::{ProductId, ProjectId, WalletKey};
use edge::{
    audit::{AuditEvent, PendingAction},
    permission::{Needs, allow},
};
use identity::{Approval, Authority, CatalogChange, OutgoingValue};
use operations::audit::Proof;
use wire::Error;

pub use admission::guards_changes;
pub use approvals::{Approved, is_stale, stale};
pub use confirmation::{Confirmation, Fact};
pub use grant::{DeductCredits, GrantCredits, manual_note};
pub use keys::{CreateKey, RevokeKey, UpdateKey, key_terms};
pub use limits::{SetWalletLimits, limit_words, own_limits};
pub use mails::{ResumeMails, TestMail};
pub use notes::{AddNote, DeleteNote, notes_of};
pub use people::{
    EndOwnSessions, EndSession, EndSessionsOfUser, InviteUser, InviteUserAgain, RemoveUser,
    SentInvitation, UpdateUser,
};
pub use products::{
    CreatePrice, CreateProduct, UpdatePrice, UpdateProduct, is_on_sale, price_words,
};
pub use projects::{ArchiveProject, UpdateProject};
pub use provider::{AdoptSubscription, RefreshOrder, StartReconciliation};
pub use rate_cards::{CloseRateCard, SaveRateCard};
pub use refund::{RefundOrder, RefundPayment};
pub use replace_code::{CodeReceiver, ReplaceCode, ReplacedCode};
pub use reverse_deduction::ReverseDeduction;
pub use sandboxes::{AdvanceSandbox, SetFaultProfile, UpdateSandbox};
pub use server::{CreateProject, HandOver, SplitCell, StartBackup};
pub use state::OperatorState;
pub use subscription::{EndSubscription, SubscriptionEnd};
pub use unfulfilled::{AssignPayment, DismissPayment};
pub use wallet_changes::{Erase, ErasedData, OpenWallet, ReleaseHold, SetFeature, SetWalletFrozen};
pub use webhooks::{
    CreateEndpoint, DeleteEndpoint, ReplayDelivery, ReplayEvents, RotateSecret, TestEndpoint,
    UpdateEndpoint,
};

/// The credits or money that an action gives a customer, if any.
pub type OutgoingResult = Result<Option<Outgoing>, Error>;
/// The change, in words, by which one person could evade approvals.
pub type ChangeResult = Result<Option<(CatalogChange, String)>, Error>;
/// The question before an action, if there is something to ask.
pub type ConfirmationResult = Result<Option<Confirmation>, Error>;
/// What an action answers, and what the audit log says of it.
pub type Execution<T> = Result<(T, AuditEvent), Error>;

/// What actions are about: a project, or the service.
pub trait ActionScope: Sized + Send + Sync {
    /// The project that permissions are looked up in.
    fn id(&self) -> Option<ProjectId>;

    /// Whether an action requires approval by a second person.
    fn waits<A: Action<Self>>(
        _: &Operator<'_, Self>,
        _: &A,
    ) -> impl Future<Output = Result<bool, Error>> + Send {
        ready(Ok(false))
    }

    /// Whether to go on with an action now; false: it was requested, and waits for approval.
    fn admit<A: Action<Self>>(
        _: &Operator<'_, Self>,
        _: &A,
    ) -> impl Future<Output = Result<bool, Error>> + Send {
        ready(Ok(true))
    }
}

/// The service, for actions in no project.
#[derive(Debug, Clone, Copy)]
pub struct NoProject;

impl ActionScope for NoProject {
    fn id(&self) -> Option<ProjectId> {
        None
    }
}

/// Something that operators do, in a project unless it says otherwise; each fails if it would be refused.
pub trait Action<S: ActionScope = Arc<ProjectCatalog>>: Needs + Sized {
    /// What its caller is answered.
    type Answer: Send;

    /// What it gives a customer: it counts towards daily limits, and may require approval.
    fn outgoing(&self, _: &Operator<'_, S>) -> impl Future<Output = OutgoingResult> + Send {
        ready(Ok(None))
    }

    /// The change for which those who do not decide about approvals have to ask, too.
    fn guarded(&self, _: &Operator<'_, S>) -> impl Future<Output = ChangeResult> + Send {
        ready(Ok(None))
    }

    /// What it takes away, and the question whether it should be.
    fn confirmation(&self, _: &Operator<'_, S>) -> impl Future<Output = ConfirmationResult> + Send {
        ready(Ok(None))
    }

    /// Does it; returns once that is durable.
    fn execute(self, by: &Operator<'_, S>) -> impl Future<Output = Execution<Self::Answer>> + Send;
}

/// Credits or money for a customer, for daily limits and approvals.
#[derive(Debug)]
pub struct Outgoing {
    /// How much of what, and for whom.
    pub value: OutgoingValue,
    /// The same in words, as a request for approval has them.
    pub what: String,
    /// Why, in a line; may be empty.
    pub reason: String,
    /// The key under which it counts once.
    pub key: String,
}

const PENDING: &str = "Requires approval by a second person. The request expires after seven days.";

/// The result of an action.
#[derive(Debug)]
pub enum Performed<T> {
    /// It was done now, or there was nothing to do.
    Done(T),
    /// It had been done before.
    Before(T),
    /// It was requested, and waits for approval by a second person.
    Pending,
}

/// An operator who acts in a project, or in none.
pub struct Operator<'a, S = Arc<ProjectCatalog>> {
    /// What actions need of the service.
    pub app: &'a OperatorState,
    /// The project that they act in.
    pub project: S,
    authority: &'a Authority,
    entry: Option<&'a PendingAction>,
    /// What the audit log says of each attempt, in place of the action's own words.
    attempt: Option<&'a str>,
    /// The request that is carried out.
    approval: Option<&'a Approval>,
}

impl<'a, S: ActionScope> Operator<'a, S> {
    /// Somebody with their permissions, and the entry of their request in the audit log.
    #[must_use]
    pub const fn new(
        app: &'a OperatorState,
        project: S,
        authority: &'a Authority,
        entry: Option<&'a PendingAction>,
    ) -> Self {
        Self {
            app,
            project,
            authority,
            entry,
            attempt: None,
            approval: None,
        }
    }

    /// The question before an action, which says whether it requires approval.
    /// # Errors
    /// As [`Action::confirmation`].
    pub async fn confirmation<A: Action<S>>(&self, action: &A) -> ConfirmationResult {
        let Some(mut question) = action.confirmation(self).await? else {
            return Ok(None);
        };
        if S::waits(self, action).await? {
            question.facts.push(("Approval", PENDING.into()));
        }
        Ok(Some(question))
    }

    /// Does something, or requests approval for it.
    /// # Errors
    /// Their role does not allow it, a daily limit is exceeded; as [`Action::execute`].
    pub async fn run<A: Action<S>>(&self, action: A) -> Result<Performed<A::Answer>, Error> {
        allow::<A>(self.authority, self.project.id())?;
        if !S::admit(self, &action).await? {
            return Ok(Performed::Pending);
        }
        let (answer, event) = action.execute(self).await?;
        let is_before = event == AuditEvent::DoneBefore;
        self.record(event);
        Ok(match is_before {
            true => Performed::Before(answer),
            false => Performed::Done(answer),
        })
    }

    fn record(&self, event: AuditEvent) {
        if let Some(entry) = self.entry {
            entry.record(event);
        }
    }

    /// Writes into the audit log what is about to be done, and how that can be proved; it is the same attempt if it is
    /// repeated in these words under this key.
    async fn announce(
        &self,
        what: &str,
        proof: Option<Proof>,
        key: Option<&str>,
    ) -> Result<(), Error> {
        let Some(entry) = self.entry else {
            return Ok(());
        };
        let (what, key) = self.attempt.map_or((what, key), |attempt| (attempt, None));
        entry.announce(&self.app.edge, what, proof, key).await
    }
}

impl Operator<'_> {
    /// A wallet of the project.
    async fn wallet(&self, key: WalletKey) -> Result<WalletView, Error> {
        self.wallet_at(&Address::Stored(key)).await
    }

    async fn wallet_at(&self, address: &Address) -> Result<WalletView, Error> {
        self.read(self.app.handle.read(&self.project.scope, address).await)
    }

    /// The catalog, whose change forgets the request that is carried out.
    fn catalog(&self) -> CatalogStore {
        let forgotten = self.approval.map(Approval::forgotten);
        self.app.catalog.with_notes(forgotten.into_iter().collect())
    }

    fn id(&self) -> ProjectId {
        self.project.project.id
    }

    fn product_name(&self, product: ProductId) -> String {
        let known = self.project.product(&product);
        known.map_or_else(|| product.to_string(), |product| product.name.clone())
    }

    fn read<T>(&self, result: Result<T, actors::Error>) -> Result<T, Error> {
        result.map_err(|error| Error::from_wallet(error, &self.project))
    }

    fn instructed<T>(&self, result: Result<T, payments::Error>) -> Result<T, Error> {
        result.map_err(|error| Error::from_instruction(error, &self.project))
    }
}
