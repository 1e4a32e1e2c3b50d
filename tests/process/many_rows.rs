//! Lists of very many rows while wallets are in use: a page holds what it names, an export is sent page by page, and no
//! sleeping wallet is woken. `SCRIP_ROWS` is how many orders there are; with it, as `scripts/soak` sets it, times and
//! memory are limited, too.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use actors::{Address, Handle, Scope, ServerKeys, clock::SystemClock};
use domain::{
    Quantity,
    catalog::Interval,
    id::{PriceId, ProductId},
    metadata::Metadata,
    terms::Terms,
    text::{Email, ExternalUserId, PaymentId},
    wallet::{
        OrderKind, Receipt,
        pay::{Pay, Payment},
        place_order::PlaceOrder,
    },
};
use kit::{Client, Launch, Server, browser::Browser, deadline, launch::ADMIN_TOKEN};
use scrip::{
    compose,
    config::{Config, Flags},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    task::JoinSet,
};

const SERVER_KEY: [u8; 32] = [7; 32];
/// Rows where `SCRIP_ROWS` is not set.
const FEW: u64 = 2_500;
/// Orders that are written at once.
const AT_ONCE: usize = 256;
/// Users who spend credits while lists are read.
const SPENDERS: u64 = 40;
const SPENDERS_AT_ONCE: u64 = 4;
/// Deductions from which the time of a quiet server is taken.
const QUIET: u64 = 2_000;
/// Entries of the first spender's ledger are this part of the rows.
const ENTRIES_PART: u64 = 10;
const ENTRIES_AT_ONCE: u64 = 1_000;
/// No part of an export is larger.
const MAX_CHUNK: usize = 256 << 10;
/// Rows of a list whose pages are turned: an administrator may read no more pages at once than these. Exports read all.
const MAX_WALKED: usize = 20_000;

/// Of a server that answers a million rows on two cores, beside the test.
const MAX_PAGE: Duration = Duration::from_secs(2);
const MAX_GROWTH_KIB: u64 = 256 << 10;
const MAX_P99: Duration = Duration::from_millis(50);
const MAX_P99_FACTOR: u32 = 10;

fn user(number: u64) -> String {
    format!("user-{number:07}")
}

fn email(number: u64) -> String {
    format!("{}@mail.example", user(number))
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_many_rows_are_read_beside_deductions_and_wake_no_wallet() {
    let rows = std::env::var("SCRIP_ROWS").ok();
    let is_soak = rows.is_some();
    let rows = rows.map_or(FEW, |rows| rows.parse().unwrap());
    let launch = Launch::default()
        .env("SCRIP_SERVER_KEY", "07".repeat(SERVER_KEY.len()))
        // A wallet that is woken stays awake.
        .env("SCRIP_ACTORS_IDLE_SECONDS", "86400");
    let mut server = Server::launch(launch).await;
    assert!(server.terminate().await.success());
    fill(&server, rows).await;
    server.start_again().await;
    fund(&server, rows / ENTRIES_PART).await;
    let store = Filled::open(server, rows).await;

    let spent = Arc::new(AtomicU64::new(0));
    let quiet = deadline::until("deductions", deadline::SOON, || {
        (spent.load(Ordering::Relaxed) >= QUIET).then_some(())
    });
    let (quiet, ()) = beside_deductions(&store.server, &spent, quiet).await;
    let before = store.resident_kib();
    let mut abandoned = Export::begin(&store, &store.exports()[0]).await;
    abandoned.chunk().await.unwrap();
    let (busy, slowest) = beside_deductions(&store.server, &spent, async {
        let slowest = store.read_pages().await;
        store.walk().await;
        let exports = store.exports().map(|export| store.export(export));
        futures_util::future::join_all(exports).await;
        slowest
    })
    .await;
    store.is_asleep().await;
    let grown = store.resident_kib().saturating_sub(before);
    let [quiet, busy] = [quiet, busy].map(p99);
    println!(
        "{rows} rows: the slowest page {slowest:?}, deductions' p99 {quiet:?} and beside lists {busy:?}, {grown} KiB more"
    );
    if is_soak {
        assert!(slowest.1 < MAX_PAGE, "{slowest:?}");
        assert!(grown < MAX_GROWTH_KIB, "{grown} KiB");
        let most = MAX_P99.max(quiet * MAX_P99_FACTOR);
        assert!(busy < most, "{busy:?} beside lists, {quiet:?} without");
    }
}

/// Writes a paid order of each user into the data directory of a stopped server.
async fn fill(server: &Server, rows: u64) {
    let flags = Flags {
        data_dir: Some(server.data_dir().to_owned()),
        ..Flags::default()
    };
    let config = Config::read(&flags).unwrap();
    let store = compose::open_store(&config).await.unwrap();
    let keys = ServerKeys::new(SERVER_KEY, vec![]);
    let handle = compose::wallets(store, Arc::new(SystemClock::new()), &keys, &config);
    let handle = handle.await.unwrap();
    let scope = Arc::new(Scope {
        project: server.project().id.parse().unwrap(),
        free_grants: Arc::new([]),
        low_balances: Arc::new([]),
        debt_limits: Arc::new([]),
        limits: None,
        free_grants_for_code_wallets: false,
        ahead_millis: 0,
    });
    let product = server.product().parse().unwrap();
    let next = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (handle, scope, next) = (handle.clone(), Arc::clone(&scope), Arc::clone(&next));
        tasks.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= rows {
                    return;
                }
                buy(&handle, &scope, product, number).await;
            }
        });
    }
    tasks.join_all().await;
    handle.shut_down().await.unwrap();
}

async fn buy(handle: &Handle, scope: &Scope, product: ProductId, number: u64) {
    let payment = PaymentId::new(format!("pi_{number}")).unwrap();
    let user = ExternalUserId::new(user(number)).unwrap();
    let address = Address::External(user.clone());
    let order = handle.order_of_assignment(scope, &payment, handle.now(), Some(&address));
    let order = order.await.unwrap();
    let placed = PlaceOrder {
        order: order.serial,
        terms: terms(product),
        checkout: None,
        email: Some(Email::new(email(number)).unwrap()),
        quantity: Quantity::ONE,
        metadata: Metadata::default(),
        locale: None,
        names_code: false,
    };
    let pay = Pay {
        order: order.serial,
        kind: OrderKind::Checkout,
        code: handle.mint_code(scope),
        missing_order: Some(placed),
        payment: Payment {
            amount_cents: 500,
            payment: Some(payment),
            invoice: None,
            customer: None,
            email: None,
            receipt: Receipt::default(),
        },
        billing: None,
    };
    let paid = handle.pay(scope, order.wallet, Some(user), pay).await;
    assert!(paid.unwrap(), "it was not paid before");
}

fn terms(product: ProductId) -> Terms {
    Terms {
        price: PriceId(1),
        product,
        fills: product,
        credits: 10,
        expire_after_days: None,
        rollover: false,
        repeatable: false,
        trial_days: None,
        trial_credits: 0,
        features: Default::default(),
        interval: Interval::OneTime,
        label: None,
        amount_cents: 500,
        currency: "EUR".into(),
    }
}

/// Gives the spenders credits, and the first one a long ledger.
async fn fund(server: &Server, entries: u64) {
    for number in 0..SPENDERS {
        server.grant(&user(number), 1_000_000_000, "funds").await;
    }
    for batch in 0..entries.div_ceil(ENTRIES_AT_ONCE) {
        let item = |entry| {
            json!({
                "externalUserId": user(0), "productId": server.product(), "amount": 1,
                "idempotencyKey": format!("entry {batch} {entry}"),
            })
        };
        let items: Vec<_> = (0..ENTRIES_AT_ONCE).map(item).collect();
        let batch = json!({ "items": items });
        let client = server.client();
        client
            .post("/api/v1/deductions/batch", &batch)
            .await
            .expect(200);
    }
}

/// Does something while spenders deduct as fast as they are answered; returns how long each deduction took.
async fn beside_deductions<T>(
    server: &Server,
    spent: &Arc<AtomicU64>,
    work: impl Future<Output = T>,
) -> (Vec<Duration>, T) {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut spenders = JoinSet::new();
    for _ in 0..SPENDERS_AT_ONCE {
        let (client, product) = (server.client(), server.product().to_owned());
        let (spent, is_over) = (Arc::clone(spent), Arc::clone(&is_over));
        spenders.spawn(async move {
            let mut took = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let number = spent.fetch_add(1, Ordering::Relaxed);
                let body = json!({
                    "externalUserId": user(number % SPENDERS), "productId": product, "amount": 1,
                    "idempotencyKey": format!("deduction {number}"),
                });
                let started = Instant::now();
                let answer = client.post("/api/v1/wallets/external/deduct", &body).await;
                took.push(started.elapsed());
                assert_eq!(answer.expect(200)["deducted"], true);
            }
            took
        });
    }
    let done = work.await;
    is_over.store(true, Ordering::Relaxed);
    (spenders.join_all().await.concat(), done)
}

fn p99(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took[took.len() * 99 / 100]
}

/// A server over so many rows, and an operator's browser.
struct Filled {
    server: Server,
    rows: u64,
    browser: Browser,
    /// The dashboard's path of the project.
    pages: String,
}

/// A list as CSV: its path, who reads it, and the least rows that it has.
struct List {
    path: String,
    header: String,
    rows: u64,
}

impl Filled {
    async fn open(server: Server, rows: u64) -> Self {
        let mut browser = Browser::new(server.instance().base());
        let signed_in = browser.sign_in(&[("token", ADMIN_TOKEN)]).await;
        assert_eq!(signed_in.status, 303);
        Self {
            pages: format!("/dashboard/projects/{}", server.project().id),
            browser,
            server,
            rows,
        }
    }

    fn resident_kib(&self) -> u64 {
        let status = format!("/proc/{}/status", self.server.instance().id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        kib.unwrap().parse().unwrap()
    }

    /// Asserts that only wallets of spenders are awake.
    async fn is_asleep(&self) {
        let figures = self.server.figures().await;
        let awake = figures
            .lines()
            .find_map(|line| line.strip_prefix("scrip_wallets_awake "));
        let awake: u64 = awake.unwrap().parse().unwrap();
        assert!(awake <= SPENDERS, "{awake} wallets are awake");
    }

    /// Reads pages of all kinds; returns the slowest.
    async fn read_pages(&self) -> (String, Duration) {
        let (client, admin) = (self.server.client(), self.server.admin());
        let (base, product) = (self.server.project_path(), self.server.product());
        let (middle, last) = (self.rows / 2, self.rows - 1);
        let placed_at = client
            .get(&format!("/api/v1/orders?email={}", email(middle)))
            .await;
        let placed_at = placed_at.expect(200)["orders"][0]["createdAt"].clone();
        let placed_at = placed_at.as_str().unwrap();
        let mut slowest = (String::new(), Duration::ZERO);
        let mut count = |path: &str, took: Duration| {
            if took > slowest.1 {
                slowest = (path.to_owned(), took);
            }
        };
        // (who reads it, path, the list's name, its rows)
        let lists: [(&Client, String, &str, usize); 18] = [
            (&client, "/api/v1/orders?limit=100".into(), "orders", 100),
            (
                &client,
                format!("/api/v1/orders?limit=100&to={placed_at}"),
                "orders",
                100,
            ),
            (
                &client,
                "/api/v1/orders?limit=100&status=refunded".into(),
                "orders",
                0,
            ),
            (
                &client,
                format!("/api/v1/orders?limit=100&status=paid&productId={product}"),
                "orders",
                100,
            ),
            (
                &client,
                format!("/api/v1/orders?email={}", email(last)),
                "orders",
                1,
            ),
            (
                &client,
                "/api/v1/orders?limit=100&minCents=501".into(),
                "orders",
                0,
            ),
            (&client, "/api/v1/events?limit=100".into(), "events", 100),
            (&client, "/api/v1/usage?interval=day".into(), "buckets", 30),
            (
                &client,
                format!(
                    "/api/v1/wallets/external/ledger?externalUserId={}&limit=100",
                    user(0)
                ),
                "entries",
                100,
            ),
            (
                &client,
                format!(
                    "/api/v1/wallets/external/ledger?externalUserId={}&limit=100&reason=refund",
                    user(0)
                ),
                "entries",
                0,
            ),
            (
                &admin,
                format!("{base}/orders?limit=100&totals=true"),
                "orders",
                100,
            ),
            (
                &admin,
                format!("{base}/orders?limit=100&totals=true&minCents=500&to={placed_at}"),
                "orders",
                100,
            ),
            (&admin, format!("{base}/wallets?limit=100"), "wallets", 100),
            (
                &admin,
                format!("{base}/wallets?limit=100&sort=balance"),
                "wallets",
                100,
            ),
            (
                &admin,
                format!("{base}/wallets?query={}", user(middle)),
                "wallets",
                1,
            ),
            (
                &admin,
                "/api/admin/v1/search?query=user-0000".to_owned()
                    + "&projectId="
                    + &self.server.project().id,
                "wallets",
                20,
            ),
            (
                &admin,
                format!("{base}/unfulfilled-payments"),
                "payments",
                0,
            ),
            (&admin, "/api/admin/v1/audit?limit=1".into(), "entries", 1),
        ];
        for (client, path, name, rows) in lists {
            let started = Instant::now();
            let answer = client.get(&path).await.expect(200);
            count(&path, started.elapsed());
            let listed = answer[name]
                .as_array()
                .unwrap_or_else(|| panic!("{path}: {answer}"));
            assert_eq!(listed.len(), rows, "{path}");
            self.is_asleep().await;
        }
        // (path, what it shows)
        for (path, shown) in [
            ("?range=day", "EUR"),
            ("?range=year", "EUR"),
            ("/orders", "Older"),
            ("/orders?status=refunded", "No orders match these filters."),
            ("/orders?min=5.01", "No orders match these filters."),
            (&*format!("/orders?email={}", email(middle)), &*user(middle)),
            ("/orders?to=2020-01-01", "No orders match these filters."),
            ("/wallets", "Next"),
            (&*format!("/wallets?sort={product}"), "999,999,"),
        ] {
            let started = Instant::now();
            let page = self.browser.get(&format!("{}{path}", self.pages)).await;
            count(path, started.elapsed());
            assert_eq!(page.status, 200, "{path}");
            page.shows(shown);
            self.is_asleep().await;
        }
        slowest
    }

    /// Turns all pages of orders and of wallets, from the first to the last.
    async fn walk(&self) {
        let orders = format!("{}/orders", self.server.project_path());
        let orders = self.turn(&orders, "orders").await;
        let walked = self.rows.min(MAX_WALKED as u64);
        assert_eq!(orders.len() as u64, walked, "each user's order");
        let wallets = format!("{}/wallets", self.server.project_path());
        let mut wallets = self.turn(&wallets, "wallets").await;
        // Those in use are listed where they were last used.
        let spenders: HashSet<String> = (0..SPENDERS).map(user).collect();
        wallets.retain(|user| !spenders.contains(user));
        let sleeping = wallets.len() as u64;
        match walked == self.rows {
            true => assert_eq!(sleeping, walked - SPENDERS, "each sleeping wallet"),
            false => assert!(sleeping >= walked - 2 * SPENDERS, "{sleeping}"),
        }
    }

    /// The users of all rows of a list.
    async fn turn(&self, path: &str, name: &str) -> Vec<String> {
        let admin = self.server.admin();
        let mut users = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = admin
                .get(&format!("{path}?limit=100{cursor}"))
                .await
                .expect(200);
            let rows = page[name].as_array().unwrap().iter();
            users.extend(rows.map(|row| row["externalUserId"].as_str().unwrap().to_owned()));
            match &page["nextCursor"] {
                Value::String(next) if users.len() < MAX_WALKED => {
                    cursor = format!("&cursor={next}");
                }
                _ => break,
            }
        }
        let once: HashSet<&String> = users.iter().collect();
        let spenders = usize::try_from(SPENDERS).unwrap();
        assert!(users.len() - once.len() <= spenders, "a row is listed once");
        users
    }

    fn exports(&self) -> [List; 5] {
        let admin = format!("authorization: Bearer {ADMIN_TOKEN}");
        let cookie = format!("cookie: {}", self.browser.cookie.as_ref().unwrap());
        let base = self.server.project_path();
        let list = |path: String, header: &String, rows| List {
            path,
            header: header.clone(),
            rows,
        };
        let sleeping = self.rows - SPENDERS;
        [
            list(format!("{base}/orders?format=csv"), &admin, self.rows),
            list(format!("{base}/wallets?format=csv"), &admin, sleeping),
            list(
                format!("{base}/wallets?format=csv&sort=balance"),
                &admin,
                sleeping,
            ),
            list(format!("{}/orders.csv", self.pages), &cookie, self.rows),
            list(format!("{}/wallets.csv", self.pages), &cookie, sleeping),
        ]
    }

    /// Reads an export to its end.
    async fn export(&self, list: List) {
        let mut export = Export::begin(self, &list).await;
        let mut users = HashSet::new();
        let mut rest = String::new();
        while let Some(chunk) = export.chunk().await {
            assert!(
                chunk.len() <= MAX_CHUNK,
                "{}: {} bytes at once",
                list.path,
                chunk.len()
            );
            rest.push_str(std::str::from_utf8(&chunk).unwrap());
            let whole = rest.rfind('\n').map_or(0, |end| end + 1);
            let fields = rest[..whole].lines().flat_map(|line| line.split(','));
            users.extend(
                fields
                    .filter(|it| it.starts_with("user-") && !it.contains('@'))
                    .map(str::to_owned),
            );
            rest.drain(..whole);
        }
        assert!(
            users.len() as u64 >= list.rows,
            "{}: {} users",
            list.path,
            users.len()
        );
        self.is_asleep().await;
    }
}

/// An export on its way, chunk by chunk as the server sends it.
struct Export(BufReader<TcpStream>);

impl Export {
    async fn begin(store: &Filled, list: &List) -> Self {
        let address = store
            .server
            .instance()
            .base()
            .strip_prefix("http://")
            .unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET {} HTTP/1.1\r\nhost: {address}\r\n{}\r\n\r\n",
            list.path, list.header
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).await.unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{}: {head}", list.path);
        assert!(head.contains("transfer-encoding: chunked"), "{head}");
        Self(stream)
    }

    /// The next chunk, or `None` at the end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut size = String::new();
        self.0.read_line(&mut size).await.unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk).await.unwrap();
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }
}
