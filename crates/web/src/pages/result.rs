//! The pages where a buyer lands when the shop named none of its own. The payment provider may add
//! anything to the address; nothing of it is read.

use std::future::ready;

use axum::{
    Router,
    body::Bytes,
    http::{HeaderName, HeaderValue, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use maud::{DOCTYPE, PreEscaped, html};

pub(super) const STYLE: &str = include_str!("result.css");

/// The page loads and runs nothing, sits in no frame, sends no referrer and is not cached.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
        ),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
];

/// The content of a page.
struct PageText {
    title: &'static str,
    /// The CSS class that colours its sign, and the SVG path that draws it.
    class: &'static str,
    sign: &'static str,
    text: &'static str,
    /// What else there is to know.
    more: &'static str,
}

const SUCCESS: PageText = PageText {
    title: "Payment received",
    class: "done",
    sign: "M4 12.5 9.5 18 20 6.5",
    text: "Thank you. Your credits appear in a moment.",
    more: "Did you buy without an account? Then a recovery code holds your credits. Go back to where you bought, in the \
           same browser: your code is shown there. Keep it. If you cannot get back, the shop can mail the code to the \
           address that you paid with.",
};

const CANCELLED: PageText = PageText {
    title: "Payment cancelled",
    class: "left",
    sign: "M6 6 18 18 M18 6 6 18",
    text: "Nothing was charged. Go back to the shop to try again.",
    more: "",
};

/// Serves `/checkout/success` and `/checkout/cancelled`.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let [success, cancelled] = [SUCCESS, CANCELLED].map(|text| Bytes::from(render(&text)));
    Router::new()
        .route(
            "/checkout/success",
            get(move || ready(page(success.clone()))),
        )
        .route(
            "/checkout/cancelled",
            get(move || ready(page(cancelled.clone()))),
        )
}

fn page(html: Bytes) -> Response {
    (HEADERS, Html(html)).into_response()
}

fn render(text: &PageText) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (text.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    svg class=(text.class) viewBox="0 0 24 24" aria-hidden="true" { path d=(text.sign); }
                    h1 { (text.title) }
                    p { (text.text) }
                    @if !text.more.is_empty() { p { (text.more) } }
                    p class="soft" { "You can close this page." }
                }
            }
        }
    };
    page.into_string()
}

#[cfg(test)]
mod tests {
    use axum::{
        body::Body,
        http::{Request, StatusCode},
    };
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    async fn open(path: &str) -> (Response<()>, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router::<()>().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        (Response::from_parts(parts, ()), text)
    }

    #[tokio::test]
    async fn the_pages_say_what_happened_and_may_do_nothing() {
        for (path, said) in [
            ("/checkout/success", "Payment received"),
            ("/checkout/success", "the shop can mail the code"),
            ("/checkout/cancelled", "Nothing was charged"),
        ] {
            let (response, page) = open(path).await;
            assert_eq!(response.status(), StatusCode::OK);
            assert!(page.contains(said) && page.contains("You can close this page"));
            for (name, value) in [
                ("content-type", "text/html; charset=utf-8"),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cache-control", "no-store"),
                ("x-frame-options", "DENY"),
            ] {
                assert_eq!(response.headers()[name], value, "{path}: {name}");
            }
            let policy = response.headers()["content-security-policy"]
                .to_str()
                .unwrap();
            assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline'"));
            assert!(policy.contains("frame-ancestors 'none'"));
            for loaded in [
                "<script", "src=", "<link", "@import", "url(", "http", "href",
            ] {
                assert!(!page.contains(loaded), "{path}: {loaded}");
            }
        }
    }

    #[tokio::test]
    async fn the_query_of_the_address_is_not_repeated() {
        for path in ["/checkout/success", "/checkout/cancelled"] {
            let (_, plain) = open(path).await;
            let query = "session_id=cs_test_1&x=%3Cscript%3Ealert(1)%3C/script%3E&code=APPLE";
            let (response, page) = open(&format!("{path}?{query}")).await;
            assert_eq!(page, plain);
            assert!(!format!("{:?}", response.headers()).contains("cs_test_1"));
        }
    }

    #[tokio::test]
    async fn other_methods_and_paths_are_not_here() {
        let request = Request::post("/checkout/success").body(Body::empty());
        let response = router::<()>().oneshot(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        let (response, _) = open("/checkout/other").await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
    }
}
