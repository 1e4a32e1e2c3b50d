//! Stripe's API, as far as the sandbox serves it: one request in, an object or a refusal out.
//! Everything that can be refused is refused before anything changes.

mod customers;
mod disputes;
mod endpoints;
mod events;
mod expand;
mod invoices;
mod list;
mod portal;
pub(crate) mod prices;
mod promotions;
mod range;
mod read;
pub(crate) mod refunds;
mod schedules;
mod sessions;
mod subscriptions;

pub(crate) use events::covers;
use serde_json::Value;

use super::{
    books::Desk,
    objects::{
        Charge, Configuration, Coupon, Customer, Dispute, Endpoint, Intent, Invoice, InvoiceItem,
        Price, Product, PromotionCode, Refund, Schedule, Session, Subscription,
    },
    params::Params,
    refusal::Refusal,
};

/// Answers `method /v1/<path>`.
pub(crate) fn call(
    desk: &mut Desk<'_>,
    method: &str,
    path: &str,
    params: &Params,
) -> Result<Value, Refusal> {
    let mut answer = route(desk, method, path, params)?;
    expand::expand(desk.books, params, &mut answer)?;
    Ok(answer)
}

fn route(desk: &mut Desk<'_>, method: &str, path: &str, params: &Params) -> Result<Value, Refusal> {
    let segments: Vec<&str> = path.split('/').collect();
    match (method, segments.as_slice()) {
        ("POST", ["checkout", "sessions"]) => sessions::create(desk, params),
        ("GET", ["checkout", "sessions"]) => read::by::<Session>(
            desk,
            params,
            path,
            &[
                "customer",
                "payment_intent",
                "status=open|complete|expired",
                "subscription",
            ],
        ),
        ("GET", ["checkout", "sessions", id]) => sessions::retrieve(desk, params, id),
        ("POST", ["checkout", "sessions", id, "expire"]) => sessions::expire(desk, params, id),
        ("GET", ["checkout", "sessions", id, "line_items"]) => sessions::items(desk, params, id),
        ("POST", ["products"]) => prices::create_product(desk, params),
        ("GET", ["products"]) => prices::list_products(desk, params),
        ("POST", ["products", id]) => prices::update_product(desk, params, id),
        ("DELETE", ["products", id]) => prices::delete_product(desk, params, id),
        ("POST", ["prices", id]) => prices::update(desk, params, id),
        ("POST", ["customers", id]) => customers::update(desk, params, id),
        ("GET", ["account"]) => endpoints::account(desk.books, params),
        ("POST", ["webhook_endpoints"]) => endpoints::create(desk, params),
        ("GET", ["webhook_endpoints"]) => read::by::<Endpoint>(desk, params, path, &[]),
        ("GET", ["webhook_endpoints", id]) => read::one::<Endpoint>(desk, params, id),
        ("POST", ["webhook_endpoints", id]) => endpoints::update(desk, params, id),
        ("DELETE", ["webhook_endpoints", id]) => endpoints::delete(desk, params, id),
        ("GET", ["products", id]) => read::one::<Product>(desk, params, id),
        ("POST", ["prices"]) => prices::create(desk, params),
        ("GET", ["prices"]) => prices::list(desk, params),
        ("GET", ["prices", id]) => read::one::<Price>(desk, params, id),
        ("POST", ["coupons"]) => promotions::create_coupon(desk, params),
        ("GET", ["coupons"]) => read::by::<Coupon>(desk, params, path, &[]),
        ("GET", ["coupons", id]) => read::one::<Coupon>(desk, params, id),
        ("POST", ["promotion_codes"]) => promotions::create(desk, params),
        ("GET", ["promotion_codes"]) => promotions::list(desk, params),
        ("GET", ["promotion_codes", id]) => read::one::<PromotionCode>(desk, params, id),
        ("POST", ["customers"]) => customers::create(desk, params),
        ("GET", ["customers"]) => read::by::<Customer>(desk, params, path, &["email"]),
        ("GET", ["customers", id]) => read::one::<Customer>(desk, params, id),
        ("GET", ["payment_intents"]) => read::by::<Intent>(desk, params, path, &["customer"]),
        ("GET", ["charges"]) => {
            read::by::<Charge>(desk, params, path, &["customer", "payment_intent"])
        }
        ("GET", ["payment_intents", id]) => read::one::<Intent>(desk, params, id),
        ("GET", ["charges", id]) => read::one::<Charge>(desk, params, id),
        ("POST", ["refunds"]) => refunds::create(desk, params),
        ("GET", ["refunds"]) => {
            read::by::<Refund>(desk, params, path, &["charge", "payment_intent"])
        }
        ("GET", ["refunds", id]) => read::one::<Refund>(desk, params, id),
        ("POST", ["refunds", id]) => refunds::update(desk, params, id),
        ("POST", ["refunds", id, "cancel"]) => refunds::cancel(desk, params, id),
        ("GET", ["disputes"]) => {
            read::by::<Dispute>(desk, params, path, &["charge", "payment_intent"])
        }
        ("POST", ["disputes", id]) => disputes::update(desk, params, id),
        ("POST", ["disputes", id, "close"]) => disputes::close(desk, params, id),
        ("GET", ["disputes", id]) => read::one::<Dispute>(desk, params, id),
        ("GET", ["subscriptions"]) => subscriptions::list(desk, params),
        ("GET", ["subscriptions", id]) => read::one::<Subscription>(desk, params, id),
        ("POST", ["subscriptions", id]) => subscriptions::update(desk, params, id),
        ("DELETE", ["subscriptions", id]) => subscriptions::cancel(desk, params, id),
        ("POST", ["subscriptions", id, "resume"]) => subscriptions::resume(desk, params, id),
        ("POST", ["subscription_schedules"]) => schedules::create(desk, params),
        ("GET", ["subscription_schedules"]) => schedules::list(desk, params),
        ("GET", ["subscription_schedules", id]) => read::one::<Schedule>(desk, params, id),
        ("POST", ["subscription_schedules", id]) => schedules::update(desk, params, id),
        ("POST", ["subscription_schedules", id, "release"]) => schedules::release(desk, params, id),
        ("POST", ["subscription_schedules", id, "cancel"]) => schedules::cancel(desk, params, id),
        ("POST", ["invoices", id, word]) => invoices::invoice(desk, params, id, word),
        ("GET", ["invoices"]) => read::by::<Invoice>(
            desk,
            params,
            path,
            &[
                "customer",
                "status=draft|open|paid|uncollectible|void",
                "subscription",
            ],
        ),
        ("GET", ["invoices", id, "lines"]) => invoices::lines(desk, params, id),
        ("POST", ["invoiceitems"]) => invoices::create_item(desk, params),
        ("GET", ["invoiceitems"]) => invoices::items(desk, params),
        ("GET", ["invoiceitems", id]) => read::one::<InvoiceItem>(desk, params, id),
        ("DELETE", ["invoiceitems", id]) => invoices::delete_item(desk, params, id),
        ("GET", ["invoices", id]) => read::one::<Invoice>(desk, params, id),
        ("GET", ["invoice_payments"]) => invoices::invoice_payments(desk, params),
        ("POST", ["billing_portal", "configurations"]) => portal::create(desk, params),
        ("GET", ["billing_portal", "configurations"]) => portal::list(desk, params),
        ("GET", ["billing_portal", "configurations", id]) => {
            read::one::<Configuration>(desk, params, id)
        }
        ("POST", ["billing_portal", "configurations", id]) => portal::update(desk, params, id),
        ("POST", ["billing_portal", "sessions"]) => portal::visit(desk, params),
        ("GET", ["events"]) => events::list(desk, params),
        ("GET", ["events", id]) => events::one(desk, params, id),
        _ => Err(Refusal::no_route(method, path)),
    }
}
