//! Something that answers as Stripe's API does, and does as each test tells it: it fails, it says
//! nonsense, it goes silent. What was asked of it is remembered, form by form. It also signs what it
//! reports. The one double of Stripe, for tests and for the load generator.
//!
//! It is the sandbox's account, of which nothing happens by itself. It takes what Stripe takes and nothing
//! else: an unknown path or field, another version, a key used twice for two things fail the test, whatever
//! became of the answer.

mod notes;
#[cfg(test)]
mod tests;
mod unkind;
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
pub use sandbox::unkind::Unkindness;
use sandbox::unkind::{Answer, Form, Outcome, Request};
use serde_json::{Value, json};

use ::stripe::{
    API_VERSION,
    permissions::{ENDPOINTS, Endpoint},
    signature::{SigningSecret, sign},
};
use domain::Timestamp;
use world::World;

/// The key of the account.
pub const SECRET_KEY: &str = "sk_test_of_the_shop";
/// What reports are signed with.
pub const WEBHOOK_SECRET: &str = "whsec_of_the_shop";

/// The account as a project's provider, said as the administration takes it.
#[must_use]
pub fn provider() -> Value {
    json!({"kind": "stripe", "secretKey": SECRET_KEY, "webhookSecret": WEBHOOK_SECRET})
}

/// What was asked.
#[derive(Debug, Clone)]
pub struct Call {
    /// GET, POST, ….
    pub method: Method,
    /// Without the query.
    pub path: String,
    /// What `Authorization` said.
    pub key: String,
    /// What `Idempotency-Key` said, or nothing.
    pub operation: String,
    /// The body's or the query's pairs.
    pub form: BTreeMap<String, String>,
}

/// What is answered out of turn.
#[derive(Debug, Clone)]
pub enum Instead {
    /// This status and body, with no wish to be asked again.
    Status(u16, Value),
    /// This status and body, kept under the operation's key and repeated to whoever comes with it.
    Kept(u16, Value),
    /// This status and body, with no wish to be asked again; what was asked for is done all the same.
    Done(u16, Value),
    /// No answer, for as long as anybody waits; what was asked for is done all the same.
    DoneInSilence,
    /// What no client can read.
    Garbage,
    /// No answer, for as long as anybody waits.
    Silence,
}

/// The provider; it ends with the test's runtime. When the last clone is dropped and something was asked
/// that Stripe would not have taken, the test fails.
#[derive(Clone)]
pub struct Stripe {
    /// Where its API is, without a slash at its end.
    pub base: String,
    world: Arc<Mutex<World>>,
    /// Held by tests alone, so that it is dropped with the last of them.
    _judge: Arc<Judge>,
}

struct Judge(Arc<Mutex<World>>);

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
    /// Starts with an account in which nothing is.
    pub async fn start() -> Self {
        Self::start_with(World::new(false)).await
    }

    /// The same for a load: no call is remembered.
    pub async fn forgetful() -> Self {
        Self::start_with(World::new(true)).await
    }

    async fn start_with(world: World) -> Self {
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

    /// Takes out what was asked that Stripe would not have taken: whoever looks judges it.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.world.lock().complaints)
    }

    /// How many requests there were so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.world.lock().requests
    }

    /// What was asked so far, by path.
    pub fn calls(&self, path: &str) -> Vec<Call> {
        let world = self.world.lock();
        let calls = world.calls.iter().filter(|call| call.path == path);
        calls.cloned().collect()
    }

    /// How often anything was read so far.
    pub fn reads(&self) -> usize {
        let world = self.world.lock();
        let reads = world.calls.iter().filter(|call| call.method == Method::GET);
        reads.count()
    }

    /// Answers the next request of this path otherwise; of this method, where it stands in front of it.
    pub fn instead(&self, path: &str, instead: Instead) {
        self.world.lock().instead.push((path.into(), instead));
    }

    /// Answers requests of this path otherwise until [`Self::as_usual`].
    pub fn from_now_on(&self, path: &str, instead: Instead) {
        self.world.lock().always.push((path.into(), instead));
    }

    /// Answers as usual from now on.
    pub fn as_usual(&self) {
        let mut world = self.world.lock();
        world.instead.clear();
        world.always.clear();
    }

    /// Puts an object where it is read.
    pub fn put(&self, path: &str, object: Value) {
        self.world.lock().put(path, &object);
    }

    /// Changes fields of an object; as it is then.
    pub fn set(&self, path: &str, fields: Value) -> Value {
        self.world.lock().set(path, &fields)
    }

    /// Says of which account a key is; `None`: it may not read that. Every other key is of the shop's.
    pub fn account_of(&self, key: &str, account: Option<&str>) {
        let mut world = self.world.lock();
        world.accounts.insert(key.into(), account.map(Into::into));
    }

    /// Lists an event, as the account does whether or not a webhook arrives.
    pub fn list(&self, id: &str, kind: &str, object: &Value, now: i64) {
        let event = plain_event(id, kind, object, now);
        self.put(&format!("/v1/events/{id}"), event);
    }

    /// A payment with its charge, of which so much went back; `marks` is what was written on it.
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

    /// A session, paid.
    pub fn pay(&self, checkout: &str) -> Value {
        self.pay_as(checkout, "buyer@mail.example")
    }

    /// The same by somebody with this address.
    pub fn pay_as(&self, checkout: &str, email: &str) -> Value {
        let mut world = self.world.lock();
        world.act(checkout, |account, now| account.pay(checkout, email, now))
    }

    /// A session whose buyer is done, and whose money is on its way: [`Self::pay`] has it come.
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

/// The same signed with another secret.
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
    State(world): State<Arc<Mutex<World>>>,
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
    let form: Form = url::form_urlencoded::parse(&pairs).into_owned().collect();
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
        let named = format!("{} {}", call.method, call.path);
        let of = |at: &str| at == call.path || at == named;
        let place = world.instead.iter().position(|(at, _)| of(at));
        let once = place.map(|place| world.instead.remove(place).1);
        let always = world.always.iter().find(|(at, _)| of(at));
        once.or(always.map(|(_, instead)| instead.clone()))
    };
    match instead {
        None => {}
        Some(Instead::Silence) => std::future::pending().await,
        Some(Instead::Garbage) => return "<html>not what you think</html>".into_response(),
        Some(Instead::Status(status, body)) => return failure(status, &body),
        Some(Instead::Kept(status, body)) => {
            let kept = Answer {
                status,
                body: body.clone(),
            };
            world.lock().done(&call, Some(kept));
            return failure(status, &body);
        }
        Some(Instead::Done(status, body)) => {
            world.lock().done(&call, None);
            return failure(status, &body);
        }
        Some(Instead::DoneInSilence) => {
            world.lock().done(&call, None);
            std::future::pending().await
        }
    }
    let answered = as_it_is(&mut world.lock(), &call);
    match answered {
        Some(response) => response,
        None => std::future::pending().await,
    }
}

/// Answers as unkindly as the account is; `None`: not at all.
fn as_it_is(world: &mut World, call: &Call) -> Option<Response> {
    let (now, millis) = world.time();
    let asked = call.request(now, millis);
    // Put back below: what is asked kindly needs the rest of the world.
    let mut unkind = std::mem::take(&mut world.unkind);
    let mut repeated = false;
    let outcome = unkind.answer(&asked, |method, path, form| {
        let request = Request {
            method,
            path,
            form,
            ..asked
        };
        let reply = world.ask(&request, None);
        if let Some(why) = reply.fault.filter(|_| !is_trial(call)) {
            world.complaints.push(format!("{method} {path}: {why}"));
        }
        repeated = reply.is_replayed;
        Ok::<_, std::convert::Infallible>(reply.answer)
    });
    let printed = |body: &Value| unkind.print(body);
    let response = match outcome {
        Ok(Outcome::Answer { answer, headers }) if answer.status < 500 => {
            let status = StatusCode::from_u16(answer.status).unwrap();
            Some((status, named(&headers), printed(&answer.body)).into_response())
        }
        // It comes with no wish to be asked again, so that no test waits for that.
        Ok(Outcome::Answer { answer, headers }) => {
            let mut response = failure(answer.status, &answer.body);
            response.headers_mut().extend(named(&headers));
            Some(response)
        }
        Ok(Outcome::Silence) => None,
        Err(never) => match never {},
    };
    world.unkind = unkind;
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

/// Whether it only finds out what the key may do: it asks for nothing, or for nothing that there is.
fn is_trial(call: &Call) -> bool {
    let nobody = call.path.contains("/scrip_permission_check");
    nobody || call.operation.starts_with("permission-check/")
}

fn failure(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    let once = [("stripe-should-retry", "false")];
    (status, once, body.to_string()).into_response()
}

/// What Stripe wants of every request.
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
        let wanted = call.form.get("api_version");
        if wanted.is_some_and(|wanted| wanted != API_VERSION) {
            return Err(format!("{wanted:?} is not {API_VERSION}"));
        }
        // Not Stripe's rule: without one a repeat would be done twice.
        if !(1..=255).contains(&call.operation.len()) {
            return Err("there is no idempotency key".into());
        }
    }
    Ok(())
}

/// A key may only do what is on the list of what it needs.
fn declared(call: &Call) -> Result<(), String> {
    let path = call.path.trim_start_matches("/v1/");
    let is_it = |endpoint: &Endpoint| endpoint.is(call.method.as_str(), path);
    match ENDPOINTS.iter().any(is_it) {
        true => Ok(()),
        false => Err("no permission is declared for that".into()),
    }
}

fn complain(world: &mut World, call: &Call, why: &str) -> Response {
    let Call { method, path, .. } = call;
    world.complaints.push(format!("{method} {path}: {why}"));
    let error = json!({
        "type": "invalid_request_error", "code": "parameter_unknown", "message": why,
    });
    let body = json!({ "error": error }).to_string();
    (StatusCode::BAD_REQUEST, body).into_response()
}
