//! The one thing that the outside holds.

mod admin;
mod administrator;
mod batch;
mod buyers;
mod holds;
mod inside;
mod instructions;
mod ledger;
mod orders;
mod serial;
mod subscriptions;
mod told;
mod wallets;

pub use administrator::Found;
pub use buyers::BoughtCode;
pub use inside::Clue;
pub use orders::{Draft, Paid};
pub use told::{Told, Used, event_number};

use std::sync::Arc;

use domain::{
    Amount,
    code::Code,
    id::{ProjectId, WalletId, WalletKey},
    notice::LowBalance,
    text::{ExternalUserId, IdempotencyKey, Meta},
    wallet::{Created, FreeGrantRule, Owner, ProductRef},
};
use persistence::{Awake, Store, latency::Commits};
use ractor::{Actor, ActorRef};
use uuid::Uuid;

use crate::{
    answer::Error,
    clock::Clock,
    keyring::{Keyring, external_key},
    options::Options,
    registry::{Absent, Registry},
    supervisor::{Never, Supervisor},
    wallet::{Asked, Caller, Reply, Rules, Verb},
};

/// Whose wallets, and what the catalog says of them at the moment of the request.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The authenticated project.
    pub project: ProjectId,
    /// Free grants of its active products.
    pub free_grants: Arc<[FreeGrantRule]>,
    /// Whether code wallets get them.
    pub free_grants_for_code_wallets: bool,
    /// At which balances of its products its servers are told.
    pub low_balances: Arc<[LowBalance]>,
    /// How far the project's clock is ahead of the machine's, in milliseconds.
    pub ahead_millis: i64,
}

/// How a wallet is named in a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// By the caller's own user id.
    External(ExternalUserId),
    /// By its recovery code.
    Code(Code),
}

/// Which holds a caller may act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldAccess {
    /// A publishable key: those of code wallets.
    CodeWallets,
    /// A secret key: all.
    All,
}

/// A hold to place.
#[derive(Debug, Clone)]
pub struct NewHold {
    /// Whose credits.
    pub product: ProductRef,
    /// How many.
    pub amount: Amount,
    /// For how long.
    pub expires_in_seconds: u32,
    /// Names the operation.
    pub key: IdempotencyKey,
    /// The caller's note.
    pub meta: Option<Meta>,
    /// Whether a publishable key places it: it ends when its wallet's code is replaced.
    pub publishable: bool,
    /// Holds of the wallet that may be open at once, this one included.
    pub most_open: usize,
}

/// Cheap to clone; talks to the wallets.
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

impl Handle {
    /// Starts the supervisor and the sweeper. Must be called within a tokio runtime; fails only if
    /// the runtime is stopping.
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
        let sweeper = tokio::spawn(Arc::clone(&registry).keep_room()).abort_handle();
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
            for_code_wallets: scope.free_grants_for_code_wallets,
            ahead_millis: scope.ahead_millis,
        }
    }

    /// Where a wallet is, and what it must check.
    pub(crate) fn locate(
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
        }
    }

    /// Asks the wallet at a place. One that does not exist is woken only for a verb that makes it.
    async fn ask<V: Verb>(
        &self,
        scope: &Scope,
        (key, caller): (WalletKey, Caller),
        verb: V,
    ) -> Result<V::Answer, Error> {
        let registry = &self.inner.registry;
        let pass = registry.pass(1)?;
        let absent = match verb.creates() {
            Some(_) => Absent::Wake,
            None => Absent::Leave,
        };
        let permit = registry.reach(key, absent, pass).await?;
        let permit = permit.ok_or(V::ABSENT)?;
        let awake = Arc::clone(&permit.awake);
        let (reply, answer) = Reply::new(permit);
        awake.turnstile.bring(Asked {
            verb,
            caller,
            rules: Self::rules(scope),
            reply,
        });
        drop(awake);
        // A wallet that is torn down drops the reply: nobody knows what became of it.
        answer.await.unwrap_or(Err(Error::Unavailable))
    }

    /// Asks the wallet that a request names.
    pub(crate) async fn ask_at<V: Verb>(
        &self,
        scope: &Scope,
        address: &Address,
        verb: V,
    ) -> Result<V::Answer, Error> {
        self.ask(scope, self.locate(scope, address)?, verb).await
    }
}

/// What makes a user's wallet should it not exist; nothing for a code.
fn created(scope: &Scope, address: &Address) -> Option<Created> {
    match address {
        Address::Code(_) => None,
        Address::External(user) => Some(born(scope, Owner::External(user.clone()))),
    }
}

/// A wallet that comes to be now.
fn born(scope: &Scope, owner: Owner) -> Created {
    Created {
        id: WalletId(Uuid::now_v7().as_u128()),
        project: scope.project,
        owner,
    }
}

/// Gauges of the wallets and the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Wallets in memory.
    pub awake: u64,
    /// Commands being worked on.
    pub in_flight: u64,
    /// Events logged and not folded yet.
    pub backlog: u64,
    /// Their bytes.
    pub backlog_bytes: u64,
    /// How long the log takes to make them durable.
    pub commits: Commits,
}
