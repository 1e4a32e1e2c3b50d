//! The versions of a rate card, and what each changed against the one before.

use catalog::{CardRates, VersionRates};
use domain::rate_card::{
    RateCardSlug, RateCardVersion, RateChange, RateChangeKind, TermChange, changes,
};

use super::{catalog::product_name, prelude::*};

const VERSIONS: u32 = 10;
/// Changes that a version's row in the list shows.
const FEW: usize = 10;
const CHANGES: usize = 100;

pub(super) fn path(project: &ProjectCatalog, slug: &RateCardSlug) -> String {
    format!("{}/rate-cards/{}", base(project), slug.as_str())
}

/// The card that the path names, closed or not.
pub(super) fn card(request: &PageRequest) -> Result<&CardRates, Error> {
    let missing = || Error::new(ErrorCode::RateCardNotFound);
    let slug: String = request.named("card", ErrorCode::RateCardNotFound)?;
    let slug = RateCardSlug::new(slug).map_err(|_| missing())?;
    let found = request.project.any_rate_card(&slug);
    found.map(AsRef::as_ref).ok_or_else(missing)
}

/// A version of a card, which is read if it is a former one.
pub(super) async fn version(
    request: &PageRequest,
    slug: &RateCardSlug,
    number: u32,
) -> Result<VersionRates, Error> {
    let (catalog, project) = (&request.app.catalog, &request.project);
    let found = catalog.rate_card_version(project, slug, number).await?;
    found.ok_or_else(|| Error::new(ErrorCode::RateCardNotFound))
}

pub(super) fn state(
    CardRates { card, .. }: &CardRates,
    version: &RateCardVersion,
    now: Timestamp,
) -> Markup {
    let is_kept = card.closed_at.is_none() && card.versions.contains(version);
    html! {
        @if card.in_force(now) == Some(version) { span.badge.good { "In force" } }
        @else if is_kept && version.effective_from > now { span.badge.wait { "Planned" } }
        @else { span.badge { "Former" } }
    }
}

pub(super) async fn list(request: PageRequest) -> PageResult {
    let (found, now) = (card(&request)?, request.now());
    let before: Option<u32> = request.query().parsed("before", "a version's number")?;
    let newest = before.map_or(found.card.last_version, |before| before.saturating_sub(1));
    let newest = newest.min(found.card.last_version);
    let oldest = newest.saturating_sub(VERSIONS.saturating_sub(1)).max(1);
    // Each is compared with the one before.
    let mut versions = Vec::new();
    for number in (oldest.saturating_sub(1).max(1)..=newest).rev() {
        versions.push(version(&request, &found.card.slug, number).await?);
    }
    let card_path = path(&request.project, &found.card.slug);
    let rows = versions.iter().enumerate();
    let rows = rows.filter(|(_, it)| it.version.number >= oldest);
    let audit = |number: u32| {
        let what = format!("version {number} of rate card {}", found.card.slug.as_str());
        let project = request.project.project.id;
        let query = Fields::default()
            .with("projectId", project)
            .with("text", what);
        format!("/dashboard/audit?{}", query.query(&["projectId", "text"]))
    };
    let body = html! {
        div.head { h1 { "Versions of " (found.card.slug.as_str()) } a.button href=(card_path) { "Rates" } }
        (table("Versions", &["Version", "From", "Saved", "Credits of", "#Rates", "Changed"], &html! { @for (place, shown) in rows { tr {
            @let version = &shown.version;
            td { a href={ (card_path) "?version=" (version.number) } { (version.number) } " " (state(found, version, now)) }
            td.time { (layout::when(version.effective_from)) }
            td.time { (layout::when(version.created_at)) @if request.may(Privilege::Manage) { br; a.small href=(audit(version.number)) { "By whom" } } }
            td { (product_name(&request.project, version.product)) }
            td.number { (layout::count(shown.rates.rates.len())) }
            td.wrap { @if let Some(before) = versions.get(place.saturating_add(1)) {
                @let changes = changes(&before.rates.rates, &shown.rates.rates);
                details { summary { (summed_up(&changes)) }
                    ul { @for change in changes.iter().take(FEW) { li { (line(change)) } } }
                    @if changes.len() > FEW { p { a href={ (card_path) "?version=" (version.number) "#changes" } { "All " (layout::count(changes.len())) } } }
                }
            } }
        } } }))
        @if oldest > 1 { p { a.button href={ "?before=" (oldest) } { "Older" } } }
    };
    Ok(request.show("Versions", &body))
}

/// The card with all that a version changed.
pub(super) fn changes_card(
    project: &ProjectCatalog,
    query: &Fields,
    before: &VersionRates,
    shown: &VersionRates,
) -> Markup {
    let all = changes(&before.rates.rates, &shown.rates.rates);
    let (part, pages) = layout::paged(query, &["version"], "change", &all, CHANGES);
    let (old, new) = (before.version.product, shown.version.product);
    html! {
        section.card #changes {
            h2 { "What version " (shown.version.number) " changed" }
            p.hint { (summed_up(&all)) @if old != new { "; credits of " (product_name(project, old)) " → " (product_name(project, new)) } }
            @if !part.is_empty() { ul { @for change in part { li { (line(change)) } } } }
            (pages)
        }
    }
}

fn summed_up(changes: &[RateChange]) -> String {
    let count = |kind| changes.iter().filter(|it| it.kind == kind).count();
    format!(
        "{} new, {} gone, {} changed",
        layout::count(count(RateChangeKind::Added)),
        layout::count(count(RateChangeKind::Removed)),
        layout::count(count(RateChangeKind::Changed)),
    )
}

fn line(change: &RateChange) -> Markup {
    let is_change = change.kind == RateChangeKind::Changed;
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".into());
    html! {
        @match change.kind {
            RateChangeKind::Added => { span.badge.good { "New" } " " },
            RateChangeKind::Removed => { span.badge.bad { "Gone" } " " },
            RateChangeKind::Changed => {},
        }
        (pattern(&change.pattern))
        @if change.kind != RateChangeKind::Removed { @for (place, term) in change.terms.iter().enumerate() {
            @if place > 0 { ", " }
            (term.name) " " @if is_change { (text(&term.old)) " → " } b { (text(&term.new)) }
            @if let Some(percent) = percent(term) { " (" (percent) ")" }
        } }
    }
}

/// By how much a price rises, such as `+33.3 %`.
fn percent(term: &TermChange) -> Option<String> {
    let tenths = term.tenths?;
    let (sign, size) = (if tenths < 0 { '−' } else { '+' }, tenths.unsigned_abs());
    Some(format!("{sign}{}.{} %", size / 10, size % 10))
}

/// The attributes that a rate is for, or that were sent.
pub(super) fn pattern<T: AsRef<str>>(pairs: impl IntoIterator<Item = (T, T)>) -> Markup {
    let mut pairs = pairs.into_iter().peekable();
    html! {
        @if pairs.peek().is_none() { "All things" }
        @for (name, value) in pairs { span.small { (name.as_ref()) } " " code { (verbatim(value.as_ref())) } " " }
    }
}
