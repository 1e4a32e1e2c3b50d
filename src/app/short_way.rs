//! The way in. The three routes that carry the load are recognised by their paths and reach their
//! handlers at once; everything else, and whatever a browser sends from a page (it wants CORS), goes
//! through the router. Both ways pass the same edge, the same gate and the same handlers, and answer
//! alike: `tests/api/short_way.rs` compares them.
//!
//! What it saves: an extension map, a copy of every layer and several boxed futures for each
//! request.

use std::{net::SocketAddr, pin::pin, sync::Arc};

use axum::{
    Router,
    http::{Method, header},
    response::Response,
};
use hyper::Request;
use tracing::Instrument as _;

use crate::{
    api::{deduct, deductions_batch},
    http::{
        auth::{AnyKey, SecretKey},
        body::{BatchBody, Body},
        code_path::CodePath,
        edge::{self, API_PREFIX},
        gate,
        idempotency::KeyHeader,
    },
    metrics::Route,
    server::{self, Asked, Front},
    state::App,
};

const CODE_ROUTE: &str = "/api/v1/wallets/{code}/deduct";
const EXTERNAL_ROUTE: &str = "/api/v1/wallets/external/deduct";
const BATCH_ROUTE: &str = "/api/v1/deductions/batch";

/// The whole service, as the server asks it.
#[allow(
    missing_debug_implementations,
    reason = "routes and layers have nothing to show"
)]
#[derive(Clone)]
pub struct ShortWay {
    app: App,
    router: Router,
    by_code: Arc<Route>,
    by_user: Arc<Route>,
    by_list: Arc<Route>,
}

/// A route that is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known<'a> {
    /// Of a code wallet: what the path has in place of its code.
    Code(&'a str),
    /// Of a user's wallet.
    User,
    /// Of many wallets.
    List,
}

impl ShortWay {
    /// In front of the router that has these routes, too.
    #[must_use]
    pub fn new(app: App, router: Router) -> Self {
        let figures = |route| app.metrics.route(&Method::POST, Some(route));
        Self {
            by_code: figures(CODE_ROUTE),
            by_user: figures(EXTERNAL_ROUTE),
            by_list: figures(BATCH_ROUTE),
            app,
            router,
        }
    }

    async fn deduct(&self, request: Asked, peer: SocketAddr) -> Response {
        let (parts, body) = request.into_parts();
        let (app, headers, limits) = (&self.app, &parts.headers, &self.app.config.http);
        let (context, tail) = edge::enter(app, headers, peer.ip(), true);
        let known = Known::by_path(parts.uri.path());
        let over_limit = context.over_limit;
        // The order of the handlers' arguments: who calls, then what was sent.
        let handler = pin!(async {
            match known {
                None | Some(Known::User) => {
                    let key = SecretKey::of(context.caller)?;
                    let header = KeyHeader::of(headers);
                    let body = Body::read(headers, body, limits).await?;
                    deduct::by_user(app, &key, &header, &body).await
                }
                Some(Known::List) => {
                    let key = SecretKey::of(context.caller)?;
                    let body = BatchBody::read(headers, body, limits).await?;
                    deductions_batch::by_list(app, &key, &body).await
                }
                Some(Known::Code(typed)) => {
                    let key = AnyKey::of(context.caller.clone())?;
                    let code = CodePath::of(Arc::clone(app), &context, typed, headers)?;
                    let header = KeyHeader::of(headers);
                    let body = Body::read(headers, body, limits).await?;
                    deduct::by_code(app, &key, code, &header, &body).await
                }
            }
        });
        // Making a span costs some 0.4 µs, which is much here: only where the log shows that much.
        let span = tracing::debug_span!("request", id = tail.request_id().as_str());
        let mut response = gate::pass(over_limit, handler).instrument(span).await;
        tail.leave(
            match known {
                None | Some(Known::User) => &self.by_user,
                Some(Known::List) => &self.by_list,
                Some(Known::Code(_)) => &self.by_code,
            },
            &mut response,
        );
        response
    }
}

impl Front for ShortWay {
    async fn answer(self: Arc<Self>, request: Asked, peer: SocketAddr) -> Response {
        if Known::of(&request).is_some() {
            self.deduct(request, peer).await
        } else {
            server::routed(self.router.clone(), request, peer).await
        }
    }
}

impl<'a> Known<'a> {
    /// The route of a request, unless the router has to see it.
    fn of<B>(request: &'a Request<B>) -> Option<Self> {
        let from_a_page = request.headers().contains_key(header::ORIGIN);
        if from_a_page || request.method() != Method::POST {
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
                // What is encoded in any way is for the router to decode.
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
        assert_eq!(Known::by_path(EXTERNAL_ROUTE), Some(Known::User));
        assert_eq!(Known::by_path(BATCH_ROUTE), Some(Known::List));
        assert_eq!(
            Known::by_path("/api/v1/wallets/FONDUE-75EV-E1Z8-FGYX/deduct"),
            Some(Known::Code("FONDUE-75EV-E1Z8-FGYX"))
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
            assert_eq!(Known::by_path(other), None, "{other}");
        }
    }

    #[test]
    fn browsers_and_other_methods_go_through_the_router() {
        let of = |method, origin: Option<&str>| {
            let mut request = Request::builder().method(method).uri(BATCH_ROUTE);
            if let Some(origin) = origin {
                request = request.header(header::ORIGIN, origin);
            }
            Known::of(&request.body(()).unwrap()).is_some()
        };
        assert!(of(Method::POST, None));
        assert!(!of(Method::GET, None));
        assert!(!of(Method::OPTIONS, None));
        assert!(!of(Method::POST, Some("https://shop.example")));
    }
}
