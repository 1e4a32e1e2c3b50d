//! The portal's page: what a customer subscribed to and paid, and what can be done about it.

use super::{Escaped, Page, alert, payments::payments};
use crate::core::{
    billing::{How, how},
    books::Books,
    calendar::date,
    money::written,
    records::{Configuration, Customer, PortalSession, Price, Product, Standing, Subscription},
    views::portal_url,
};

/// The page of a visit.
pub(crate) fn portal(
    visit: &PortalSession,
    offer: &Configuration,
    books: &Books,
    shop: &str,
    notice: Option<&str>,
) -> Page {
    let url = Escaped(portal_url(books, &visit.head.id)).to_string();
    let customer = books.get::<Customer>(&visit.customer);
    let email = customer
        .and_then(|customer| customer.email.as_deref())
        .unwrap_or("Customer");
    let back = visit.return_url.as_ref().map_or_else(String::new, |to| {
        format!(
            "<a class=\"back\" href=\"{}\" rel=\"noreferrer\"><span aria-hidden=\"true\">←</span> \
             Return</a>",
            Escaped(to),
        )
    });
    let found = books.newest::<Subscription>(|one| one.customer == visit.customer);
    let shown: String = found
        .iter()
        .map(|one| subscription(one, offer, books, &url))
        .collect();
    let shown = if shown.is_empty() {
        "<p class=\"none\">No subscriptions.</p>".into()
    } else {
        shown
    };
    let declines = customer.is_some_and(|customer| customer.declines);
    let body = format!(
        "<div class=\"portal\"><header>{back}<p class=\"shop\">{}</p></header><main><h1>Your \
         account</h1><p class=\"who\">{}</p>{}<section aria-labelledby=\"subs\"><h2 \
         id=\"subs\">Subscriptions</h2>{shown}</section>{}{}</main></div>",
        Escaped(shop),
        Escaped(email),
        alert(notice, "alert"),
        card(&url, declines),
        payments(visit, books, &url),
    );
    Page::new(
        &format!("{shop}: your account"),
        &body,
        visit.return_url.as_deref(),
    )
}

fn tier(price: &Price, books: &Books) -> (String, String) {
    let name = books
        .get::<Product>(&price.product)
        .map_or("Subscription", |product| product.name.as_str());
    let every = price.interval.map_or("", |interval| interval.word());
    let amount = written(price.unit_amount, &price.currency);
    (name.to_owned(), format!("{amount} / {every}"))
}

fn subscription(one: &Subscription, offer: &Configuration, books: &Books, url: &str) -> String {
    let price = books.get::<Price>(&one.price);
    let (name, cost) = price.map(|price| tier(price, books)).unwrap_or_default();
    let (class, status) = match one.status {
        Standing::Active if one.cancel_at_end => ("wait", "Ends soon"),
        Standing::Active if one.pause.is_some() => ("wait", "Not collected"),
        Standing::Active => ("good", "Active"),
        Standing::Trialing => ("good", "Trial"),
        Standing::PastDue => ("bad", "Past due"),
        Standing::Paused => ("wait", "Paused"),
        Standing::Incomplete => ("wait", "Waiting for payment"),
        Standing::IncompleteExpired => ("off", "Never paid"),
        Standing::Canceled => ("off", "Canceled"),
    };
    let when = match one.status {
        Standing::Active if one.cancel_at_end => format!("Ends on {}", date(one.period_end)),
        Standing::Active => format!("Renews on {}", date(one.period_end)),
        Standing::Trialing => format!("Costs nothing until {}", date(one.period_end)),
        Standing::Paused => "Nothing is billed until it is resumed".into(),
        Standing::PastDue => one.retry.as_ref().map_or_else(String::new, |retry| {
            format!("Payment failed. Tried again on {}", date(retry.next_at))
        }),
        _ => one
            .ended_at
            .map_or_else(String::new, |at| format!("Ended on {}", date(at))),
    };
    let next = one
        .scheduled
        .as_deref()
        .and_then(|id| books.get::<Price>(id));
    let next = next.map_or_else(String::new, |price| {
        let (name, cost) = tier(price, books);
        format!(
            "<p class=\"next\">Changes to {} ({}) then.</p>",
            Escaped(name),
            Escaped(cost)
        )
    });
    format!(
        "<article class=\"box\"><div class=\"head\"><h3>{}</h3><span class=\"badge {class}\">{status}\
         </span></div><p class=\"cost\">{}</p><p class=\"when\">{}</p>{next}{}</article>",
        Escaped(name),
        Escaped(cost),
        Escaped(when),
        controls(one, price, offer, books, url),
    )
}

fn controls(
    one: &Subscription,
    price: Option<&Price>,
    offer: &Configuration,
    books: &Books,
    url: &str,
) -> String {
    let id = Escaped(&one.head.id).to_string();
    let button = |action: &str, class: &str, label: &str| {
        format!(
            "<form method=\"post\" action=\"{url}/{action}\"><input type=\"hidden\" \
             name=\"subscription\" value=\"{id}\"><button class=\"{class}\">{label}</button></form>"
        )
    };
    let mut html = String::new();
    if one.status == Standing::Active && offer.switch && !one.cancel_at_end {
        html.push_str(&switches(one, price, offer, books, url));
    }
    let mut buttons = String::new();
    if one.status == Standing::PastDue {
        buttons.push_str(&button("pay_now", "primary", "Pay now"));
    }
    if one.status.is_running() && offer.cancel {
        buttons.push_str(&if one.cancel_at_end {
            button("undo", "", "Keep subscription")
        } else {
            button("cancel", "quiet", "Cancel subscription")
        });
    }
    if !buttons.is_empty() {
        html.push_str(&format!("<div class=\"row\">{buttons}</div>"));
    }
    html
}

fn switches(
    one: &Subscription,
    price: Option<&Price>,
    offer: &Configuration,
    books: &Books,
    url: &str,
) -> String {
    let Some(from) = price else {
        return String::new();
    };
    let offered = offer.tiers.iter().flat_map(|tiers| &tiers.prices);
    let options: String = offered
        .filter_map(|id| books.get::<Price>(id))
        .filter(|to| to.active && to.currency == from.currency)
        .filter_map(|to| {
            let (name, cost) = tier(to, books);
            let label = match how(offer, from, to) {
                How::Same if one.scheduled.is_some() => "Keep this tier",
                How::Same => return None,
                How::AtOnce => "Switch now",
                How::AtEnd if one.scheduled.as_ref() == Some(&to.head.id) => return None,
                How::AtEnd => "Switch at renewal",
            };
            Some(format!(
                "<form class=\"tier\" method=\"post\" action=\"{url}/switch\"><input type=\"hidden\" \
                 name=\"subscription\" value=\"{}\"><input type=\"hidden\" name=\"price\" \
                 value=\"{}\"><span><b>{}</b> {}</span><button>{label}</button></form>",
                Escaped(&one.head.id),
                Escaped(&to.head.id),
                Escaped(name),
                Escaped(cost),
            ))
        })
        .collect();
    if options.is_empty() {
        return String::new();
    }
    format!("<div class=\"tiers\"><h4>Change tier</h4>{options}</div>")
}

fn card(url: &str, declines: bool) -> String {
    let (class, says, next, label) = if declines {
        ("bad", "Declined", false, "Make it work again")
    } else {
        ("good", "Works", true, "Make it decline")
    };
    format!(
        "<section aria-labelledby=\"card\"><h2 id=\"card\">Payment method</h2><article \
         class=\"box\"><div class=\"head\"><h3>Test card •••• 4242</h3><span class=\"badge \
         {class}\">{says}</span></div><p class=\"when\">Expires 12/34. A card that declines makes the \
         next renewal fail.</p><form class=\"row\" method=\"post\" action=\"{url}/card\"><input \
         type=\"hidden\" name=\"declines\" value=\"{next}\"><button>{label}</button></form></article>\
         </section>"
    )
}
