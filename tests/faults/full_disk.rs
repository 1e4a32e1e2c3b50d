//! A disk that runs full: writes are refused, reads go on, nothing acknowledged is lost, and once
//! there is space again everything works.

use crate::{
    books::{Audit, Diary, DiaryClient, Load, Work, load},
    fault_settings, seed,
    small_disk::SmallDisk,
};
use kit::{Server, deadline};
use rand::rngs::StdRng;
use std::{sync::Arc, time::Duration};

const MIB: u64 = 1 << 20;

/// The whole filesystem.
const DISK_BYTES: u64 = 224 * MIB;

/// A file that is removed when space is to be freed.
const BALLAST_BYTES: u64 = 64 * MIB;
const BALLAST: &str = "ballast";

/// Free space below which the server refuses writes.
const RESERVE_BYTES: u64 = 48 * MIB;

/// Near the largest `meta` and batch body, to fill the disk quickly.
const FILL: Work = Work::Batch {
    items: 240,
    padding: 3_900,
};
const WORKS: [Work; 3] = [FILL, FILL, Work::DeductHot];

/// How long the disk may take to run full.
const FULL_WITHIN: Duration = Duration::from_secs(900);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_writes_and_loses_nothing() {
    let mut rng = seed::rng();
    let mut full = FullDiskServer::open(RESERVE_BYTES).await;
    let load = full.start_load(&mut rng);
    for end in until_refused(load).await {
        assert_eq!(end, "503 unavailable", "the code of a full disk");
    }
    full.audit("while the disk is full", false).await;
    assert!(
        full.server.instance_mut().ended().is_none(),
        "a full disk does not end the server"
    );
    assert!(
        full.server.terminate().await.success(),
        "a clean end exits with 0"
    );
    full.recovers(&[BALLAST], &mut rng).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_filled_by_another_program_loses_nothing() {
    let mut rng = seed::rng();
    // With hardly any reserve, so that writes fail because the disk is full.
    let mut full = FullDiskServer::open(MIB).await;
    let load = full.start_load(&mut rng);
    let answers = full.diary.answers() + 20;
    deadline::until("answers under load", deadline::SOON, || {
        (full.diary.answers() >= answers).then_some(())
    })
    .await;
    full.disk.fill("filler");
    until_refused(load).await;
    // A log with an error that it cannot undo may have stopped the process, which then says so.
    match full.server.instance_mut().ended() {
        Some(status) => {
            assert!(
                !status.success(),
                "a server that stops over an error says so"
            );
            full.server.crash().await;
        }
        None => drop(full.server.terminate().await),
    }
    full.recovers(&["filler", BALLAST], &mut rng).await;
}

/// Waits until the disk accepts no more batches; returns the refusals of the workers. Small writes might go on
/// with space that is freed in between, so they are stopped.
async fn until_refused(load: Load) -> Vec<String> {
    deadline::until("refused writes", FULL_WITHIN, || {
        (load.running() <= 1).then_some(())
    })
    .await;
    let ends = load.stop().await;
    assert!(
        ends.len() >= 2,
        "those who fill the disk end by its refusal: {ends:?}"
    );
    ends
}

/// A server on a small disk, with a diary of what it was sent.
struct FullDiskServer {
    // Dropped first: no process may be left on the disk.
    server: Server,
    disk: SmallDisk,
    diary: Arc<Diary>,
}

impl FullDiskServer {
    async fn open(reserve: u64) -> Self {
        let disk = SmallDisk::mount(DISK_BYTES);
        disk.put(BALLAST, BALLAST_BYTES);
        let launch =
            fault_settings::with_reserve(fault_settings::frequent_checkpoints(5_000), reserve);
        let data_dir = disk.path().join("data");
        let server = Server::launch_at(launch.through(disk.inside()), &data_dir).await;
        let full = Self {
            server,
            disk,
            diary: Arc::default(),
        };
        load::open_wallets(&full.diary_client(), &WORKS).await;
        full
    }

    fn diary_client(&self) -> DiaryClient {
        DiaryClient::new(
            self.server.instance().base(),
            self.server.project(),
            &self.diary,
        )
    }

    fn start_load(&self, rng: &mut StdRng) -> Load {
        Load::start(WORKS.map(|work| (self.diary_client(), work)), rng)
    }

    async fn audit(&self, context: &str, all: bool) {
        let wallets = load::wallets(&WORKS);
        let audit = Audit::read(&self.server.client(), self.server.product(), &wallets).await;
        let records = self.diary.records();
        audit.assert(context, &records, |number| all || records[number].answered);
    }

    /// Frees space, starts the stopped server, and checks that everything works as before.
    async fn recovers(mut self, removed: &[&str], rng: &mut StdRng) {
        removed.iter().for_each(|name| self.disk.remove(name));
        self.server.start_again().await;
        self.audit("after space was freed", false).await;
        self.diary_client().resend_unanswered().await;

        let load = self.start_load(rng);
        let answers = self.diary.answers() + 30;
        deadline::until("answers after space was freed", deadline::SOON, || {
            (self.diary.answers() >= answers).then_some(())
        })
        .await;
        assert_eq!(
            load.stop().await,
            Vec::<String>::new(),
            "nothing is refused any more"
        );
        self.audit("after new load", true).await;
        assert!(
            self.server.terminate().await.success(),
            "a clean end exits with 0"
        );
        self.server.verify();
    }
}
