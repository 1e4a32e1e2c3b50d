//! Who answers: the service of this process, another process, or nobody yet.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock, atomic::Ordering::Relaxed},
    time::Duration,
};

use arc_swap::ArcSwap;
use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, Method, Request, header},
    response::Response,
};
use connections::{IncomingRequest, Responder, routed};
use tokio::{
    sync::{Semaphore, watch},
    time::timeout,
};
use wire::{Error, ErrorCode};

use crate::{
    body::{Payload, drain},
    forward::{Fate, Forwarder},
    headers::FORWARDED,
    hold::{Counters, FrontFigures, HELD_AT_ONCE, Hold},
    origin::Origin,
    refusal::{not_leading, overloaded, refuse, unavailable},
};

/// Where a proxy asks who leads.
const LEADERZ: &str = "/leaderz";
/// What a process answers for itself.
const LOCAL: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// Of those what it answers whether it leads or not.
const OF_PROCESS: [&str; 2] = ["/healthz", "/metrics"];
/// After another process came to lead: how much longer an answer of the former one is waited for, which may still be
/// true, and how long a stream of it goes on.
const ANSWER_AFTER_CHANGE: Duration = Duration::from_secs(5);

/// Who leads, as far as this process knows.
enum Leader<R> {
    Unknown,
    Elsewhere(Origin),
    Here(R, Leads),
}

/// Whether a process that was said to lead still knows that it does.
type Leads = Arc<dyn Fn() -> bool + Send + Sync>;

struct State<R> {
    /// Counts the changes.
    term: u64,
    leader: Leader<R>,
}

struct Shared<R> {
    state: ArcSwap<State<R>>,
    /// The latest term, for those who wait for the next one.
    changes: watch::Sender<u64>,
    local: Router,
    forwarder: Forwarder,
    places: Semaphore,
    counters: Counters,
}

/// Answers all requests of a process that is one of several. Here, there or later is decided for each request, by one
/// atomic load.
#[allow(
    missing_debug_implementations,
    reason = "a service has nothing to show"
)]
pub struct Front<R> {
    shared: Arc<Shared<R>>,
    /// This clone's own copy of the service, and the term that it is of: not all connections count references in one
    /// place.
    own: OnceLock<(u64, Arc<R>)>,
}

impl<R> Clone for Front<R> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            own: OnceLock::new(),
        }
    }
}

/// Says who leads. Takes effect for each request that comes from then on, and for those that wait.
#[allow(
    missing_debug_implementations,
    reason = "a service has nothing to show"
)]
pub struct FrontSwitch<R>(Arc<Shared<R>>);

impl<R> Clone for FrontSwitch<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: Responder> FrontSwitch<R> {
    /// Nobody is known to lead: requests are held for up to 8 s, and at most 1,000 of them.
    pub fn unknown(&self) {
        self.set(Leader::Unknown);
    }

    /// Another process leads: requests are passed on to it. Changes nothing where it does already.
    pub fn elsewhere(&self, origin: Origin) {
        if !self.0.is_at(&origin) {
            self.set(Leader::Elsewhere(origin));
        }
    }

    /// This process leads: requests are answered by this service, those that wait, too.
    pub fn here(&self, service: R) {
        self.here_while(service, || true);
    }

    /// [`FrontSwitch::here`], as long as it `leads`: past that an answer may be one of the past, unless it says that
    /// something was done.
    pub fn here_while(&self, service: R, leads: impl Fn() -> bool + Send + Sync + 'static) {
        self.set(Leader::Here(service, Arc::new(leads)));
    }

    /// What was held and passed on so far.
    #[must_use]
    pub fn figures(&self) -> FrontFigures {
        self.0.counters.read()
    }

    fn set(&self, leader: Leader<R>) {
        // One after the other, so that the latest state is that of the latest term.
        self.0.changes.send_modify(|term| {
            *term = term.wrapping_add(1);
            self.0.state.store(Arc::new(State {
                term: *term,
                leader,
            }));
        });
    }
}

impl<R> Shared<R> {
    fn is_at(&self, origin: &Origin) -> bool {
        matches!(&self.state.load().leader, Leader::Elsewhere(at) if at == origin)
    }

    /// Ends some time after a process stopped to lead, unless it came to lead again.
    async fn deposed(self: Arc<Self>, origin: Origin) {
        let mut changes = self.changes.subscribe();
        loop {
            changes.borrow_and_update();
            if self.is_at(&origin) {
                drop(changes.changed().await);
            } else if timeout(ANSWER_AFTER_CHANGE, changes.changed())
                .await
                .is_err()
            {
                return;
            }
        }
    }
}

impl<R: Responder> Front<R> {
    /// A front that knows of no leader yet, and what tells it. `local` answers `/healthz`, `/readyz` and `/metrics` while
    /// this process does not lead.
    #[must_use]
    pub fn new(local: Router, forwarder: Forwarder) -> (Self, FrontSwitch<R>) {
        let state = State {
            term: 0,
            leader: Leader::Unknown,
        };
        let shared = Arc::new(Shared {
            state: ArcSwap::from_pointee(state),
            changes: watch::Sender::new(0),
            local,
            forwarder,
            places: Semaphore::new(HELD_AT_ONCE),
            counters: Counters::default(),
        });
        let switch = FrontSwitch(Arc::clone(&shared));
        (
            Self {
                shared,
                own: OnceLock::new(),
            },
            switch,
        )
    }

    /// The service, where this process leads.
    fn here(&self) -> Option<Arc<R>> {
        let state = self.shared.state.load();
        let Leader::Here(service, _) = &state.leader else {
            return None;
        };
        let copy = || Arc::new(service.clone());
        let (term, own) = self.own.get_or_init(|| (state.term, copy()));
        // A service that was put in place after this connection had used another is copied for each request.
        Some(if *term == state.term {
            Arc::clone(own)
        } else {
            copy()
        })
    }

    /// Whether this process leads, and knows that no other one does.
    fn leads(&self) -> bool {
        match &self.shared.state.load().leader {
            Leader::Here(_, leads) => leads(),
            Leader::Unknown | Leader::Elsewhere(_) => false,
        }
    }

    /// The answer of this process' service. What was done is durable; all else it tells only while it leads, which is
    /// looked at after it was read.
    async fn answer_here(
        &self,
        own: Arc<R>,
        request: IncomingRequest,
        peer: SocketAddr,
    ) -> Response {
        let is_read = request.method().is_safe();
        let origin_of_page = request.headers().get(header::ORIGIN).cloned();
        let is_of_process = OF_PROCESS.contains(&request.uri().path());
        let response = own.answer(request, peer).await;
        let is_done = !is_read && response.status().is_success();
        if is_done || is_of_process || self.leads() {
            return response;
        }
        let headers = HeaderMap::from_iter(origin_of_page.map(|it| (header::ORIGIN, it)));
        refuse(&unavailable(), &headers)
    }

    /// The process that leads, where it is another one.
    fn elsewhere(&self) -> Option<Origin> {
        match &self.shared.state.load().leader {
            Leader::Elsewhere(origin) => Some(origin.clone()),
            Leader::Unknown | Leader::Here(..) => None,
        }
    }

    /// Answers what is not simply this process' own.
    async fn attend(&self, mut request: IncomingRequest, peer: SocketAddr) -> Response {
        let client = self.shared.forwarder.open(&mut request);
        match (self.here(), client) {
            (Some(own), client) => self.answer_here(own, request, client.unwrap_or(peer)).await,
            (None, Some(_)) => {
                let (head, body) = request.into_parts();
                drain(body).await;
                not_leading(&head.headers)
            }
            (None, None) if LOCAL.contains(&request.uri().path()) => {
                routed(self.shared.local.clone(), request, peer).await
            }
            (None, None) => self.pass_on(request, peer).await,
        }
    }

    /// Has a request answered by whoever leads, as soon as somebody does.
    async fn pass_on(&self, request: IncomingRequest, peer: SocketAddr) -> Response {
        if request.method() == Method::CONNECT {
            return refuse(&Error::new(ErrorCode::MethodNotAllowed), request.headers());
        }
        let Shared {
            changes,
            forwarder,
            places,
            counters,
            ..
        } = &*self.shared;
        let mut changes = changes.subscribe();
        let mut hold = Hold::new(places, &counters.held);
        // The body is not read before somebody leads: until then its client keeps it.
        while self.elsewhere().is_none() {
            if let Some(own) = self.here() {
                return self.answer_here(own, request, peer).await;
            }
            if let Err(error) = hold.for_change(&mut changes).await {
                let (head, body) = request.into_parts();
                drain(body).await;
                return self.shared.refused(&error, &head.headers);
            }
        }
        let origin_of_page = request.headers().get(header::ORIGIN).cloned();
        let mut outgoing = match forwarder.read(request, peer).await {
            Ok(outgoing) => outgoing,
            Err(_) => {
                let headers = HeaderMap::from_iter(origin_of_page.map(|it| (header::ORIGIN, it)));
                return refuse(&Error::malformed("The body did not arrive."), &headers);
            }
        };
        loop {
            changes.borrow_and_update();
            let waited = if let Some(own) = self.here() {
                let Payload::Whole(bytes, _) = outgoing.payload else {
                    return self.shared.refused(&unavailable(), &outgoing.head.headers);
                };
                let request = Request::from_parts(outgoing.head, bytes.into());
                return self.answer_here(own, request, peer).await;
            } else if let Some(origin) = self.elsewhere() {
                let deposed = || Arc::clone(&self.shared).deposed(origin.clone());
                match forwarder.send(&origin, &mut outgoing, deposed).await {
                    Fate::Answered(response) => {
                        counters.forwarded.fetch_add(1, Relaxed);
                        return response;
                    }
                    Fate::Unknown => {
                        counters.unknown.fetch_add(1, Relaxed);
                        return refuse(&unavailable(), &outgoing.head.headers);
                    }
                    Fate::NotTaken if matches!(outgoing.payload, Payload::Gone) => {
                        Err(unavailable())
                    }
                    Fate::NotTaken => {
                        counters.not_taken.fetch_add(1, Relaxed);
                        hold.for_a_while(&mut changes).await
                    }
                    Fate::NoRoom => Err(overloaded()),
                }
            } else {
                hold.for_change(&mut changes).await
            };
            if let Err(error) = waited {
                return self.shared.refused(&error, &outgoing.head.headers);
            }
        }
    }

    /// Whether this process leads.
    fn leaderz(&self, headers: &HeaderMap) -> Response {
        if !self.leads() {
            return refuse(&unavailable(), headers);
        }
        let mut response = Response::new(Body::from(r#"{"status":"leading"}"#));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

impl<R> Shared<R> {
    fn refused(&self, error: &Error, headers: &HeaderMap) -> Response {
        self.counters.refused.fetch_add(1, Relaxed);
        refuse(error, headers)
    }
}

impl<R: Responder> Responder for Front<R> {
    async fn answer(self: Arc<Self>, request: IncomingRequest, peer: SocketAddr) -> Response {
        if request.uri().path() == LEADERZ {
            return self.leaderz(request.headers());
        }
        if !request.headers().contains_key(FORWARDED)
            && let Some(own) = self.here()
        {
            return self.answer_here(own, request, peer).await;
        }
        Box::pin(self.attend(request, peer)).await
    }
}
