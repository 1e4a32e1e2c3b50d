//! The documentation for language models, as <https://llmstxt.org> has it: an index of the pages as
//! Markdown, and all that one needs to build with Scrip in one text.

use super::pages::{DocPage, Group, PAGES};

const SUMMARY: &str = "\
# Scrip

> A credit wallet and checkout service in one self-hosted binary. Buyers pay through Stripe or the built-in \
sandbox, wallets hold credits, every use deducts some: durably, and once for each idempotency key.

The API is under `/api/v1` and described by [OpenAPI](/api/openapi.json); the administration by its \
[own document](/api/admin/v1/openapi.json). A publishable key (`pay_pk_`) may live in a browser, a secret key \
(`pay_sk_`) may not. Amounts are integers. Every change takes an `idempotencyKey`; every refusal has a stable \
`code`, explained on the page of errors.
";

/// The text of `/llms.txt`.
pub(super) fn index() -> String {
    let mut text = SUMMARY.to_owned();
    for group in Group::ALL {
        let title = match group {
            // The convention's name for pages that may be left out where there is little room.
            Group::Background => "Optional",
            _ => group.title(),
        };
        text.push_str(&format!("\n## {title}\n\n"));
        for page in PAGES.iter().filter(|page| page.group == group) {
            text.push_str(&format!(
                "- [{}](/docs/{}.md): {}\n",
                page.title(),
                page.name,
                page.about
            ));
        }
    }
    text
}

/// The text of `/llms-full.txt`: every page but the background.
pub(super) fn full() -> String {
    let needed = |page: &&DocPage| page.group != Group::Background;
    let pages: Vec<&str> = PAGES.iter().filter(needed).map(|page| page.text).collect();
    format!("{SUMMARY}\n{}", pages.join("\n\n"))
}
