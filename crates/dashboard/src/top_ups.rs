//! Cards on file and automatic top-ups: on a wallet's page what is set and where it stands, and a page with those that
//! are suspended.

use actors::{TopUpDetail, WalletView};
use domain::{
    id::WalletKey,
    top_up::{Ceiling, SavedCard, Suspension, TopUpRule, TopUpSize, TopUpState},
};

use super::{orders, prelude::*, wallets};

/// Wallets of a page.
const PAGE_SIZE: usize = 50;
/// Suspended ones that are counted by reason.
const MAX_COUNTED: usize = 200;

/// A wallet's card; nothing where there is neither a card on file nor a rule.
pub(super) fn card(project: &ProjectCatalog, key: WalletKey, detail: &TopUpDetail) -> Markup {
    let top_up = &detail.top_up;
    html! { @if top_up.card.is_some() || top_up.rule.is_some() {
        section.card #top-up {
            div.head { h2 { "Automatic top-up" } (badge(detail)) }
            dl {
                div { dt { "Card on file" } dd { @match &top_up.card { Some(card) => (on_file(card)), None => "None" } } }
                @if let Some(rule) = &top_up.rule { (facts(rule, detail)) }
                @if let Some(decline) = &top_up.last_decline { div { dt { "Last decline" } dd { code { (decline.code) } } } }
                @if let Some(at) = detail.next_attempt_at { div { dt { "No attempt before" } dd { (layout::when(at)) @if let Some(ceiling) = detail.ceiling { ", for the limit of the " (window(ceiling)) } } } }
            }
            @if let Some(open) = &top_up.open {
                @let order = domain::id::OrderId { serial: open.order, wallet: key };
                p.note { "The outcome of an attempt of " (layout::when(open.at)) " is not known yet: " a href=(orders::path(project, order)) { "its order" } }
            }
            p.hint { "Each attempt is one of the " a href="#orders" { "orders" } ". " (layout::docs("top-ups", "Automatic top-up")) }
        }
    } }
}

fn facts(rule: &TopUpRule, detail: &TopUpDetail) -> Markup {
    let currency = &rule.terms.currency;
    html! {
        div { dt { "Buys" } dd {
            @match rule.size {
                TopUpSize::Quantity(quantity) => { (quantity.get()) " × " },
                TopUpSize::Target(target) => { "as many as reach " (grouped(target)) ", of " },
            }
            (grouped(rule.terms.credits)) " credits for " (money(rule.terms.amount_cents, currency))
        } }
        div { dt { "When fewer can be spent than" } dd { (grouped(rule.threshold)) } }
        div { dt { "Charged this month" } dd { (money(detail.charged_this_month, currency)) " of " (money(rule.monthly_limit_cents, currency)) } }
        div { dt { "Attempts today" } dd { (detail.attempts_today) " of " (rule.max_per_day) } }
        div { dt { "Consent" } dd { (layout::when(rule.consent.at)) details { summary { "Text" } p { (rule.consent.text) } } } }
    }
}

fn on_file(card: &SavedCard) -> Markup {
    html! { (card.brand.as_str()) " ending in " (card.last4.as_str()) ", valid until " (card.exp_month) "/" (card.exp_year) }
}

const fn window(ceiling: Ceiling) -> &'static str {
    match ceiling {
        Ceiling::Monthly => "month",
        Ceiling::Daily => "day",
    }
}

fn badge(detail: &TopUpDetail) -> Markup {
    let (name, class) = match detail.state {
        TopUpState::Off => ("Off", "badge"),
        TopUpState::Armed => ("On", "badge good"),
        TopUpState::Charging => ("Charging", "badge wait"),
        TopUpState::CoolingDown => ("Waiting", "badge wait"),
        TopUpState::ActionRequired | TopUpState::Suspended => {
            let suspended = detail.top_up.suspended.as_ref();
            (suspended.map_or("Suspended", why), "badge bad")
        }
    };
    html! { span class=(class) { (name) } }
}

const fn why(reason: &Suspension) -> &'static str {
    match reason {
        Suspension::Declined => "Declined three times",
        Suspension::CardUnusable => "Card unusable",
        Suspension::ActionRequired(_) => "The bank wants the buyer",
        Suspension::Disputed => "Disputed",
        Suspension::PriceChanged => "Price no longer sold",
        Suspension::CardMissing => "No card on file",
    }
}

fn path(project: &ProjectCatalog) -> String {
    format!("{}/top-ups", base(project))
}

/// What the overview says of suspended ones, by reason, and where they are listed; nothing if there are none.
pub(super) async fn task(request: &PageRequest) -> Option<(String, Markup)> {
    let (handle, scope) = (&request.app.handle, &request.project.scope);
    let listed = handle.suspended_top_ups(scope, None, MAX_COUNTED).await;
    let listed = listed
        .inspect_err(|error| tracing::warn!(%error, "Suspended top-ups cannot be listed now"))
        .ok()
        .filter(|listed| !listed.is_empty())?;
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for (_, detail) in &listed {
        let reason = detail.top_up.suspended.as_ref().map_or("Suspended", why);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => reasons.push((reason, 1)),
        }
    }
    let most = if listed.len() == MAX_COUNTED {
        "or more "
    } else {
        ""
    };
    let text = html! {
        (listed.len()) " " (most) @if listed.len() == 1 { "automatic top-up is suspended: " } @else { "automatic top-ups are suspended: " }
        @for (at, (reason, count)) in reasons.iter().enumerate() { @if at > 0 { ", " } (reason) @if listed.len() > 1 { " (" (count) ")" } }
    };
    Some((path(&request.project), text))
}

pub(super) async fn list(request: PageRequest) -> PageResult {
    let after = request.query().some("after").map(str::parse::<WalletKey>);
    let after = after.transpose().map_err(|_| Error::missing("after"))?;
    let (handle, scope) = (&request.app.handle, &request.project.scope);
    let listed = handle.suspended_top_ups(scope, after, PAGE_SIZE).await;
    let listed = request.read(listed)?;
    let last = listed.last().filter(|_| listed.len() == PAGE_SIZE);
    let body = html! {
        h1 { "Suspended top-ups" }
        p { "Cards on file that are not charged for now. Another card, a payment by the buyer or setting the top-up again goes on with it." }
        @if listed.is_empty() { p.empty { "There are none." } } @else {
            (table("Suspended top-ups", &["Wallet", "Why", "Last decline", "Card on file"], &html! { @for (view, detail) in &listed { (row(&request.project, view, detail)) } }))
        }
        @if let Some((view, _)) = last { p { a.button href={ "?after=" (view.key) } { "More" } } }
    };
    Ok(request.show("Suspended top-ups", &body))
}

fn row(project: &ProjectCatalog, view: &WalletView, detail: &TopUpDetail) -> Markup {
    html! { tr {
        td.break { a href={ (wallets::path(project, view.key)) "#top-up" } { (wallets::name(view)) } }
        td { (badge(detail)) }
        td { @if let Some(decline) = &detail.top_up.last_decline { code { (decline.code) } } @else { "–" } }
        td { @match &detail.top_up.card { Some(card) => (on_file(card)), None => "None" } }
    } }
}
