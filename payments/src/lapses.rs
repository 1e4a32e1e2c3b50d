//! Subscriptions whose periods ended more than a day ago, and of which nobody told since: the provider
//! is asked about them, at the start too. Where it cannot be asked, or knows them no more, they lose
//! their features after the days of grace, and not before.
//!
//! They are found by when their periods end, among those that are not over. Each is asked about once,
//! and all that are still there once a day.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{
    Timestamp,
    id::{ProjectId, WalletKey},
    text::SubscriptionId,
    wallet::{
        lapse::{LAPSES_AFTER_SECONDS, Lapse},
        purchase::Purchase,
    },
};
use port::{Provider, Subject};

use super::{Error, Ground, each::each};

/// All of them are gone through anew so often.
const ANEW_SECONDS: i64 = 24 * 3600;
/// Read from the books at once.
const PAGE: usize = 64;
/// Wallets that are asked about at once.
const AT_ONCE: usize = 16;

/// A place among the ends of periods.
type Place = (Timestamp, u128);

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Lapses(Arc<Parts>);

struct Parts {
    ground: Ground,
    asked: DashMap<ProjectId, Reached>,
    missed: DashMap<ProjectId, Reached>,
    /// Subscriptions that the provider does not know.
    given_up: AtomicU64,
}

/// How far a project's were gone through.
#[derive(Debug, Clone, Copy)]
struct Reached {
    to: Option<Place>,
    /// When they are gone through anew.
    anew: Timestamp,
}

impl Lapses {
    pub(crate) fn new(ground: Ground) -> Self {
        Self(Arc::new(Parts {
            ground,
            asked: DashMap::new(),
            missed: DashMap::new(),
            given_up: AtomicU64::new(0),
        }))
    }

    /// Subscriptions since the start that the provider does not know.
    pub(crate) fn given_up(&self) -> u64 {
        self.0.given_up.load(Ordering::Relaxed)
    }

    /// Asks about those that lapsed since they were last asked about. Stops where the provider does not
    /// answer, and goes on from there the next time.
    pub(crate) async fn ask(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
    ) -> Result<(), Error> {
        let now = self.0.ground.handle.now_in(&project.scope);
        let until = now.plus_seconds(-LAPSES_AFTER_SECONDS);
        self.go_on(&self.0.asked, project, until, |wallet| {
            self.ask_about(project, provider, wallet, until)
        })
        .await
    }

    /// The provider cannot be asked: those without a word for longer than the days of grace lose their
    /// features.
    pub(crate) async fn miss(&self, project: &ProjectCatalog) -> Result<(), Error> {
        let now = self.0.ground.handle.now_in(&project.scope);
        let grace = i64::from(project.project.subscription_grace_days).saturating_mul(24 * 3600);
        let until = now.plus_seconds(grace.max(LAPSES_AFTER_SECONDS).saturating_neg());
        let handle = &self.0.ground.handle;
        self.go_on(&self.0.missed, project, until, async |wallet| {
            for id in handle.lapsed(&project.scope, wallet, until).await? {
                self.lapse(project, wallet, id).await?;
            }
            Ok(())
        })
        .await
    }

    async fn go_on<Doing: Future<Output = Result<(), Error>>>(
        &self,
        reached: &DashMap<ProjectId, Reached>,
        project: &ProjectCatalog,
        until: Timestamp,
        doing: impl Fn(WalletKey) -> Doing,
    ) -> Result<(), Error> {
        let handle = &self.0.ground.handle;
        let (id, now) = (project.project.id, handle.now_in(&project.scope));
        let known = reached.get(&id).map(|known| *known);
        // A clock that went back begins anew, too.
        let known =
            known.filter(|known| now < known.anew && known.anew <= now.plus_seconds(ANEW_SECONDS));
        let mut known = known.unwrap_or(Reached {
            to: None,
            anew: now.plus_seconds(ANEW_SECONDS),
        });
        loop {
            let ended = handle.periods_ended(&project.scope, known.to, until, PAGE)?;
            let wallets: Vec<WalletKey> = ended.iter().map(|end| end.wallet).collect();
            each(wallets, AT_ONCE, &doing).await?;
            known.to = ended.last().map(|end| end.place()).or(known.to);
            reached.insert(id, known);
            if ended.len() < PAGE {
                return Ok(());
            }
        }
    }

    async fn ask_about(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        wallet: WalletKey,
        until: Timestamp,
    ) -> Result<(), Error> {
        let Ground {
            handle, fulfilment, ..
        } = &self.0.ground;
        for id in handle.lapsed(&project.scope, wallet, until).await? {
            let subject = Subject::Subscription(id.clone());
            match fulfilment.look(project, provider, &subject).await {
                Ok(_) => {}
                // Of an account that the project had before, or deleted with its test data.
                Err(Error::Provider(port::Error::Missing(what))) => {
                    tracing::warn!(
                        subscription = id.as_str(),
                        what,
                        "The payment provider does not know a subscription"
                    );
                    self.0.given_up.fetch_add(1, Ordering::Relaxed);
                    self.lapse(project, wallet, id).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn lapse(
        &self,
        project: &ProjectCatalog,
        wallet: WalletKey,
        subscription: SubscriptionId,
    ) -> Result<(), Error> {
        let lapse = Purchase::Lapse(Lapse {
            subscription,
            grace_days: project.project.subscription_grace_days,
        });
        let handle = &self.0.ground.handle;
        handle.report(&project.scope, wallet, lapse).await?;
        Ok(())
    }
}
