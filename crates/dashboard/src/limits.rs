//! A wallet's limits: on its page what each allows and what was used of it in its open window; a form for its own; and
//! whom limits of the project refused.

use domain::{
    id::WalletKey,
    limit::{LimitDetail, LimitScope, LimitSource, LimitState, LimitUse, ScopeKind},
    project_event::{EventData, ProjectEvent},
};
use edge::Support;
use operator::{SetWalletLimits, limit_words, own_limits};

use super::{
    limit_fields,
    prelude::*,
    time_zone,
    verbatim::brief,
    wallets::{head, path, wallet, wallet_view},
};

/// Limits that the page shows.
const MAX_LIMITS: usize = 100;
/// Members, features and keys that the page shows, in all.
const MAX_NAMES: usize = 50;
/// Refusals that their page shows.
const MAX_ROWS: usize = 200;
/// Events that it looks at.
const MAX_EVENTS: usize = 100_000;
/// The field with a part of their names.
const NAMED: &str = "named";

/// The limits of a wallet, for the part of names that the address asks for.
pub(super) async fn of(request: &PageRequest, key: WalletKey) -> Result<Vec<LimitDetail>, Error> {
    let (scope, address) = (&request.project.scope, Address::Stored(key));
    let (handle, named) = (&request.app.handle, request.query().text(NAMED).to_owned());
    let details = handle.inspect_limits(scope, &address, named, MAX_NAMES);
    request.read(details.await)
}

pub(super) fn card(request: &PageRequest, key: WalletKey, all: &[LimitDetail]) -> Markup {
    let page_path = path(&request.project, key);
    let patterns = all.iter().filter(|it| it.count > 0).count();
    let each = MAX_NAMES.checked_div(patterns).unwrap_or(0).max(1);
    let besides = all.len().saturating_sub(MAX_LIMITS);
    html! {
        section.card #limits {
            div.head {
                h2 { "Limits" }
                @if request.may(Privilege::Support) { a.button.small href={ (page_path) "/limits" } { "Change" } }
            }
            @if all.is_empty() { p.empty { "Nothing limits what may be used of it. " (layout::docs("budgets", "Budgets and allowances")) } } @else {
                @if patterns > 0 {
                    form.row method="get" action=(page_path) hx-get=(page_path) hx-select="#limits" hx-target="#limits" hx-swap="outerHTML" hx-push-url="true" {
                        (Form::new(request.query(), None).text(&FieldLabel(NAMED, "Member, feature or key", "")))
                        button type="submit" { "Find" }
                    }
                }
                (table("Limits", &["Limit", "Used", "#Left", "Resets", "From"], &html! {
                    @for detail in all.iter().take(MAX_LIMITS) { (rows(&request.project, detail, each)) }
                }))
                @if besides > 0 { p.hint { "and " (layout::count(besides)) " more limits" } }
            }
        }
    }
}

fn rows(project: &ProjectCatalog, detail: &LimitDetail, most: usize) -> Markup {
    let LimitDetail {
        own,
        each,
        count,
        full,
    } = detail;
    let LimitState { limit, source, .. } = &own.state;
    let is_pattern = limit.scope.name.is_none() && limit.scope.kind != ScopeKind::Wallet;
    let shown = each.get(..most).unwrap_or(each);
    html! {
        tr {
            td.break { b { (who(&limit.scope)) } br; span.hint { (limit_words(project, limit)) } }
            @if is_pattern {
                td colspan="2" {
                    @if *count == 0 { "By none" } @else { "By " (layout::count(*count)) }
                    @if *full > 0 { " " span.badge.bad { (layout::count(*full)) " used up" } }
                }
            } @else { (used(own)) }
            td.time { (resets(&own.state)) }
            td { (match source { LimitSource::Wallet => "Wallet", LimitSource::Subscription => "Subscription", LimitSource::Product => "Product" }) }
        }
        @for one in shown { tr.each {
            td.break { @if let Some(name) = &one.state.limit.scope.name { (brief(name)) } }
            (used(one))
            td {} td {}
        } }
        @if *count > shown.len() && is_pattern { tr.each { td colspan="5" { span.hint {
            @if shown.is_empty() { "None of them has such a name" } @else { "Those who used most; find others by name" }
        } } } }
    }
}

/// The wallet's own limits, as the fields of their form.
async fn stored(request: &PageRequest, key: WalletKey) -> Result<Fields, Error> {
    let (scope, address) = (&request.project.scope, Address::Stored(key));
    let states = request.app.handle.limits(scope, &address, None).await;
    let own = own_limits(request.read(states)?);
    Ok(limit_fields::with_limits(Fields::default(), &own))
}

pub(super) async fn edit(request: PageFor<Support>) -> PageResult {
    let stored = stored(&request, wallet(&request)?).await?;
    page(&request, &stored, Form::new(&stored, None)).await
}

pub(super) async fn save(request: FormPost<SetWalletLimits>) -> PageResult {
    let (wallet, fields) = (wallet(&request)?, &request.fields);
    let stored = stored(&request, wallet).await?;
    let saved = async {
        form::refuse_stale(fields, &stored)?;
        let limits = limit_fields::limits(fields, &request.project)?;
        let limits = limits.ok_or_else(|| Error::missing(limit_fields::LIMITS))?;
        let set = SetWalletLimits { wallet, limits };
        request
            .run(set, &path(&request.project, wallet), "saved")
            .await
    };
    match saved.await {
        Ok(done) => Ok(done),
        Err(error) => page(&request, &stored, Form::new(fields, Some(&error))).await,
    }
}

async fn page(request: &PageRequest, stored: &Fields, form: Form<'_>) -> PageResult {
    let view = wallet_view(request, wallet(request)?).await?;
    let body = html! {
        (head(&request.project, &view, "Limits"))
        section.card {
            p.hint { "The wallet's own limits. One of the same scope, window, unit and product replaces that of a subscription or a product." }
            (form.alert(&[limit_fields::LIMITS]))
            (form::conflict_of(form, stored))
            form method="post" action={ (path(&request.project, view.key)) "/limits" } {
                (form::token(request))
                (form::version(stored))
                (limit_fields::inputs(form, &request.project, "Any"))
                button.primary type="submit" { "Save…" }
            }
        }
    };
    Ok(form.response(request.show("Limits", &body)))
}

/// The bar with what was used, and what is left.
fn used(of: &LimitUse) -> Markup {
    let LimitState {
        limit, used, held, ..
    } = &of.state;
    let (amount, left) = (limit.amount, of.state.remaining());
    let taken = amount.saturating_sub(left);
    let percent = match left {
        0 => 100,
        _ => taken.saturating_mul(100).checked_div(amount).unwrap_or(0),
    };
    html! {
        td {
            meter min="0" max="100" low="80" high="99" optimum="0" value=(percent) aria-label={ (percent) " % used" } {}
            br; span.small { (grouped(*used)) @if *held > 0 { " + " (grouped(*held)) " held" } " of " (grouped(amount)) }
            @if left == 0 { " " span.badge.bad { "Used up" } }
            @if of.has_refused { " " span.badge.wait { "Has refused" } }
        }
        td.number { (grouped(left)) }
    }
}

/// Whose use a limit is about, or for what.
pub(super) fn who(scope: &LimitScope) -> Markup {
    let (one, each) = match scope.kind {
        ScopeKind::Wallet => return html! { "The whole wallet" },
        ScopeKind::Member => ("Member ", "Each member"),
        ScopeKind::Feature => ("Feature ", "Each feature"),
        ScopeKind::Key => ("Key ", "Each key"),
    };
    html! { @match &scope.name { Some(name) => { (one) (brief(name)) }, None => (each) } }
}

/// The limits that refused a use since a day, newest first: each once in its window.
pub(super) async fn reached(request: PageRequest) -> PageResult {
    let (handle, scope, query) = (&request.app.handle, &request.project.scope, request.query());
    let today = time_zone::day(request.now()).and_then(time_zone::midnight);
    let since = query.day("since")?.or(today).unwrap_or(request.now());
    let reached =
        |event: &ProjectEvent| matches!(&event.data, EventData::Limit(it) if it.percent.is_none());
    let (events, is_complete) =
        request.read(handle.events_since(scope, since, MAX_EVENTS, reached).await)?;
    let body = html! {
        h1 { "Refused by limits" }
        p.hint { "The first refusal of each limit in each of its windows. What a limit refuses now, its wallet shows." }
        form.row.filter method="get" {
            (Form::new(query, None).day(&FieldLabel("since", "Since", "Empty: today.")))
            button type="submit" { "Show" }
        }
        @if !is_complete { p.note { "There are more events than are looked at: later ones are missing." } }
        @if events.is_empty() { p.empty { "Nothing was refused." } } @else {
            (table("Refused by limits", &["When", "Wallet", "Limit", "Resets"], &html! { @for event in events.iter().rev().take(MAX_ROWS) {
                @if let EventData::Limit(alert) = &event.data { tr {
                    td.time { (layout::when(event.at)) }
                    td.break { a href={ (path(&request.project, event.key)) "#limits" } {
                        @match &event.user { Some(user) => (brief(user.as_str())), None => "Anonymous wallet" }
                    } }
                    td.break { (who(&alert.state.limit.scope)) @if let Some(member) = &alert.member { ", by " (brief(member.as_str())) }
                        br; span.hint { (limit_words(&request.project, &alert.state.limit)) } }
                    td.time { (resets(&alert.state)) }
                } }
            } }))
            @if events.len() > MAX_ROWS { p.hint { "and " (layout::count(events.len().saturating_sub(MAX_ROWS))) " before" } }
        }
    };
    Ok(request.show("Refused by limits", &body))
}

fn resets(state: &LimitState) -> Markup {
    html! { @match state.resets_at { Some(at) => (layout::when(at)), None => "Never" } }
}
