//! Processes, the database that they share, and the ways between them, each of which can be broken.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use kit::{
    Client, Instance, Launch, Project,
    deadline::{SOON, answered},
    launch::ADMIN_TOKEN,
    process::Process,
};
use postgres_kit::{Postgres, Proxy, free_port};
use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Of every process of a test.
pub(crate) const SERVER_KEY: &str =
    "5c415e5c415e5c415e5c415e5c415e5c415e5c415e5c415e5c415e5c415e5c41";

/// The exit status of a process that is to be restarted.
pub(crate) const EXIT_RESTART: i32 = 75;

/// Some clusters at once: they wait more than they compute. Where times are to be measured, one.
static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let at_once = if is_long() { 1 } else { 6 };
    Arc::new(Semaphore::new(at_once))
});

/// How long a process may take to say who leads before it counts as one that does not.
const ASKED_FOR: Duration = Duration::from_millis(500);

/// Whether the long forms are asked for.
pub(crate) fn is_long() -> bool {
    std::env::var_os("SCRIP_CLUSTER_LONG").is_some_and(|value| value == "1")
}

/// A process, which may be down.
pub(crate) struct Member {
    /// The log that it is to lead or follow.
    cell: i16,
    /// Dropped before its directory.
    running: Option<Instance>,
    data_dir: PathBuf,
    launch: Launch,
    listen: SocketAddr,
    /// Its way to the database.
    pub(crate) database: Proxy,
    /// The way of the others to it.
    pub(crate) door: Proxy,
}

impl Member {
    fn new(data_dir: PathBuf, postgres: &Postgres, name: &str) -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let (database, door) = (Proxy::to(postgres.address()), Proxy::to(listen));
        let launch = Launch::default()
            .env("SCRIP_STORAGE_URL", postgres.url_through(&database, name))
            .env(
                "SCRIP_CLUSTER_ADDRESS",
                format!("http://{}", door.address()),
            )
            .env("SCRIP_SERVER_KEY", SERVER_KEY);
        Self {
            cell: 0,
            running: None,
            data_dir,
            launch,
            listen,
            database,
            door,
        }
    }

    /// The address at which clients reach it.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.listen)
    }

    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Has it wait to become a cell that does not exist yet.
    pub(crate) fn joins(&mut self, cell: i16) {
        self.cell = cell;
        self.relaunch(|launch| launch.env("SCRIP_CLUSTER_CELL", cell.to_string()));
    }

    /// Starts it in another way from now on.
    pub(crate) fn relaunch(&mut self, change: impl FnOnce(Launch) -> Launch) {
        self.launch = change(self.launch.clone());
    }

    /// Starts the process without waiting for it.
    pub(crate) fn begin(&self) -> Process {
        let mut command = self.launch.command("serve", &self.data_dir);
        command.args(["--listen", &self.listen.to_string()]);
        Process::start(command, false)
    }

    pub(crate) async fn start(&mut self) {
        assert!(self.running.is_none(), "it runs already");
        self.running = Some(Instance::ready(self.begin()).await);
    }

    /// The process; panics where it is down.
    pub(crate) fn process(&mut self) -> &mut Instance {
        self.running.as_mut().expect("the process runs")
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Ends it at once, as the machine's death would.
    pub(crate) async fn kill(&mut self) {
        self.running.take().expect("the process runs").crash().await;
    }

    /// Asks it to end, and waits until it has.
    pub(crate) async fn terminate(&mut self) -> ExitStatus {
        let running = self.running.take().expect("the process runs");
        running.terminate().await
    }

    /// Waits for an end that something else causes.
    pub(crate) async fn ends(&mut self) -> ExitStatus {
        self.running.take().expect("the process runs").wait().await
    }

    /// Notes whether it has ended because it lost the log, the one end that it may find by itself.
    pub(crate) fn reap(&mut self) {
        if let Some(status) = self.running.as_mut().and_then(Instance::ended) {
            let output = self.process().output().join("\n");
            assert_eq!(status.code(), Some(EXIT_RESTART), "{status}: {output}");
            self.running = None;
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&mut self, signal: Signal) {
        let id = Pid::from_raw(self.process().id().cast_signed()).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// Runs `scrip verify` on its directory; panics unless it is clean.
    pub(crate) fn verify(&self) {
        assert!(self.running.is_none(), "the process still runs");
        self.launch.verify(&self.data_dir);
    }
}

/// A cluster, at first of one cell with three processes.
pub(crate) struct Cluster {
    pub(crate) members: Vec<Member>,
    pub(crate) project: Project,
    pub(crate) postgres: Arc<Postgres>,
    /// The name of its database.
    pub(crate) name: String,
    folder: TempDir,
    #[expect(dead_code, reason = "others wait until it is dropped")]
    turn: OwnedSemaphorePermit,
}

impl Cluster {
    /// Starts a database and three processes, and creates a project through one that follows.
    pub(crate) async fn start() -> Self {
        Self::with(|launch| launch).await
    }

    /// [`Cluster::start`] with processes that are started in another way.
    pub(crate) async fn with(change: impl Fn(Launch) -> Launch) -> Self {
        let turn = Arc::clone(&TURNS).acquire_owned().await.unwrap();
        let postgres = tokio::task::spawn_blocking(Postgres::start).await.unwrap();
        let (postgres, folder) = (Arc::new(postgres), tempfile::tempdir().unwrap());
        let name = postgres.create_database();
        let mut members = Vec::new();
        for number in 0..3 {
            let data_dir = folder.path().join(format!("data-{number}"));
            let mut member = Member::new(data_dir, &postgres, &name);
            member.relaunch(&change);
            member.start().await;
            members.push(member);
        }
        let mut cell = Self {
            project: Project {
                id: String::new(),
                publishable: String::new(),
                secret: String::new(),
                product: String::new(),
            },
            members,
            postgres,
            name,
            folder,
            turn,
        };
        let leader = cell.leader().await;
        let follower = cell.other_than(leader);
        cell.is_ready(follower).await;
        cell.project = Project::create(&cell.client(follower, ADMIN_TOKEN)).await;
        cell
    }

    /// A client of one process.
    pub(crate) fn client(&self, member: usize, key: &str) -> Client {
        Client::new(&self.members[member].base(), key)
    }

    /// A client of one process with the project's secret key.
    pub(crate) fn secret(&self, member: usize) -> Client {
        self.client(member, &self.project.secret)
    }

    pub(crate) fn bases(&self) -> Vec<String> {
        self.members.iter().map(Member::base).collect()
    }

    /// Any running process but this one.
    pub(crate) fn other_than(&self, member: usize) -> usize {
        let mut all = (0..self.members.len()).filter(|at| self.members[*at].is_running());
        all.find(|at| *at != member).expect("there is another")
    }

    /// Whether a process says so of itself.
    pub(crate) async fn says(&self, member: usize, path: &str) -> bool {
        let asked = self.client(member, ADMIN_TOKEN);
        let asked = asked.request(Method::GET, path).timeout(ASKED_FOR);
        Client::send(asked).await.is_ok_and(|it| it.status == 200)
    }

    /// Waits until exactly one of those that run leads the first cell.
    pub(crate) async fn leader(&self) -> usize {
        self.leader_of(0).await
    }

    /// Waits until exactly one of those that run leads a cell.
    pub(crate) async fn leader_of(&self, cell: i16) -> usize {
        answered("one process leads", SOON, async || {
            let mut leading = Vec::new();
            for (at, member) in self.members.iter().enumerate() {
                if member.cell == cell && member.is_running() && self.says(at, "/leaderz").await {
                    leading.push(at);
                }
            }
            (leading.len() == 1).then(|| leading[0])
        })
        .await
    }

    /// The cells that there are, or are to be.
    fn cells(&self) -> usize {
        let mut all: Vec<i16> = self.members.iter().map(|member| member.cell).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// Waits until a process can answer or knows who can.
    pub(crate) async fn is_ready(&self, member: usize) {
        answered("the process is ready", SOON, async || {
            self.says(member, "/readyz").await.then_some(())
        })
        .await;
    }

    /// Starts those that are down, as a supervisor does, until all are ready and each cell is led.
    pub(crate) async fn repair(&mut self) {
        let started = Instant::now();
        loop {
            for member in &mut self.members {
                member.reap();
                if !member.is_running() {
                    member.start().await;
                }
            }
            let (mut ready, mut leading) = (0, 0);
            for member in 0..self.members.len() {
                ready += usize::from(self.says(member, "/readyz").await);
                leading += usize::from(self.says(member, "/leaderz").await);
            }
            if ready == self.members.len() && leading == self.cells() {
                return;
            }
            assert!(
                started.elapsed() < SOON,
                "{ready} are ready, {leading} lead"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A further process, which is not started yet.
    pub(crate) fn further(&mut self, data_dir: &str) -> Member {
        Member::new(
            self.folder.path().join(data_dir),
            &self.postgres,
            &self.name,
        )
    }

    /// Stops all processes in order, and holds each one's books to the log.
    pub(crate) async fn stop_and_verify(&mut self) {
        for member in &mut self.members {
            if member.is_running() {
                let status = member.terminate().await;
                assert!(status.success(), "a clean end exits with 0, not {status}");
            }
        }
        for member in &self.members {
            member.verify();
        }
    }
}
