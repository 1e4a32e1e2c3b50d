//! Stripe's API, as far as the sandbox has it: one request in, an object or a refusal out. Everything that can be
//! refused is refused before anything changes.

use crate::core::prelude::*;

mod customers;
mod disputes;
mod endpoints;
mod events;
mod expand;
mod invoices;
pub(crate) mod payments;
mod portal;
pub(crate) mod prices;
mod promotions;
mod read;
pub(crate) mod refunds;
mod schedules;
mod sessions;
mod subscriptions;

pub(crate) use events::covers;
pub(crate) use read::{Paging, changed, created};

pub(crate) fn call(db: &mut Database, method: &str, path: &str, params: &Params) -> Result<Answer> {
    let mut answer = match (method, path) {
        ("POST", "payment_intents") => payments::create(db, params)?,
        _ => Answer {
            status: 200,
            body: route(db, method, path, params)?,
        },
    };
    if answer.status == 200 {
        expand::expand(db, params, &mut answer.body)?;
    }
    Ok(answer)
}

fn route(db: &mut Database, method: &str, path: &str, params: &Params) -> Result<Value> {
    let segments: Vec<&str> = path.split('/').collect();
    match (method, segments.as_slice()) {
        ("POST", ["checkout", "sessions"]) => Ok(checkout::create(db, params)?.view(db)),
        ("GET", ["checkout", "sessions", id]) => sessions::retrieve(db, params, id),
        ("POST", ["checkout", "sessions", id, "expire"]) => sessions::expire(db, params, id),
        ("GET", ["checkout", "sessions", id, "line_items"]) => sessions::items(db, params, id),
        ("POST", ["products"]) => prices::create_product(db, params),
        ("POST", ["products", id]) => prices::update_product(db, params, id),
        ("DELETE", ["products", id]) => prices::delete_product(db, params, id),
        ("POST", ["prices"]) => prices::create(db, params),
        ("POST", ["prices", id]) => prices::update(db, params, id),
        ("POST", ["coupons"]) => promotions::create_coupon(db, params),
        ("POST", ["promotion_codes"]) => promotions::create(db, params),
        ("GET", ["promotion_codes"]) => promotions::list(db, params),
        ("POST", ["customers"]) => customers::create(db, params),
        ("POST", ["customers", id]) => customers::update(db, params, id),
        ("GET", ["account"]) => endpoints::account(db, params),
        ("POST", ["webhook_endpoints"]) => endpoints::create(db, params),
        ("POST", ["webhook_endpoints", id]) => endpoints::update(db, params, id),
        ("DELETE", ["webhook_endpoints", id]) => read::delete::<Endpoint>(db, params, id),
        ("POST", ["payment_intents", id, "cancel"]) => payments::cancel(db, params, id),
        ("POST", ["payment_methods", id, "detach"]) => payments::detach(db, params, id),
        ("POST", ["refunds"]) => refunds::create(db, params),
        ("POST", ["refunds", id]) => refunds::update(db, params, id),
        ("POST", ["refunds", id, "cancel"]) => refunds::cancel(db, params, id),
        ("POST", ["disputes", id]) => disputes::update(db, params, id),
        ("POST", ["disputes", id, "close"]) => disputes::close(db, params, id),
        ("GET", ["subscriptions"]) => subscriptions::list(db, params),
        ("POST", ["subscriptions", id]) => subscriptions::update(db, params, id),
        ("DELETE", ["subscriptions", id]) => subscriptions::cancel(db, params, id),
        ("POST", ["subscriptions", id, "resume"]) => subscriptions::resume(db, params, id),
        ("POST", ["subscription_schedules"]) => schedules::create(db, params),
        ("GET", ["subscription_schedules"]) => schedules::list(db, params),
        ("POST", ["subscription_schedules", id]) => schedules::update(db, params, id),
        ("POST", ["subscription_schedules", id, "release"]) => schedules::release(db, params, id),
        ("POST", ["subscription_schedules", id, "cancel"]) => schedules::cancel(db, params, id),
        ("POST", ["invoices", id, word]) => invoices::invoice(db, params, id, word),
        ("GET", ["invoices", id, "lines"]) => invoices::lines(db, params, id),
        ("POST", ["invoiceitems"]) => invoices::create_item(db, params),
        ("GET", ["invoiceitems"]) => invoices::items(db, params),
        ("DELETE", ["invoiceitems", id]) => invoices::delete_item(db, params, id),
        ("GET", ["invoice_payments"]) => invoices::invoice_payments(db, params),
        ("POST", ["billing_portal", "configurations"]) => portal::create(db, params),
        ("POST", ["billing_portal", "configurations", id]) => portal::update(db, params, id),
        ("POST", ["billing_portal", "sessions"]) => portal::visit(db, params),
        ("GET", ["events"]) => events::list(db, params),
        ("GET", ["events", id]) => events::one(db, params, id),
        ("GET", _) => look_up(db, params, path),
        _ => Err(Refusal::no_route(method, path)),
    }
}

macro_rules! readable {
    ($($path:literal $kind:ident $rules:tt,)*) => {
        fn look_up(db: &Database, params: &Params, path: &str) -> Result<Value> {
            let (collection, id) = path.rsplit_once('/').unwrap_or_default();
            match (path, collection) {
                $(
                    ($path, _) => read::some::<$kind>(db, params, path, &$rules, |_| true),
                    (_, $path) => read::one::<$kind>(db, params, id),
                )*
                _ => Err(Refusal::no_route("GET", path)),
            }
        }
    };
}

readable! {
    "billing_portal/configurations" Configuration ["active?", "is_default?"],
    "charges" Charge ["customer", "payment_intent"],
    "checkout/sessions" Session
        ["customer", "payment_intent", "status=open|complete|expired", "subscription"],
    "coupons" Coupon [],
    "customers" Customer ["email"],
    "disputes" Dispute ["charge", "payment_intent"],
    "invoiceitems" InvoiceItem [],
    "invoices" Invoice ["customer", "status=draft|open|paid|uncollectible|void", "subscription"],
    "payment_intents" PaymentIntent ["customer"],
    "payment_methods" PaymentMethod ["customer", "type=card"],
    "prices" Price
        ["lookup_keys[]=lookup_key", "product", "active?", "currency", "type=one_time|recurring"],
    "products" Product ["active?", "ids[]=id"],
    "promotion_codes" PromotionCode [],
    "refunds" Refund ["charge", "payment_intent"],
    "setup_intents" SetupIntent ["customer", "payment_method"],
    "subscription_schedules" Schedule [],
    "subscriptions" Subscription [],
    "webhook_endpoints" Endpoint [],
}
