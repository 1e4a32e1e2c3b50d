//! What callers see of a ledger.

use actors::{LedgerLine, LedgerPage};
use catalog::ProjectCatalog;
use domain::rate_card::RatedUse;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{instant, wallet::credit_unit, word};
use crate::cursor::LedgerCursor;

/// An entry whose note is written as it is kept.
pub(super) type LedgerEntry = api_types::LedgerEntry<Box<RawValue>>;

pub(super) fn ledger_entry(line: &LedgerLine, project: &ProjectCatalog) -> LedgerEntry {
    let entry = &line.entry;
    let raw = |text: &str| RawValue::from_string(text.to_owned()).ok();
    LedgerEntry {
        id: line.id.to_string(),
        delta: entry.delta,
        reason: word(entry.reason),
        product_id: entry.product.to_string(),
        credit_unit: credit_unit(project, entry.product),
        balance_after: entry.balance_after,
        created_at: instant(line.at),
        order_id: line.order.map(|order| order.to_string()),
        reverses: line.reverses.map(|id| id.to_string()),
        idempotency_key: entry.key.as_ref().map(|key| key.as_str().to_owned()),
        meta: entry.meta.as_ref().and_then(|meta| raw(meta.as_str())),
        expires_at: entry.expires_at.map(instant),
        rate: entry.rate.as_deref().map(rated_use),
        member: entry.member().map(|member| member.as_str().to_owned()),
    }
}

fn rated_use(rate: &RatedUse) -> api_types::RatedUse {
    let attributes = rate.attributes.iter();
    let quantities = rate.quantities.iter();
    api_types::RatedUse {
        card: rate.card.as_str().to_owned(),
        version: rate.version,
        attributes: attributes
            .map(|(name, it)| (name.into(), it.into()))
            .collect(),
        quantities: quantities.map(|(unit, it)| (unit.into(), it)).collect(),
        cost: rate.cost.to_string(),
    }
}

/// A page of a ledger, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
    /// Pass as `cursor` for the next page; null on the last one.
    next_cursor: Option<String>,
}

impl Ledger {
    /// A page as the wallet answered it.
    pub fn of(page: &LedgerPage, project: &ProjectCatalog) -> Self {
        let lines = page.lines.iter();
        Self {
            entries: lines.map(|line| ledger_entry(line, project)).collect(),
            next_cursor: page.next.map(|before| LedgerCursor(before).to_string()),
        }
    }
}
