//! A listener that does not have all of a service: what it lacks is served at another address.

use std::{net::SocketAddr, sync::Arc};

use axum::response::Response;

use crate::{IncomingRequest, Responder};

/// Marks a request, in its extensions, for something that is not served where it came in: it is answered as if there were
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServedElsewhere;

/// Hands requests on, and marks those whose path is served elsewhere.
#[derive(Debug)]
pub struct PublicListener<R> {
    inner: Arc<R>,
    is_elsewhere: Option<fn(&str) -> bool>,
}

impl<R> PublicListener<R> {
    /// `is_elsewhere` says of a path whether it is not served here; `None`: all are.
    pub fn new(inner: R, is_elsewhere: Option<fn(&str) -> bool>) -> Self {
        Self {
            inner: Arc::new(inner),
            is_elsewhere,
        }
    }
}

impl<R: Clone> Clone for PublicListener<R> {
    /// A copy of the service itself: not all connections count references in one place.
    fn clone(&self) -> Self {
        Self::new(R::clone(&self.inner), self.is_elsewhere)
    }
}

impl<R: Responder> Responder for PublicListener<R> {
    async fn answer(self: Arc<Self>, mut request: IncomingRequest, peer: SocketAddr) -> Response {
        if let Some(is_elsewhere) = self.is_elsewhere
            && is_elsewhere(request.uri().path())
        {
            request.extensions_mut().insert(ServedElsewhere);
        }
        Arc::clone(&self.inner).answer(request, peer).await
    }
}
