//! A listener that does not have all of a service: what it lacks is served at another address.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    http::{HeaderValue, header},
    response::Response,
};

use super::{IncomingRequest, Responder};

/// For how long a browser comes back over TLS alone, in seconds.
const ONE_YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Marks a request, in its extensions, for something that is not served where it came in: it is answered as if there were
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServedElsewhere;

/// Hands requests on, and marks those whose path is served elsewhere.
#[derive(Debug)]
pub struct PublicListener<R> {
    inner: Arc<R>,
    is_elsewhere: Option<fn(&str) -> bool>,
    has_tls: bool,
    refuse: fn(&IncomingRequest) -> Option<Response>,
}

impl<R> PublicListener<R> {
    /// `is_elsewhere` says of a path whether it is not served here; `None`: all are. A listener that `has_tls` tells
    /// browsers to come back over TLS alone.
    /// `refuse` answers what goes no further.
    pub fn new(
        inner: R,
        is_elsewhere: Option<fn(&str) -> bool>,
        has_tls: bool,
        refuse: fn(&IncomingRequest) -> Option<Response>,
    ) -> Self {
        Self {
            inner: Arc::new(inner),
            is_elsewhere,
            has_tls,
            refuse,
        }
    }
}

impl<R: Clone> Clone for PublicListener<R> {
    /// A copy of the service itself: not all connections count references in one place.
    fn clone(&self) -> Self {
        let inner = R::clone(&self.inner);
        Self::new(inner, self.is_elsewhere, self.has_tls, self.refuse)
    }
}

impl<R: Responder> Responder for PublicListener<R> {
    async fn answer(self: Arc<Self>, mut request: IncomingRequest, peer: SocketAddr) -> Response {
        if let Some(refusal) = (self.refuse)(&request) {
            return refusal;
        }
        let is_elsewhere = self
            .is_elsewhere
            .is_some_and(|is_elsewhere| is_elsewhere(request.uri().path()));
        if is_elsewhere {
            request.extensions_mut().insert(ServedElsewhere);
        }
        let mut response = Arc::clone(&self.inner).answer(request, peer).await;
        if is_elsewhere {
            // A router names the methods of a path that it knows, with any answer.
            response.headers_mut().remove(header::ALLOW);
        }
        if self.has_tls {
            let headers = response.headers_mut();
            headers.insert(header::STRICT_TRANSPORT_SECURITY, ONE_YEAR);
        }
        response
    }
}
