//! A project's rate cards, and the page of each: its rates, what a use would cost, and the button that closes it.

use catalog::{CardRates, VersionRates};
use domain::rate_card::Rate;
use operator::CloseRateCard;

use super::{
    catalog::{path as product_path, product_name},
    prelude::*,
    rate_calculator,
    rate_versions::{card, changes_card, path, pattern, state, version},
};

const CARDS: usize = 50;
const RATES: usize = 50;

pub(super) async fn list(request: PageRequest) -> PageResult {
    let (project, now) = (&request.project, request.now());
    let after = request.query().text("after");
    let cards = project.any_rate_cards();
    let mut cards = cards.filter(|it| it.card.slug.as_str() > after);
    let shown: Vec<&CardRates> = cards.by_ref().take(CARDS).map(AsRef::as_ref).collect();
    let last = shown.last().filter(|_| cards.next().is_some());
    let body = html! {
        div.head { h1 { "Rate cards" } (layout::docs("costs", "What things cost")) }
        p.lead { "What a use costs in credits. The API and the terminal save them: " code { "scrip apply" } ", " code { "scrip rates import" } "." }
        @if shown.is_empty() { p.empty { "No rate cards." } } @else {
            (table("Rate cards", &["Name", "Credits of", "#Versions", "#Rates", "Counting"], &html! { @for found in &shown { tr {
                @let shown = found.in_force_or_first(now);
                td { a href=(path(project, &found.card.slug)) { (found.card.slug.as_str()) } }
                td { @if let Some(shown) = &shown { (product_name(project, shown.version.product)) } }
                td.number { (layout::count(found.card.last_version)) }
                td.number { @if let Some(shown) = &shown { (layout::count(shown.rates.rates.len())) } }
                td {
                    @if let Some(at) = found.card.closed_at { span.badge { "Closed" } " " (layout::when(at)) }
                    @else { @for version in found.card.versions.iter().filter(|it| it.effective_from > now || found.card.in_force(now) == Some(*it)) { p { (state(found, version, now)) " " (version.number) " from " (layout::when(version.effective_from)) } } }
                }
            } } }))
        }
        @if let Some(last) = last { p { a.button href={ "?after=" (last.card.slug.as_str()) } { "Next" } } }
    };
    Ok(request.show("Rate cards", &body))
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    let (found, query, now) = (card(&request)?, request.query(), request.now());
    let slug = &found.card.slug;
    let number: Option<u32> = query.parsed("version", "a version's number")?;
    let shown = match number {
        Some(number) => version(&request, slug, number).await?,
        None => {
            let shown = found.in_force_or_first(now);
            shown.ok_or_else(|| Error::new(ErrorCode::RateCardNotFound))?
        }
    };
    let estimate = rate_calculator::estimate(query, &shown.rates);
    let form = Form::new(query, estimate.as_ref().err());
    let changes = match shown.version.number.checked_sub(1).filter(|it| *it > 0) {
        Some(before) => Some(version(&request, slug, before).await?),
        None => None,
    };
    let VersionRates { version, rates } = &shown;
    let own_path = path(&request.project, slug);
    let body = html! {
        div.head { h1 { (slug.as_str()) } @if found.card.closed_at.is_some() { span.badge { "Closed" } } @else { (state(found, version, now)) } }
        p.hint {
            "Credits of " @match request.project.product(&version.product) {
                Some(product) => a href=(product_path(&request.project, product)) { (product.name) },
                None => (version.product),
            }
            " · version " (version.number) " from " (layout::when(version.effective_from)) " · "
            a href={ (own_path) "/versions" } { (layout::count(found.card.last_version)) " versions" }
        }
        @if number.is_some() && found.card.in_force(now) != Some(version) { p.note { "This version is not in force. " a href=(own_path) { "Show the one that is" } } }
        div.columns {
            (rates_card(query, &rates.rates))
            (rate_calculator::card(query, form, &shown, estimate.as_ref().ok().and_then(Option::as_ref)))
        }
        @if let Some(before) = &changes { (changes_card(&request.project, query, before, &shown)) }
        @if found.card.closed_at.is_none() && request.may(Privilege::Manage) {
            section.card {
                h2 { "Close" }
                form method="post" action={ (own_path) "/close" } {
                    (form::token(&request))
                    p { "What names it is refused from then on." }
                    button.danger type="submit" { "Close…" }
                }
            }
        }
    };
    Ok(form.response(request.show(slug.as_str(), &body)))
}

pub(super) async fn close(request: FormPost<CloseRateCard>) -> PageResult {
    let slug = card(&request)?.card.slug.clone();
    let back = path(&request.project, &slug);
    request.run(CloseRateCard(slug), &back, "closed").await
}

fn rates_card(query: &Fields, rates: &[Rate]) -> Markup {
    let wanted = query.text("find").to_lowercase();
    let fits = |rate: &&Rate| {
        let mut texts = rate.pattern.iter();
        wanted.is_empty() || texts.any(|(_, value)| value.to_lowercase().contains(&wanted))
    };
    let rates: Vec<&Rate> = rates.iter().filter(fits).collect();
    let (shown, pages) = layout::paged(query, &["version", "find"], "rate", &rates, RATES);
    html! {
        section.card #rates {
            h2 { "Rates" }
            form.row method="get" {
                @if let Some(version) = query.some("version") { input type="hidden" name="version" value=(version); }
                (Form::new(query, None).called("rate-").text(&FieldLabel("find", "Containing", "")))
                button type="submit" { "Show" }
            }
            @if shown.is_empty() { p.empty { "No rates." } } @else {
                (table("Rates", &["Unit", "#Price", "#Per"], &html! { @for rate in shown { (rows(rate)) } }))
            }
            (pages)
        }
    }
}

/// The rows of a rate: what it is for, each unit, and what else it says.
fn rows(rate: &Rate) -> Markup {
    let price = |unit: &str, price: &str| (html! { (verbatim(unit)) }, price.to_owned(), rate.per);
    let own = rate.unit_prices.iter();
    let mut lines: Vec<_> = own.map(|(unit, it)| price(unit, it)).collect();
    for tier in &rate.above {
        let above = format!("above {} {}", layout::count(tier.from), tier.unit);
        let prices = tier.unit_prices.iter();
        lines.extend(prices.map(|(unit, it)| price(&format!("{unit} {above}"), it)));
    }
    let minimum = rate.minimum.iter();
    lines.extend(minimum.map(|it| (html! { i { "at least" } }, it.to_string(), 1)));
    let free = rate.free.then(|| (html! { i { "free" } }, "0".into(), 1));
    lines.extend(free);
    html! {
        tr { td.break colspan="3" { (pattern(&rate.pattern)) } }
        @for (unit, price, per) in lines { tr {
            td.break { (unit) }
            td.number { (price) }
            td.number { (layout::count(per)) }
        } }
    }
}
