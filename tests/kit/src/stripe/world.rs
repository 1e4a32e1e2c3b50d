//! The account: what is in it, and what is answered.

use std::{
    collections::HashMap,
    sync::LazyLock,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use sandbox::unkind::{self, Unkind};
use serde_json::{Value, json};

use super::{Call, Instead, lists::Objects, rules::Form};

/// Where webhook endpoints are.
const ENDPOINTS: &str = "/v1/webhook_endpoints";

#[derive(Default)]
pub(super) struct World {
    pub(super) calls: Vec<Call>,
    pub(super) requests: u64,
    /// What Stripe would not have taken.
    pub(super) complaints: Vec<String>,
    /// By path; each is used once.
    pub(super) instead: Vec<(String, Instead)>,
    /// The same for good.
    pub(super) always: Vec<(String, Instead)>,
    pub(super) objects: Objects,
    /// The account's list of events, the oldest first.
    pub(super) events: Vec<Value>,
    /// What was asked under an idempotency key, and answered.
    answered: HashMap<String, (String, Form, Value)>,
    /// Failures that were kept under an idempotency key: the path, the status and the body.
    pub(super) failed: HashMap<String, (String, (u16, Value))>,
    /// Things made so far, by kind.
    made: HashMap<&'static str, u32>,
    /// Of which account a key is; `None`: it may not read that. Of all others: the shop's.
    pub(super) accounts: HashMap<String, Option<String>>,
    /// Keeps no calls and no answers: a load would fill the memory.
    pub(super) forgets: bool,
    /// What Stripe does on top of answering.
    pub(super) unkind: Unkind,
    /// Its time; `None`: the machine's.
    pub(super) clock: Option<Clock>,
}

/// Seconds since the Unix epoch.
pub(super) type Clock = Box<dyn Fn() -> i64 + Send>;

/// An answer in Stripe's form.
pub(super) enum Answer {
    Object(Value),
    /// 404.
    Missing,
    /// 400: what was asked for cannot be had, which is nobody's fault.
    Declined(&'static str),
    /// 403: the key may not.
    Denied,
    /// A failure that was answered before under the same key.
    Repeated(u16, Value),
    /// 400, and a complaint.
    Refused(String),
}

impl Answer {
    /// As it is sent.
    pub(super) fn plain(self) -> unkind::Answer {
        let (status, code, message) = match self {
            Self::Object(body) => return unkind::Answer { status: 200, body },
            Self::Repeated(status, body) => return unkind::Answer { status, body },
            Self::Missing => (404, "resource_missing", "No such thing.".into()),
            Self::Declined(code) => (400, code, "That cannot be.".into()),
            Self::Denied => (403, "more_permissions_required", "The key may not.".into()),
            Self::Refused(why) => (400, "parameter_unknown", why),
        };
        let body = json!({"error": {
            "type": "invalid_request_error", "code": code, "message": message,
        }});
        unkind::Answer { status, body }
    }
}

impl World {
    pub(super) fn new(forgets: bool) -> Self {
        Self {
            forgets,
            ..Self::default()
        }
    }

    /// Seconds since the Unix epoch by the account's clock, and milliseconds since any instant.
    pub(super) fn time(&self) -> (i64, i64) {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        let millis = i64::try_from(START.elapsed().as_millis()).unwrap();
        let now = match &self.clock {
            Some(clock) => clock(),
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                i64::try_from(now.as_secs()).unwrap()
            }
        };
        (now, millis)
    }

    /// Answers what the rules allow, by whose key it is. The same under the same idempotency key is
    /// answered as it was.
    pub(super) fn ask(
        &mut self,
        method: &str,
        path: &str,
        key: &str,
        (operation, form): (&str, &Form),
    ) -> Answer {
        if path == "/v1/account" {
            let account = match self.accounts.get(key) {
                None => "acct_of_the_shop",
                Some(Some(account)) => account,
                Some(None) => return Answer::Denied,
            };
            return Answer::Object(json!({"id": account, "object": "account"}));
        }
        if let Some((asked, with, answer)) = self.answered.get(operation) {
            if asked == path && with == form {
                return Answer::Object(answer.clone());
            }
            return Answer::Refused(format!("the key {operation} was used for something else"));
        }
        if let Some((asked, failure)) = self.failed.get(operation) {
            return match asked == path {
                true => Answer::Repeated(failure.0, failure.1.clone()),
                false => Answer::Refused(format!("the key {operation} was used otherwise")),
            };
        }
        let answer = match (method, path) {
            ("POST", "/v1/refunds") => self.refund(form),
            _ => match self.respond(method, path, form) {
                Some(object) => Answer::Object(self.objects.shown(object, form)),
                None => Answer::Missing,
            },
        };
        let Answer::Object(object) = answer else {
            return answer;
        };
        if method == "POST" && !self.forgets {
            let answered = (path.into(), form.clone(), object.clone());
            self.answered.insert(operation.into(), answered);
        }
        Answer::Object(object)
    }

    /// Does what is asked, though whoever asks is not told so.
    pub(super) fn done(&mut self, call: &Call) {
        let method = call.method.as_str();
        let form = (call.operation.as_str(), &call.form);
        drop(self.ask(method, &call.path, &call.key, form));
    }

    fn respond(&mut self, method: &str, path: &str, form: &Form) -> Option<Value> {
        if method == "GET"
            && let Some(object) = self.objects.get(path)
        {
            return Some(object.clone());
        }
        let pair = |name: &str| form.get(name).cloned();
        match (method, path) {
            ("POST", "/v1/checkout/sessions") => Some(self.session(form)),
            ("POST", path) if path.ends_with("/expire") => {
                let session = path.trim_end_matches("/expire");
                let session = self.objects.get_mut(session)?;
                session["status"] = json!("expired");
                Some(session.clone())
            }
            ("GET", "/v1/promotion_codes") => {
                let known = form.get("code").is_some_and(|code| code == "SUMMER");
                let code = json!({"id": "promo_1", "code": "SUMMER", "customer": null});
                Some(list(known.then_some(code)))
            }
            ("GET", "/v1/prices") => {
                let key = pair("lookup_keys[0]")?;
                Some(list(self.objects.get(&format!("lookup {key}")).cloned()))
            }
            ("POST", "/v1/prices") => {
                let number = self.next("price");
                let id = format!("price_{number}");
                let price = json!({
                    "id": id, "product": format!("prod_{number}"), "active": true,
                    "currency": pair("currency"), "metadata": marks(form, "metadata"),
                    "unit_amount": pair("unit_amount")?.parse::<i64>().ok()?,
                    "recurring": {
                        "interval": pair("recurring[interval]"), "interval_count": 1,
                    },
                });
                let product = json!({"id": format!("prod_{number}"), "active": true});
                self.objects
                    .put(&format!("/v1/products/prod_{number}"), product);
                let key = pair("lookup_key")?;
                self.objects.put(&format!("lookup {key}"), price.clone());
                self.objects.put(&format!("/v1/prices/{id}"), price.clone());
                Some(price)
            }
            (
                "GET",
                "/v1/charges"
                | "/v1/checkout/sessions"
                | "/v1/customers"
                | "/v1/disputes"
                | "/v1/invoice_payments"
                | "/v1/invoices"
                | "/v1/refunds"
                | "/v1/subscriptions"
                | ENDPOINTS,
            ) => self.objects.page(path, form),
            ("GET", path) if path.ends_with("/lines") => self.objects.lines(path, form),
            ("GET", "/v1/events") => self.page_of_events(form),
            ("POST", "/v1/billing_portal/configurations") => {
                let id = format!("bpc_{}", self.next("configuration"));
                Some(json!({"id": id, "active": true}))
            }
            ("POST", "/v1/billing_portal/sessions") => {
                let number = self.next("visit");
                Some(json!({"url": format!("https://portal.example/{number}")}))
            }
            ("POST", ENDPOINTS) => Some(self.endpoint(form)),
            ("DELETE", path) => match path.strip_prefix(ENDPOINTS) {
                Some(_) => {
                    let endpoint = self.objects.remove(path)?;
                    Some(json!({"id": endpoint["id"], "deleted": true}))
                }
                // What is canceled is gone for whoever cancels.
                None if self.objects.get(path)?["status"] == "canceled" => None,
                None => self.changed(path, |subscription| {
                    subscription["status"] = json!("canceled");
                }),
            },
            ("POST", path) if path.starts_with(ENDPOINTS) => self.changed(path, |endpoint| {
                match form.get("disabled").map(String::as_str) {
                    Some("true") => endpoint["status"] = json!("disabled"),
                    Some(_) => endpoint["status"] = json!("enabled"),
                    None => {}
                }
                if form.contains_key("enabled_events[0]") {
                    endpoint["enabled_events"] = json!(listed(form, "enabled_events["));
                }
            }),
            ("POST", path) if path.starts_with("/v1/subscription_schedules/") => {
                let path = path.trim_end_matches("/release");
                let schedule = self.changed(path, |schedule| {
                    schedule["status"] = json!("released");
                })?;
                let of = format!("/v1/subscriptions/{}", schedule["subscription"].as_str()?);
                self.changed(&of, |subscription| subscription["schedule"] = Value::Null)?;
                Some(schedule)
            }
            ("POST", path) if path.starts_with("/v1/prices/") => {
                self.changed(path, |price| write(form, price))
            }
            ("POST", path) if path.starts_with("/v1/subscriptions/") => {
                if let Some(path) = path.strip_suffix("/resume") {
                    return self.changed(path, |subscription| {
                        subscription["status"] = json!("active");
                    });
                }
                self.changed(path, |subscription| {
                    write(form, subscription);
                    if let Some(ends) = form.get("cancel_at_period_end") {
                        subscription["cancel_at_period_end"] = json!(ends == "true");
                    }
                    for unset in ["cancel_at", "pause_collection"] {
                        if form.contains_key(unset) {
                            subscription[unset] = Value::Null;
                        }
                    }
                })
            }
            ("POST", path) => {
                let id = path.strip_prefix("/v1/billing_portal/configurations/")?;
                Some(json!({"id": id, "active": true}))
            }
            _ => None,
        }
    }

    fn changed(&mut self, path: &str, change: impl FnOnce(&mut Value)) -> Option<Value> {
        let object = self.objects.get_mut(path)?;
        change(object);
        Some(object.clone())
    }

    /// Its secret is told once.
    fn endpoint(&mut self, form: &Form) -> Value {
        let number = self.next("endpoint");
        let id = format!("we_{number}");
        let mut endpoint = json!({
            "id": id, "object": "webhook_endpoint", "status": "enabled", "livemode": false,
            "url": form.get("url"), "api_version": form.get("api_version"),
            "enabled_events": listed(form, "enabled_events["), "metadata": marks(form, "metadata"),
        });
        self.objects
            .put(&format!("{ENDPOINTS}/{id}"), endpoint.clone());
        endpoint["secret"] = json!(format!("whsec_of_endpoint_{number}"));
        endpoint
    }

    /// Money of a payment goes back, as far as there is any left.
    fn refund(&mut self, form: &Form) -> Answer {
        let intent = form.get("payment_intent").cloned().unwrap_or_default();
        let payment = self.objects.get(&format!("/v1/payment_intents/{intent}"));
        let Some(charge) = payment.and_then(|payment| payment["latest_charge"].as_str()) else {
            return Answer::Missing;
        };
        let path = format!("/v1/charges/{charge}");
        let Some(charge) = self.objects.get_mut(&path) else {
            return Answer::Missing;
        };
        let cents = |charge: &Value, name: &str| charge[name].as_i64().unwrap();
        let (paid, back) = (cents(charge, "amount"), cents(charge, "amount_refunded"));
        let asked = form.get("amount").map(|amount| amount.parse().unwrap());
        let amount: i64 = asked.unwrap_or(paid - back);
        if amount < 1 || amount > paid - back {
            return Answer::Declined("charge_already_refunded");
        }
        charge["amount_refunded"] = json!(back + amount);
        charge["refunded"] = json!(back + amount == paid);
        let of = charge["id"].clone();
        let id = format!("re_{}", self.next("refund"));
        let refund = json!({
            "id": id, "object": "refund", "amount": amount, "payment_intent": intent, "charge": of,
            "status": "succeeded", "metadata": marks(form, "metadata"),
        });
        self.objects
            .put(&format!("/v1/refunds/{id}"), refund.clone());
        Answer::Object(refund)
    }

    fn session(&mut self, form: &Form) -> Value {
        let pair = |name: &str| form.get(name).cloned();
        let number = |name: &str| form.get(name).map(|text| text.parse::<i64>().unwrap());
        let id = format!("cs_test_{}", self.next("session"));
        let session = json!({
            "id": id, "object": "checkout.session", "status": "open",
            "payment_status": "unpaid", "mode": pair("mode"),
            "currency": pair("line_items[0][price_data][currency]").unwrap_or("eur".into()),
            "amount_total": number("line_items[0][price_data][unit_amount]").unwrap_or(0),
            "url": format!("https://pay.example/{id}"),
            "customer": pair("customer"), "customer_email": pair("customer_email"),
            "expires_at": number("expires_at"),
            "client_reference_id": pair("client_reference_id"),
            "metadata": marks(form, "metadata"),
        });
        let path = format!("/v1/checkout/sessions/{id}");
        self.objects.put(&path, session.clone());
        session
    }

    /// The newest first; from the one behind `starting_after` on.
    fn page_of_events(&self, form: &Form) -> Option<Value> {
        let number = |name: &str| form.get(name).map(|text| text.parse::<i64>().unwrap());
        let since = number("created[gte]").unwrap_or(0);
        let until = number("created[lte]").unwrap_or(i64::MAX);
        let limit = number("limit").unwrap_or(10).unsigned_abs();
        let kinds = listed(form, "types[");
        let wanted = |event: &&Value| {
            let is_wanted = kinds.is_empty() || kinds.iter().any(|kind| event["type"] == **kind);
            is_wanted && (since..=until).contains(&event["created"].as_i64().unwrap())
        };
        let mut newest = self.events.iter().rev();
        if let Some(after) = form.get("starting_after") {
            newest.find(|event| event["id"] == **after)?;
        }
        let limit = usize::try_from(limit).unwrap();
        let mut listed: Vec<&Value> = newest.filter(wanted).take(limit + 1).collect();
        let more = listed.len() > limit;
        listed.truncate(limit);
        Some(json!({"object": "list", "data": listed, "has_more": more}))
    }

    fn next(&mut self, kind: &'static str) -> u32 {
        let made = self.made.entry(kind).or_default();
        *made += 1;
        *made
    }
}

/// The values of `types[0]`, `types[1]` and so on, in any order.
fn listed<'f>(form: &'f Form, prefix: &str) -> Vec<&'f String> {
    let of = form.iter().filter(|(name, _)| name.starts_with(prefix));
    of.map(|(_, value)| value).collect()
}

fn list(of: Option<Value>) -> Value {
    let data: Vec<Value> = of.into_iter().collect();
    json!({"object": "list", "has_more": false, "data": data})
}

/// Adds what is to be written on an object.
fn write(form: &Form, object: &mut Value) {
    for (name, value) in marks(form, "metadata").as_object().into_iter().flatten() {
        object["metadata"][name] = value.clone();
    }
}

fn marks(form: &Form, prefix: &str) -> Value {
    let inner = |name: &str| {
        let name = name.strip_prefix(prefix)?.strip_prefix('[')?;
        Some(name.strip_suffix(']')?.to_owned())
    };
    let marks = form
        .iter()
        .filter_map(|(name, value)| Some((inner(name)?, json!(value))));
    Value::Object(marks.collect())
}
