//! `GET /wallets/{code}/stream` and `GET /wallets/external/stream`: a wallet's balances as server-sent events, for as
//! long as the caller may read them. Each event is a reading of the wallet like any other, so no caller is shown what is
//! not durable; the wallet only says that there is something to read.
//!
//! A stream makes an event when its reader has taken the last one, so that a slow reader skips states instead of
//! piling them up. An idle one sleeps: neither it nor the wallet does anything between two comment lines.

use std::{
    convert::Infallible,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
    time::Duration,
};

use actors::{Address, MAX_WATCHERS_PER_WALLET, NotWatched, WalletWatcher, WatchedView};
use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::Response,
};
use catalog::ProjectCatalog;
use domain::{
    Timestamp,
    catalog::KeyKind,
    id::{KeyId, ProjectId, WalletKey},
    session::WalletSession,
};
use edge::{
    caller::{AnyKey, Caller, MayRead, SecretKey},
    context::Context,
};
use futures_util::stream;
use scrip_http::limits::LimitExceeded;
use tokio::time::{Instant, sleep_until, timeout_at};
use wire::{Error, ErrorCode, headers::LAST_EVENT_ID, view};

use super::read::UserQuery;
use crate::{
    api::App,
    http::{code_path::CodePath, query::Params, subject::users_wallet},
};

/// Time between two readings, and so between two events.
const PACE: Duration = Duration::from_millis(100);
/// Time without an event after which a comment line says that the stream is alive.
const BEAT: Duration = Duration::from_secs(15);
/// Time before a reading that was refused for want of room is tried again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// A comment line, which readers of events skip.
const COMMENT: &[u8] = b":\n\n";
/// Tells nginx, and proxies like it, not to keep events back.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) async fn stream_wallet(
    State(app): State<App>,
    key: AnyKey<MayRead>,
    code: CodePath,
    context: Context,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let address = code.address()?;
    let view = app.handle.read(&key.scope, address).await;
    let view = view.map_err(|error| code.refused(error, &key))?;
    open(
        app,
        key.caller(),
        (address.clone(), view.key),
        &context,
        &headers,
    )
}

pub(super) async fn stream_external_wallet(
    State(app): State<App>,
    key: SecretKey<MayRead>,
    Params(UserQuery { external_user_id }): Params<UserQuery>,
    context: Context,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let address = users_wallet(external_user_id, key.session())?;
    let view = app.handle.read(&key.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &key))?;
    open(app, key.caller(), (address, view.key), &context, &headers)
}

/// Opens a stream of a wallet that the caller may read.
fn open(
    app: App,
    caller: &Caller,
    (address, wallet): (Address, WalletKey),
    context: &Context,
    headers: &HeaderMap,
) -> Result<Response, Error> {
    let client = (!caller.is_server()).then_some(context.client.address());
    let counted_for = (caller.key().project.project.id, client);
    let watcher = app.handle.watch(wallet, counted_for).map_err(refused)?;
    Ok(BalanceStream::new(app, caller, address, watcher, headers).respond())
}

fn refused(why: NotWatched) -> Error {
    match why {
        NotWatched::Wallet => {
            // When another stream ends is not known; one whose reader is gone ends by then.
            let seconds = u32::try_from(BEAT.as_secs()).unwrap_or(u32::MAX);
            let refusal = LimitExceeded {
                limit: u32::try_from(MAX_WATCHERS_PER_WALLET).unwrap_or(u32::MAX),
                retry_after_seconds: seconds,
                reset_seconds: seconds,
            };
            let error = Error::limited(ErrorCode::RateLimited, refusal);
            error.saying("This wallet has as many streams as it may have.")
        }
        NotWatched::Service => Error::new(ErrorCode::Overloaded),
    }
}

/// A stream between two of its events.
struct BalanceStream {
    app: App,
    /// Not the project itself: streams outlast many versions of it.
    project: ProjectId,
    key: KeyId,
    kind: KeyKind,
    address: Address,
    watcher: WalletWatcher,
    last_id: i64,
    /// The hash of the state that was shown last.
    shown: Option<u64>,
    /// Whether the wallet may have another state than that.
    is_stale: bool,
    /// When it will have, though nothing is done to it; by the project's clock.
    until: Timestamp,
    /// The next event comes no sooner.
    not_before: Instant,
    /// When the next comment line is due.
    beat: Instant,
}

impl BalanceStream {
    fn new(
        app: App,
        caller: &Caller,
        address: Address,
        watcher: WalletWatcher,
        headers: &HeaderMap,
    ) -> Self {
        let now = Instant::now();
        let last = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
        let last_id = last.and_then(|id| id.parse().ok()).unwrap_or(0);
        // One that is ahead of the clock is not one of ours.
        let is_ours = (0..=app.edge.clock.now().plus_seconds(60).0).contains(&last_id);
        Self {
            app,
            project: caller.key().project.project.id,
            key: caller.key().key,
            kind: caller.key().kind,
            address,
            watcher,
            last_id: if is_ours { last_id } else { 0 },
            shown: None,
            is_stale: true,
            until: Timestamp::NEVER,
            not_before: now,
            beat: now,
        }
    }

    fn respond(self) -> Response {
        let events = stream::unfold(self, |mut stream| async move {
            let next = stream.next().await?;
            Some((Ok::<_, Infallible>(next), stream))
        });
        let mut response = Response::new(Body::from_stream(events));
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, "text/event-stream"),
            (header::CACHE_CONTROL, "no-store"),
            (X_ACCEL_BUFFERING, "no"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }

    /// The next event or comment line; `None` when the stream is over.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.is_stale {
                sleep_until(self.not_before).await;
                if self.is_over() {
                    return None;
                }
                match self.read().await {
                    Ok(Some(event)) => return Some(event),
                    Ok(None) => continue,
                    Err(actors::Error::Overloaded) => {
                        self.not_before = later(AGAIN_AFTER);
                        continue;
                    }
                    // The code was replaced, the session revoked, or the service stops.
                    Err(_) => return None,
                }
            }
            match timeout_at(self.wakes_at(), self.watcher.changed()).await {
                Ok(true) => self.is_stale = true,
                Ok(false) => return None,
                Err(_) => {}
            }
            if self.is_over() {
                return None;
            }
            let now = Instant::now();
            self.is_stale |= self.left() == Some(Duration::ZERO);
            if !self.is_stale && now >= self.beat {
                self.beat = later(BEAT);
                return Some(Bytes::from_static(COMMENT));
            }
        }
    }

    /// Reads the wallet. `None`: it shows what was shown before.
    async fn read(&mut self) -> Result<Option<Bytes>, actors::Error> {
        let project = self.project().ok_or(actors::Error::Unavailable)?;
        let handle = &self.app.handle;
        let read = handle.read_watched(&project.scope, &self.address, &mut self.watcher);
        let WatchedView { view, until } = Box::pin(read).await?;
        (self.is_stale, self.until) = (false, until);
        // Also where nothing is to be shown: what wakes a stream often is not read more often either.
        self.not_before = later(PACE);
        // Texts, numbers and lists of them: writing them cannot fail.
        let data =
            serde_json::to_string(&view::holdings(&view, &project, self.kind)).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let state = Some(hasher.finish());
        if self.shown == state {
            return Ok(None);
        }
        self.shown = state;
        self.beat = later(BEAT);
        let id = self.next_id();
        let event = format!("event: balance\nid: {id}\ndata: {data}\n\n");
        Ok(Some(event.into()))
    }

    /// Rises with each event, and over all streams as the clock does: a stream that goes on elsewhere, or after a
    /// restart, goes on with larger numbers.
    fn next_id(&mut self) -> i64 {
        let now = self.app.edge.clock.now().0;
        self.last_id = now.max(self.last_id.saturating_add(1));
        self.last_id
    }

    /// When to look again, unless the wallet changes before.
    fn wakes_at(&self) -> Instant {
        let end = self.end();
        let end = end.map(|end| until(self.app.edge.clock.now(), end));
        let soonest = end.into_iter().chain(self.left()).min();
        let soonest = soonest.and_then(|left| Instant::now().checked_add(left));
        soonest.map_or(self.beat, |at| at.min(self.beat))
    }

    /// How long the state that was shown lasts by itself.
    fn left(&self) -> Option<Duration> {
        if self.until == Timestamp::NEVER {
            return None;
        }
        let now = self.app.handle.now_in(&self.project()?.scope);
        Some(until(now, self.until))
    }

    /// Whether the session or key has ended, or the key was revoked. Whether the session was revoked, the wallet knows.
    fn is_over(&self) -> bool {
        let end = self.end();
        end.is_none_or(|end| end <= self.app.edge.clock.now())
    }

    /// When the session or key ends; `None`: it has ended.
    fn end(&self) -> Option<Timestamp> {
        if let Some(session) = self.session() {
            return Some(session.expires_at);
        }
        let project = self.project()?;
        let known = project.key(&self.key)?;
        let works = known.revoked_at.is_none();
        works.then(|| known.expires_at.unwrap_or(Timestamp::NEVER))
    }

    /// The project as it is now.
    fn project(&self) -> Option<Arc<ProjectCatalog>> {
        let catalog = self.app.edge.catalog.current();
        catalog.project(&self.project).map(Arc::clone)
    }

    /// The session that opens the wallet, if that is what does.
    const fn session(&self) -> Option<&Arc<WalletSession>> {
        match &self.address {
            Address::Session(session) => Some(session),
            _ => None,
        }
    }
}

/// The instant after this much time.
fn later(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now)
}

/// The time from one instant to another.
fn until(now: Timestamp, at: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(at.0.saturating_sub(now.0)).unwrap_or(0))
}
