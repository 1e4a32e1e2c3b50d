//! How a webhook endpoint does, on the pages that show it.

use domain::catalog::EndpointStatus;
use maud::{Markup, html};
use outbound::webhooks::EndpointHealth;

use super::layout;

/// Whether an endpoint is active, and how it does: green only where nothing fails.
pub(super) fn badge(status: EndpointStatus, health: &EndpointHealth) -> Markup {
    html! {
        @match status {
            EndpointStatus::Active if health.failing_since.is_some() => span.badge.bad { "Failing" },
            EndpointStatus::Active if health.succeeded < health.attempts => span.badge.wait { "Active, with failures" },
            EndpointStatus::Active => span.badge.good { "Active" },
            EndpointStatus::Off | EndpointStatus::Deleted => span.badge { "Off" },
            EndpointStatus::Gone => span.badge.bad { "Off: answered 410" },
            EndpointStatus::Failing => span.badge.bad { "Off: failed for days" },
        }
    }
}

/// What its last attempts came to.
pub(super) fn health_line(health: &EndpointHealth) -> Markup {
    html! {
        @match health.succeeded.saturating_mul(100).checked_div(health.attempts) {
            None => "No attempts within a day",
            Some(percent) => { (percent) " % of " (health.attempts) " attempts accepted" },
        }
        @if health.waiting > 0 { br; (health.waiting) " waiting" }
        @if let Some(since) = health.failing_since { br; "Nothing accepted since " (layout::when(since)) }
    }
}

/// How an endpoint does, on its page.
pub(super) fn health_card(health: &EndpointHealth) -> Markup {
    html! {
        section.card {
            h2 { "Health" }
            dl {
                div { dt { "Last 24 hours, 100 attempts at most" } dd { (health_line(health)) } }
                div { dt { "Last accepted" } dd { @match health.last_success_at { Some(at) => (layout::when(at)), None => "Never" } } }
                div { dt { "Last failure" } dd {
                    @match &health.last_failure {
                        None => "None",
                        Some(last) => {
                            (layout::when(last.at)) " "
                            @match last.status_code { Some(code) => (code), None => "no response" }
                            @if let Some(error) = &last.error { br; span.hint { (error) } }
                        },
                    }
                } }
            }
        }
    }
}
