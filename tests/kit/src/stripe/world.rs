//! The account: what is in it, and what is answered.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::{Call, Instead, rules::Form};

/// Where webhook endpoints are.
const ENDPOINTS: &str = "/v1/webhook_endpoints";

#[derive(Default)]
pub(super) struct World {
    pub(super) calls: Vec<Call>,
    /// What Stripe would not have taken.
    pub(super) complaints: Vec<String>,
    /// By path; each is used once.
    pub(super) instead: Vec<(String, Instead)>,
    /// Objects by path, such as `/v1/checkout/sessions/cs_1`.
    pub(super) objects: BTreeMap<String, Value>,
    /// The account's list of events, the oldest first.
    pub(super) events: Vec<Value>,
    /// The oldest first.
    refunds: Vec<Value>,
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
}

/// An answer in Stripe's form.
pub(super) enum Answer {
    Object(Value),
    /// 404.
    Missing,
    /// 400: what was asked for cannot be had, which is nobody's fault.
    Declined(&'static str),
    /// A failure that was answered before under the same key.
    Repeated(u16, Value),
    /// 400, and a complaint.
    Refused(String),
}

impl World {
    pub(super) fn new(forgets: bool) -> Self {
        Self {
            forgets,
            ..Self::default()
        }
    }

    /// Answers what the rules allow. The same under the same key is answered as it was.
    pub(super) fn ask(&mut self, method: &str, path: &str, operation: &str, form: &Form) -> Answer {
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
                Some(object) => Answer::Object(object),
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
        drop(self.ask(method, &call.path, &call.operation, &call.form));
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
                });
                let key = pair("lookup_key")?;
                self.objects.insert(format!("lookup {key}"), price.clone());
                self.objects
                    .insert(format!("/v1/prices/{id}"), price.clone());
                Some(price)
            }
            ("GET", "/v1/invoice_payments") => {
                let of = pair("payment[payment_intent]").or_else(|| pair("invoice"))?;
                Some(list(
                    self.objects.get(&format!("payments of {of}")).cloned(),
                ))
            }
            ("GET", "/v1/disputes") => {
                let of = pair("payment_intent")?;
                let known = self.objects.get(&format!("disputes of {of}")).cloned();
                let data = known.unwrap_or_else(|| json!([]));
                Some(json!({"object": "list", "has_more": false, "data": data}))
            }
            ("GET", "/v1/refunds") => {
                let of = pair("payment_intent")?;
                let newest = self.refunds.iter().rev();
                let mut of: Vec<_> = newest.filter(|it| it["payment_intent"] == *of).collect();
                if let Some(after) = pair("starting_after") {
                    let place = of.iter().position(|refund| refund["id"] == *after)?;
                    of.drain(..=place);
                }
                let limit = pair("limit").map_or(10, |limit| limit.parse().unwrap());
                let (more, page) = (of.len() > limit, of.iter().take(limit));
                let page: Vec<_> = page.collect();
                Some(json!({"object": "list", "has_more": more, "data": page}))
            }
            ("GET", "/v1/events") => self.page_of_events(form),
            ("POST", "/v1/billing_portal/configurations") => {
                let id = format!("bpc_{}", self.next("configuration"));
                Some(json!({"id": id, "active": true}))
            }
            ("POST", "/v1/billing_portal/sessions") => {
                let number = self.next("visit");
                Some(json!({"url": format!("https://portal.example/{number}")}))
            }
            ("GET", ENDPOINTS) => {
                let endpoints = self.objects.iter();
                let endpoints = endpoints.filter(|(path, _)| path.starts_with(ENDPOINTS));
                let data: Vec<&Value> = endpoints.map(|(_, endpoint)| endpoint).collect();
                Some(json!({"object": "list", "has_more": false, "data": data}))
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
            ("POST", path) if path.starts_with("/v1/subscriptions/") => {
                if let Some(path) = path.strip_suffix("/resume") {
                    return self.changed(path, |subscription| {
                        subscription["status"] = json!("active");
                    });
                }
                self.changed(path, |subscription| {
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
            .insert(format!("{ENDPOINTS}/{id}"), endpoint.clone());
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
        let id = format!("re_{}", self.next("refund"));
        let refund = json!({
            "id": id, "object": "refund", "amount": amount, "payment_intent": intent,
            "status": "succeeded", "metadata": marks(form, "metadata"),
        });
        self.refunds.push(refund.clone());
        Answer::Object(refund)
    }

    fn session(&mut self, form: &Form) -> Value {
        let pair = |name: &str| form.get(name).cloned();
        let number = |name: &str| form.get(name).map(|text| text.parse::<i64>().unwrap());
        let id = format!("cs_test_{}", self.next("session"));
        let session = json!({
            "id": id, "object": "checkout.session", "status": "open",
            "payment_status": "unpaid", "mode": pair("mode"), "currency": "eur",
            "amount_total": number("line_items[0][price_data][unit_amount]").unwrap_or(0),
            "url": format!("https://pay.example/{id}"),
            "customer": pair("customer"), "customer_email": pair("customer_email"),
            "expires_at": number("expires_at"),
            "client_reference_id": pair("client_reference_id"),
            "metadata": marks(form, "metadata"),
        });
        let path = format!("/v1/checkout/sessions/{id}");
        self.objects.insert(path, session.clone());
        session
    }

    /// The newest first; from the one behind `starting_after` on.
    fn page_of_events(&self, form: &Form) -> Option<Value> {
        let number = |name: &str| form.get(name).map(|text| text.parse::<i64>().unwrap());
        let since = number("created[gte]").unwrap_or(0);
        let limit = number("limit").unwrap_or(10).unsigned_abs();
        let kinds = listed(form, "types[");
        let wanted = |event: &&Value| {
            let is_wanted = kinds.is_empty() || kinds.iter().any(|kind| event["type"] == **kind);
            is_wanted && event["created"].as_i64().unwrap() >= since
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
