//! Background traffic: sales of another product on the same account, each with a customer, a payment, a charge and one
//! event. A few model sales are made once; every other sale is a copy of one with its own number and time. Nothing of
//! it is stored.

use std::{collections::BTreeMap, sync::LazyLock};

use parking_lot::Mutex;
use serde_json::Value;

use super::{FaultProfile, Parameters, lists::PAGING};
use crate::core::{
    api,
    checkout::{self, Action, Buyer},
    ids::Ids,
    prelude::*,
};

const DAY_SECONDS: i64 = 86_400;
/// The part of each of its object ids before the sale's number.
const MARK: &str = "Other";
/// One in so many sales is disputed.
const DISPUTED: u32 = 1000;
/// When the model sales were made, in seconds since the Unix epoch; other numbers in objects are smaller.
const MADE_AT: i64 = 200_000_000_000;
const EVENT_TYPES: [&str; 5] = [
    "checkout.session.completed",
    "customer.subscription.updated",
    "invoice.paid",
    "charge.refunded",
    "charge.refunded",
];

#[derive(Debug, Default)]
pub(super) struct ForeignSales {
    pub(super) sales: u32,
    first: i64,
    /// Seconds over which the sales are spread.
    span: i64,
}

/// The sale's number in an object's id, if it is the other product's.
pub(super) fn number(id: &str) -> Option<u32> {
    let (_, number) = id.split_once(MARK)?;
    number.get(..10)?.parse().ok()
}

fn mark(number: u32) -> String {
    format!("{MARK}{number:010}")
}

fn event_type(model: u32) -> &'static str {
    let index = usize::try_from(model).unwrap_or(usize::MAX);
    EVENT_TYPES.get(index).copied().unwrap_or_default()
}

const fn model(number: u32) -> u32 {
    match number % DISPUTED == DISPUTED - 1 {
        true => 4,
        false => number % 4,
    }
}

impl ForeignSales {
    pub(super) fn new(settings: &FaultProfile, now: i64) -> Self {
        let days = i64::from(settings.foreign_days.max(1));
        let span = days.saturating_mul(DAY_SECONDS);
        Self {
            sales: settings.foreign_sales,
            first: now.saturating_sub(span),
            span,
        }
    }

    /// When a sale was, in seconds since the Unix epoch.
    pub(super) fn created(&self, number: u32) -> i64 {
        let spread = self.span.saturating_mul(i64::from(number));
        let age = spread.checked_div(i64::from(self.sales)).unwrap_or(0);
        self.first.saturating_add(age)
    }

    /// The first sale at or after an instant.
    pub(super) fn since(&self, instant: i64) -> u32 {
        let (mut low, mut high) = (0, self.sales);
        while low < high {
            let middle = low.midpoint(high);
            match self.created(middle) < instant {
                true => low = middle.saturating_add(1),
                false => high = middle,
            }
        }
        low
    }

    /// Answers a read of one of its objects, or of a list filtered by one.
    pub(super) fn read(&self, path: &str, form: &Parameters) -> Option<Answer> {
        let filters = form
            .iter()
            .filter(|(name, _)| !PAGING.contains(&name.as_str()));
        let values = filters.map(|(_, value)| value.as_str());
        let number = std::iter::once(path).chain(values).find_map(number);
        let number = number.filter(|number| *number < self.sales)?;
        let (from, to) = (mark(number), mark(model(number)));
        let of_model = |text: &str| text.replace(&from, &to);
        let pairs = form
            .iter()
            .map(|(name, value)| (name.clone(), of_model(value)));
        let path = of_model(path.strip_prefix("/v1/")?);
        let mut account = MODELS.account.lock();
        let read = |params| api::call(&mut account, "GET", &path, &params);
        let outcome = Params::new(pairs).and_then(read);
        let renumbered = outcome.map(|answer| self.renumbered(number, answer.body));
        Some(renumbered.into())
    }

    /// Whether a sale has an object of this kind.
    pub(super) fn has(kind: &str, number: u32) -> bool {
        MODELS.of(kind, model(number)).is_some()
    }

    pub(super) fn has_any(kind: &str) -> bool {
        MODELS.listed.contains_key(kind)
    }

    /// The type of a sale's event.
    pub(super) fn kind(number: u32) -> &'static str {
        event_type(model(number))
    }

    /// A sale's object of a kind, which is the path of its list.
    pub(super) fn object(&self, kind: &str, number: u32) -> Option<Value> {
        let is_here = number < self.sales;
        let object = MODELS.of(kind, model(number)).filter(|_| is_here)?;
        Some(self.renumbered(number, object.clone()))
    }

    /// Renumbers an object of a sale's model.
    fn renumbered(&self, number: u32, mut value: Value) -> Value {
        let names = (mark(model(number)), mark(number));
        let later = self.created(number).saturating_sub(MADE_AT);
        rename(&mut value, &names, later);
        value
    }
}

fn rename(value: &mut Value, names: &(String, String), later: i64) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|one| rename(one, names, later)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|one| rename(one, names, later)),
        Value::String(text) if text.contains(MARK) => *text = text.replace(&names.0, &names.1),
        Value::Number(number) => {
            if let Some(at) = number.as_i64().filter(|at| *at >= MADE_AT) {
                *value = at.saturating_add(later).into();
            }
        }
        _ => {}
    }
}

/// The model sales, which others copy.
struct Models {
    account: Mutex<Database>,
    /// Their objects, by the path of the list and the model's number.
    listed: BTreeMap<&'static str, BTreeMap<u32, Value>>,
}

static MODELS: LazyLock<Models> = LazyLock::new(Models::new);

impl Models {
    fn new() -> Self {
        let ids = Ids::Counted(BTreeMap::new(), String::new());
        let mut db = Database::new("https://other.example".into(), MADE_AT, ids);
        let made = (0..5).try_for_each(|number| make(&mut db, number));
        debug_assert_eq!(made, Ok(()));
        let listed = [
            ("charges", db.views::<Charge>(|_| true)),
            ("checkout/sessions", db.views::<Session>(|_| true)),
            ("disputes", db.views::<Dispute>(|_| true)),
            ("events", db.views::<Event>(|_| true)),
            ("invoice_payments", db.views::<InvoicePayment>(|_| true)),
            ("invoices", db.views::<Invoice>(|_| true)),
            ("payment_intents", db.views::<PaymentIntent>(|_| true)),
            ("refunds", db.views::<Refund>(|_| true)),
            ("subscriptions", db.views::<Subscription>(|_| true)),
        ];
        let by_number = |view: Value| Some((number(view.get("id")?.as_str()?)?, view));
        let listed =
            listed.map(|(kind, views)| (kind, views.into_iter().filter_map(by_number).collect()));
        Self {
            account: Mutex::new(db),
            listed: listed.into(),
        }
    }

    fn of(&self, kind: &str, number: u32) -> Option<&Value> {
        self.listed.get(kind)?.get(&number)
    }
}

/// The forms of its checkout sessions.
const PAYMENT: &str = "mode=payment&success_url=https://other.example/&customer_creation=always\
    &line_items[0][quantity]=1&line_items[0][price_data][currency]=eur\
    &line_items[0][price_data][unit_amount]=1500\
    &line_items[0][price_data][product_data][name]=Ticket";
const SUBSCRIPTION: &str = "mode=subscription&success_url=https://other.example/\
    &line_items[0][quantity]=1&line_items[0][price_data][currency]=eur\
    &line_items[0][price_data][unit_amount]=1500&line_items[0][price_data][recurring][interval]=month\
    &line_items[0][price_data][product_data][name]=Season ticket\
    &line_items[1][quantity]=1&line_items[1][price_data][currency]=eur\
    &line_items[1][price_data][unit_amount]=500&line_items[1][price_data][recurring][interval]=month\
    &line_items[1][price_data][product_data][name]=Members' paper";

/// Makes a model sale, with its one event.
fn make(db: &mut Database, number: u32) -> Result<()> {
    let mark = mark(number);
    db.ids = Ids::Counted(BTreeMap::new(), mark.clone());
    db.most_events = 0;
    let (form, inner) = match number {
        1 | 2 => (SUBSCRIPTION, "subscription_data"),
        _ => (PAYMENT, "payment_intent_data"),
    };
    let form = format!("{form}&metadata[ticket]={mark}&{inner}[metadata][ticket]={mark}");
    let pairs = url::form_urlencoded::parse(form.as_bytes()).into_owned();
    let session = checkout::create(db, &Params::new(pairs)?)?.head.id;
    let buyer = Buyer {
        email: Some("a.buyer@other.example".into()),
        ..Buyer::default()
    };
    let session = checkout::act(db, &session, Action::Pay, &buyer)?;
    let charge = format!("ch_1{mark}");
    if number >= 3 {
        let wanted = refunds::RefundParams {
            amount: (number == 4).then_some(500),
            ..refunds::RefundParams::default()
        };
        refunds::refund(db, db.find(&charge)?, wanted)?;
    }
    if number == 4 {
        disputes::open(db, db.find(&charge)?, None, None, false)?;
    }
    if let Some(invoice) = &session.invoice {
        let mut invoice: Invoice = db.find(invoice)?;
        invoice.reason = BillingReason::SubscriptionCycle;
        db.put(invoice);
    }
    db.most_events = usize::MAX;
    match (number, &session.subscription, &session.invoice) {
        (1, Some(id), _) => db.emit(event_type(number), &db.find::<Subscription>(id)?),
        (2, _, Some(id)) => db.emit(event_type(number), &db.find::<Invoice>(id)?),
        (0, ..) => db.emit(event_type(number), &session),
        _ => db.emit(event_type(number), &db.find::<Charge>(&charge)?),
    }
    if number > 0 {
        // The other sales did not come from a checkout.
        db.forget::<Session>(&session.head.id);
    }
    Ok(())
}
