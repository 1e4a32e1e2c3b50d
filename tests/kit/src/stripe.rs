//! Something that answers as Stripe's API does, and does as each test tells it: it fails, it says
//! nonsense, it goes silent. What was asked of it is remembered, form by form. It also signs what it
//! reports.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::Sha256;

/// The key of the account.
pub const SECRET_KEY: &str = "sk_test_of_the_shop";
/// What reports are signed with.
pub const WEBHOOK_SECRET: &str = "whsec_of_the_shop";

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
    /// What no client can read.
    Garbage,
    /// No answer, for as long as anybody waits.
    Silence,
}

#[derive(Default)]
struct World {
    calls: Vec<Call>,
    /// By path; each is used once.
    instead: Vec<(String, Instead)>,
    /// Objects by path, such as `/v1/checkout/sessions/cs_1`.
    objects: BTreeMap<String, Value>,
    /// The account's list of events, the oldest first.
    events: Vec<Value>,
    made: u32,
}

/// The provider; it ends with the test's runtime.
#[derive(Clone)]
pub struct Stripe {
    /// Where its API is, without a slash at its end.
    pub base: String,
    world: Arc<Mutex<World>>,
}

impl Stripe {
    /// Starts with an account in which nothing is.
    pub async fn start() -> Self {
        let world = Arc::<Mutex<World>>::default();
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&world));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, world }
    }

    /// What was asked so far, by path.
    pub fn calls(&self, path: &str) -> Vec<Call> {
        let world = self.world.lock();
        let calls = world.calls.iter().filter(|call| call.path == path);
        calls.cloned().collect()
    }

    /// Answers the next request of this path otherwise.
    pub fn instead(&self, path: &str, instead: Instead) {
        self.world.lock().instead.push((path.into(), instead));
    }

    /// Puts an object where it is read.
    pub fn put(&self, path: &str, object: Value) {
        self.world.lock().objects.insert(path.into(), object);
    }

    /// Changes fields of an object; as it is then.
    pub fn set(&self, path: &str, fields: Value) -> Value {
        let mut world = self.world.lock();
        let object = world.objects.get_mut(path).expect("the object is there");
        for (name, value) in fields.as_object().expect("fields") {
            object[name] = value.clone();
        }
        object.clone()
    }

    /// Lists an event, as the account does whether or not a webhook arrives.
    pub fn list(&self, id: &str, kind: &str, object: &Value, now: i64) {
        let (event, _) = event(id, kind, object, now);
        let event = serde_json::from_str(&event).unwrap();
        self.world.lock().events.push(event);
    }

    /// A payment with its charge, of which so much went back; `marks` is what was written on it.
    pub fn charged(&self, payment: &str, marks: &Value, cents: i64, refunded: i64) -> Value {
        let charge = format!("ch_of_{payment}");
        self.put(
            &format!("/v1/payment_intents/{payment}"),
            json!({
                "id": payment, "amount_received": cents, "latest_charge": charge, "status": "succeeded",
                "customer": "cus_1", "metadata": marks,
            }),
        );
        let object = json!({
            "id": charge, "object": "charge", "amount": cents, "amount_refunded": refunded,
            "refunded": refunded == cents, "currency": "eur", "payment_intent": payment,
            "customer": "cus_1", "metadata": marks,
        });
        self.put(&format!("/v1/charges/{charge}"), object.clone());
        object
    }

    /// A session, paid.
    pub fn pay(&self, checkout: &str) -> Value {
        self.set(
            &format!("/v1/checkout/sessions/{checkout}"),
            json!({
                "status": "complete", "payment_status": "paid", "customer": "cus_1",
                "payment_intent": "pi_1", "url": null,
                "customer_details": {"email": "buyer@mail.example"},
            }),
        )
    }
}

/// An event with its signature header, as of `now` in seconds since the Unix epoch.
pub fn event(id: &str, kind: &str, object: &Value, now: i64) -> (String, String) {
    let body = json!({
        "id": id, "object": "event", "type": kind, "created": now, "livemode": false,
        "api_version": "2026-10-28.endive", "data": {"object": object},
    })
    .to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(WEBHOOK_SECRET.as_bytes()).unwrap();
    mac.update(format!("{now}.{body}").as_bytes());
    let mac = mac.finalize().into_bytes();
    let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    (body, format!("t={now},v1={hex}"))
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
    let form: BTreeMap<String, String> = url::form_urlencoded::parse(&pairs).into_owned().collect();
    let path = uri.path().to_owned();
    let instead = {
        let mut world = world.lock();
        world.calls.push(Call {
            method: method.clone(),
            path: path.clone(),
            key: text("authorization"),
            operation: text("idempotency-key"),
            form: form.clone(),
        });
        let place = world.instead.iter().position(|(at, _)| *at == path);
        place.map(|place| world.instead.remove(place).1)
    };
    match instead {
        None => {}
        Some(Instead::Silence) => std::future::pending().await,
        Some(Instead::Garbage) => return "<html>not what you think</html>".into_response(),
        Some(Instead::Status(status, body)) => {
            let status = StatusCode::from_u16(status).unwrap();
            let once = [("stripe-should-retry", "false")];
            return (status, once, body.to_string()).into_response();
        }
    }
    match world.lock().respond(&method, &path, &form) {
        Some(object) => object.to_string().into_response(),
        None => {
            let error = json!({"error": {
                "type": "invalid_request_error", "code": "resource_missing", "message": "No such thing.",
            }});
            (StatusCode::NOT_FOUND, error.to_string()).into_response()
        }
    }
}

impl World {
    fn respond(
        &mut self,
        method: &Method,
        path: &str,
        form: &BTreeMap<String, String>,
    ) -> Option<Value> {
        if method == Method::GET
            && let Some(object) = self.objects.get(path)
        {
            return Some(object.clone());
        }
        let pair = |name: &str| form.get(name).cloned();
        if method == Method::POST {
            self.made += 1;
        }
        let number = self.made;
        match (method.as_str(), path) {
            ("POST", "/v1/checkout/sessions") => {
                let id = format!("cs_test_{number}");
                let price: i64 = pair("line_items[0][price_data][unit_amount]")
                    .map_or(0, |cents| cents.parse().unwrap());
                let session = json!({
                    "id": id, "object": "checkout.session", "status": "open",
                    "payment_status": "unpaid", "mode": pair("mode"), "amount_total": price,
                    "url": format!("https://pay.example/{id}"), "currency": "eur",
                    "customer": pair("customer"), "customer_email": pair("customer_email"),
                    "expires_at": pair("expires_at").map(|at| at.parse::<i64>().unwrap()),
                    "client_reference_id": pair("client_reference_id"),
                    "metadata": marks(form, "metadata"),
                });
                let path = format!("/v1/checkout/sessions/{id}");
                self.objects.insert(path, session.clone());
                Some(session)
            }
            ("POST", path) if path.ends_with("/expire") => {
                let session = path.trim_end_matches("/expire");
                let session = self.objects.get_mut(session)?;
                session["status"] = json!("expired");
                Some(session.clone())
            }
            ("GET", "/v1/promotion_codes") => {
                let known = form.get("code").is_some_and(|code| code == "SUMMER");
                let code = json!({"id": "promo_1", "code": "SUMMER", "customer": null});
                let codes = if known { vec![code] } else { Vec::new() };
                Some(json!({"object": "list", "data": codes}))
            }
            ("GET", "/v1/prices") => {
                let key = pair("lookup_keys[0]")?;
                let known = self.objects.get(&format!("lookup {key}")).cloned();
                Some(json!({"object": "list", "data": known.into_iter().collect::<Vec<_>>()}))
            }
            ("POST", "/v1/prices") => {
                let id = format!("price_{number}");
                let price = json!({
                    "id": id, "product": format!("prod_{number}"), "active": true,
                    "currency": pair("currency"), "metadata": marks(form, "metadata"),
                });
                let key = pair("lookup_key")?;
                self.objects.insert(format!("lookup {key}"), price.clone());
                self.objects
                    .insert(format!("/v1/prices/{id}"), price.clone());
                Some(price)
            }
            ("GET", "/v1/invoice_payments") => {
                let intent = pair("payment[payment_intent]")?;
                let known = self.objects.get(&format!("payments of {intent}")).cloned();
                Some(json!({"object": "list", "data": known.into_iter().collect::<Vec<_>>()}))
            }
            ("GET", "/v1/disputes") => {
                let intent = pair("payment_intent")?;
                let known = self.objects.get(&format!("disputes of {intent}")).cloned();
                Some(json!({"object": "list", "data": known.unwrap_or_else(|| json!([]))}))
            }
            ("GET", "/v1/events") => {
                let since: i64 = pair("created[gte]")?.parse().unwrap();
                let after = pair("starting_after");
                let wanted: Vec<&String> = form
                    .iter()
                    .filter(|(name, _)| name.starts_with("types["))
                    .map(|(_, kind)| kind)
                    .collect();
                let newest = self.events.iter().rev();
                let mut listed: Vec<Value> = newest
                    .filter(|event| event["created"].as_i64().unwrap() >= since)
                    .filter(|event| wanted.iter().any(|kind| event["type"] == **kind))
                    .cloned()
                    .collect();
                if let Some(after) = after {
                    let place = listed.iter().position(|event| event["id"] == *after)?;
                    listed.drain(..=place);
                }
                let limit: usize = pair("limit")?.parse().unwrap();
                let more = listed.len() > limit;
                listed.truncate(limit);
                Some(json!({"object": "list", "data": listed, "has_more": more}))
            }
            ("POST", "/v1/billing_portal/configurations") => {
                Some(json!({"id": format!("bpc_{number}"), "active": true}))
            }
            ("POST", "/v1/billing_portal/sessions") => {
                Some(json!({"url": format!("https://portal.example/{number}")}))
            }
            _ => None,
        }
    }
}

fn marks(form: &BTreeMap<String, String>, prefix: &str) -> Value {
    let inner = |name: &str| {
        Some(
            name.strip_prefix(prefix)?
                .strip_prefix('[')?
                .strip_suffix(']')?
                .to_owned(),
        )
    };
    let marks = form
        .iter()
        .filter_map(|(name, value)| Some((inner(name)?, json!(value))));
    Value::Object(marks.collect())
}
