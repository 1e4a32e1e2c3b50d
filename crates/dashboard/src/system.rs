//! `GET /dashboard/system`: the state of the service itself.

use std::{fs, io, path::Path, time::Duration};

use cluster::{
    ClusterPart,
    postgres::{ClusterState, MemberState},
};
use edge::Own;
use operations::{backups::FinishedBackup, data_dir::verified::VerifyResult, duration::duration};
use operator::StartBackup;
use persistence::latency::{BOUNDS_MICROS, Commits};

use super::prelude::*;

pub(super) async fn show(request: PageFor<Own, NoProject>) -> PageResult {
    let folder = request.app.data_dir.clone();
    let read = move || {
        let verified = VerifyResult::read(&folder);
        (size(&folder).ok(), left(&folder).ok(), verified)
    };
    let read = tokio::task::spawn_blocking(read).await;
    let (size, left, verified) = read.map_err(|_| Error::new(ErrorCode::InternalError))?;
    let stats = request.app.handle.stats();
    let waiting = request.app.payments.inbox().waiting();
    let (started, now) = (request.app.started_at, request.app.edge.clock.now());
    let up = now.0.saturating_sub(started.0).div_euclid(1000);
    let bytes = |figure: Option<u64>| figure.map_or_else(|| "unknown".into(), in_bytes);
    let backups = request.app.backups.status();
    let missing = request.app.payments.missing_permissions();
    let all: [(&str, Markup); 12] = [
        ("Version", html! { (env!("CARGO_PKG_VERSION")) }),
        (
            "Up",
            html! { (duration(up)) ", since " (layout::when(started)) },
        ),
        (
            "Takes writes",
            html! {
                @if request.app.handle.ready() { span.badge.good { "Yes" } } @else { span.badge.bad { "No" } }
            },
        ),
        ("Data", html! { (bytes(size)) }),
        ("Disk left", html! { (bytes(left)) }),
        (
            "Last good backup",
            html! {
                @match backups.last_good { Some(at) => (layout::when(at)), None => "None known" }
                @if backups.running.is_some() { br; span.hint { "One is running." } }
                @if let Some(FinishedBackup { result: Err(why), .. }) = &backups.last { br; span.badge.bad { "The last one failed" } " " (why) }
                br; (backup_button(&request))
            },
        ),
        ("Last verified", last_verified(&verified)),
        ("Wallets in memory", html! { (layout::count(stats.awake)) }),
        (
            "Commands in flight",
            html! { (layout::count(stats.in_flight)) },
        ),
        (
            "Events not checkpointed yet",
            html! { (layout::count(stats.backlog)) ", " (in_bytes(stats.backlog_bytes)) },
        ),
        (
            "Provider events waiting",
            html! { (layout::count(waiting)) },
        ),
        (
            "Permissions of provider keys",
            html! {
                @if missing.is_empty() { "None found missing" }
                @for permission in &missing { span.badge.bad { "Missing" } " " code { (permission) } br; }
            },
        ),
    ];
    let body = html! {
        h1 { "System" }
        @if let Some(part) = &request.app.cluster { (cells(part)) }
        section.card { dl { @for (name, text) in &all { div { dt { (name) } dd { (text) } } } } }
        @if let Some(part) = &request.app.cluster { (cluster_section(part)) }
        (commits(&stats.commits))
        p.lead { "All figures, with latencies, are at " code { "/metrics" } " for Prometheus." }
    };
    Ok(request.show("System", &body))
}

pub(super) async fn back_up(request: FormPost<StartBackup, NoProject>) -> PageResult {
    let back = "/dashboard/system";
    request
        .run(StartBackup::default(), back, "backing_up")
        .await
}

fn backup_button(request: &PageRequest<NoProject>) -> Markup {
    html! {
        @match &request.app.backups.settings().to {
            None => span.hint { "Set " code { "backup.to" } " to make them from here." },
            Some(to) => form method="post" action="/dashboard/system" {
                (form::token(request))
                button.small type="submit" title={ "To " (to.display()) } { "Back up now" }
            },
        }
    }
}

fn last_verified(verified: &io::Result<Option<VerifyResult>>) -> Markup {
    html! {
        @match verified {
            Ok(None) => { "Never; " code { "scrip verify" } " does it, on a stopped server or a restored backup" },
            Ok(Some(found)) => {
                (layout::when(found.at())) " "
                @match found.problems {
                    0 => span.badge.good { "No problems" },
                    1 => span.badge.bad { "1 problem" },
                    more => span.badge.bad { (more) " problems" },
                }
            },
            Err(error) => { "What " code { "scrip verify" } " wrote cannot be read: " (error) },
        }
    }
}

/// How long group commits took, from the fastest to the slowest bucket that has any.
fn commits(commits: &Commits) -> Markup {
    let all = commits.all();
    let bounds = BOUNDS_MICROS.map(|micros| format!("{} ms", in_millis(micros)));
    let last = bounds.last().map(|bound| format!("> {bound}"));
    let labels: Vec<String> = bounds.into_iter().chain(last).collect();
    // Only from the first to the last that is not empty: all fifteen do not fit on a phone.
    let first = commits.counts.iter().position(|count| *count > 0);
    let last = commits.counts.iter().rposition(|count| *count > 0);
    let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
    let shown: Vec<(&String, u64)> = labels.iter().zip(commits.counts).collect();
    let shown = shown.get(first..=last).unwrap_or_default();
    let chart = serde_json::json!({
        "kind": "Latency ≤",
        "labels": shown.iter().map(|(label, _)| label).collect::<Vec<_>>(),
        "series": [{"name": "Commits", "values": shown.iter().map(|(_, count)| count).collect::<Vec<_>>()}],
    });
    let within = |percent| match commits.within(percent) {
        Some(micros) => format!("{} ms", in_millis(micros)),
        None => format!(
            "more than {} ms",
            BOUNDS_MICROS
                .last()
                .map_or_else(String::new, |it| in_millis(*it))
        ),
    };
    html! {
        section.card {
            h2 { "Writing to disk" }
            @if all == 0 { p.empty { "Nothing was written since the start." } } @else {
                p {
                    (layout::count(all)) " group commits since the start: half within " (within(50)) ", 99 of 100 within " (within(99)) "."
                }
                (layout::chart(&chart, &table("Group commits by time", &["Latency ≤", "#Count"], &html! { @for (label, count) in shown { tr { td { (label) } td.number { (layout::count(*count)) } } } })))
            }
        }
    }
}

fn in_millis(micros: u64) -> String {
    let (whole, rest) = (micros.div_euclid(1000), micros.rem_euclid(1000));
    let text = format!("{whole}.{rest:03}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

fn size(folder: &Path) -> io::Result<u64> {
    let mut left = vec![folder.to_owned()];
    let mut sum = 0_u64;
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // A file may have been removed since.
            let Ok(known) = entry.metadata() else {
                continue;
            };
            if known.is_dir() {
                left.push(entry.path());
            } else {
                sum = sum.saturating_add(known.len());
            }
        }
    }
    Ok(sum)
}

fn left(folder: &Path) -> io::Result<u64> {
    let known = rustix::fs::statvfs(folder)?;
    Ok(known.f_bavail.saturating_mul(known.f_frsize))
}

fn in_bytes(bytes: u64) -> String {
    let units = ["bytes", "KB", "MB", "GB", "TB"];
    let mut rest = bytes;
    let mut tenths = 0;
    let mut unit = "bytes";
    for next in units {
        unit = next;
        if rest < 1000 {
            break;
        }
        tenths = rest.checked_rem(1000).unwrap_or(0).div_euclid(100);
        rest = rest.div_euclid(1000);
    }
    match unit {
        "bytes" => format!("{rest} {unit}"),
        _ => format!("{rest}.{tenths} {unit}"),
    }
}

/// As the database showed it a few seconds ago.
fn cluster_section(part: &ClusterPart) -> Markup {
    html! {
        section.card {
            h2 { "Cluster" }
            @match part.seen() {
                None => p.empty { "The database has not answered lately." },
                Some(state) => (members(&state)),
            }
        }
    }
}

/// Which cell this is about, and the way to the others, where there are several.
fn cells(part: &ClusterPart) -> Markup {
    let others = part.others();
    html! {
        @if !others.is_empty() { p.lead {
            "This is cell " (part.cell()) "."
            @for cell in others { " " a href={ "?cell=" (cell) } { "Cell " (cell) } }
        } }
    }
}

fn members(state: &ClusterState) -> Markup {
    html! {
        @for problem in state.problems() { p { span.badge.bad { "Problem" } " " (problem) } }
        p {
            "The log goes to frame " (layout::count(state.head)) ". "
            @match state.snapshot_age() {
                Some(age) => { "The newest of " (state.snapshots.len()) " snapshots is " (short(age)) " old." },
                None => "There is no snapshot.",
            }
        }
        (table("Processes", &["Process", "Role", "Version", "#Frames behind", "Seen"], &html! { @for member in &state.members { tr {
            td { code { (member.address) } }
            td { (role(state, member)) }
            td { (member.version) }
            td.number { (layout::count(state.lag(member))) }
            td { (short(member.seen)) " ago" }
        } } }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_shown_from_the_fastest_to_the_slowest() {
        let none = commits(&Commits::default()).into_string();
        assert!(none.contains("Nothing was written"), "{none}");
        let mut some = Commits::default();
        some.counts[2] = 1500;
        some.counts[4] = 1;
        some.counts[14] = 20;
        let page = commits(&some).into_string();
        for shown in [
            "1,521 group commits",
            "half within 0.5 ms, 99 of 100 within more than 2500 ms",
            "<td>0.5 ms</td><td class=\"number\">1,500</td>",
            "<td>1 ms</td><td class=\"number\">0</td>",
            "<td>&gt; 2500 ms</td><td class=\"number\">20</td>",
        ] {
            assert!(page.contains(shown), "no {shown} in {page}");
        }
        assert!(!page.contains("<td>0.25 ms"), "{page}");
    }

    #[test]
    fn figures_are_written_for_people() {
        let all = [0, 999, 1000, 1_550_000, 12_345_678_901].map(in_bytes);
        assert_eq!(all, ["0 bytes", "999 bytes", "1.0 KB", "1.5 MB", "12.3 GB"]);
        let all = [100, 2500, 5000, 2_500_000].map(in_millis);
        assert_eq!(all, ["0.1", "2.5", "5", "2500"]);
    }
}
