//! Calls to a small local server with scripted answers.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response as Answer},
};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, net::TcpListener};

use super::*;
use crate::ErrorResponse;

const KEY: &str = "sk_test_verysecret";

/// A request as the server received it.
#[derive(Debug, Clone)]
struct RecordedRequest {
    line: String,
    headers: HeaderMap,
    body: String,
}

#[derive(Clone, Default)]
struct Server {
    answers: Arc<Mutex<VecDeque<(u16, HeaderMap, String)>>>,
    asked: Arc<Mutex<Vec<RecordedRequest>>>,
}

async fn answer(State(server): State<Server>, request: Request) -> Answer {
    let line = format!("{} {}", request.method(), request.uri());
    let headers = request.headers().clone();
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await;
    let body = String::from_utf8(body.unwrap().to_vec()).unwrap();
    server.asked.lock().push(RecordedRequest {
        line,
        headers,
        body,
    });
    let (status, headers, body) = server.answers.lock().pop_front().unwrap();
    let mut answer = Body::from(body).into_response();
    *answer.status_mut() = status.try_into().unwrap();
    answer.headers_mut().extend(headers);
    answer
}

impl Server {
    fn will(self, status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        self.answers
            .lock()
            .push_back((status, headers, body.into()));
        self
    }

    async fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        address
    }
}

/// The result of a call, and its pauses.
struct Outcome {
    result: Result<Value, Error>,
    pauses: Vec<Duration>,
}

fn noting(base: &str) -> (Client, Arc<Mutex<Vec<Duration>>>) {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let mut api = Api::new(base.parse().unwrap()).unwrap();
    api.pauses = Pauses::Noted(Arc::clone(&noted));
    (api.client(SecretKey::new(KEY).unwrap()), noted)
}

async fn post_to(address: SocketAddr) -> Outcome {
    let (client, noted) = noting(&format!("http://{address}"));
    let form = Form::new().with("a[b]", "c d");
    let key = Operation::new("checkout/ord_1").unwrap();
    let result = client.post(&["things"], &form, &key).await;
    let pauses = noted.lock().clone();
    Outcome { result, pauses }
}

async fn post(server: &Server) -> Outcome {
    post_to(server.start().await).await
}

fn unavailable(outcome: &Outcome) -> Option<u64> {
    match &outcome.result {
        Err(Error::Other(payments_port::Error::Unavailable {
            retry_after_seconds,
            ..
        })) => *retry_after_seconds,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_form_is_posted_with_version_key_and_operation() {
    let server = Server::default().will(200, &[], r#"{"id":"x"}"#);
    let outcome = post(&server).await;
    assert_eq!(outcome.result.unwrap()["id"], "x");
    let asked = server.asked.lock().remove(0);
    assert_eq!(asked.line, "POST /v1/things");
    assert_eq!(asked.body, "a%5Bb%5D=c+d");
    for (name, value) in [
        ("authorization", "Bearer sk_test_verysecret"),
        ("stripe-version", API_VERSION),
        ("idempotency-key", "checkout/ord_1"),
        ("content-type", "application/x-www-form-urlencoded"),
    ] {
        assert_eq!(asked.headers[name], value, "{name}");
    }
}

#[tokio::test]
async fn a_query_is_sent_and_no_identifier_leads_elsewhere() {
    let server = Server::default().will(200, &[], "{}").will(200, &[], "{}");
    let address = server.start().await;
    let (client, _) = noting(&format!("http://{address}/sandbox/"));
    let query = Form::new().with("code", "A&B");
    let _: Value = client
        .get(&["promotion_codes"], &query, false)
        .await
        .unwrap();
    let path = ["customers", "../x/y?z#"];
    let _: Value = client.get(&path, &Form::new(), false).await.unwrap();
    let lines: Vec<_> = server.asked.lock().iter().map(|a| a.line.clone()).collect();
    assert_eq!(
        lines,
        [
            "GET /sandbox/v1/promotion_codes?code=A%26B",
            "GET /sandbox/v1/customers/..%2Fx%2Fy%3Fz%23"
        ]
    );
    let asked = server.asked.lock();
    assert!(
        !asked
            .iter()
            .any(|a| a.headers.contains_key("idempotency-key"))
    );
}

#[tokio::test]
async fn a_failure_that_passes_is_not_noticed_and_the_operation_stays_the_same() {
    let server = Server::default()
        .will(500, &[], "oops")
        .will(409, &[], r#"{"error":{"type":"x","code":"lock_timeout"}}"#)
        .will(200, &[], "{}");
    let outcome = post(&server).await;
    assert!(outcome.result.is_ok());
    assert_eq!(outcome.pauses.len(), 2);
    let asked = server.asked.lock();
    assert_eq!(asked.len(), 3);
    assert!(
        asked
            .iter()
            .all(|a| a.headers["idempotency-key"] == "checkout/ord_1" && a.body == asked[0].body)
    );
}

#[tokio::test]
async fn it_gives_up_after_three_attempts() {
    let server = Server::default()
        .will(500, &[], "")
        .will(502, &[], "")
        .will(503, &[("retry-after", "1")], "");
    let outcome = post(&server).await;
    assert_eq!(unavailable(&outcome), Some(1));
    assert_eq!(server.asked.lock().len(), 3);
}

#[tokio::test]
async fn it_waits_as_long_as_it_is_asked_to() {
    let server = Server::default()
        .will(429, &[("retry-after", "2")], "")
        .will(200, &[], "{}");
    let outcome = post(&server).await;
    assert!(outcome.result.is_ok());
    assert_eq!(outcome.pauses, [Duration::from_secs(2)]);
}

#[tokio::test]
async fn it_does_not_keep_a_caller_waiting_for_a_minute() {
    let server = Server::default().will(429, &[("retry-after", "60")], "");
    let outcome = post(&server).await;
    assert_eq!(unavailable(&outcome), Some(60));
    assert_eq!(server.asked.lock().len(), 1);
}

#[tokio::test]
async fn it_obeys_the_header_about_retries() {
    let server = Server::default().will(500, &[("stripe-should-retry", "false")], "");
    assert_eq!(unavailable(&post(&server).await), None);
    assert_eq!(server.asked.lock().len(), 1);

    let server = Server::default()
        .will(400, &[("stripe-should-retry", "true")], "")
        .will(200, &[], "{}");
    assert!(post(&server).await.result.is_ok());
}

#[tokio::test]
async fn a_refusal_is_reported_without_the_secret_and_not_retried() {
    let body = r#"{"error":{"type":"invalid_request_error","code":"resource_missing",
        "param":"customer","message":"No such key: sk_test_verysecret","doc_url":"x"}}"#;
    let server = Server::default().will(400, &[("request-id", "req_1")], body);
    let outcome = post(&server).await;
    let error = outcome.result.unwrap_err();
    let message = format!("{error} {error:?}");
    assert!(!message.contains("verysecret"), "{message}");
    let Error::Refused(refusal) = error else {
        panic!("{error}");
    };
    assert_eq!(
        *refusal,
        ErrorResponse {
            status: 400,
            kind: "invalid_request_error".into(),
            code: Some("resource_missing".into()),
            param: Some("customer".into()),
            message: "No such key: [secret key]".into(),
            ..ErrorResponse::default()
        }
    );
    assert!(refusal.is_missing() && refusal.status != 401);
    assert_eq!(
        refusal.to_string(),
        "400 resource_missing: No such key: [secret key] (customer)"
    );
    assert_eq!(server.asked.lock().len(), 1);
}

#[tokio::test]
async fn what_is_not_stripes_is_garbage() {
    let large = format!("\"{}\"", "x".repeat(MAX_ANSWER_BYTES));
    for (status, body) in [
        (200, "<html>"),
        (200, ""),
        (200, large.as_str()),
        (400, "<html>"),
        (404, "{}"),
        (404, r#"{"error":"no"}"#),
        (304, ""),
    ] {
        let server = Server::default().will(status, &[], body);
        let outcome = post(&server).await;
        let error = outcome.result.unwrap_err();
        assert!(
            matches!(error, Error::Other(payments_port::Error::Garbage(_))),
            "{status}: {error}"
        );
        assert_eq!(server.asked.lock().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn garbage_is_reported_without_the_secret() {
    let server = Server::default().will(200, &[], r#""sk_test_verysecret""#);
    let (client, _) = noting(&format!("http://{}", server.start().await));
    let result: Result<u8, _> = client.get(&["x"], &Form::new(), false).await;
    let message = result.unwrap_err().to_string();
    assert!(message.contains("[secret key]"), "{message}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = Server::default().will(307, &[("location", "/v1/elsewhere")], "");
    let outcome = post(&server).await;
    assert!(matches!(
        outcome.result,
        Err(Error::Other(payments_port::Error::Garbage(_)))
    ));
    assert_eq!(server.asked.lock().len(), 1);
}

#[tokio::test]
async fn a_refused_connection_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let outcome = post_to(address).await;
    unavailable(&outcome);
    assert_eq!(outcome.pauses.len(), 2);
    let message = outcome.result.unwrap_err().to_string();
    assert!(!message.contains("things"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_hung_connection_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let outcome = post_to(listener.local_addr().unwrap()).await;
    unavailable(&outcome);
    assert_eq!(outcome.pauses.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_response_that_stops_halfway_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"id\":";
            let _ = stream.write_all(half).await;
            open.push(stream);
        }
    });
    unavailable(&post_to(address).await);
}

#[tokio::test]
async fn a_missing_permission_is_named_until_its_question_is_answered_unless_it_is_optional() {
    const NO: &str = r#"{"error":{"type":"invalid_request_error","code":"more_permissions_required",
        "message":"Having the 'rak_x_read' permission would allow this request to continue."}}"#;
    let server = Server::default()
        .will(403, &[], NO)
        .will(403, &[], NO)
        .will(200, &[], "{}");
    let (client, _) = noting(&format!("http://{}", server.start().await));
    for (path, missing) in [(["account"], 0), (["disputes"], 1), (["disputes"], 0)] {
        drop(client.get::<Value>(&path, &Form::new(), false).await);
        assert_eq!(client.missing_permissions().len(), missing, "{path:?}");
    }
}

#[tokio::test]
async fn what_may_have_been_done_is_not_taken_for_undone() {
    let refused = r#"{"error":{"type":"invalid_request_error","message":"No such key"}}"#;
    let in_use = r#"{"error":{"type":"idempotency_error","code":"idempotency_key_in_use"}}"#;
    let reused = r#"{"error":{"type":"idempotency_error","message":"Keys can only be used"}}"#;
    for (answers, is_certain) in [
        (vec![(401, refused)], true),
        (vec![(429, "{}"), (401, refused)], true),
        // The key was replaced while Stripe worked.
        (vec![(500, "{}"), (401, refused)], false),
        (vec![(409, in_use), (403, refused)], false),
        // A first request under this name had another form.
        (vec![(400, reused)], false),
    ] {
        let server = answers
            .iter()
            .fold(Server::default(), |server, (status, body)| {
                server.will(*status, &[], body)
            });
        let (client, _) = noting(&format!("http://{}", server.start().await));
        let key = Operation::new("top_up/ord_1").unwrap();
        let path = ["payment_intents"];
        let outcome = client.try_post::<Value>(&path, &Form::new(), &key).await;
        let Err(failure) = outcome else {
            panic!("it was refused")
        };
        let error = payments_port::Error::from(failure.cautious());
        assert_eq!(error.nothing_was_done(), is_certain, "{error:?}");
    }
}

#[tokio::test]
async fn a_declined_payment_is_read_from_its_error() {
    let declined = |intent: &str| {
        format!(
            r#"{{"error":{{"type":"card_error","code":"card_declined","decline_code":"lost_card",
            "message":"Your card was declined.","payment_intent":{intent}}}}}"#
        )
    };
    let intent = r#"{"id":"pi_1","object":"payment_intent","last_payment_error":{"code":"x"}}"#;
    for (intent, id) in [(intent, Some("pi_1")), ("null", None), ("\"pi_1\"", None)] {
        let server = Server::default().will(402, &[], &declined(intent));
        let Err(Error::Refused(refusal)) = post(&server).await.result else {
            panic!("it was refused")
        };
        assert_eq!(refusal.declined.decline_code.as_deref(), Some("lost_card"));
        let read = refusal.payment_intent.map(|intent| intent.id.to_string());
        assert_eq!(read.as_deref(), id);
    }
}
