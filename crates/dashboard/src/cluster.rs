//! The system page's section about a cluster: who leads, who follows and how far they are.

use std::time::Duration;

use cluster::ClusterPart;
use cluster::postgres::{ClusterState, MemberState};
use maud::{Markup, html};

use super::money::grouped;

/// As the database showed it a few seconds ago.
pub(super) fn section(part: &ClusterPart) -> Markup {
    html! {
        section.card {
            h2 { "Cluster" }
            @match part.seen() {
                None => p.empty { "The database has not answered lately." },
                Some(state) => (shown(&state)),
            }
        }
    }
}

/// Which cell this is about, and the way to the others, where there are several.
pub(super) fn cells(part: &ClusterPart) -> Markup {
    let others = part.others();
    html! {
        @if !others.is_empty() { p.lead {
            "This is cell " (part.cell()) "."
            @for cell in others { " " a href={ "?cell=" (cell) } { "Cell " (cell) } }
        } }
    }
}

fn shown(state: &ClusterState) -> Markup {
    let count = |figure: u64| grouped(i64::try_from(figure).unwrap_or(i64::MAX));
    html! {
        @for problem in state.problems() { p { span.badge.bad { "Problem" } " " (problem) } }
        p {
            "The log goes to frame " (count(state.head)) ". "
            @match state.snapshot_age() {
                Some(age) => { "The newest of " (state.snapshots.len()) " snapshots is " (short(age)) " old." },
                None => "There is no snapshot.",
            }
        }
        div.scroll tabindex="0" role="region" aria-label="Processes" { table {
            thead { tr { th { "Process" } th { "Role" } th { "Version" } th.number { "Frames behind" } th { "Seen" } } }
            tbody { @for member in &state.members { tr {
                td { code { (member.address) } }
                td { (role(state, member)) }
                td { (member.version) }
                td.number { (count(state.lag(member))) }
                td { (short(member.seen)) " ago" }
            } } }
        } }
    }
}

fn role(state: &ClusterState, member: &MemberState) -> Markup {
    html! {
        @match (state.leads(member), member.is_present(), member.joins) {
            (true, ..) => span.badge.good { "Leads" },
            (false, true, None) => "Follows",
            (false, true, Some(cell)) => { "Waits to become cell " (cell) },
            (false, false, _) => "Gone",
        }
    }
}

fn short(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds.div_euclid(60)),
        seconds => format!("{} h", seconds.div_euclid(3600)),
    }
}
