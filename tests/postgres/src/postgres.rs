//! A PostgreSQL server in a temporary directory. It ends with its owner, and with the test process if that is killed.
//! It syncs for real: with a tmpfs as `TMPDIR` tests take a fraction of the time, and find the same, since a process
//! that is killed loses nothing that it gave to the kernel.

mod standby;

use std::{
    fs::{self, File},
    hash::{BuildHasher, RandomState},
    io::Write,
    net::{SocketAddr, TcpListener},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Stdio},
    sync::{
        LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    installation::{INSTALLED, run},
    proxy::Proxy,
    supervisor::{Supervisor, signal_all},
    wait::until,
};

/// Lines shown of the server's log when a test fails.
const MAX_LINES: usize = 40;

/// What every server has: durable as in production, small in memory, soon back at a primary that was away. Shared memory is in the data
/// directory, so a killed server leaves none of it behind.
const SETTINGS: &str = "
fsync = on
synchronous_commit = on
wal_level = replica
max_wal_senders = 10
wal_keep_size = 64MB
wal_retrieve_retry_interval = 100ms
shared_buffers = 16MB
dynamic_shared_memory_type = mmap
listen_addresses = '127.0.0.1'
log_line_prefix = '%m [%p] %q%a '
";

/// How a server is set up.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Number of connections, of which three are for superusers.
    pub max_connections: u32,
    /// Whether it takes TLS, too, with a certificate of its own for `localhost` and `127.0.0.1`.
    pub tls: bool,
    /// Further settings, by name.
    pub settings: &'a [(&'a str, &'a str)],
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            max_connections: 50,
            tls: false,
            settings: &[],
        }
    }
}

/// A server. Dropping it stops it at once and removes its files.
pub struct Postgres {
    directory: PathBuf,
    port: u16,
    /// The postmaster, while it runs.
    running: Mutex<Option<Child>>,
    /// Dropped after the log was shown.
    supervisor: Option<Supervisor>,
    databases: AtomicUsize,
    standbys: AtomicUsize,
    /// The standbys that its commits wait for.
    synchronous: Mutex<Vec<String>>,
}

/// The one server of this test process, for tests that need no more than a database of their own. It is stopped when
/// the process ends.
#[must_use]
pub fn shared() -> &'static Postgres {
    static SHARED: LazyLock<Postgres> = LazyLock::new(Postgres::start);
    &SHARED
}

impl Postgres {
    /// Starts a server with the usual settings.
    #[must_use]
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    /// Starts a server. Its superuser is `postgres`; the user `scrip` owns the databases made for tests and may do
    /// nothing else. Neither has a password.
    #[must_use]
    pub fn with(options: Options<'_>) -> Self {
        let mut server = Self::prepare();
        let mut initdb = INSTALLED.server("initdb", &server.directory);
        initdb.arg("--pgdata").arg(server.data());
        initdb.args(["--username=postgres", "--auth=trust"]);
        initdb.args(["--encoding=UTF8", "--locale=C", "--no-sync"]);
        run(&mut initdb).unwrap_or_else(|error| panic!("{error}"));
        let conf = server.data().join("postgresql.conf");
        let mut conf = File::options().append(true).open(conf).unwrap();
        let max_connections = options.max_connections;
        writeln!(conf, "{SETTINGS}max_connections = {max_connections}").unwrap();
        if options.tls {
            server.certify();
            writeln!(conf, "ssl = on").unwrap();
        }
        for (name, value) in options.settings {
            writeln!(conf, "{name} = '{value}'").unwrap();
        }
        server.start_first();
        server.psql("CREATE ROLE scrip LOGIN");
        server
    }

    /// A directory with nothing but a supervisor.
    fn prepare() -> Self {
        let mut directory = tempfile::Builder::new();
        let directory = directory.prefix("scrip-postgres-").tempdir().unwrap();
        // Its supervisor removes it. Processes are found by its path, which may therefore not be a link.
        let directory = directory.keep().canonicalize().unwrap();
        INSTALLED.give(&directory);
        Self {
            supervisor: Some(Supervisor::of(&directory)),
            directory,
            port: 0,
            running: Mutex::default(),
            databases: AtomicUsize::default(),
            standbys: AtomicUsize::default(),
            synchronous: Mutex::default(),
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Puts a certificate where PostgreSQL looks for it.
    fn certify(&self) {
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let key = self.data().join("server.key");
        for (path, pem) in [
            (&self.ca(), made.cert.pem()),
            (&key, made.signing_key.serialize_pem()),
        ] {
            fs::write(path, pem).unwrap();
            // PostgreSQL takes no key that others can read.
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            INSTALLED.give(path);
        }
    }

    /// The certificate that a client of a server with TLS has to trust, PEM. It has signed itself.
    #[must_use]
    pub fn ca(&self) -> PathBuf {
        self.data().join("server.crt")
    }

    /// Starts it on a free port, and on another if that was taken first.
    fn start_first(&mut self) {
        for _ in 0..10 {
            self.port = free_port();
            if self.try_start().is_ok() {
                return;
            }
            assert!(self.log().contains("could not bind"), "{}", self.log());
        }
        panic!("no port is free");
    }

    /// Starts it after [`Postgres::stop`] or [`Postgres::kill`], on the same port with the same data. Returns when it
    /// takes connections.
    pub fn start_again(&self) {
        if let Err(log) = self.try_start() {
            panic!("the server does not start:\n{log}");
        }
    }

    /// The error is the end of the log.
    fn try_start(&self) -> Result<(), String> {
        let mut running = self.running();
        assert!(running.is_none(), "the server runs already");
        let log = self.directory.join("log");
        let log = File::options().create(true).append(true).open(log);
        let mut postgres = INSTALLED.server("postgres", &self.directory);
        postgres.arg("-D").arg(self.data());
        postgres.args(["-c", &format!("port={}", self.port)]);
        let sockets = self.directory.display();
        postgres.args(["-c", &format!("unix_socket_directories={sockets}")]);
        postgres
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .process_group(0);
        let mut child = postgres.spawn().unwrap();
        let status = self.data().join("postmaster.pid");
        let starts = until("the server takes connections", || {
            if child.try_wait().unwrap().is_some() {
                return Some(false);
            }
            // As pg_ctl does: the postmaster writes there how far it is. The file may be of the one before.
            let status = fs::read_to_string(&status).ok()?;
            let lines: Vec<&str> = status.lines().map(str::trim).collect();
            let is_own = lines.first()?.parse() == Ok(child.id());
            (is_own && *lines.get(7)? == "ready").then_some(true)
        });
        if !starts {
            return Err(self.last_lines());
        }
        *running = Some(child);
        Ok(())
    }

    /// What is running, even if a failed test has poisoned the lock.
    fn running(&self) -> MutexGuard<'_, Option<Child>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// The URL of a database for its owner, who is no superuser.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://scrip@{}/{database}", self.address())
    }

    /// [`Postgres::url`] by way of a proxy.
    #[must_use]
    pub fn url_through(&self, proxy: &Proxy, database: &str) -> String {
        format!("postgres://scrip@{}/{database}", proxy.address())
    }

    /// The URL of a database for the superuser.
    #[must_use]
    pub fn admin_url(&self, database: &str) -> String {
        format!("postgres://postgres@{}/{database}", self.address())
    }

    /// Creates an empty database that `scrip` owns, and returns its name, which no other of this server has.
    #[must_use]
    pub fn create_database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        self.psql(&format!("CREATE DATABASE {name} OWNER scrip"));
        name
    }

    /// Runs SQL as the superuser in the database `postgres`, as one transaction. Returns a line for each row, with `|`
    /// between columns; panics when a statement fails.
    pub fn psql(&self, sql: &str) -> String {
        self.psql_in("postgres", sql)
    }

    /// [`Postgres::psql`] in another database.
    pub fn psql_in(&self, database: &str, sql: &str) -> String {
        self.try_psql(database, sql)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs SQL as the superuser.
    /// # Errors
    /// What psql says when it cannot connect, a statement fails or the connection is lost.
    pub fn try_psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = INSTALLED.client("psql");
        psql.args(["-X", "-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        psql.arg(self.admin_url(database));
        run(&mut psql).map(|rows| rows.trim_end().to_owned())
    }

    /// Changes a setting that needs no restart. Returns when new sessions have it; those that exist take it before
    /// their next statement.
    pub fn set(&self, name: &str, value: &str) {
        let loaded = || self.psql("SELECT pg_conf_load_time()");
        let before = loaded();
        self.psql(&format!("ALTER SYSTEM SET {name} = '{value}'"));
        self.psql("SELECT pg_reload_conf()");
        until("the server has read its settings", || {
            (loaded() != before).then_some(())
        });
    }

    /// Stops it: sessions are ended, what was committed is written (`pg_ctl stop -m fast`). It waits for a standby that is
    /// frozen.
    pub fn stop(&self) {
        let mut child = self.running().take().expect("the server runs");
        let _ = kill_process(Pid::from_child(&child), Signal::INT);
        until("the server ends", || child.try_wait().unwrap());
    }

    /// Ends all its processes by SIGKILL. What they had given to the kernel is not lost.
    pub fn kill(&self) {
        let mut child = self.running().take().expect("the server runs");
        // The postmaster first: it starts no one any more.
        child.kill().unwrap();
        signal_all(&self.data(), Signal::KILL, |_| false);
        child.wait().unwrap();
    }

    /// Halts all its processes where they are, by SIGSTOP. Connections stay open, the kernel accepts new ones.
    pub fn freeze(&self) {
        signal_all(&self.data(), Signal::STOP, |state| state == 'T');
    }

    /// Lets it go on after [`Postgres::freeze`].
    pub fn thaw(&self) {
        signal_all(&self.data(), Signal::CONT, |state| state != 'T');
    }

    /// All that it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    fn last_lines(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(MAX_LINES)..].join("\n")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let lines = self.last_lines();
            eprintln!("last lines of the server on port {}:\n{lines}", self.port);
        }
        drop(self.supervisor.take());
        if let Some(mut child) = self.running().take() {
            let _ = child.wait();
        }
    }
}

/// A port that is free, below those that the kernel hands out: it is still free after the server was away.
#[must_use]
pub fn free_port() -> u16 {
    let random = RandomState::new();
    let ports = (0_u32..).map(|number| 10_000 + (random.hash_one(number) % 20_000) as u16);
    let mut free = ports.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("there is no end of numbers")
}
