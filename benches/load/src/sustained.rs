//! Whether it stays fast and small: single deductions for minutes, then batches until the ledger has very many
//! entries, then single ones again. There are no pauses in between, so that work that was put off is paid for
//! as in real use. A shared machine may change its speed within these minutes: each window is compared with a
//! bare handler in the seconds before it.

use std::time::Duration;

use serde_json::json;

use super::{
    Bench,
    child::Server,
    error::Result,
    format::{milliseconds, thousands},
    load::{Load, Outcome, Template, Wallets},
    place::disk_use,
    proc,
    report::Target,
    stop,
};

/// Wallets that deductions are spread over.
const WALLETS: u64 = 10_000;
const CONNECTIONS: usize = 256;
/// The least part of the first window's rate that must remain.
const KEPT: f64 = 0.8;
/// Number of windows that the last figure is the mean of: two minutes.
const LAST: usize = 4;
/// How long the bare handler runs before each window.
const BARE: Duration = Duration::from_secs(3);

/// A kind of request that is sent for a while.
struct Phase<'a> {
    name: &'static str,
    template: &'a Template,
}

/// The results of one window of half a minute.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// Deductions a second.
    rate: f64,
    /// Deductions per second of the handler that does nothing, just before.
    bare: f64,
    p99: Duration,
    /// Resident memory in bytes at its end.
    resident: u64,
    /// Bytes on the disk at its end.
    disk: u64,
}

/// The server under load, and its totals.
struct Run<'a> {
    server: &'a Server,
    bare: &'a Server,
    data: std::path::PathBuf,
    window: Duration,
    /// Seconds of load so far.
    elapsed: f64,
    /// Entries in its ledger.
    entries: u64,
}

impl Bench {
    /// The suite of the long run.
    pub(crate) fn sustained(&mut self, minutes: u64, entries: u64) -> Result<()> {
        let quick = self.args.quick;
        let window = Duration::from_secs(if quick { 1 } else { 30 });
        let windows = if quick { 4 } else { minutes * 2 };
        let entries = self.args.count(entries);
        let data = self.place.data("sustained");
        let (mut server, project) = self.start("sustained", &[])?;
        let bare = Server::noop(&project.secret)?;
        project.fund(&server, self.args.load_threads, WALLETS)?;
        server.quiet()?;
        let mut run = Run {
            server: &server,
            bare: &bare,
            data,
            window,
            elapsed: 0.0,
            entries: WALLETS,
        };
        let (deduct, batch) = (project.deduct(), project.batch());
        let single = Phase {
            name: "single",
            template: &deduct,
        };
        let batches = Phase {
            name: "batches",
            template: &batch,
        };
        // So that the first window's bare handler runs beside a server that folds, as all later ones do.
        let warmed = self.load(&single, run.server, BARE.min(window))?;
        run.entries += warmed.latency.len();
        let singles = self.windows(&mut run, &single, |done, _| done as u64 >= windows)?;
        let after_singles = run.entries;
        let batched = self.windows(&mut run, &batches, |done, total| {
            // At least one, which is the first.
            done >= 1 && total >= entries
        })?;
        let last = self.windows(&mut run, &single, |done, _| done >= 2)?;
        let (elapsed, total) = (run.elapsed, run.entries);

        let length = format!("{:.0} min", window.as_secs_f64() * windows as f64 / 60.0);
        let of = |entries: u64| format!("{} entries", thousands(entries as f64));
        self.report_first(&singles, "singles");
        let when = format!("{length}, {}", of(after_singles));
        self.report_last(&singles, &singles, "singles", &when);
        self.report_last(&singles, &last, "singles", &of(total));
        self.report_first(&batched, "batches");
        if batched.len() > 1 {
            self.report_last(&batched, &batched, "batches", &of(total));
        } else {
            self.report
                .note("half a minute was enough: nothing to compare with");
        }
        self.growth(&singles, &batched, &last, elapsed, total);
        server.terminate().map(drop)
    }

    /// Loads the server window by window until `enough`.
    fn windows(
        &mut self,
        run: &mut Run<'_>,
        phase: &Phase<'_>,
        enough: impl Fn(usize, u64) -> bool,
    ) -> Result<Vec<Window>> {
        let mut windows = Vec::new();
        while !enough(windows.len(), run.entries) {
            stop::check()?;
            windows.push(self.window(run, phase)?);
        }
        Ok(windows)
    }

    fn window(&mut self, run: &mut Run<'_>, phase: &Phase<'_>) -> Result<Window> {
        let items = phase.template.items();
        let bare = self.load(phase, run.bare, BARE.min(run.window))?;
        let outcome = self.load(phase, run.server, run.window)?;
        run.elapsed += outcome.elapsed.as_secs_f64();
        // Those answered after the window are in the ledger, too.
        run.entries += outcome.latency.len() * items;
        let window = Window {
            rate: outcome.rate() * items as f64,
            bare: bare.rate() * items as f64,
            p99: outcome.percentile(99.0),
            resident: proc::resident(run.server.pid())?,
            disk: disk_use(&run.data)?,
        };
        let (memory, disk) = (window.resident as f64 / 1e6, window.disk as f64 / 1e6);
        let waiting = run.server.backlog()?;
        eprintln!(
            "sustained {:>5.0} s, {:>7}: {:>9}/s, {:.2} of {}/s bare, p99 {}; memory {memory:.0} MB, data {} MB, {} entries, \
             {} of them not folded, {} requests shed",
            run.elapsed,
            phase.name,
            thousands(window.rate),
            window.of_bare(),
            thousands(window.bare),
            milliseconds(window.p99),
            thousands(disk),
            thousands(run.entries as f64),
            thousands(waiting as f64),
            thousands(outcome.shed as f64),
        );
        self.report.detail(json!({
            "suite": "sustained", "load": phase.name, "seconds": run.elapsed, "perSecond": window.rate,
            "barePerSecond": window.bare,
            "p99Milliseconds": window.p99.as_secs_f64() * 1e3, "residentBytes": window.resident,
            "diskBytes": window.disk, "entries": run.entries, "unfolded": waiting, "shed": outcome.shed,
        }));
        Ok(window)
    }

    fn load(&self, phase: &Phase<'_>, server: &Server, length: Duration) -> Result<Outcome> {
        let load = Load {
            server: server.address(),
            connections: CONNECTIONS,
            threads: self.args.load_threads,
            template: phase.template,
            wallets: Wallets::Random(WALLETS),
            rate: None,
            patient: true,
            warm_up: Duration::ZERO,
            length,
        };
        load.run()
    }

    fn report_first(&mut self, windows: &[Window], name: &str) {
        let Some(first) = windows.first() else { return };
        let name = format!("{name}, first half minute");
        self.report.value(name, first.rate, "/s");
        self.report.note(format!(
            "{:.2} of the {}/s of a bare handler",
            first.of_bare(),
            thousands(first.bare)
        ));
    }

    /// The last windows' rate as a part of the first rate.
    fn report_last(&mut self, first: &[Window], last: &[Window], name: &str, when: &str) {
        let Some(first) = first.first() else { return };
        let last = last.iter().rev().take(LAST);
        let ended = mean(last.clone().map(Window::of_bare)) / first.of_bare();
        let plain = mean(last.map(|window| window.rate)) / first.rate.max(1e-9);
        let name = format!("{name} after {when} / first half minute");
        self.report
            .add(name, plain, "", Target::AtLeast(KEPT, None));
        self.report.note(format!(
            "{ended:.2} as a part of what a bare handler did before each"
        ));
    }

    fn growth(
        &mut self,
        singles: &[Window],
        batched: &[Window],
        again: &[Window],
        elapsed: f64,
        entries: u64,
    ) {
        let resident = |window: Option<&Window>| window.map_or(0.0, |w| w.resident as f64 / 1e6);
        let report = &mut self.report;
        let (first, last) = (resident(singles.first()), resident(singles.last()));
        report.value("memory after the first half minute", first, "MB");
        report.value("memory growth over the singles", last - first, "MB");
        report.note(format!("{last:.0} MB at their end"));
        let (first, last) = (resident(batched.first()), resident(batched.last()));
        report.value("memory growth over the batches", last - first, "MB");
        report.note(format!("{last:.0} MB at their end"));
        let disk = again.last().map_or(0.0, |window| window.disk as f64);
        report.value("data at the end", disk / 1e6, "MB");
        report.note(format!(
            "{} entries, {:.0} s of load",
            thousands(entries as f64),
            elapsed
        ));
        let each = disk / entries.max(1) as f64;
        report.value("data, each entry", each, "bytes");
    }
}

impl Window {
    /// The rate as a part of the bare handler's.
    fn of_bare(&self) -> f64 {
        self.rate / self.bare.max(1e-9)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / f64::max(count, 1.0)
}
