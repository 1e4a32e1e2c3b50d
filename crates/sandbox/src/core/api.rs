//! Stripe's API, as far as the sandbox has it: one request in, an object or a refusal out. Everything that can be
//! refused is refused before anything changes.

use crate::core::prelude::*;

mod customers;
mod disputes;
mod endpoints;
mod events;
mod expand;
mod invoices;
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

/// Answers `method /v1/<path>`.
pub(crate) fn call(books: &mut Books, method: &str, path: &str, params: &Params) -> Result<Value> {
    let mut answer = route(books, method, path, params)?;
    expand::expand(books, params, &mut answer)?;
    Ok(answer)
}

fn route(books: &mut Books, method: &str, path: &str, params: &Params) -> Result<Value> {
    let segments: Vec<&str> = path.split('/').collect();
    match (method, segments.as_slice()) {
        ("POST", ["checkout", "sessions"]) => sessions::create(books, params),
        ("GET", ["checkout", "sessions", id]) => sessions::retrieve(books, params, id),
        ("POST", ["checkout", "sessions", id, "expire"]) => sessions::expire(books, params, id),
        ("GET", ["checkout", "sessions", id, "line_items"]) => sessions::items(books, params, id),
        ("POST", ["products"]) => prices::create_product(books, params),
        ("POST", ["products", id]) => prices::update_product(books, params, id),
        ("DELETE", ["products", id]) => prices::delete_product(books, params, id),
        ("POST", ["prices"]) => prices::create(books, params),
        ("POST", ["prices", id]) => prices::update(books, params, id),
        ("POST", ["coupons"]) => promotions::create_coupon(books, params),
        ("POST", ["promotion_codes"]) => promotions::create(books, params),
        ("GET", ["promotion_codes"]) => promotions::list(books, params),
        ("POST", ["customers"]) => customers::create(books, params),
        ("POST", ["customers", id]) => customers::update(books, params, id),
        ("GET", ["account"]) => endpoints::account(books, params),
        ("POST", ["webhook_endpoints"]) => endpoints::create(books, params),
        ("POST", ["webhook_endpoints", id]) => endpoints::update(books, params, id),
        ("DELETE", ["webhook_endpoints", id]) => read::delete::<Endpoint>(books, params, id),
        ("POST", ["refunds"]) => refunds::create(books, params),
        ("POST", ["refunds", id]) => refunds::update(books, params, id),
        ("POST", ["refunds", id, "cancel"]) => refunds::cancel(books, params, id),
        ("POST", ["disputes", id]) => disputes::update(books, params, id),
        ("POST", ["disputes", id, "close"]) => disputes::close(books, params, id),
        ("GET", ["subscriptions"]) => subscriptions::list(books, params),
        ("POST", ["subscriptions", id]) => subscriptions::update(books, params, id),
        ("DELETE", ["subscriptions", id]) => subscriptions::cancel(books, params, id),
        ("POST", ["subscriptions", id, "resume"]) => subscriptions::resume(books, params, id),
        ("POST", ["subscription_schedules"]) => schedules::create(books, params),
        ("GET", ["subscription_schedules"]) => schedules::list(books, params),
        ("POST", ["subscription_schedules", id]) => schedules::update(books, params, id),
        ("POST", ["subscription_schedules", id, "release"]) => {
            schedules::release(books, params, id)
        }
        ("POST", ["subscription_schedules", id, "cancel"]) => schedules::cancel(books, params, id),
        ("POST", ["invoices", id, word]) => invoices::invoice(books, params, id, word),
        ("GET", ["invoices", id, "lines"]) => invoices::lines(books, params, id),
        ("POST", ["invoiceitems"]) => invoices::create_item(books, params),
        ("GET", ["invoiceitems"]) => invoices::items(books, params),
        ("DELETE", ["invoiceitems", id]) => invoices::delete_item(books, params, id),
        ("GET", ["invoice_payments"]) => invoices::invoice_payments(books, params),
        ("POST", ["billing_portal", "configurations"]) => portal::create(books, params),
        ("POST", ["billing_portal", "configurations", id]) => portal::update(books, params, id),
        ("POST", ["billing_portal", "sessions"]) => portal::visit(books, params),
        ("GET", ["events"]) => events::list(books, params),
        ("GET", ["events", id]) => events::one(books, params, id),
        ("GET", _) => look_up(books, params, path),
        _ => Err(Refusal::no_route(method, path)),
    }
}

macro_rules! readable {
    ($($path:literal $kind:ident $rules:tt,)*) => {
        /// Answers reads of stored objects by path: a single one, or a list with filters.
        fn look_up(books: &Books, params: &Params, path: &str) -> Result<Value> {
            let (collection, id) = path.rsplit_once('/').unwrap_or_default();
            match (path, collection) {
                $(
                    ($path, _) => read::some::<$kind>(books, params, path, &$rules, |_| true),
                    (_, $path) => read::one::<$kind>(books, params, id),
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
    "prices" Price
        ["lookup_keys[]=lookup_key", "product", "active?", "currency", "type=one_time|recurring"],
    "products" Product ["active?", "ids[]=id"],
    "promotion_codes" PromotionCode [],
    "refunds" Refund ["charge", "payment_intent"],
    "subscription_schedules" Schedule [],
    "subscriptions" Subscription [],
    "webhook_endpoints" Endpoint [],
}
