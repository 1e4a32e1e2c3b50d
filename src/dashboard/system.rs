//! `GET /dashboard/system`: how the service itself is.

use std::{fs, io, path::Path};

use axum::{extract::State, response::Response};
use maud::{Markup, html};

use super::{
    money::grouped,
    shell::{self, At},
    visit::Visit,
};
use crate::{
    http::{Code, Error},
    state::App,
};

pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let folder = app.config.data_dir.clone();
    let read = tokio::task::spawn_blocking(move || (size(&folder).ok(), left(&folder).ok())).await;
    let (size, left) = read.map_err(|_| Error::new(Code::InternalError))?;
    let stats = app.handle.stats();
    let waiting = app.payments.inbox().waiting();
    let (started, now) = (app.started_at, app.clock.now());
    let up = now.0.saturating_sub(started.0).div_euclid(1000);
    let count = |figure: u64| grouped(i64::try_from(figure).unwrap_or(i64::MAX));
    let bytes = |figure: Option<u64>| figure.map_or_else(|| "unknown".into(), in_bytes);
    let backed_up = app.backups.status().last_good;
    let all: [(&str, Markup); 10] = [
        ("Version", html! { (env!("CARGO_PKG_VERSION")) }),
        (
            "Up",
            html! { (duration(up)) ", since " (shell::when(started)) },
        ),
        (
            "Takes writes",
            html! {
                @if app.handle.ready() { span.badge.good { "Yes" } } @else { span.badge.bad { "No" } }
            },
        ),
        ("Data", html! { (bytes(size)) }),
        ("Disk left", html! { (bytes(left)) }),
        (
            "Last good backup",
            html! { @match backed_up { Some(at) => (shell::when(at)), None => "None is known" } },
        ),
        ("Wallets in memory", html! { (count(stats.awake)) }),
        ("Commands in flight", html! { (count(stats.in_flight)) }),
        (
            "Events not folded yet",
            html! { (count(stats.backlog)) ", " (in_bytes(stats.backlog_bytes)) },
        ),
        ("Provider reports waiting", html! { (count(waiting)) }),
    ];
    let body = html! {
        h1 { "System" }
        section.card { dl { @for (name, text) in &all { div { dt { (name) } dd { (text) } } } } }
        p.lead { "All figures, with latencies, are at " code { "/metrics" } " for Prometheus." }
    };
    Ok(shell::page(&visit, At::System, "System", &body))
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> io::Result<u64> {
    let mut left = vec![folder.to_owned()];
    let mut sum = 0_u64;
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // What was folded away meanwhile is not there any more.
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

fn duration(seconds: i64) -> String {
    let (days, hours) = (
        seconds.div_euclid(86_400),
        seconds.div_euclid(3600).rem_euclid(24),
    );
    let minutes = seconds.div_euclid(60).rem_euclid(60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} days {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_for_people() {
        let all = [0, 999, 1000, 1_550_000, 12_345_678_901].map(in_bytes);
        assert_eq!(all, ["0 bytes", "999 bytes", "1.0 KB", "1.5 MB", "12.3 GB"]);
        let all = [59, 61, 3_700, 90_000].map(duration);
        assert_eq!(all, ["0 min", "1 min", "1 h 1 min", "1 days 1 h"]);
    }
}
