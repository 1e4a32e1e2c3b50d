//! A fast path in front of the router. The three routes that carry the load are recognised by their
//! paths and reach their handlers at once; everything else, and what a browser sends from a page
//! (which needs CORS), goes through the router. Both ways pass the same edge, the same gate and the
//! same handlers, and answer alike: `tests/api/fast_path.rs` compares them.
//!
//! It saves an extension map, a copy of every layer and several boxed futures for each request.

use std::{net::SocketAddr, pin::pin, sync::Arc};

use axum::{
    Router,
    http::{Method, Request, header},
    response::Response,
};
use edge::{
    body::{BatchBody, Body},
    caller::{AnyKey, MayDeduct, SecretKey},
    gate::{self, Admission},
    layer::{self, API_PREFIX},
};
use operations::metrics::Route;
use scrip_http::connections::{self, IncomingRequest, Responder};
use tracing::Instrument as _;

use crate::{
    api::{App, batch, deduct},
    http::{code_path::CodePath, idempotency::KeyHeader},
};

const CODE_ROUTE: &str = "/api/v1/wallets/{code}/deduct";
const EXTERNAL_ROUTE: &str = "/api/v1/wallets/external/deduct";
const BATCH_ROUTE: &str = "/api/v1/deductions/batch";

/// The whole service: the fast path, and the router for everything else.
#[allow(
    missing_debug_implementations,
    reason = "routes and layers have nothing to show"
)]
#[derive(Clone)]
pub struct FastPath {
    app: App,
    router: Router,
    by_code: Arc<Route>,
    by_user: Arc<Route>,
    by_list: Arc<Route>,
}

/// A route of the fast path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShortRoute<'a> {
    /// A deduction from a code wallet, with the path's text in place of the code.
    Code(&'a str),
    /// A deduction from a user's wallet.
    User,
    /// A batch of deductions.
    List,
}

impl FastPath {
    /// Puts the fast path in front of a router that has the same routes.
    #[must_use]
    pub fn new(app: App, router: Router) -> Self {
        let figures = |route| app.edge.metrics.route(&Method::POST, Some(route));
        Self {
            by_code: figures(CODE_ROUTE),
            by_user: figures(EXTERNAL_ROUTE),
            by_list: figures(BATCH_ROUTE),
            app,
            router,
        }
    }

    async fn deduct(&self, request: IncomingRequest, peer: SocketAddr) -> Response {
        let (parts, body) = request.into_parts();
        let (app, headers, limits) = (&self.app, &parts.headers, &self.app.edge.bodies);
        let (context, tail) = layer::enter(&app.edge, headers, peer.ip(), true);
        // Only paths that have one come here: see `answer`.
        let known = ShortRoute::by_path(parts.uri.path());
        let admission = Admission::of(&context);
        // In the order of the handlers' arguments: who calls, then what was sent.
        let handler = pin!(async {
            match known {
                None | Some(ShortRoute::User) => {
                    let key = SecretKey::<MayDeduct>::of(context.caller)?;
                    let header = KeyHeader::of(headers);
                    let body = Body::read(headers, body, limits).await?;
                    deduct::by_user(app, &key, &header, &body).await
                }
                Some(ShortRoute::List) => {
                    let key = SecretKey::<MayDeduct>::of(context.caller)?;
                    let body = BatchBody::read(headers, body, limits).await?;
                    batch::answer::<deduct::ListedDeduction>(app, &key, &body).await
                }
                Some(ShortRoute::Code(typed)) => {
                    let key = AnyKey::<MayDeduct>::of(context.caller.clone())?;
                    let code = CodePath::of(&app.edge, &context, typed, headers)?;
                    let header = KeyHeader::of(headers);
                    let body = Body::read(headers, body, limits).await?;
                    deduct::by_code(app, &key, code, &header, &body).await
                }
            }
        });
        // Making a span costs some 0.4 µs, which is much here: there is one only where the log
        // shows `debug`.
        let span = tracing::debug_span!("request", id = tail.request_id().as_str());
        let mut response = gate::pass(&app.edge, admission, handler)
            .instrument(span)
            .await;
        tail.leave(
            match known {
                None | Some(ShortRoute::User) => &self.by_user,
                Some(ShortRoute::List) => &self.by_list,
                Some(ShortRoute::Code(_)) => &self.by_code,
            },
            &mut response,
        );
        response
    }
}

impl Responder for FastPath {
    async fn answer(self: Arc<Self>, request: IncomingRequest, peer: SocketAddr) -> Response {
        if ShortRoute::of(&request).is_some() {
            self.deduct(request, peer).await
        } else {
            connections::routed(self.router.clone(), request, peer).await
        }
    }
}

impl<'a> ShortRoute<'a> {
    /// The request's route; `None` if the router has to handle it.
    fn of<B>(request: &'a Request<B>) -> Option<Self> {
        let from_a_page = request.headers().contains_key(header::ORIGIN);
        // None of them has a query: the router refuses one.
        let has_query = request.uri().query().is_some();
        if from_a_page || has_query || request.method() != Method::POST {
            return None;
        }
        Self::by_path(request.uri().path())
    }

    fn by_path(path: &'a str) -> Option<Self> {
        match path {
            EXTERNAL_ROUTE => Some(Self::User),
            BATCH_ROUTE => Some(Self::List),
            _ => {
                let rest = path.strip_prefix(API_PREFIX)?.strip_prefix("wallets/")?;
                let code = rest.strip_suffix("/deduct")?;
                // A path that is encoded in any way is for the router to decode.
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
                let plain = !code.is_empty() && code.bytes().all(plain);
                plain.then_some(Self::Code(code))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_are_known() {
        assert_eq!(ShortRoute::by_path(EXTERNAL_ROUTE), Some(ShortRoute::User));
        assert_eq!(ShortRoute::by_path(BATCH_ROUTE), Some(ShortRoute::List));
        assert_eq!(
            ShortRoute::by_path("/api/v1/wallets/FONDUE-75EV-E1Z8-FGYX/deduct"),
            Some(ShortRoute::Code("FONDUE-75EV-E1Z8-FGYX"))
        );
        for other in [
            "/api/v1/wallets//deduct",
            "/api/v1/wallets/a/b/deduct",
            "/api/v1/wallets/%41/deduct",
            "/api/v1/wallets/a/deduct/",
            "/api/v1/wallets/deduct",
            "/api/v2/wallets/a/deduct",
            "/api/v1/deductions/batch/",
            "/",
        ] {
            assert_eq!(ShortRoute::by_path(other), None, "{other}");
        }
    }

    #[test]
    fn browsers_and_other_methods_go_through_the_router() {
        let of = |method, origin: Option<&str>| {
            let mut request = Request::builder().method(method).uri(BATCH_ROUTE);
            if let Some(origin) = origin {
                request = request.header(header::ORIGIN, origin);
            }
            ShortRoute::of(&request.body(()).unwrap()).is_some()
        };
        assert!(of(Method::POST, None));
        assert!(!of(Method::GET, None));
        assert!(!of(Method::OPTIONS, None));
        assert!(!of(Method::POST, Some("https://shop.example")));
    }
}
