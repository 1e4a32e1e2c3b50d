//! The dashboard's pages with a million wallets, one of which has a tenth of all entries, and backups of all
//! that. The data is created in this process; the pages and backups are the server's.

mod browser;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
    thread,
    time::{Duration, Instant},
};

use actors::Address;
use serde_json::json;

use self::browser::Browser;
use super::{
    Bench,
    child::{ADMIN_TOKEN, Server},
    customer::buy,
    engine::{Engine, SERVER_KEY, addresses, take_one},
    error::{Context, Error, Needed, Result},
    format::{median, thousands},
    load::user,
    place::disk_use,
    project::Project,
    report::Target,
    server::Binary,
    stop,
};

/// Orders that are placed concurrently.
const IN_FLIGHT: usize = 256;
/// Wallets that entries are created in at a time: no more than may be awake.
const TOGETHER: usize = 10_000;
/// How often each page is requested.
const TIMES: usize = 5;
/// How often, and how far apart, the disk's use is looked at after a burst: five minutes in all.
const PAUSES: u32 = 30;
const PAUSE: Duration = Duration::from_secs(10);
/// What the directory may be, five minutes after a burst, in bytes of its records.
const RECORDS_TARGET: Target = Target::AtMost(3.0);
/// The longest a page may take, in milliseconds.
const TARGET: Target = Target::AtMost(200.0);

impl Bench {
    /// The suite of the dashboard.
    pub(crate) fn dashboard(
        &mut self,
        wallets: Option<u64>,
        entries: Option<u64>,
        orders: Option<u64>,
    ) -> Result<()> {
        let wallets = wallets.unwrap_or_else(|| self.args.count(1_000_000));
        let entries = entries.unwrap_or_else(|| self.args.count(10_000_000));
        let orders = orders.unwrap_or_else(|| self.args.count(100_000));
        let data = self.place.data("dashboard");
        let [byte, ..] = SERVER_KEY;
        let key = format!("{byte:02x}").repeat(SERVER_KEY.len());
        let env = [("SCRIP_SERVER_KEY", key)];
        let (server, project) = self.start("dashboard", &env)?;
        server.terminate()?;
        let pauses = if self.args.quick { 1 } else { PAUSES };
        let disk = fill(&data, &project, wallets, entries, orders, pauses)?;
        let mut server = self.server(&data, &env)?;
        server.ready()?;
        server.quiet()?;
        self.pages(&server, &project, wallets)?;
        self.backups(&server, &project, &data, &disk)?;
        server.terminate().map(drop)
    }

    fn pages(&mut self, server: &Server, project: &Project, wallets: u64) -> Result<()> {
        let browser = Browser::sign_in(server.address(), ADMIN_TOKEN)?;
        let base = format!("/dashboard/projects/{}", project.id);
        let find = format!("{base}/search");
        // Requested first, while its wallet is asleep.
        let of = |number| browser.find(&find, &user(number));
        let usual = of(wallets / 2)?;
        let large = of(0)?;
        // Of a wallet that bought: orders go to one wallet in so many.
        let email = format!("{}%40mail.example", user(104_729 % wallets));
        let all_digits = user(wallets / 2);
        let part = all_digits.get(..all_digits.len().saturating_sub(2));
        let part = part.needed("a part of a user's id")?;
        let order = browser.link(&format!("{base}/orders"), "/orders/ord_")?;
        let pages = [
            ("projects", "/dashboard".to_owned()),
            ("overview, day", format!("{base}?range=day")),
            ("overview, month", format!("{base}?range=month")),
            ("overview, year", format!("{base}?range=year")),
            ("orders", format!("{base}/orders")),
            (
                "orders, refunded: none is",
                format!("{base}/orders?status=refunded"),
            ),
            ("an order", order),
            ("a wallet", usual),
            ("a wallet with a tenth of all entries", large.clone()),
            ("its refunds: none is", format!("{large}?reason=refund")),
            ("wallets by last use", format!("{base}/wallets")),
            (
                "wallets by balance",
                format!("{base}/wallets?sort={}", project.product),
            ),
            (
                "found by a part of a user's id",
                format!("{find}?query={part}"),
            ),
            ("found by an e-mail", format!("{find}?query={email}")),
            (
                "orders of an e-mail",
                format!("{base}/orders?email={email}"),
            ),
            (
                "orders of a product",
                format!("{base}/orders?productId={}", project.product),
            ),
            (
                "orders of an amount: none is",
                format!("{base}/orders?min=5.00"),
            ),
            (
                "what the large wallet spent in a year",
                format!("{large}/spending?from=2020-01-01&to=2060-12-31"),
            ),
            ("catalog", format!("{base}/catalog")),
            ("keys", format!("{base}/keys")),
            ("settings", format!("{base}/settings")),
            ("webhooks", format!("{base}/webhooks")),
            ("audit log", "/dashboard/audit".to_owned()),
            ("system", "/dashboard/system".to_owned()),
        ];
        for (name, path) in &pages {
            self.page(name, || browser.get(path))?;
        }
        let mut next = 0;
        self.page("finding a sleeping wallet", || {
            next += 1;
            browser.find(&find, &user(next)).map(drop)
        })
    }

    /// Requests a page several times and reports the slowest.
    fn page(&mut self, name: &str, mut open: impl FnMut() -> Result<()>) -> Result<()> {
        let mut took = Vec::new();
        for _ in 0..TIMES {
            stop::check()?;
            let started = Instant::now();
            open()?;
            took.push(started.elapsed().as_secs_f64() * 1e3);
        }
        let slowest = took.iter().copied().fold(0.0, f64::max);
        self.report
            .detail(json!({"suite": "dashboard", "page": name, "milliseconds": took}));
        self.report
            .add(format!("dashboard: {name}"), slowest, "ms", TARGET);
        let usual = median(took);
        self.report
            .note(format!("the slowest of {TIMES}; median {usual:.1} ms"));
        Ok(())
    }

    fn backups(
        &mut self,
        server: &Server,
        project: &Project,
        data: &Path,
        disk: &DiskUse,
    ) -> Result<()> {
        let to = self.place.data("backups");
        let mut before = 0;
        for name in ["a full backup", "one after 10,000 more entries"] {
            let started = Instant::now();
            let records = self.back_up(server, data, &to)?;
            let took = started.elapsed().as_secs_f64();
            if before == 0 {
                self.disk_after_burst(disk, records);
            }
            self.report.value(name, took, "s");
            let size = disk_use(&to)?;
            let new = size.saturating_sub(before) as f64 / 1e6;
            self.report.note(format!("{new:.0} MB more on the disk"));
            before = size;
            project.fund(server, self.args.load_threads, 10_000)?;
        }
        Ok(())
    }

    /// Reports what a burst left on the disk, beside the bytes of all records.
    fn disk_after_burst(&mut self, disk: &DiskUse, records: u64) {
        let states = [
            (
                "the disk after all that at once / records",
                disk.burst,
                Target::None,
            ),
            (
                "the disk five minutes later / records",
                disk.later,
                RECORDS_TARGET,
            ),
        ];
        for (name, used, target) in states {
            let ratio = used as f64 / records.max(1) as f64;
            self.report.add(name, ratio, "", target);
            let megabytes = used as f64 / 1e6;
            self.report.note(format!("{megabytes:.0} MB"));
        }
    }

    /// Makes a backup; the bytes of the records in it.
    fn back_up(&self, server: &Server, data: &Path, to: &PathBuf) -> Result<u64> {
        let binary = Binary::find(self.args.server.as_deref())?;
        let mut command = binary.command();
        command.args(["backup", "--url", &format!("http://{}", server.address())]);
        command.arg("--data-dir").arg(data).arg("--to").arg(to);
        command.env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN);
        let ended = command.output().context("scrip backup")?;
        let output = String::from_utf8_lossy(&ended.stdout);
        eprintln!("dashboard: {}", output.trim_end());
        if ended.status.success() {
            let bytes = output
                .split_once("records of ")
                .and_then(|(_, it)| it.split_once(" bytes"));
            return bytes
                .and_then(|(bytes, _)| bytes.parse().ok())
                .needed("the bytes of all records");
        }
        let output = String::from_utf8_lossy(&ended.stderr);
        Err(Error(format!("scrip backup: {output}")))
    }
}

/// Bytes of the data directory right after a burst, and after it was left alone.
struct DiskUse {
    burst: u64,
    later: u64,
}

/// Creates wallets with equally many entries, except one that has a tenth of all, and orders.
fn fill(
    data: &Path,
    project: &Project,
    wallets: u64,
    entries: u64,
    orders: u64,
    pauses: u32,
) -> Result<DiskUse> {
    let id = project.id.parse().map_err(|_| Error("no project".into()))?;
    let product = project.product.parse();
    let product = product.map_err(|_| Error("no product".into()))?;
    let engine = Engine::open_of(data, id, product)?;
    eprintln!("dashboard: {wallets} wallets");
    let all = addresses(0, wallets)?;
    engine.fund(&all)?;
    engine.settle()?;
    eprintln!("dashboard: {orders} orders");
    sell(&engine, &all, orders, product)?;
    engine.settle()?;
    let large: Arc<[Address]> = all.first().into_iter().cloned().collect();
    eprintln!("dashboard: {} entries of one wallet", entries / 10);
    engine.fill(&large, entries / 10)?;
    let rest = entries.saturating_sub(wallets + orders + entries / 10);
    eprintln!("dashboard: {rest} entries of all");
    let started = Instant::now();
    // In groups of wallets: otherwise each batch would wake a thousand of them.
    for some in all.chunks(TOGETHER) {
        let part = rest * some.len() as u64 / wallets;
        engine.fill(&some.iter().cloned().collect(), part)?;
    }
    let rate = rest as f64 / started.elapsed().as_secs_f64();
    eprintln!("dashboard: {} entries/s", thousands(rate));
    engine.settle()?;
    let burst = disk_use(data)?;
    eprintln!("dashboard: the disk's use after that, while nothing happens");
    for _ in 0..pauses {
        stop::check()?;
        thread::sleep(PAUSE);
        eprintln!("dashboard: {:.0} MB", disk_use(data)? as f64 / 1e6);
    }
    let later = disk_use(data)?;
    engine.close()?;
    Ok(DiskUse { burst, later })
}

fn sell(
    engine: &Engine,
    all: &Arc<[Address]>,
    orders: u64,
    product: domain::id::ProductId,
) -> Result<()> {
    let left = Arc::new(AtomicU64::new(orders));
    let operations = engine.together(IN_FLIGHT, |task| {
        let (handle, scope) = (engine.handle().clone(), engine.scope().clone());
        let (all, left) = (Arc::clone(all), Arc::clone(&left));
        async move {
            // Spread out, so that orders that are listed together are stored apart.
            let mut place = task * 7_919;
            while take_one(&left) {
                stop::check()?;
                place = (place + 104_729) % all.len();
                let wallet = all.get(place).needed("a wallet")?;
                buy(&handle, &scope, wallet, product).await?;
            }
            Ok(0)
        }
    });
    operations.map(drop)
}
