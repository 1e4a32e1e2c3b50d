//! What is in the account, in the order in which it came: pages of it, and identifiers that are unfolded
//! in answers.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::rules::{Form, names};

/// So many lines an invoice shows by itself; the others are in its list.
const EMBEDDED: usize = 10;

/// Objects by path, such as `/v1/checkout/sessions/cs_1`, and by when they were made.
#[derive(Default)]
pub(super) struct Objects {
    by_path: BTreeMap<String, Value>,
    /// By collection, such as `/v1/charges`. What says no `created` is the newest.
    listed: HashMap<String, BTreeMap<(i64, u64), String>>,
    places: HashMap<String, (i64, u64)>,
    last: u64,
}

impl Objects {
    pub(super) fn get(&self, path: &str) -> Option<&Value> {
        self.by_path.get(path)
    }

    pub(super) fn get_mut(&mut self, path: &str) -> Option<&mut Value> {
        self.by_path.get_mut(path)
    }

    /// Puts an object into its place. `payments of X` and `disputes of X` are all there are of a payment or
    /// an invoice.
    pub(super) fn put(&mut self, path: &str, object: Value) {
        if let Some(of) = path.strip_prefix("disputes of ") {
            return self.put_all("/v1/disputes", of, object);
        }
        if let Some(of) = path.strip_prefix("payments of ") {
            return self.put_all("/v1/invoice_payments", of, object);
        }
        if let Some((collection, _)) = path.rsplit_once('/') {
            let listed = self.listed.entry(collection.to_owned()).or_default();
            let created = object["created"].as_i64().unwrap_or(i64::MAX);
            let number = match self.places.get(path) {
                Some(place) => {
                    listed.remove(place);
                    place.1
                }
                None => {
                    self.last += 1;
                    self.last
                }
            };
            listed.insert((created, number), path.to_owned());
            self.places.insert(path.to_owned(), (created, number));
        }
        self.by_path.insert(path.to_owned(), object);
    }

    fn put_all(&mut self, collection: &str, of: &str, objects: Value) {
        let objects = match objects {
            Value::Array(objects) => objects,
            object => vec![object],
        };
        let disputes = collection == "/v1/disputes";
        let is_of = |object: &Value| match disputes {
            true => object["payment_intent"] == of,
            false => object["payment"]["payment_intent"] == of || object["invoice"] == of,
        };
        let former = self.all(collection).filter(|(_, object)| is_of(object));
        let former: Vec<String> = former.map(|(path, _)| path.to_owned()).collect();
        for path in former {
            self.remove(&path);
        }
        for mut object in objects {
            if !is_of(&object) && (disputes || of.starts_with("pi_")) {
                match disputes {
                    true => object["payment_intent"] = json!(of),
                    false => {
                        object["payment"] = json!({"type": "payment_intent", "payment_intent": of})
                    }
                }
            } else if !is_of(&object) {
                object["invoice"] = json!(of);
            }
            let id = object["id"].as_str().expect("it has an identifier");
            self.put(&format!("{collection}/{id}"), object);
        }
    }

    pub(super) fn remove(&mut self, path: &str) -> Option<Value> {
        if let (Some(place), Some((collection, _))) =
            (self.places.remove(path), path.rsplit_once('/'))
        {
            self.listed.get_mut(collection)?.remove(&place);
        }
        self.by_path.remove(path)
    }

    /// The newest first.
    fn all(&self, collection: &str) -> impl Iterator<Item = (&str, &Value)> {
        let listed = self.listed.get(collection).into_iter().flatten().rev();
        listed.filter_map(|(_, path)| Some((path.as_str(), self.by_path.get(path)?)))
    }

    /// A page of a collection. `None`: it begins behind something that is not there.
    pub(super) fn page(&self, collection: &str, form: &Form) -> Option<Value> {
        let end = match form.get("starting_after") {
            Some(after) => *self.places.get(&format!("{collection}/{after}"))?,
            None => (i64::MAX, u64::MAX),
        };
        let listed = self.listed.get(collection);
        let behind = listed
            .into_iter()
            .flat_map(|listed| listed.range(..end).rev());
        let objects = behind.filter_map(|(_, path)| self.by_path.get(path));
        let found = objects.filter(|object| is_wanted(object, form));
        Some(cut(found.cloned(), form, collection))
    }

    /// The lines of an invoice, as it has them.
    pub(super) fn lines(&self, path: &str, form: &Form) -> Option<Value> {
        let invoice = self.get(path.strip_suffix("/lines")?)?;
        let mut lines = invoice["lines"]["data"].as_array()?.iter();
        if let Some(after) = form.get("starting_after") {
            lines.find(|line| line["id"] == **after)?;
        }
        Some(cut(lines.cloned(), form, path))
    }

    /// An answer as it is asked for: with what is to be unfolded, and no more than ten lines of an invoice.
    pub(super) fn shown(&self, mut answer: Value, form: &Form) -> Value {
        for (_, path) in form.iter().filter(|(name, _)| name.starts_with("expand[")) {
            self.unfold(&mut answer, &path.split('.').collect::<Vec<_>>());
        }
        shorten(&mut answer);
        answer
    }

    fn unfold(&self, value: &mut Value, names: &[&str]) {
        if let Value::String(id) = value
            && let Some(object) = self.named(id)
        {
            *value = object;
        }
        let Some((name, rest)) = names.split_first() else {
            return;
        };
        if let Value::Array(values) = value {
            return values
                .iter_mut()
                .for_each(|value| self.unfold(value, names));
        }
        let inner = match (*name, value["object"].as_str(), value["id"].as_str()) {
            ("payments", _, Some(id)) if id.starts_with("in_") => {
                let of = Form::from([("invoice".into(), id.into())]);
                self.page("/v1/invoice_payments", &of)
            }
            ("refunds", Some("charge"), Some(id)) => {
                let of = Form::from([("charge".into(), id.into())]);
                self.page("/v1/refunds", &of)
            }
            _ => None,
        };
        if let Some(inner) = inner
            && value[*name].is_null()
        {
            value[*name] = inner;
        }
        if let Some(inner) = value.get_mut(*name) {
            self.unfold(inner, rest);
        }
    }

    /// The object of this identifier, whatever it is.
    fn named(&self, id: &str) -> Option<Value> {
        let collection = match id.split_once('_')?.0 {
            "pi" => "payment_intents",
            "ch" | "py" => "charges",
            "in" => "invoices",
            "sub" => "subscriptions",
            "cus" => "customers",
            "re" => "refunds",
            "du" | "dp" => "disputes",
            "cs" => "checkout/sessions",
            "prod" => "products",
            _ => return None,
        };
        self.get(&format!("/v1/{collection}/{id}")).cloned()
    }
}

/// The first of them, as many as are wanted.
fn cut(mut found: impl Iterator<Item = Value>, form: &Form, url: &str) -> Value {
    let limit = form.get("limit").map_or(10, |limit| limit.parse().unwrap());
    let page: Vec<Value> = found.by_ref().take(limit).collect();
    let more = found.next().is_some();
    json!({"object": "list", "url": url, "has_more": more, "data": page})
}

/// Whether an object is what a list is asked for. What it does not say of itself it may be.
fn is_wanted(object: &Value, form: &Form) -> bool {
    let says = |name: &str, value: &str| match (object, name) {
        (_, "limit" | "starting_after") => true,
        (_, "subscription") if object["subscription"].is_null() => {
            object["parent"]["subscription_details"]["subscription"] == value
        }
        (_, "status") if value == "all" || object["status"].is_null() => true,
        (_, "payment[type]") => true,
        (_, "price") => {
            let items = object["items"]["data"].as_array();
            items.is_some_and(|items| items.iter().any(|item| item["price"]["id"] == value))
        }
        _ if name.starts_with("expand[") => true,
        _ if name.starts_with("created[") => {
            let bound: i64 = value.parse().unwrap();
            object["created"].as_i64().is_none_or(|created| match name {
                "created[gte]" => created >= bound,
                "created[gt]" => created > bound,
                "created[lte]" => created <= bound,
                _ => created < bound,
            })
        }
        _ => names(name).fold(object, |inner, name| &inner[name]) == value,
    };
    form.iter().all(|(name, value)| says(name, value))
}

/// An invoice shows ten lines, wherever it is.
fn shorten(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(fields) => {
            let invoice = fields.get("id").and_then(Value::as_str).unwrap_or_default();
            let url = format!("/v1/invoices/{invoice}/lines");
            if let Some(lines) = fields.get_mut("lines")
                && let Some(data) = lines["data"].as_array_mut()
                && data.len() > EMBEDDED
            {
                data.truncate(EMBEDDED);
                lines["has_more"] = json!(true);
                lines["url"] = json!(url);
            }
            fields.values_mut().for_each(shorten);
        }
        _ => {}
    }
}
