//! Whether it stays fast and small: single deductions for minutes, then batches until the ledger has very many
//! entries, then single ones again. There are no pauses in between, so that work that was put off is paid for
//! as in real use. A shared machine may change its speed within these minutes: each window is compared with a
//! bare handler in the seconds before it.

use std::{path::PathBuf, time::Duration};

use super::{
    Bench, Setup,
    error::Result,
    folder::disk_use,
    format::{milliseconds, thousands},
    load::{Load, Outcome, Template, Wallets},
    process::resident,
    report::Target,
    rounds::percentile,
    server::Server,
    stop,
};

/// Wallets that deductions are spread over.
const WALLETS: u64 = 10_000;
const CONNECTIONS: usize = 256;
/// The least part of the first window's rate that must remain.
const LEAST: Target = Target::AtLeast(0.8);
/// Number of windows that the last figure is the mean of: two minutes.
const LAST: usize = 4;
/// How long the bare handler runs before each window.
const BARE: Duration = Duration::from_secs(3);

/// The results of one window of half a minute.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// Deductions a second.
    rate: f64,
    /// Deductions per second of the bare handler, just before.
    bare: f64,
    /// Resident megabytes at its end.
    memory: f64,
}

impl Window {
    /// The rate as a part of the bare handler's.
    fn of_bare(&self) -> f64 {
        self.rate / self.bare.max(1e-9)
    }
}

/// The server under load, and its totals.
struct Run<'a> {
    bench: &'a Bench,
    server: &'a Server,
    bare: Server,
    data: PathBuf,
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
        let count = if quick { 4 } else { minutes * 2 };
        let limit = self.args.count(entries);
        let Setup { server, project } = self.funded("sustained", &[], WALLETS)?;
        let mut run = Run {
            bench: self,
            server: &server,
            bare: self.bare_handler(&project.secret)?,
            data: self.folder.path().join("sustained"),
            window,
            elapsed: 0.0,
            entries: WALLETS,
        };
        let (single, batch) = (project.deduct(), project.batch());
        // So that the first window's bare handler runs beside a server that writes checkpoints, as all later ones do.
        run.entries += run.load(&single, &server, BARE)?.latency.len();
        let singles = run.windows(&single, |done, _| done as u64 >= count)?;
        let after_singles = run.entries;
        // At least one, which is the first.
        let batches = run.windows(&batch, |done, entries| done >= 1 && entries >= limit)?;
        let last = run.windows(&single, |done, _| done >= 2)?;
        let (entries, disk) = (run.entries, disk_use(&run.data)? as f64);

        let of = |entries: u64| format!("{} entries", thousands(entries as f64));
        let minutes = window.as_secs_f64() * count as f64 / 60.0;
        self.first("singles", &singles);
        let when = format!("{minutes:.0} min, {}", of(after_singles));
        self.last("singles", &singles, &singles, &when);
        self.last("singles", &singles, &last, &of(entries));
        self.first("batches", &batches);
        match batches.len() {
            1 => self.report.note("half a minute was enough"),
            _ => self.last("batches", &batches, &batches, &of(entries)),
        }
        let report = &mut self.report;
        for (name, windows) in [("singles", &singles), ("batches", &batches)] {
            let [first, last] = [windows.first(), windows.last()]
                .map(|window| window.map_or(0.0, |window| window.memory));
            let name = format!("memory growth over the {name}");
            report.value(name, last - first, "MB");
            report.note(format!("from {first:.0} to {last:.0} MB"));
        }
        report.value("data at the end", disk / 1e6, "MB");
        report.note(of(entries));
        report.value("data, each entry", disk / entries as f64, "bytes");
        server.terminate().map(drop)
    }

    fn first(&mut self, name: &str, windows: &[Window]) {
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
    fn last(&mut self, name: &str, first: &[Window], last: &[Window], when: &str) {
        let Some(first) = first.first() else { return };
        let last = last.get(last.len().saturating_sub(LAST)..);
        let last = last.unwrap_or_default();
        let mean = |part: fn(&Window) -> f64| {
            last.iter().map(part).sum::<f64>() / last.len().max(1) as f64 / part(first).max(1e-9)
        };
        let name = format!("{name} after {when} / first half minute");
        self.report.add(name, mean(|it| it.rate), "", LEAST);
        self.report.note(format!(
            "{:.2} as a part of what a bare handler did before each",
            mean(Window::of_bare)
        ));
    }
}

impl Run<'_> {
    /// Loads the server window by window until `enough` of their number and that of all entries.
    fn windows(
        &mut self,
        template: &Template,
        enough: impl Fn(usize, u64) -> bool,
    ) -> Result<Vec<Window>> {
        let mut windows = Vec::new();
        while !enough(windows.len(), self.entries) {
            stop::check()?;
            windows.push(self.window(template)?);
        }
        Ok(windows)
    }

    fn window(&mut self, template: &Template) -> Result<Window> {
        let items = template.items();
        let bare = self.load(template, &self.bare, BARE)?;
        let outcome = self.load(template, self.server, self.window)?;
        self.elapsed += outcome.elapsed.as_secs_f64();
        // Those answered after the window are in the ledger, too.
        self.entries += outcome.latency.len() * items;
        let window = Window {
            rate: outcome.rate() * items as f64,
            bare: bare.rate() * items as f64,
            memory: resident(self.server.pid())? as f64 / 1e6,
        };
        eprintln!(
            "sustained {:>5.0} s, {items} at a time: {:>9}/s, {:.2} of {}/s bare, p99 {}; memory {:.0} MB, data {:.0} MB, \
             {} entries, {} of them in no checkpoint, {} requests shed",
            self.elapsed,
            thousands(window.rate),
            window.of_bare(),
            thousands(window.bare),
            milliseconds(percentile(&outcome.latency, 99.0)),
            window.memory,
            disk_use(&self.data)? as f64 / 1e6,
            thousands(self.entries as f64),
            thousands(self.server.backlog()? as f64),
            thousands(outcome.shed as f64),
        );
        Ok(window)
    }

    fn load(&self, template: &Template, server: &Server, length: Duration) -> Result<Outcome> {
        let wallets = Wallets::Random(WALLETS);
        let template = template.clone();
        let load = Load {
            may_shed: true,
            warm_up: Duration::ZERO,
            length: Some(length.min(self.window)),
            ..self.bench.load(server, template, CONNECTIONS, wallets)
        };
        load.run()
    }
}
