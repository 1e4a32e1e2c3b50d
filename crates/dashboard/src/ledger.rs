//! A wallet's ledger on its page: entries of a time, of a reason, of a product; and the path to their sums.

use std::collections::BTreeMap;

use actors::{LedgerLine, LedgerPage, LedgerQuery};
use domain::{
    history::Reason,
    id::{LedgerId, WalletKey},
    money::signed,
    time::Span,
};
use edge::csv;

use super::{
    deduction::deduction_path,
    orders,
    prelude::*,
    verbatim,
    wallets::{path, wallet},
};

const ENTRIES: usize = 25;

const REASONS: [(Reason, &str, &str); 8] = [
    (Reason::Purchase, "purchase", "Purchase"),
    (Reason::Deduction, "deduction", "Deduction"),
    (Reason::FreeGrant, "free_grant", "Free grant"),
    (Reason::Manual, "manual", "Manual grant"),
    (Reason::Refund, "refund", "Refund"),
    (Reason::Expiry, "expiry", "Expiry"),
    (Reason::Reversal, "reversal", "Reversal"),
    (Reason::Forgiveness, "forgiveness", "Forgiveness"),
];

pub(super) const FILTERS: [&str; 4] = ["from", "to", "reason", "productId"];

pub(super) fn reason_name(reason: Reason) -> &'static str {
    let known = REASONS.iter().find(|(known, _, _)| *known == reason);
    known.map_or("", |(_, _, name)| name)
}

/// The part of a ledger that these fields ask for.
pub(super) fn query(fields: &Fields) -> Result<LedgerQuery, Error> {
    let reason = fields.text("reason");
    let reason = REASONS.iter().find(|(_, name, _)| *name == reason);
    Ok(LedgerQuery {
        before: fields.parsed("before", "an entry's number")?,
        limit: ENTRIES,
        product: fields.parsed("productId", "a product")?,
        reason: reason.map(|(reason, _, _)| *reason),
        within: within(fields)?,
    })
}

/// The days `from` and `to` and all between them.
fn within(fields: &Fields) -> Result<Span, Error> {
    Ok(Span {
        start: fields.day("from")?.unwrap_or(Span::ALWAYS.start),
        end: fields.day_end("to")?.unwrap_or(Timestamp::NEVER),
    })
}

/// The fields of a filter: days, product and, if it can be chosen, the reason.
pub(super) fn filters(project: &ProjectCatalog, form: Form<'_>, with_reason: bool) -> Markup {
    let mut reasons = vec![("", "Any")];
    reasons.extend(REASONS.iter().map(|(_, name, text)| (*name, *text)));
    let mut products = vec![(String::new(), "Any".to_owned())];
    let holding = project.products().filter(|product| product.holds_credits());
    products.extend(holding.map(|product| (product.id.to_string(), product.name.clone())));
    html! {
        (form.day(&FieldLabel("from", "From", "")))
        (form.day(&FieldLabel("to", "To and including", "")))
        @if with_reason { (form.choice(&FieldLabel("reason", "Reason", ""), &reasons)) }
        @if products.len() > 2 { (form.choice(&FieldLabel("productId", "Product", ""), &products)) }
    }
}

pub(super) async fn export(request: PageRequest) -> PageResult {
    let address = Address::Stored(wallet(&request)?);
    let query = query(request.query())?;
    // A refusal has to come before the first line.
    let view = request
        .app
        .handle
        .read(&request.project.scope, &address)
        .await;
    request.read(view)?;
    Ok(csv::ledger(
        request.app.handle.clone(),
        request.project.clone(),
        address,
        query,
    ))
}

/// A page of the ledger; how much of its deductions was reversed, and what rate cards say of them, by their numbers.
pub(super) struct Shown {
    pub(super) page: LedgerPage,
    pub(super) reversed: BTreeMap<u64, i64>,
    pub(super) explained: BTreeMap<u64, Markup>,
}

pub(super) fn card(
    request: &PageRequest,
    key: WalletKey,
    fields: &Fields,
    shown: &Shown,
) -> Markup {
    let page = &shown.page;
    let page_path = path(&request.project, key);
    let form = Form::new(fields, None).called("ledger-");
    let filter = fields.query(&FILTERS);
    let older = page
        .next
        .map(|before| format!("{page_path}?{filter}before={before}"));
    html! {
        section.card #ledger {
            div.head {
                h2 { "Ledger" }
                a href={ (page_path) "/spending?" (filter) } { "What was spent" }
                a href={ (page_path) "/ledger.csv?" (filter) } { "CSV" }
            }
            form.row method="get" action=(page_path) hx-get=(page_path) hx-select="#ledger" hx-target="#ledger" hx-swap="outerHTML" hx-push-url="true" {
                (filters(&request.project, form, true))
                button type="submit" { "Show" }
            }
            @if page.lines.is_empty() { p.empty { "No entries." } } @else {
                (table("Ledger", &["When", "Reason", "#Change", "#Balance", "About"], &html! { @for line in &page.lines { (row(request, line, shown)) } }))
            }
            @if let Some(older) = older {
                p { a.button href=(older) hx-get=(older) hx-select="#ledger" hx-target="#ledger" hx-swap="outerHTML" hx-push-url="true" { "Older" } }
            }
        }
    }
}

fn row(request: &PageRequest, line: &LedgerLine, shown: &Shown) -> Markup {
    let entry = &line.entry;
    let taken = entry.delta.saturating_neg();
    let reversed = shown.reversed.get(&line.id.number()).copied().unwrap_or(0);
    let is_deduction = entry.reason == Reason::Deduction;
    let can = is_deduction && reversed < taken && request.may(Privilege::Support);
    let link = |id: LedgerId| deduction_path(&request.project, id);
    html! { tr {
        td.time { (layout::when(line.at)) }
        td { (reason_name(entry.reason)) }
        td.number.plus[entry.delta > 0] { (signed(entry.delta)) }
        td.number { (grouped(entry.balance_after)) }
        td {
            @if let Some(order) = line.order {
                a href=(orders::path(&request.project, order)) { "Order" } " "
            }
            @if let Some(deduction) = line.reverses { a href=(link(deduction)) { "Of a deduction" } " " }
            @if reversed > 0 {
                a href=(link(line.id)) { @if reversed < taken { (grouped(reversed)) " reversed" } @else { "Reversed" } } " "
            }
            @if let Some(member) = entry.member() { span.tag { (verbatim::brief(member.as_str())) } " " }
            @if let Some(meta) = &entry.meta { code.small.wrap { (verbatim::meta(meta)) } " " }
            @if let Some(key) = &entry.key { code.small.wrap { (verbatim(key.as_str())) } " " }
            @if can { a href=(link(line.id)) { "Reverse…" } }
            @if let Some(explained) = shown.explained.get(&line.id.number()) { (explained) }
        }
    } }
}
