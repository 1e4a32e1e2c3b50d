//! The portal's page: a customer's subscriptions, payments and actions.

use maud::{Markup, html};

use super::{Page, alert, back, button, payments::payments};
use crate::core::{
    billing::{SwitchTiming, how},
    prelude::*,
};

pub(crate) fn portal(
    visit: &PortalSession,
    offer: &Configuration,
    db: &Database,
    shop: &str,
    notice: Option<&str>,
) -> Page {
    let url = portal_url(db, &visit.head.id);
    let customer = db.get::<Customer>(&visit.customer);
    let email = customer
        .and_then(|customer| customer.email.as_deref())
        .unwrap_or("Customer");
    let declines = customer.is_some_and(|customer| customer.declines);
    let found = db.newest::<Subscription>(|one| one.customer == visit.customer);
    let return_url = visit.return_url.as_deref();
    let body = html! {
        div class="portal" {
            header { (back(return_url, "Return")) p class="shop" { (shop) } }
            main {
                h1 { "Your account" }
                p class="who" { (email) }
                (alert(notice, "alert"))
                section aria-labelledby="subs" {
                    h2 id="subs" { "Subscriptions" }
                    @for one in &found {
                        (subscription(one, offer, db, &url))
                    }
                    @if found.is_empty() {
                        p class="none" { "No subscriptions." }
                    }
                }
                (card(&url, declines))
                (payments(visit, db, &url))
            }
        }
    };
    Page::new(&format!("{shop}: your account"), &body, return_url)
}

fn tier(price: &Price, db: &Database) -> (String, String) {
    let name = db
        .get::<Product>(&price.product)
        .map_or("Subscription", |product| product.name.as_str());
    let every = price.interval.map_or("", |interval| interval.word());
    let amount = written(price.unit_amount, &price.currency);
    (name.to_owned(), format!("{amount} / {every}"))
}

fn subscription(one: &Subscription, offer: &Configuration, db: &Database, url: &str) -> Markup {
    let price = db.get::<Price>(&one.item.price);
    let (name, cost) = price.map(|price| tier(price, db)).unwrap_or_default();
    let (class, status) = match one.status {
        SubscriptionStatus::Active if one.cancel_at_end => ("wait", "Ends soon"),
        SubscriptionStatus::Active if one.pause.is_some() => ("wait", "Collection paused"),
        SubscriptionStatus::Active => ("good", "Active"),
        SubscriptionStatus::Trialing => ("good", "Trial"),
        SubscriptionStatus::PastDue => ("bad", "Past due"),
        SubscriptionStatus::Unpaid => ("bad", "Unpaid"),
        SubscriptionStatus::Paused => ("wait", "Paused"),
        SubscriptionStatus::Incomplete => ("wait", "Waiting for payment"),
        SubscriptionStatus::IncompleteExpired => ("off", "Never paid"),
        SubscriptionStatus::Canceled => ("off", "Canceled"),
    };
    let when = match one.status {
        SubscriptionStatus::Active if one.cancel_at_end => {
            format!("Ends on {}", date(one.period_end))
        }
        SubscriptionStatus::Active => format!("Renews on {}", date(one.period_end)),
        SubscriptionStatus::Trialing => format!("Free until {}", date(one.period_end)),
        SubscriptionStatus::Paused => "Nothing is billed until it is resumed".into(),
        SubscriptionStatus::PastDue => one.retry.as_ref().map_or_else(String::new, |retry| {
            format!("Payment failed. Tried again on {}", date(retry.next_at))
        }),
        _ => one
            .ended_at
            .map_or_else(String::new, |at| format!("Ended on {}", date(at))),
    };
    let next = one.scheduled.as_deref().and_then(|id| db.get::<Price>(id));
    html! {
        article class="box" {
            div class="head" {
                h3 { (name) }
                span class={ "badge " (class) } { (status) }
            }
            p class="cost" { (cost) }
            p class="when" { (when) }
            @if let Some(price) = next {
                @let (name, cost) = tier(price, db);
                p class="next" { "Changes to " (name) " (" (cost) ") then." }
            }
            (controls(one, price, offer, db, url))
        }
    }
}

fn controls(
    one: &Subscription,
    price: Option<&Price>,
    offer: &Configuration,
    db: &Database,
    url: &str,
) -> Markup {
    let named = ("subscription", one.head.id.as_str());
    let past_due = one.status == SubscriptionStatus::PastDue;
    let may_end = one.status.is_running() && offer.offers("subscription_cancel");
    html! {
        @if one.status == SubscriptionStatus::Active && offer.offers("subscription_update") && !one.cancel_at_end {
            (switches(one, price, offer, db, url))
        }
        @if past_due || may_end {
            div class="row" {
                @if past_due {
                    (button(url, "pay_now", named, "primary", "Pay now"))
                }
                @if may_end && one.cancel_at_end {
                    (button(url, "undo", named, "", "Keep subscription"))
                } @else if may_end {
                    (button(url, "cancel", named, "quiet", "Cancel subscription"))
                }
            }
        }
    }
}

fn switches(
    one: &Subscription,
    price: Option<&Price>,
    offer: &Configuration,
    db: &Database,
    url: &str,
) -> Markup {
    let Some(from) = price else {
        return html! {};
    };
    let found: Vec<_> = offer
        .prices()
        .filter_map(|id| db.get::<Price>(id))
        .filter(|to| to.active && to.currency == from.currency)
        .filter_map(|to| Some((to, label(one, offer, from, to)?)))
        .collect();
    if found.is_empty() {
        return html! {};
    }
    html! {
        div class="tiers" {
            h4 { "Change tier" }
            @for (to, label) in found {
                @let (name, cost) = tier(to, db);
                form class="tier" method="post" action={ (url) "/switch" } {
                    input type="hidden" name="subscription" value=(one.head.id);
                    input type="hidden" name="price" value=(to.head.id);
                    span { b { (name) } " " (cost) }
                    button { (label) }
                }
            }
        }
    }
}

/// The label of a tier's button, if it changes anything.
fn label(
    one: &Subscription,
    offer: &Configuration,
    from: &Price,
    to: &Price,
) -> Option<&'static str> {
    match how(offer, from, to) {
        SwitchTiming::Same if one.scheduled.is_some() => Some("Keep this tier"),
        SwitchTiming::Same => None,
        SwitchTiming::AtOnce => Some("Switch now"),
        SwitchTiming::AtEnd if one.scheduled.as_ref() == Some(&to.head.id) => None,
        SwitchTiming::AtEnd => Some("Switch at renewal"),
    }
}

fn card(url: &str, declines: bool) -> Markup {
    let (class, says, label) = if declines {
        ("bad", "Declined", "Make it work again")
    } else {
        ("good", "Works", "Make it decline")
    };
    html! {
        section aria-labelledby="card" {
            h2 id="card" { "Payment method" }
            article class="box" {
                div class="head" {
                    h3 { "Test card •••• 4242" }
                    span class={ "badge " (class) } { (says) }
                }
                p class="when" {
                    "Expires 12/34. A card that declines makes the next renewal fail."
                }
                form class="row" method="post" action={ (url) "/card" } {
                    input type="hidden" name="declines" value=(!declines);
                    button { (label) }
                }
            }
        }
    }
}
