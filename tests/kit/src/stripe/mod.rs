//! The one double of Stripe's API, for tests and for the load generator. It responds as Stripe does, or as a
//! test has set it: with a failure, garbage or silence. It records requests, form by form, and signs what it
//! reports.
//!
//! It is built on the sandbox's account, in which nothing happens by itself. It accepts only what Stripe
//! accepts: an unknown path or field, another API version, or a key used twice for two things fails the test.

mod fault_profile;
mod notes;
#[cfg(test)]
mod tests;
mod world;

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use parking_lot::Mutex;
pub use sandbox::fault_profile::FaultProfile;
use sandbox::fault_profile::{Answer, Outcome, Parameters, Request};
use serde_json::{Value, json};

use ::stripe::{
    API_VERSION,
    permissions::{ENDPOINTS, StripeEndpoint},
    signature::{SigningSecret, sign},
};
use domain::Timestamp;
use world::Host;

/// The account's secret key.
pub const SECRET_KEY: &str = "sk_test_of_the_shop";
/// The secret that signs webhooks.
pub const WEBHOOK_SECRET: &str = "whsec_of_the_shop";

/// The account as a project's provider, in the admin API's form.
#[must_use]
pub fn provider() -> Value {
    json!({"kind": "stripe", "secretKey": SECRET_KEY, "webhookSecret": WEBHOOK_SECRET})
}

/// A recorded request.
#[derive(Debug, Clone)]
pub struct Call {
    /// The method, such as GET or POST.
    pub method: Method,
    /// The path without the query.
    pub path: String,
    /// The key in the `Authorization` header.
    pub key: String,
    /// The `Idempotency-Key` header; empty if there is none.
    pub operation: String,
    /// The parameters of the body or the query.
    pub form: BTreeMap<String, String>,
}

/// A response other than the usual one.
#[derive(Debug, Clone)]
pub enum Override {
    /// This status and body, with `Stripe-Should-Retry: false`.
    Status(u16, Value),
    /// This status and body, stored under the idempotency key and replayed with it.
    Kept(u16, Value),
    /// This status and body, with `Stripe-Should-Retry: false`, although the request was carried out.
    Done(u16, Value),
    /// No response, although the request was carried out.
    DoneInSilence,
    /// A response that no client can parse.
    Garbage,
    /// No response, for as long as the client waits.
    Silence,
}

/// The double; it ends with the test's runtime. When the last clone is dropped and there was a request that
/// Stripe would not have accepted, the test fails.
#[derive(Clone)]
pub struct Stripe {
    /// The API's address, without a slash at its end.
    pub base: String,
    world: Arc<Mutex<Host>>,
    /// Held only by tests, so that it is dropped with the last of them.
    _judge: Arc<Judge>,
}

struct Judge(Arc<Mutex<Host>>);

impl Drop for Judge {
    fn drop(&mut self) {
        let complaints = std::mem::take(&mut self.0.lock().complaints);
        // A second panic while one unwinds would abort the whole test run.
        assert!(
            complaints.is_empty() || std::thread::panicking(),
            "Stripe was asked what it does not take:\n{}",
            complaints.join("\n")
        );
    }
}

impl Stripe {
    /// Starts with an empty account.
    pub async fn start() -> Self {
        Self::start_with(Host::new(false)).await
    }

    /// Starts for a load: no request is recorded.
    pub async fn forgetful() -> Self {
        Self::start_with(Host::new(true)).await
    }

    async fn start_with(world: Host) -> Self {
        let world = Arc::new(Mutex::new(world));
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&world));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let judge = Arc::new(Judge(Arc::clone(&world)));
        Self {
            base,
            world,
            _judge: judge,
        }
    }

    /// Takes the requests that Stripe would not have accepted: the caller judges them.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.world.lock().complaints)
    }

    /// Number of requests so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.world.lock().requests
    }

    /// Requests so far with this path.
    pub fn calls(&self, path: &str) -> Vec<Call> {
        let world = self.world.lock();
        let calls = world.calls.iter().filter(|call| call.path == path);
        calls.cloned().collect()
    }

    /// Number of reads so far.
    pub fn reads(&self) -> usize {
        let world = self.world.lock();
        let reads = world.calls.iter().filter(|call| call.method == Method::GET);
        reads.count()
    }

    /// Responds like this to the next request of this path, or of a method when that precedes the path.
    pub fn instead(&self, path: &str, instead: Override) {
        self.world.lock().instead.push((path.into(), instead));
    }

    /// Responds like this to requests of this path until [`Self::as_usual`].
    pub fn from_now_on(&self, path: &str, instead: Override) {
        self.world.lock().always.push((path.into(), instead));
    }

    /// Responds as usual from now on.
    pub fn as_usual(&self) {
        let mut world = self.world.lock();
        world.instead.clear();
        world.always.clear();
    }

    /// Adds an object that can be read at this path.
    pub fn put(&self, path: &str, object: Value) {
        self.world.lock().put(path, &object);
    }

    /// Changes fields of an object; returns the object.
    pub fn set(&self, path: &str, fields: Value) -> Value {
        self.world.lock().set(path, &fields)
    }

    /// Sets the account of a key; `None`: the key may not read it. All other keys belong to the shop's account.
    pub fn account_of(&self, key: &str, account: Option<&str>) {
        let mut world = self.world.lock();
        world.accounts.insert(key.into(), account.map(Into::into));
    }

    /// Adds an event to the list, as the account does whether or not a webhook arrives.
    pub fn list(&self, id: &str, kind: &str, object: &Value, now: i64) {
        let event = plain_event(id, kind, object, now);
        self.put(&format!("/v1/events/{id}"), event);
    }

    /// A payment with its charge, of which `refunded` was returned; `marks` is its metadata.
    pub fn charged(&self, payment: &str, marks: &Value, cents: i64, refunded: i64) -> Value {
        let mut world = self.world.lock();
        let charge = world.charge_of(payment);
        let charge = charge.unwrap_or_else(|| format!("ch_of_{payment}"));
        let object = json!({
            "id": payment, "object": "payment_intent", "amount": cents, "amount_received": cents,
            "latest_charge": charge, "status": "succeeded", "customer": "cus_1", "metadata": marks,
        });
        world.put(&format!("/v1/payment_intents/{payment}"), &object);
        let object = json!({
            "id": charge, "object": "charge", "amount": cents, "amount_refunded": refunded,
            "payment_intent": payment, "customer": "cus_1", "metadata": marks,
        });
        let path = format!("/v1/charges/{charge}");
        world.put(&path, &object);
        world.set(&path, &json!({}))
    }

    /// Pays a session; returns it.
    pub fn pay(&self, checkout: &str) -> Value {
        self.pay_as(checkout, "buyer@mail.example")
    }

    /// Pays a session with this e-mail address; returns it.
    pub fn pay_as(&self, checkout: &str, email: &str) -> Value {
        let mut world = self.world.lock();
        world.act(checkout, |account, now| account.pay(checkout, email, now))
    }

    /// Completes a session whose debit is processing: [`Self::pay`] lets it succeed.
    pub fn debit(&self, checkout: &str) -> Value {
        let mut world = self.world.lock();
        world.act(checkout, |account, now| {
            account.pay_later(checkout, "buyer@mail.example", now)
        })
    }
}

/// An event with its signature header, as of `now` in seconds since the Unix epoch.
pub fn event(id: &str, kind: &str, object: &Value, now: i64) -> (String, String) {
    event_signed(WEBHOOK_SECRET, id, kind, object, now)
}

/// An event with its signature header, signed with another secret.
pub fn event_signed(
    secret: &str,
    id: &str,
    kind: &str,
    object: &Value,
    now: i64,
) -> (String, String) {
    let body = plain_event(id, kind, object, now).to_string();
    let header = signature(secret, &body, now);
    (body, header)
}

fn plain_event(id: &str, kind: &str, object: &Value, now: i64) -> Value {
    json!({
        "id": id, "object": "event", "type": kind, "created": now, "livemode": false,
        "api_version": API_VERSION, "data": {"object": object},
    })
}

fn signature(secret: &str, body: &str, now: i64) -> String {
    let secret = SigningSecret::new(secret).expect("a secret");
    sign(&secret, body.as_bytes(), Timestamp(now * 1000))
}

async fn answer(
    State(world): State<Arc<Mutex<Host>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let pairs = match method {
        Method::GET => uri.query().unwrap_or_default().as_bytes().to_vec(),
        _ => body.to_vec(),
    };
    let form: Parameters = url::form_urlencoded::parse(&pairs).into_owned().collect();
    let call = Call {
        method,
        path: uri.path().to_owned(),
        key: text("authorization"),
        operation: text("idempotency-key"),
        form,
    };
    let trial = is_trial(&call);
    let verdict = match trial {
        true => headers_in_order(&call, &text),
        false => headers_in_order(&call, &text).and_then(|()| declared(&call)),
    };
    let instead = {
        let mut world = world.lock();
        world.requests += 1;
        if !world.forgets && !trial {
            world.calls.push(call.clone());
        }
        if let Err(complaint) = verdict {
            return complain(&mut world, &call, &complaint);
        }
        let operation = format!("{} {}", call.method, call.path);
        let of = |at: &str| at == call.path || at == operation;
        let place = world.instead.iter().position(|(at, _)| of(at));
        let once = place.map(|place| world.instead.remove(place).1);
        let always = world.always.iter().find(|(at, _)| of(at));
        once.or(always.map(|(_, instead)| instead.clone()))
    };
    match instead {
        None => {}
        Some(Override::Silence) => std::future::pending().await,
        Some(Override::Garbage) => return "<html>not what you think</html>".into_response(),
        Some(Override::Status(status, body)) => return failure(status, &body),
        Some(Override::Kept(status, body)) => {
            let first = Answer {
                status,
                body: body.clone(),
            };
            world.lock().answer_unseen(&call, Some(first));
            return failure(status, &body);
        }
        Some(Override::Done(status, body)) => {
            world.lock().answer_unseen(&call, None);
            return failure(status, &body);
        }
        Some(Override::DoneInSilence) => {
            world.lock().answer_unseen(&call, None);
            std::future::pending().await
        }
    }
    let answered = as_it_is(&mut world.lock(), &call);
    match answered {
        Some(response) => response,
        None => std::future::pending().await,
    }
}

/// Responds as the account's fault profile says; `None`: not at all.
fn as_it_is(world: &mut Host, call: &Call) -> Option<Response> {
    let (now, millis) = world.time();
    let request = call.request(now, millis);
    // Put back below, as the borrow checker needs the rest of `world` until then.
    let mut injector = std::mem::take(&mut world.injector);
    let mut repeated = false;
    let outcome = injector.answer(&request, |method, path, form| {
        let request = Request {
            method,
            path,
            form,
            ..request
        };
        let reply = world.ask(&request, None);
        if let Some(why) = reply.fault.filter(|_| !is_trial(call)) {
            world.complaints.push(format!("{method} {path}: {why}"));
        }
        repeated = reply.is_replayed;
        Ok::<_, std::convert::Infallible>(reply.answer)
    });
    let printed = |body: &Value| injector.print(body);
    let response = match outcome {
        Ok(Outcome::Answer { answer, headers }) if answer.status < 500 => {
            let status = StatusCode::from_u16(answer.status).unwrap();
            Some((status, named(&headers), printed(&answer.body)).into_response())
        }
        // With `Stripe-Should-Retry: false`, so that no test waits for retries.
        Ok(Outcome::Answer { answer, headers }) => {
            let mut response = failure(answer.status, &answer.body);
            response.headers_mut().extend(named(&headers));
            Some(response)
        }
        Ok(Outcome::Silence) => None,
        Err(never) => match never {},
    };
    world.injector = injector;
    response.map(|mut response| {
        if repeated {
            let value = HeaderValue::from_static("true");
            let headers = response.headers_mut();
            headers.insert("idempotent-replayed", value);
        }
        response
    })
}

fn named(headers: &[(&'static str, String)]) -> HeaderMap {
    let pairs = headers.iter();
    let pairs = pairs.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
    pairs.collect()
}

/// Whether a request only tests a permission: it asks for nothing, or for something that does not exist.
fn is_trial(call: &Call) -> bool {
    let nobody = call.path.contains("/scrip_permission_check");
    nobody || call.operation.starts_with("permission-check/")
}

fn failure(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    let once = [("stripe-should-retry", "false")];
    (status, once, body.to_string()).into_response()
}

/// Checks the headers that Stripe requires of every request.
fn headers_in_order(call: &Call, text: &impl Fn(&str) -> String) -> Result<(), String> {
    let version = text("stripe-version");
    if version != API_VERSION {
        return Err(format!("the version is {version:?}, not {API_VERSION}"));
    }
    if !call.key.starts_with("Bearer ") {
        return Err("there is no key".into());
    }
    if call.method == Method::POST {
        if text("content-type") != "application/x-www-form-urlencoded" {
            return Err("it is no form".into());
        }
        let version = call.form.get("api_version");
        if version.is_some_and(|version| version != API_VERSION) {
            return Err(format!("{version:?} is not {API_VERSION}"));
        }
        // Not a rule of Stripe's: without a key a retry would be done twice.
        if !(1..=255).contains(&call.operation.len()) {
            return Err("there is no idempotency key".into());
        }
    }
    Ok(())
}

/// Checks that a request needs only permissions that the product declares.
fn declared(call: &Call) -> Result<(), String> {
    let path = call.path.trim_start_matches("/v1/");
    let is_it = |endpoint: &StripeEndpoint| endpoint.is(call.method.as_str(), path);
    match ENDPOINTS.iter().any(is_it) {
        true => Ok(()),
        false => Err("no permission is declared for that".into()),
    }
}

fn complain(world: &mut Host, call: &Call, why: &str) -> Response {
    let Call { method, path, .. } = call;
    world.complaints.push(format!("{method} {path}: {why}"));
    let error = json!({
        "type": "invalid_request_error", "code": "parameter_unknown", "message": why,
    });
    let body = json!({ "error": error }).to_string();
    (StatusCode::BAD_REQUEST, body).into_response()
}
