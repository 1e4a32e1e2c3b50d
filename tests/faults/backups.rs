//! Loss of the disk: a backup made under load restores everything that was answered before it began, wherever
//! the backup, the server or the restore was killed.

use crate::{
    books::{Audit, Diary, DiaryClient, Load, Work, load},
    fault_settings, seed,
    small_disk::SmallDisk,
};
use kit::{Launch, Server, deadline, process::Process, tool};
use rand::{RngExt, rngs::StdRng};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
    time::Duration,
};

const WORKS: [Work; 5] = [
    Work::Deduct,
    Work::DeductHot,
    Work::Grant,
    Work::Batch {
        items: 10,
        padding: 0,
    },
    Work::Batch {
        items: 40,
        padding: 400,
    },
];

/// A server under load, and the directory of its backups.
struct ServerUnderLoad {
    server: Server,
    diary: Arc<Diary>,
    to: PathBuf,
    rng: StdRng,
}

impl ServerUnderLoad {
    async fn open() -> Self {
        let server = Server::launch(fault_settings::frequent_checkpoints(400)).await;
        let to = server.data_dir().with_file_name("backups");
        let diary = Arc::new(Diary::default());
        let shop = Self {
            server,
            diary,
            to,
            rng: seed::rng(),
        };
        load::open_wallets(&shop.diary_client(), &WORKS).await;
        shop
    }

    fn diary_client(&self) -> DiaryClient {
        let base = self.server.instance().base();
        DiaryClient::new(base, self.server.project(), &self.diary)
    }

    fn load(&mut self) -> Load {
        let clients = WORKS.map(|work| (self.diary_client(), work));
        Load::start(clients, &mut self.rng)
    }

    /// Waits for this many more answers.
    async fn answers(&self, more: usize) {
        let answers = self.diary.answers() + more;
        deadline::until("answers under load", deadline::SOON, || {
            (self.diary.answers() >= answers).then_some(())
        })
        .await;
    }

    /// Which operations have been answered by now.
    fn answered(&self) -> Vec<bool> {
        let records = self.diary.records();
        records.iter().map(|record| record.answered).collect()
    }

    fn backup(&self) -> Command {
        let mut command = self.command("backup");
        command.arg("--to").arg(&self.to);
        command.arg("--url").arg(self.server.instance().base());
        command
    }

    fn restore(&self) -> Command {
        let mut command = self.command("restore");
        command.arg("--from").arg(&self.to);
        command
    }

    fn command(&self, verb: &str) -> Command {
        let launch = self.server.launch_settings();
        launch.command(verb, self.server.data_dir())
    }

    /// Removes the data directory; returns the server key.
    fn lose_the_disk(&self) -> Vec<u8> {
        let data = self.server.data_dir();
        let key = fs::read(data.join("server.key")).unwrap();
        fs::remove_dir_all(data).unwrap();
        key
    }

    /// Asserts that the restored server has all of these, and nothing that was never sent.
    async fn has(&mut self, answered: &[bool], key: &[u8], context: &str) {
        let path = self.server.data_dir().join("server.key");
        fs::write(&path, key).unwrap();
        tool::run(Command::new("chmod").arg("600").arg(&path));
        self.server.verify();
        self.server.start_again().await;
        let client = self.server.client();
        let audit = Audit::read(&client, self.server.product(), &load::wallets(&WORKS)).await;
        let there = |number: usize| answered.get(number).copied().unwrap_or(false);
        audit.assert(context, &self.diary.records(), there);
    }
}

/// Runs a command beside the load.
async fn finished(mut command: Command) -> Output {
    let output = tokio::task::spawn_blocking(move || command.output());
    output.await.unwrap().expect("the binary starts")
}

fn all_output(output: &Output) -> String {
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

async fn succeeds(command: Command) -> String {
    let output = finished(command).await;
    assert!(output.status.success(), "{}", all_output(&output));
    all_output(&output)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_brings_back_all_that_was_answered_before_it() {
    let mut shop = ServerUnderLoad::open().await;
    let load = shop.load();
    let mut answered = Vec::new();
    for _ in 0..3 {
        shop.answers(400).await;
        answered = shop.answered();
        succeeds(shop.backup()).await;
    }
    assert_eq!(load.running(), WORKS.len(), "the service went on");
    shop.server.crash().await;
    load.wait().await;
    let key = shop.lose_the_disk();
    let output = succeeds(shop.restore()).await;
    assert!(output.contains("the server key is missing"), "{output}");
    assert!(output.contains("has no problems"), "{output}");
    shop.has(&answered, &key, "after the disk was lost").await;
    // The restored server goes on, and is backed up to the same directory.
    let load = shop.load();
    shop.answers(200).await;
    assert_eq!(load.stop().await, Vec::<String>::new());
    succeeds(shop.backup()).await;
    assert!(shop.server.terminate().await.success());
    shop.server.verify();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_in_the_middle_leave_a_backup_that_is_whole() {
    let mut shop = ServerUnderLoad::open().await;
    let load = shop.load();
    shop.answers(800).await;
    let first = shop.answered();
    succeeds(shop.backup()).await;
    shop.server.crash().await;
    load.wait().await;
    shop.server.start_again().await;

    // Kills the server during another backup.
    for _ in 0..5 {
        let load = shop.load();
        shop.answers(100).await;
        let mut asking = Process::start(shop.backup(), false);
        let wait = shop.rng.random_range(0..150);
        tokio::time::sleep(Duration::from_millis(wait)).await;
        shop.server.crash().await;
        load.wait().await;
        asking.wait(deadline::SOON).await;
        shop.server.start_again().await;
    }
    assert!(shop.server.terminate().await.success());
    shop.server.verify();
    let key = shop.lose_the_disk();

    // And kills the restore.
    for _ in 0..8 {
        let mut restoring = Process::start(shop.restore(), false);
        let wait = shop.rng.random_range(0..600);
        tokio::time::sleep(Duration::from_millis(wait)).await;
        restoring.kill();
        restoring.wait(deadline::SOON).await;
        let data = shop.server.data_dir();
        if data.join("restoring").exists() {
            let output = finished(serve(&shop.server, data)).await;
            assert!(!output.status.success(), "half a restore was served");
            assert!(
                all_output(&output).contains("scrip restore"),
                "{}",
                all_output(&output)
            );
        } else if data.join("sled").exists() {
            break;
        }
    }
    let data = shop.server.data_dir();
    if !data.join("sled").exists() || data.join("restoring").exists() {
        succeeds(shop.restore()).await;
    }
    shop.has(&first, &key, "after all the kills").await;
    let again = finished(shop.restore()).await;
    assert!(all_output(&again).contains("in use") || all_output(&again).contains("another Scrip"));
    assert!(shop.server.terminate().await.success());
    let again = finished(shop.restore()).await;
    assert!(
        all_output(&again).contains("nothing is overwritten"),
        "{}",
        all_output(&again)
    );
}

fn serve(server: &Server, data_dir: &Path) -> Command {
    server.launch_settings().serve(data_dir)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_ends_the_backup_and_not_the_service() {
    let disk = SmallDisk::mount(1 << 20);
    let launch = Launch::default().through(disk.inside());
    let server = Server::launch(launch).await;
    let to = disk.path().join("backups");
    let make = || {
        let mut command = Launch::default().command("backup", server.data_dir());
        command.arg("--to").arg(&to);
        command.arg("--url").arg(server.instance().base());
        command
    };
    server.grant("ann", 5, "first").await;
    disk.fill("filler");
    let refused = finished(make()).await;
    assert!(!refused.status.success());
    assert!(
        all_output(&refused).contains("No space left"),
        "{}",
        all_output(&refused)
    );
    server.grant("ann", 5, "second").await;
    disk.remove("filler");
    succeeds(make()).await;
    let figures = server.figures().await;
    assert!(figures.contains("scrip_backup_failures 1"), "{figures}");
    assert!(figures.contains("scrip_backup_age_seconds"), "{figures}");
    assert_eq!(server.balance("ann").await.balance, 10);
}
