//! Stripe's API, as far as the sandbox serves it: one request in, an object or a refusal out.
//! Everything that can be refused is refused before anything changes.

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
pub(crate) use read::{Paging, created, list};

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
        ("GET", ["checkout", "sessions"]) => read::by::<Session>(
            books,
            params,
            path,
            &[
                "customer",
                "payment_intent",
                "status=open|complete|expired",
                "subscription",
            ],
        ),
        ("GET", ["checkout", "sessions", id]) => sessions::retrieve(books, params, id),
        ("POST", ["checkout", "sessions", id, "expire"]) => sessions::expire(books, params, id),
        ("GET", ["checkout", "sessions", id, "line_items"]) => sessions::items(books, params, id),
        ("POST", ["products"]) => prices::create_product(books, params),
        ("GET", ["products"]) => prices::list_products(books, params),
        ("POST", ["products", id]) => prices::update_product(books, params, id),
        ("DELETE", ["products", id]) => prices::delete_product(books, params, id),
        ("POST", ["prices", id]) => prices::update(books, params, id),
        ("POST", ["customers", id]) => customers::update(books, params, id),
        ("GET", ["account"]) => endpoints::account(books, params),
        ("POST", ["webhook_endpoints"]) => endpoints::create(books, params),
        ("GET", ["webhook_endpoints"]) => read::by::<Endpoint>(books, params, path, &[]),
        ("GET", ["webhook_endpoints", id]) => read::one::<Endpoint>(books, params, id),
        ("POST", ["webhook_endpoints", id]) => endpoints::update(books, params, id),
        ("DELETE", ["webhook_endpoints", id]) => read::delete::<Endpoint>(books, params, id),
        ("GET", ["products", id]) => read::one::<Product>(books, params, id),
        ("POST", ["prices"]) => prices::create(books, params),
        ("GET", ["prices"]) => prices::list(books, params),
        ("GET", ["prices", id]) => read::one::<Price>(books, params, id),
        ("POST", ["coupons"]) => promotions::create_coupon(books, params),
        ("GET", ["coupons"]) => read::by::<Coupon>(books, params, path, &[]),
        ("GET", ["coupons", id]) => read::one::<Coupon>(books, params, id),
        ("POST", ["promotion_codes"]) => promotions::create(books, params),
        ("GET", ["promotion_codes"]) => promotions::list(books, params),
        ("GET", ["promotion_codes", id]) => read::one::<PromotionCode>(books, params, id),
        ("POST", ["customers"]) => customers::create(books, params),
        ("GET", ["customers"]) => read::by::<Customer>(books, params, path, &["email"]),
        ("GET", ["customers", id]) => read::one::<Customer>(books, params, id),
        ("GET", ["payment_intents"]) => read::by::<Intent>(books, params, path, &["customer"]),
        ("GET", ["charges"]) => {
            read::by::<Charge>(books, params, path, &["customer", "payment_intent"])
        }
        ("GET", ["payment_intents", id]) => read::one::<Intent>(books, params, id),
        ("GET", ["charges", id]) => read::one::<Charge>(books, params, id),
        ("POST", ["refunds"]) => refunds::create(books, params),
        ("GET", ["refunds"]) => {
            read::by::<Refund>(books, params, path, &["charge", "payment_intent"])
        }
        ("GET", ["refunds", id]) => read::one::<Refund>(books, params, id),
        ("POST", ["refunds", id]) => refunds::update(books, params, id),
        ("POST", ["refunds", id, "cancel"]) => refunds::cancel(books, params, id),
        ("GET", ["disputes"]) => {
            read::by::<Dispute>(books, params, path, &["charge", "payment_intent"])
        }
        ("POST", ["disputes", id]) => disputes::update(books, params, id),
        ("POST", ["disputes", id, "close"]) => disputes::close(books, params, id),
        ("GET", ["disputes", id]) => read::one::<Dispute>(books, params, id),
        ("GET", ["subscriptions"]) => subscriptions::list(books, params),
        ("GET", ["subscriptions", id]) => read::one::<Subscription>(books, params, id),
        ("POST", ["subscriptions", id]) => subscriptions::update(books, params, id),
        ("DELETE", ["subscriptions", id]) => subscriptions::cancel(books, params, id),
        ("POST", ["subscriptions", id, "resume"]) => subscriptions::resume(books, params, id),
        ("POST", ["subscription_schedules"]) => schedules::create(books, params),
        ("GET", ["subscription_schedules"]) => schedules::list(books, params),
        ("GET", ["subscription_schedules", id]) => read::one::<Schedule>(books, params, id),
        ("POST", ["subscription_schedules", id]) => schedules::update(books, params, id),
        ("POST", ["subscription_schedules", id, "release"]) => {
            schedules::release(books, params, id)
        }
        ("POST", ["subscription_schedules", id, "cancel"]) => schedules::cancel(books, params, id),
        ("POST", ["invoices", id, word]) => invoices::invoice(books, params, id, word),
        ("GET", ["invoices"]) => read::by::<Invoice>(
            books,
            params,
            path,
            &[
                "customer",
                "status=draft|open|paid|uncollectible|void",
                "subscription",
            ],
        ),
        ("GET", ["invoices", id, "lines"]) => invoices::lines(books, params, id),
        ("POST", ["invoiceitems"]) => invoices::create_item(books, params),
        ("GET", ["invoiceitems"]) => invoices::items(books, params),
        ("GET", ["invoiceitems", id]) => read::one::<InvoiceItem>(books, params, id),
        ("DELETE", ["invoiceitems", id]) => invoices::delete_item(books, params, id),
        ("GET", ["invoices", id]) => read::one::<Invoice>(books, params, id),
        ("GET", ["invoice_payments"]) => invoices::invoice_payments(books, params),
        ("POST", ["billing_portal", "configurations"]) => portal::create(books, params),
        ("GET", ["billing_portal", "configurations"]) => portal::list(books, params),
        ("GET", ["billing_portal", "configurations", id]) => {
            read::one::<Configuration>(books, params, id)
        }
        ("POST", ["billing_portal", "configurations", id]) => portal::update(books, params, id),
        ("POST", ["billing_portal", "sessions"]) => portal::visit(books, params),
        ("GET", ["events"]) => events::list(books, params),
        ("GET", ["events", id]) => events::one(books, params, id),
        _ => Err(Refusal::no_route(method, path)),
    }
}
