//! How a webhook endpoint does, on the pages that show it.

use std::borrow::Cow;

use domain::catalog::EndpointStatus;
use outbound::webhooks::{Attempt, EndpointHealth};

use super::prelude::*;

/// Whether an endpoint is active, and how it does: green only where nothing fails.
pub(super) fn badge(status: EndpointStatus, health: &EndpointHealth) -> Markup {
    html! {
        @match status {
            EndpointStatus::Active if health.failing_since.is_some() => span.badge.bad { "Failing" },
            EndpointStatus::Active if health.succeeded < health.attempts => span.badge.wait { "Active, with failures" },
            EndpointStatus::Active => span.badge.good { "Active" },
            EndpointStatus::Off | EndpointStatus::Deleted => span.badge { "Disabled" },
            EndpointStatus::Gone => span.badge.bad { "Disabled (410 Gone)" },
            EndpointStatus::Failing => span.badge.bad { "Disabled (failed for days)" },
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

pub(super) fn health_card(request: &PageRequest, health: &EndpointHealth) -> Markup {
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
                            @if let Some(error) = attempt_error(request, last) { br; span.hint { (error) } }
                        },
                    }
                } }
            }
        }
    }
}

/// What went wrong: below support without what the receiver wrote.
pub(super) fn attempt_error<'a>(
    request: &PageRequest,
    attempt: &'a Attempt,
) -> Option<Cow<'a, str>> {
    match request.may(Privilege::Support) {
        true => attempt.error.as_deref().map(Cow::Borrowed),
        false => attempt.error_unquoted(),
    }
}
