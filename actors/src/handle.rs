//! The [`Handle`], through which the rest of the program uses wallets, catalog documents and notes.

mod batch;
mod contact;
mod erase;
mod events;
mod holds;
mod instructions;
mod ledger;
mod operator;
mod order_lists;
mod orders;
mod recover;
mod reversals;
mod search;
mod serial;
mod service;
mod sessions;
mod subscriptions;
mod top_ups;
mod wallet_list;
mod wallets;

pub use batch::BatchAnswer;
pub use events::{EventRecord, UsagePeriod, event_number};
pub use recover::BoughtCode;
pub(crate) use serial::serial;

use std::{borrow::Cow, sync::Arc};

use domain::{
    code::RecoveryCode,
    id::{ProjectId, WalletId, WalletKey},
    limit::ProjectLimits,
    project_event::LowBalance,
    session::{SessionOwner, WalletSession},
    text::ExternalUserId,
    wallet::{Created, FreeGrantRule, Owner, debt_limit::DebtLimit},
};
use persistence::{Awake, Store, latency::Commits};
use ractor::{Actor, ActorRef};
use uuid::Uuid;

use crate::{
    answer::Error,
    clock::Clock,
    executor::Task as _,
    keyring::{Keyring, external_key},
    options::Options,
    registry::{Absent, ReadSource, Registry},
    supervisor::{Never, Supervisor},
    wallet::{Caller, Command, CommandTask, Reply, Rules},
};

/// A request's project, and its catalog settings at the moment of the request.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The authenticated project.
    pub project: ProjectId,
    /// Free grants of its active products.
    pub free_grants: Arc<[FreeGrantRule]>,
    /// Whether anonymous wallets get them.
    pub free_grants_for_code_wallets: bool,
    /// The low-balance thresholds of its products.
    pub low_balances: Arc<[LowBalance]>,
    /// The debt limits of its external wallets, by product.
    pub debt_limits: Arc<[DebtLimit]>,
    /// The limits of its products and prices; `None` if there are none.
    pub limits: Option<Arc<ProjectLimits>>,
    /// How far the project's clock is ahead of the machine's, in milliseconds.
    pub ahead_millis: i64,
}

/// How a wallet is named in a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// By the caller's own user id.
    External(ExternalUserId),
    /// By its recovery code.
    Code(RecoveryCode),
    /// By the key that it is stored under, for operators.
    Stored(WalletKey),
    /// By a session, while it lasts.
    Session(Arc<WalletSession>),
}

impl Address {
    /// The user id, if that is what names the wallet.
    pub fn user(&self) -> Option<&ExternalUserId> {
        match self {
            Self::External(user) => Some(user),
            Self::Session(session) => session.user(),
            Self::Code(_) | Self::Stored(_) => None,
        }
    }

    /// The recovery code, if that is what names the wallet.
    pub fn code(&self) -> Option<&RecoveryCode> {
        match self {
            Self::Code(code) => Some(code),
            Self::Session(session) => session.code(),
            Self::External(_) | Self::Stored(_) => None,
        }
    }

    /// The text that names the wallet; a recovery code is secret.
    pub fn reveal(&self) -> Cow<'_, str> {
        match self {
            Self::External(user) => user.as_str().into(),
            Self::Code(code) => code.reveal().into(),
            Self::Stored(key) => key.to_string().into(),
            Self::Session(session) => match &session.owner {
                SessionOwner::User(user) => user.as_str().into(),
                SessionOwner::Code(code) => code.reveal().into(),
            },
        }
    }
}

/// Which holds a caller may act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldAccess {
    /// With a publishable key: holds of anonymous wallets.
    CodeWallets,
    /// With a secret key: all holds.
    All,
}

/// The rest of the program's access to wallets and journal. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) registry: Arc<Registry>,
    keyring: Arc<Keyring>,
    supervisor: ActorRef<Never>,
    sweeper: tokio::task::AbortHandle,
}

/// A command, and the wallet that decides on it.
struct Located<V> {
    wallet: (WalletKey, Caller),
    /// How a missing wallet is created.
    created: Option<Box<Created>>,
    command: V,
}

impl Handle {
    /// Starts the supervisor and the sweeper. Must be called within a tokio runtime.
    /// # Errors
    /// [`Error::Unavailable`] when the runtime is stopping.
    pub async fn start(
        store: Store,
        clock: Arc<dyn Clock>,
        keyring: Keyring,
        options: Options,
    ) -> Result<Self, Error> {
        let registry = Registry::new(store, clock, options);
        let awake: Arc<dyn Awake> = Arc::clone(&registry) as _;
        registry.store.books.follow(Arc::downgrade(&awake));
        let started = Actor::spawn(None, Supervisor, Arc::clone(&registry)).await;
        let (supervisor, _) = started.map_err(|_| Error::Unavailable)?;
        registry.supervised_by(supervisor.get_cell());
        let sweeper = tokio::spawn(Arc::clone(&registry).run_sweeps()).abort_handle();
        let keyring = Arc::new(keyring);
        Ok(Self {
            inner: Arc::new(Inner {
                registry,
                keyring,
                supervisor,
                sweeper,
            }),
        })
    }

    fn rules(scope: &Scope) -> Rules {
        Rules {
            free_grants: (!scope.free_grants.is_empty()).then(|| Arc::clone(&scope.free_grants)),
            low_balances: (!scope.low_balances.is_empty()).then(|| Arc::clone(&scope.low_balances)),
            debt_limits: (!scope.debt_limits.is_empty()).then(|| Arc::clone(&scope.debt_limits)),
            limits: scope.limits.clone(),
            for_code_wallets: scope.free_grants_for_code_wallets,
            ahead_millis: scope.ahead_millis,
        }
    }

    /// The key of the wallet, and the caller that it must check.
    pub(crate) fn target_of(
        &self,
        scope: &Scope,
        address: &Address,
    ) -> Result<(WalletKey, Caller), Error> {
        match address {
            Address::External(user) => Ok((external_key(scope.project, user), Caller::External)),
            Address::Code(code) => {
                let hash = self.inner.keyring.code_hash(scope.project, code);
                Ok((self.inner.registry.resolve(hash)?, Caller::Code(hash)))
            }
            Address::Stored(key) => Ok((*key, Caller::Administrator(scope.project))),
            Address::Session(session) => Ok((session.wallet, Caller::of_session(session))),
        }
    }

    async fn ask<V: Command>(
        &self,
        scope: &Scope,
        place: (WalletKey, Caller),
        command: V,
    ) -> Result<V::Answer, Error> {
        self.ask_or_create(scope, place, None, command).await
    }

    /// Asks the wallet with this key about an order or a subscription of its.
    async fn ask_order<V: Command>(
        &self,
        scope: &Scope,
        wallet: WalletKey,
        command: V,
    ) -> Result<V::Answer, Error> {
        let place = (wallet, Caller::Order(scope.project));
        self.ask(scope, place, command).await
    }

    /// Asks the wallet with this key. A missing one is woken only to be created, and one that is asleep is not woken to
    /// be read only.
    async fn ask_or_create<V: Command>(
        &self,
        scope: &Scope,
        (key, caller): (WalletKey, Caller),
        created: Option<Box<Created>>,
        command: V,
    ) -> Result<V::Answer, Error> {
        let registry = &self.inner.registry;
        let pass = registry.pass(1)?;
        let absent = Absent::or_created(created.as_deref());
        let rules = Self::rules(scope);
        let task = |reply| CommandTask {
            command,
            caller,
            created,
            rules,
            reply,
        };
        if V::READ_ONLY {
            match registry.source(key).await? {
                ReadSource::Awake => {}
                ReadSource::Stored(mut asleep) => {
                    let (reply, answer) = Reply::new(None);
                    // After a panic the reply is dropped.
                    drop(asleep.turn(|wallet| task(reply).run(wallet)));
                    let answer = answer.await;
                    drop(pass);
                    return answer.unwrap_or(Err(Error::Unavailable));
                }
                ReadSource::Absent => return Err(V::ABSENT.into()),
            }
        }
        let permit = registry.reach(key, absent, pass).await?.ok_or(V::ABSENT)?;
        let awake = Arc::clone(&permit.awake);
        let (reply, answer) = Reply::new(Some(permit));
        awake.executor.submit(task(reply));
        drop(awake);
        // A wallet that is torn down drops the reply.
        answer.await.unwrap_or(Err(Error::Unavailable))
    }

    pub(crate) async fn ask_at<V: Command>(
        &self,
        scope: &Scope,
        address: &Address,
        command: V,
    ) -> Result<V::Answer, Error> {
        let Located {
            wallet,
            created,
            command,
        } = self.locate(scope, address, command)?;
        self.ask_or_create(scope, wallet, created, command).await
    }

    fn locate<V: Command>(
        &self,
        scope: &Scope,
        address: &Address,
        command: V,
    ) -> Result<Located<V>, Error> {
        let creates = command.creates_user_wallet();
        let created = address.user().filter(|_| creates);
        let created = created.map(|user| born(scope, Owner::External(user.clone())));
        Ok(Located {
            wallet: self.target_of(scope, address)?,
            created,
            command,
        })
    }
}

fn born(scope: &Scope, owner: Owner) -> Box<Created> {
    Box::new(Created {
        id: WalletId(Uuid::now_v7().as_u128()),
        project: scope.project,
        owner,
    })
}

/// Gauges of the wallets and the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Wallets in memory.
    pub awake: u64,
    /// Commands between their arrival and their answer.
    pub in_flight: u64,
    /// Watchers of wallets: open streams of balances.
    pub watchers: u64,
    /// Events that were logged and not folded yet.
    pub backlog: u64,
    /// The bytes of those events.
    pub backlog_bytes: u64,
    /// How long the log takes to make appends durable.
    pub commits: Commits,
}
