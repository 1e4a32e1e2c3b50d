//! Has a request answered by the process that leads its cell, as soon as that is known, and one does.

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use axum::{
    http::{HeaderMap, Method, Request, Uri, header},
    response::Response,
};
use scrip_http::connections::{IncomingRequest, Responder};
use tokio::sync::watch;
use wire::{Error, ErrorCode};

use crate::front::{
    body::{Payload, drain},
    credentials::Holder,
    forward::{Fate, Outgoing},
    hold::Hold,
    origin::Origin,
    refusal::{overloaded, refuse, unavailable},
    routes::RoutingKey,
    shared::{Destination, Shared},
    switch::Front,
};

/// The way of one request, which may have to wait more than once.
struct Way<'a, R> {
    shared: &'a Shared<R>,
    hold: Hold<'a>,
    changes: watch::Receiver<u64>,
    progress: watch::Receiver<u64>,
    /// The refresh that it waits for, while its cell is not known.
    asked: Option<u64>,
}

impl<'a, R> Way<'a, R> {
    fn new(shared: &'a Shared<R>, holder: Holder) -> Self {
        Self {
            shared,
            hold: Hold::new(&shared.waiting, &shared.counters.held, holder),
            changes: shared.routes.changes(),
            progress: shared.routes.progress(),
            asked: None,
        }
    }

    /// What a request is about, and to whom it goes now.
    fn look(&mut self, uri: &Uri, headers: &HeaderMap) -> (Option<RoutingKey>, Destination) {
        self.changes.borrow_and_update();
        self.progress.borrow_and_update();
        let key = self.shared.routing_key(uri, headers);
        (key, self.shared.destination(key.as_ref(), self.asked))
    }

    /// Waits until a process leads the cell.
    async fn for_leader(&mut self, is_own: bool) -> Result<(), Error> {
        if !is_own {
            self.shared.routes.ask_for_refresh();
        }
        self.hold.for_change(&mut self.changes).await
    }

    /// Waits for news of the cells.
    async fn for_route(&mut self) -> Result<(), Error> {
        let routes = &self.shared.routes;
        self.asked.get_or_insert_with(|| routes.ask_for_refresh());
        self.hold.for_route(&mut self.progress).await
    }

    /// Waits after a process has not taken the request: another one may lead by now, or another cell have the project.
    async fn after_refusal(&mut self) -> Result<(), Error> {
        self.shared.counters.not_taken.fetch_add(1, Relaxed);
        self.asked = None;
        // There may be another cell by now, which has its project.
        self.shared.routes.ask_for_refresh();
        self.hold.for_a_while(&mut self.changes).await
    }
}

impl<R: Responder> Front<R> {
    pub(super) async fn pass_on(&self, request: IncomingRequest, peer: SocketAddr) -> Response {
        if request.method() == Method::CONNECT {
            return refuse(&Error::new(ErrorCode::MethodNotAllowed), request.headers());
        }
        let forwarder = &self.shared().forwarder;
        let client = forwarder.client(peer, request.headers());
        let mut way = Way::new(self.shared(), forwarder.holder(request.headers(), client));
        // The body is not read before it is known who takes it: until then its client keeps it.
        loop {
            let (key, destination) = way.look(request.uri(), request.headers());
            let waited = match destination {
                Destination::Here => match self.here() {
                    Some(own) => return self.answer_here(own, request, peer, key).await,
                    None => continue,
                },
                Destination::Leader(..) => break,
                Destination::NoLeader { is_own } => way.for_leader(is_own).await,
                Destination::Nowhere => way.for_route().await,
            };
            if let Err(error) = waited {
                let (head, body) = request.into_parts();
                drain(body).await;
                return way.shared.refused(&error, &head.headers);
            }
        }
        let origin_of_page = request.headers().get(header::ORIGIN).cloned();
        match forwarder.read(request, client).await {
            Ok(outgoing) => self.send(outgoing, peer, way).await,
            Err(_) => {
                let headers = HeaderMap::from_iter(origin_of_page.map(|it| (header::ORIGIN, it)));
                refuse(&Error::malformed("The body did not arrive."), &headers)
            }
        }
    }

    /// Sends a request that was read, until a process takes it.
    async fn send(
        &self,
        mut outgoing: Outgoing,
        peer: SocketAddr,
        mut way: Way<'_, R>,
    ) -> Response {
        let counters = &way.shared.counters;
        loop {
            let (key, destination) = way.look(&outgoing.head.uri, &outgoing.head.headers);
            let waited = match destination {
                Destination::Here => {
                    let Payload::Whole(bytes, _) = outgoing.payload else {
                        return way.shared.refused(&unavailable(), &outgoing.head.headers);
                    };
                    let request = Request::from_parts(outgoing.head, bytes.into());
                    return match self.here() {
                        Some(own) => self.answer_here(own, request, peer, key).await,
                        None => way.shared.refused(&unavailable(), request.headers()),
                    };
                }
                Destination::Leader(link, leader) => {
                    let superseded = || self.superseded(link.cell, leader.clone(), key);
                    let forwarder = &way.shared.forwarder;
                    match forwarder
                        .send(&link, &leader, &mut outgoing, superseded)
                        .await
                    {
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
                        Fate::NotTaken => way.after_refusal().await,
                        Fate::NoRoom => Err(overloaded()),
                    }
                }
                Destination::NoLeader { is_own } => way.for_leader(is_own).await,
                Destination::Nowhere => way.for_route().await,
            };
            if let Err(error) = waited {
                return way.shared.refused(&error, &outgoing.head.headers);
            }
        }
    }

    fn superseded(
        &self,
        cell: i16,
        leader: Origin,
        key: Option<RoutingKey>,
    ) -> impl Future<Output = ()> + Send + 'static {
        Arc::clone(self.shared()).superseded(cell, leader, key)
    }
}
