//! Who answers: the service of this process, another process, or none yet.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use arc_swap::ArcSwap;
use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use scrip_http::connections::{IncomingRequest, Responder, public::ServedElsewhere, routed};
use wire::{Error, ErrorCode};

use crate::front::{
    body::drain,
    credentials::CredentialOwner,
    forward::Forwarder,
    headers::{FORWARDED, WHOSE},
    hold::{Counters, FrontFigures, WaitingRoom},
    origin::Origin,
    refusal::{not_leading, refuse, unavailable},
    routes::{FindRoutingKey, Neighbours, Routes, RoutingKey},
    shared::{Leader, Leadership, Leading, Shared},
    token::{Author, Forwarded},
};

/// Where a proxy asks who leads.
const LEADERZ: &str = "/leaderz";
/// What a process answers for itself.
const LOCAL: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// Of those what it answers whether it leads or not.
const OF_PROCESS: [&str; 2] = ["/healthz", "/metrics"];
/// Below this other processes of the cluster ask the one that leads; no other client may.
const INTERNAL: &str = "/cluster/";

/// Answers all requests of a process that is one of several. Here, there or later is decided for each request, by one
/// atomic load, and by another where there is but one cell.
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

    /// This process leads: requests are answered by this service, those that wait, too. `internal` answers what other
    /// processes ask below `/cluster/`. `place` is asked in which cell a project or an API key is by the own log: this
    /// one, the one that the project went to, or `None` where the log knows neither. `whose` finds the owner of the
    /// credential in a request's headers, for a process that passes it on and does not know that.
    ///
    /// Once it no longer `leads`, an answer may be one of the past and is not given, unless it says that something was
    /// done.
    pub fn here_while(
        &self,
        service: R,
        internal: Router,
        place: impl Fn(&RoutingKey) -> Option<i16> + Send + Sync + 'static,
        whose: impl Fn(&HeaderMap) -> Option<CredentialOwner> + Send + Sync + 'static,
        leads: impl Fn() -> bool + Send + Sync + 'static,
    ) {
        self.set(Leader::Here(Leading {
            service,
            internal,
            place: Arc::new(place),
            whose: Arc::new(whose),
            leads: Arc::new(leads),
        }));
    }

    /// What the process itself uses of its front.
    pub(crate) fn link(&self) -> FrontLink {
        FrontLink {
            neighbours: self.0.routes.neighbours(),
            counters: Arc::clone(&self.0.counters),
        }
    }

    /// What was held and passed on so far.
    pub fn figures(&self) -> FrontFigures {
        self.0.counters.read()
    }

    /// What this process knows of the cells.
    pub fn routes(&self) -> &Routes {
        &self.0.routes
    }

    fn set(&self, leader: Leader<R>) {
        let leads = matches!(leader, Leader::Here(_));
        self.0.routes.set_leads(leads, |term| {
            self.0.state.store(Arc::new(Leadership { term, leader }));
        });
    }
}

/// The way to the leaders of other cells, and what the front has done so far.
pub(crate) struct FrontLink {
    pub(crate) neighbours: Neighbours,
    pub(crate) counters: Arc<Counters>,
}

/// What has to be known of a request to judge its answer.
struct Judged {
    is_read: bool,
    is_of_process: bool,
    is_forwarded: bool,
    is_internal: bool,
    origin_of_page: Option<HeaderValue>,
    key: Option<RoutingKey>,
}

impl Judged {
    fn of(request: &IncomingRequest, key: Option<RoutingKey>) -> Self {
        Self {
            is_read: request.method().is_safe(),
            is_of_process: OF_PROCESS.contains(&request.uri().path()),
            is_forwarded: false,
            is_internal: false,
            origin_of_page: request.headers().get(header::ORIGIN).cloned(),
            key,
        }
    }
}

impl<R: Responder> Front<R> {
    /// A front of a process of this cell that knows of no leader yet, and what tells it. `local` answers `/healthz`,
    /// `/readyz` and `/metrics` while this process does not lead. `find` says what a request is about; it is not asked
    /// while there is but one cell.
    pub fn new(
        local: Router,
        forwarder: Forwarder,
        cell: i16,
        find: FindRoutingKey,
    ) -> (Self, FrontSwitch<R>) {
        let state = Leadership {
            term: 0,
            leader: Leader::Unknown,
        };
        let shared = Arc::new(Shared {
            state: ArcSwap::from_pointee(state),
            routes: Routes::new(cell, forwarder.clone()),
            find,
            local,
            forwarder,
            waiting: WaitingRoom::default(),
            counters: Arc::default(),
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

    pub(super) const fn shared(&self) -> &Arc<Shared<R>> {
        &self.shared
    }

    /// The service, where this process leads.
    pub(super) fn here(&self) -> Option<Arc<R>> {
        let state = self.shared.state.load();
        let Leader::Here(leading) = &state.leader else {
            return None;
        };
        let copy = || Arc::new(leading.service.clone());
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
            Leader::Here(leading) => (leading.leads)(),
            Leader::Unknown | Leader::Elsewhere(_) => false,
        }
    }

    /// The answer of this process' service to a client.
    pub(super) async fn answer_here(
        &self,
        own: Arc<R>,
        request: IncomingRequest,
        peer: SocketAddr,
        key: Option<RoutingKey>,
    ) -> Response {
        let judged = Judged::of(&request, key);
        let response = own.answer(request, peer).await;
        self.judge(response, judged)
    }

    /// What was done is durable; all else this process tells only while it leads, which is looked at after it was read.
    fn judge(&self, response: Response, judged: Judged) -> Response {
        let is_done = !judged.is_read && response.status().is_success();
        if is_done || judged.is_of_process {
            return response;
        }
        let leads = self.leads();
        // Refused, perhaps since its project went to another cell after the request was let in: nothing was done here.
        let has_moved = leads
            && response.status().is_client_error()
            && self.shared.has_moved_away(judged.key.as_ref());
        if leads && !has_moved {
            return response;
        }
        let origin = judged.origin_of_page;
        let headers = HeaderMap::from_iter(origin.map(|it| (header::ORIGIN, it)));
        match has_moved && judged.is_forwarded || judged.is_internal && judged.is_read {
            true => not_leading(&headers),
            false => refuse(&unavailable(), &headers),
        }
    }

    /// Answers what is not simply this process' own.
    async fn attend(&self, mut request: IncomingRequest, peer: SocketAddr) -> Response {
        if let Some(forwarded) = self.shared.forwarder.open(&mut request) {
            // The process that passes it on has looked at where it came in.
            request.extensions_mut().remove::<ServedElsewhere>();
            return self.attend_forwarded(request, forwarded).await;
        }
        if request.extensions().get::<ServedElsewhere>().is_some() {
            return refuse(&Error::new(ErrorCode::RouteNotFound), request.headers());
        }
        if !LOCAL.contains(&request.uri().path()) {
            return self.pass_on(request, peer).await;
        }
        match self.here() {
            Some(own) => self.answer_here(own, request, peer, None).await,
            None => routed(self.shared.local.clone(), request, peer).await,
        }
    }

    /// Answers what another process passes on, or asks itself. It goes no further: where it is not for this process,
    /// the other one finds another.
    async fn attend_forwarded(
        &self,
        mut request: IncomingRequest,
        forwarded: Forwarded,
    ) -> Response {
        let Shared { state, routes, .. } = &*self.shared;
        let is_for_own = (forwarded.cell).is_none_or(|cell| cell == routes.own().cell);
        // A client's request does not become one of the process that passes it on.
        let is_internal =
            forwarded.author == Author::Process && request.uri().path().starts_with(INTERNAL);
        let asks_whose = request.headers_mut().remove(WHOSE).is_some();
        let (internal, whose) = match &state.load().leader {
            Leader::Here(leading) if is_internal => (Some(leading.internal.clone()), None),
            Leader::Here(leading) if asks_whose => (None, (leading.whose)(request.headers())),
            _ => (None, None),
        };
        let key = match internal {
            Some(_) => None,
            None => self.shared.routing_key(request.uri(), request.headers()),
        };
        match self.here().filter(|_| is_for_own) {
            Some(own) if !self.shared.has_moved_away(key.as_ref()) => {
                let judged = Judged {
                    is_forwarded: true,
                    is_internal: internal.is_some(),
                    ..Judged::of(&request, key)
                };
                let response = match internal {
                    Some(router) => routed(router, request, forwarded.client).await,
                    None => own.answer(request, forwarded.client).await,
                };
                let mut response = self.judge(response, judged);
                if let Some(whose) = whose.and_then(CredentialOwner::header) {
                    response.headers_mut().insert(WHOSE, whose);
                }
                response
            }
            _ => {
                let (head, body) = request.into_parts();
                drain(body).await;
                not_leading(&head.headers)
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

impl<R: Responder> Responder for Front<R> {
    async fn answer(self: Arc<Self>, request: IncomingRequest, peer: SocketAddr) -> Response {
        if request.uri().path() == LEADERZ {
            return self.leaderz(request.headers());
        }
        if !request.headers().contains_key(FORWARDED)
            && let Some(own) = self.here()
        {
            let key = self.shared.routing_key(request.uri(), request.headers());
            let cell = self.shared.cell(key.as_ref());
            if cell == Some(self.shared.routes.own().cell) {
                return self.answer_here(own, request, peer, key).await;
            }
        }
        Box::pin(self.attend(request, peer)).await
    }
}
