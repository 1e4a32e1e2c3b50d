//! Rate limits for strangers: requests of a publishable key, look-ups of invalid recovery codes, new
//! anonymous wallets, recovery mails, tokens. The time is passed in. What is remembered per client and per
//! address is bounded: strangers cannot fill the memory.

mod admin;
mod bucket;
mod client;
mod exceeded;
mod hash;
mod misses;
mod recovery;
mod settings;
mod window;

use std::{collections::HashSet, net::IpAddr, sync::Arc};

use axum::http::HeaderMap;
use dashmap::DashMap;
use domain::{
    Timestamp,
    catalog::{CreationLimit, KeyKind, Project},
    id::{KeyId, ProjectId},
};
use parking_lot::{Mutex, RwLock};
use quick_cache::sync::Cache;
use tokio::sync::Semaphore;

pub use admin::TokenScope;
pub use bucket::{BucketState, Rate};
pub use client::Client;
pub use exceeded::LimitExceeded;
pub use settings::Settings;

use bucket::Bucket;
use hash::Hash;
use misses::Misses;
use window::Window;

const INVALID_CODES_WINDOW_SECONDS: u32 = 3600;

/// Most peers that the log names for sending `X-Forwarded-For` without being trusted.
const UNNAMED_PROXIES: usize = 64;

type PerClient<V> = Cache<(ProjectId, Client), Arc<V>>;

/// How an anonymous wallet comes to be. Each way is counted for itself: who makes wallets for nothing keeps nobody from
/// buying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Creation {
    /// It is asked for, empty.
    Free,
    /// A checkout that names no wallet makes one once it is paid.
    Checkout,
}

/// All limits of the HTTP interface.
#[derive(Debug)]
pub struct Limits {
    settings: Settings,
    buckets: Cache<(KeyId, Client), Arc<Bucket>>,
    invalid_codes: PerClient<Mutex<Misses>>,
    creations_by_client: Cache<(ProjectId, Client, Creation), Arc<Mutex<Window>>>,
    recoveries: PerClient<Mutex<Window>>,
    recovery_mails: Cache<Hash, Arc<Mutex<Window>>>,
    wrong_tokens: Cache<(TokenScope, Client), Arc<Mutex<Window>>>,
    administration: Cache<Client, Arc<Bucket>>,
    /// By user, and whether it is for forms alone.
    signed_in: Cache<(u128, bool), Arc<Bucket>>,
    /// Permits for answers to wrong tokens that are delayed.
    slowed: Semaphore,
    /// Peers that the log has named for sending `X-Forwarded-For` without being trusted.
    unnamed_proxies: RwLock<HashSet<Client>>,
    /// The key under which strangers' texts are hashed; of this process alone.
    hash_key: [u8; 32],
    // Two a project: bounded by the catalog, and no stranger may evict them.
    creations: DashMap<(ProjectId, Creation), Window>,
}

impl Limits {
    /// Limits that nobody has used up yet.
    pub fn new(settings: Settings) -> Self {
        // Seven limits share the number; each remembers at least a few.
        let clients = settings.tracked_clients.div_euclid(7).max(1);
        Self {
            settings,
            buckets: Cache::new(clients),
            invalid_codes: Cache::new(clients),
            creations_by_client: Cache::new(clients),
            recoveries: Cache::new(clients),
            recovery_mails: Cache::new(clients),
            wrong_tokens: Cache::new(clients),
            administration: Cache::new(clients),
            signed_in: Cache::new(admin::MAX_SIGNED_IN),
            slowed: Semaphore::new(admin::MAX_DELAYED),
            unnamed_proxies: RwLock::default(),
            hash_key: hash::new_key(),
            creations: DashMap::new(),
        }
    }

    /// The limits as configured.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The client of a request. A peer that sends `X-Forwarded-For` without being a trusted proxy is
    /// taken for the client itself, and named in the log, once: if it is a proxy, all of its clients
    /// are one here.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let trusted = &self.settings.trusted_proxies;
        if client::speaks_for_others(peer, headers, trusted) {
            let peer = Client::from(peer);
            let is_known = |proxies: &HashSet<Client>| {
                proxies.contains(&peer) || proxies.len() >= UNNAMED_PROXIES
            };
            if !is_known(&self.unnamed_proxies.read()) && self.unnamed_proxies.write().insert(peer)
            {
                tracing::warn!(
                    client.address = %peer,
                    "X-Forwarded-For comes from a peer that trusted_proxies does not name: it is not believed. \
                     If that is a proxy of yours, name it, for all who come through it are one client here"
                );
            }
        }
        Client::of(peer, headers, trusted)
    }

    /// Counts a request. `None`: keys of this kind are not limited.
    /// # Errors
    /// The key's limit is used up.
    #[must_use]
    pub fn request(
        &self,
        kind: KeyKind,
        key: KeyId,
        client: Client,
        now: Timestamp,
    ) -> Option<Result<BucketState, LimitExceeded>> {
        let (rate, client) = match kind {
            KeyKind::Publishable => (self.settings.publishable, client),
            KeyKind::Secret | KeyKind::Restricted => (self.settings.secret?, Client::ANY),
        };
        let bucket = match self.buckets.get(&(key, client)) {
            Some(bucket) => bucket,
            None => found_or_new(&self.buckets, (key, client)),
        };
        Some(bucket.take(rate, now))
    }

    /// Checks whether this client may look a recovery code up.
    /// # Errors
    /// The client tried too many codes that open nothing.
    pub fn may_look_up(
        &self,
        project: ProjectId,
        client: Client,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        match self.invalid_codes.get(&(project, client)) {
            Some(window) => window.lock().check(self.invalid_codes_limit(), now),
            None => Misses::default().check(self.invalid_codes_limit(), now),
        }
    }

    /// Counts a recovery code, or an id that is as hard to guess, for which nothing exists. A repeated one counts once.
    /// # Errors
    /// The client's former attempts used the limit up.
    pub fn count_miss(
        &self,
        project: ProjectId,
        client: Client,
        code: &str,
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        let misses = found_or_new(&self.invalid_codes, (project, client));
        let code = Hash::of(&self.hash_key, project, code);
        misses.lock().take(self.invalid_codes_limit(), code, now)
    }

    /// Counts a new anonymous wallet, against the project's limits for wallets that come to be this way.
    /// # Errors
    /// The limit of the project or of the client is used up; nothing is counted.
    pub fn create_wallet(
        &self,
        project: &Project,
        (client, way): (Client, Creation),
        now: Timestamp,
    ) -> Result<(), LimitExceeded> {
        let by_client = found_or_new(&self.creations_by_client, (project.id, client, way));
        let mut by_client = by_client.lock();
        if let Some(limit) = project.wallet_creation_limit_per_ip {
            by_client.check(limit, now)?;
        }
        // Nothing is counted unless both limits allow it.
        if let Some(limit) = project.wallet_creation_limit {
            self.creations
                .entry((project.id, way))
                .or_default()
                .take(limit, now)?;
        }
        if let Some(limit) = project.wallet_creation_limit_per_ip {
            by_client.take(limit, now)?;
        }
        Ok(())
    }

    /// Takes back what [`Self::create_wallet`] counted, because no wallet was created.
    pub fn wallet_not_created(&self, project: ProjectId, (client, way): (Client, Creation)) {
        if let Some(mut window) = self.creations.get_mut(&(project, way)) {
            window.give_back();
        }
        if let Some(window) = self.creations_by_client.get(&(project, client, way)) {
            window.lock().give_back();
        }
    }

    const fn invalid_codes_limit(&self) -> CreationLimit {
        CreationLimit {
            max: self.settings.invalid_codes_per_hour,
            window_seconds: INVALID_CODES_WINDOW_SECONDS,
        }
    }
}

fn found_or_new<K, V>(cache: &Cache<K, Arc<V>>, key: K) -> Arc<V>
where
    K: std::hash::Hash + Eq + Clone,
    V: Default,
{
    let made = cache.get_or_insert_with(&key, || Ok::<_, std::convert::Infallible>(Arc::default()));
    match made {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests;
