//! The dashboard's pages with a million wallets, one of which has a tenth of all entries, and backups of all
//! that.

mod browser;
mod orders;

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use self::browser::Browser;
use super::{
    Bench, Setup,
    error::{Context, Error, Result},
    folder::disk_use,
    format::{median, milliseconds},
    load::user,
    report::Target,
    server::{ADMIN_TOKEN, Server, binary, command},
    stop,
};

/// The server's key, with which the orders are written, too.
const SERVER_KEY: [u8; 32] = [7; 32];
/// How often each page is requested.
const TIMES: usize = 5;
/// How often, and how far apart, the disk's use is measured after a burst: five minutes in all.
const PAUSES: u32 = 30;
const PAUSE: Duration = Duration::from_secs(10);

impl Bench {
    pub(crate) fn dashboard(
        &mut self,
        wallets: Option<u64>,
        entries: Option<u64>,
        orders: Option<u64>,
    ) -> Result<()> {
        let wallets = wallets.unwrap_or_else(|| self.args.count(1_000_000));
        let entries = entries.unwrap_or_else(|| self.args.count(10_000_000));
        let orders = orders.unwrap_or_else(|| self.args.count(100_000));
        let data = self.folder.path().join("dashboard");
        let [byte, ..] = SERVER_KEY;
        let key = format!("{byte:02x}").repeat(SERVER_KEY.len());
        let env = [("SCRIP_SERVER_KEY", key)];
        let setup = self.funded("dashboard", &env, wallets)?;
        eprintln!("dashboard: {} entries of one wallet", entries / 10);
        self.send_batches(&setup, entries / 10, 1)?;
        let each = entries.saturating_sub(wallets + orders + entries / 10) / wallets;
        eprintln!("dashboard: {each} entries of each");
        if each > 0 {
            self.deduct_in_order(&setup, wallets, each)?;
        }
        setup.server.checkpointed()?;
        let Setup { server, project } = setup;
        server.terminate()?;
        eprintln!("dashboard: {orders} orders");
        orders::place(&data, &project, orders, wallets)?;
        let burst = disk_use(&data)?;
        let mut server = self.server(&data, &env)?;
        server.ready()?;
        eprintln!("dashboard: the disk's use after that, while nothing happens");
        for _ in 0..if self.args.quick { 1 } else { PAUSES } {
            stop::check()?;
            thread::sleep(PAUSE);
            eprintln!("dashboard: {:.0} MB", disk_use(&data)? as f64 / 1e6);
        }
        let later = disk_use(&data)?;
        let setup = Setup { server, project };
        self.pages(&setup, wallets)?;
        self.backups(&setup, &data, [burst, later])?;
        setup.server.terminate().map(drop)
    }

    fn pages(&mut self, setup: &Setup, wallets: u64) -> Result<()> {
        let (server, project) = (setup.server.address(), &setup.project);
        let browser = Browser::sign_in(self.runtime.handle(), server, ADMIN_TOKEN)?;
        let base = format!("/dashboard/projects/{}", project.id);
        let find = format!("{base}/search");
        // Requested first, while its wallet is asleep.
        let of = |number| browser.find(&find, &user(number));
        let usual = of(wallets / 2)?;
        let large = of(0)?;
        let email = format!("{}%40mail.example", user(orders::buyer(0, wallets)));
        let user_id = user(wallets / 2);
        let part = user_id.get(..user_id.len().saturating_sub(2));
        let part = part.context("a part of a user's id")?;
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
        let name = format!("dashboard: {name}");
        self.report.add(name, slowest, "ms", Target::AtMost(200.0));
        let median = milliseconds(median(took));
        let note = format!("the slowest of {TIMES}; median {median}");
        self.report.note(note);
        Ok(())
    }

    fn backups(&mut self, setup: &Setup, data: &Path, disk: [u64; 2]) -> Result<()> {
        let to = self.folder.path().join("backups");
        let mut before = 0;
        for name in ["a full backup", "one after 10,000 more entries"] {
            let started = Instant::now();
            let records = self.back_up(&setup.server, data, &to)?;
            let took = started.elapsed().as_secs_f64();
            if before == 0 {
                self.disk_after_burst(disk, records);
            }
            self.report.value(name, took, "s");
            let size = disk_use(&to)?;
            let added = size.saturating_sub(before) as f64 / 1e6;
            self.report.note(format!("{added:.0} MB more on the disk"));
            before = size;
            self.fund(setup, 10_000)?;
        }
        Ok(())
    }

    /// Reports the bytes of the data directory right after a burst and later, beside those of all records.
    fn disk_after_burst(&mut self, [burst, later]: [u64; 2], records: u64) {
        let ratio = |used: u64| used as f64 / records.max(1) as f64;
        let note = |used: u64| format!("{:.0} MB", used as f64 / 1e6);
        let report = &mut self.report;
        let name = "the disk after all that at once / records";
        report.value(name, ratio(burst), "");
        report.note(note(burst));
        let name = "the disk five minutes later / records";
        report.add(name, ratio(later), "", Target::AtMost(3.0));
        report.note(note(later));
    }

    /// Makes a backup; the bytes of the records in it.
    fn back_up(&self, server: &Server, data: &Path, to: &Path) -> Result<u64> {
        let mut command = command(&binary(self.args.server.as_deref())?);
        command.args(["backup", "--url", &format!("http://{}", server.address())]);
        command.arg("--data-dir").arg(data).arg("--to").arg(to);
        command.env("SCRIP_ADMIN_TOKEN", ADMIN_TOKEN);
        let ended = command.output().context("scrip backup")?;
        if !ended.status.success() {
            let output = String::from_utf8_lossy(&ended.stderr);
            return Err(Error(format!("scrip backup: {output}")));
        }
        let output = String::from_utf8_lossy(&ended.stdout);
        eprintln!("dashboard: {}", output.trim_end());
        let mut lines = output.lines();
        let bytes = lines.find_map(|line| line.strip_prefix("bytes ")?.trim().parse().ok());
        bytes.context("the bytes of all records")
    }
}
