//! The flows, without a server and without waiting.

use serde_json::Value;

use super::{
    api,
    calendar::after,
    checkout::{Action, Buyer, act},
    database::Database,
    due,
    ids::Ids,
    objects::{Customer, Event, Invoice, Session, Subscription},
    params::Params,
    promotions,
    refusal::Refusal,
    words::StripeEnum as _,
};

mod billing;
mod cards;
mod changes;
mod checkout;
mod cycles;
mod events;
mod kept;
mod money_back;
mod rests;
mod rules;

/// The last of January 2026, 10:00.
const START: i64 = 1_769_853_600;

/// Events that come along with another one about the same thing.
pub(crate) const QUIET: [&str; 10] = [
    "payment_intent.payment_failed",
    "price.created",
    "price.updated",
    "product.created",
    "product.deleted",
    "product.updated",
    "charge.succeeded",
    "invoice.created",
    "invoice.finalized",
    "invoice.payment_succeeded",
];

struct Shop {
    db: Database,
}

impl Shop {
    fn new() -> Self {
        let mut db = Database::new("http://here/sandbox/p".into(), START, Ids::new([7; 32]));
        promotions::seed(&mut db);
        Self { db }
    }

    fn call(&mut self, method: &str, path: &str, query: &str) -> Result<Value, Refusal> {
        let params = Params::new(url::form_urlencoded::parse(query.as_bytes()).into_owned())?;
        let answer = api::call(&mut self.db, method, path, &params)?;
        Ok(answer.body)
    }

    fn post(&mut self, path: &str, query: &str) -> Value {
        self.call("POST", path, query).unwrap()
    }

    fn get(&mut self, path: &str) -> Value {
        self.call("GET", path, "").unwrap()
    }

    /// Creates a recurring price and returns its id.
    fn price(&mut self, name: &str, amount: i64, interval: &str) -> String {
        let form = format!(
            "currency=eur&unit_amount={amount}&recurring[interval]={interval}&product_data[name]={name}"
        );
        id(&self.post("prices", &form))
    }

    fn session(&mut self, more: &str) -> String {
        let form =
            format!("success_url=https://shop.example/ok&cancel_url=https://shop.example&{more}");
        id(&self.post("checkout/sessions", &form))
    }

    fn once(&mut self, amount: i64, more: &str) -> String {
        self.session(&format!(
            "mode=payment&line_items[0][quantity]=1&line_items[0][price_data][currency]=usd\
             &line_items[0][price_data][unit_amount]={amount}\
             &line_items[0][price_data][product_data][name]=Credits&customer_creation=always&{more}"
        ))
    }

    fn act(&mut self, session: &str, action: Action) -> Result<Session, Refusal> {
        act(&mut self.db, session, action, &Buyer::default())
    }

    /// Creates a subscription to a price and returns its id.
    fn subscribed(&mut self, price: &str, more: &str) -> String {
        let session = self.session(&format!(
            "mode=subscription&line_items[0][price]={price}&line_items[0][quantity]=1&{more}"
        ));
        let session = self.act(&session, Action::Pay).unwrap();
        session.subscription.unwrap()
    }

    fn subscription(&self, id: &str) -> Subscription {
        self.db.find(id).unwrap()
    }

    /// The form's part that names a subscription's item and its new price.
    fn item(&self, subscription: &str, price: &str) -> String {
        let item = self.subscription(subscription).item.id;
        format!("items[0][id]={item}&items[0][price]={price}")
    }

    fn invoice_of(&self, subscription: &str) -> Invoice {
        let latest = self.subscription(subscription).latest_invoice.unwrap();
        self.db.find(&latest).unwrap()
    }

    fn card_declines(&mut self, subscription: &str, declines: bool) {
        let customer = self.subscription(subscription).customer;
        let mut customer: Customer = self.db.find(&customer).unwrap();
        customer.declines = declines;
        self.db.put(customer);
    }

    fn until(&mut self, now: i64) {
        self.db.now = now;
        while due::step(&mut self.db) {}
    }

    /// The types of events since the last call, oldest first.
    fn sent_kinds(&mut self) -> Vec<String> {
        let events = self
            .db
            .newest::<Event>(|event| event.targets.iter().any(|to| to.endpoint.is_none()));
        let mut events: Vec<Event> = events.into_iter().cloned().collect();
        events.reverse();
        for event in &mut events {
            event.record_delivery(None, true, 1, START);
            self.db.put(event.clone());
        }
        let kinds = events.into_iter().map(|event| event.kind);
        kinds
            .filter(|kind| !QUIET.contains(&kind.as_str()))
            .collect()
    }
}

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

const DAY: i64 = 24 * 3600;
const HOUR: i64 = 3600;

fn months(cycles: i64) -> i64 {
    after(START, super::calendar::Interval::Month, cycles)
}
