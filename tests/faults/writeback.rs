//! A write-back error that another descriptor sees first. The kernel reports it once per descriptor, so a later
//! sync on the same one succeeds although data is lost: nothing may be answered because of that sync, and the
//! process must stop.

use crate::{
    books::{Audit, Diary, DiaryClient, Outcome, Work, load},
    fault_settings,
    powercut::recorder::Recorder,
    seed,
    strace::names_the_cause,
};
use kit::{Instance, Project};
use rand::rngs::StdRng;
use std::sync::Arc;

const WORKS: [Work; 3] = [Work::Grant, Work::Deduct, Work::DeductHot];

/// Operations before each error.
const BEFORE: usize = 30;

/// Operations within which each syncing thread must have synced.
const UNTIL: usize = 20_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_a_background_flush_is_never_answered_as_durable() {
    reported_first_to("log flusher").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_a_checkpoint_is_never_answered_as_durable() {
    reported_first_to("checkpoint").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_a_writer_is_never_answered_as_durable() {
    reported_first_to("sled-io").await;
}

async fn reported_first_to(thread: &str) {
    let mut rng = seed::rng();
    let recorded = RecordedServer::open(&mut rng).await;
    recorded.recorder.fail_sync(1, thread);
    let mut works = WORKS.into_iter().cycle().take(UNTIL);
    loop {
        let Some(work) = works.next() else {
            panic!("`{thread}` never synced");
        };
        let failed = recorded.recorder.sync_failed();
        match load::perform(&recorded.diary_client(), work, &mut rng).await {
            Outcome::Done => assert!(!failed, "answered after an error that `{thread}` got"),
            Outcome::Refused(code) => {
                assert_eq!(code, "unavailable", "the code of a failed log");
                break;
            }
            Outcome::Lost(_) => break,
        }
    }
    recorded.stops_and_lost_nothing().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_after_the_last_checkpoint_stops_an_idle_process() {
    let recorded = RecordedServer::open(&mut seed::rng()).await;
    // The first sync is the checkpoint's, which runs without writes; its removals from the log are written
    // later, and no request waits for them.
    recorded.recorder.fail_sync(2, "sled-io");
    recorded.stops_and_lost_nothing().await;
}

/// A recorded server, with the diary of what it was sent.
struct RecordedServer {
    server: Instance,
    recorder: Recorder,
    project: Project,
    diary: Arc<Diary>,
}

impl RecordedServer {
    async fn open(rng: &mut StdRng) -> Self {
        let recorder = Recorder::new(fault_settings::frequent_checkpoints(100));
        let server = recorder.start().await;
        let project = Project::create(&server.admin()).await;
        let recorded = Self {
            server,
            recorder,
            project,
            diary: Arc::default(),
        };
        load::open_wallets(&recorded.diary_client(), &WORKS).await;
        for work in WORKS.into_iter().cycle().take(BEFORE) {
            let outcome = load::perform(&recorded.diary_client(), work, rng).await;
            assert!(matches!(outcome, Outcome::Done), "{work:?}: {outcome:?}");
        }
        recorded
    }

    fn diary_client(&self) -> DiaryClient {
        DiaryClient::new(self.server.base(), &self.project, &self.diary)
    }

    /// Waits for the server to stop because of the error, and checks the data with the next one.
    async fn stops_and_lost_nothing(mut self) {
        let status = self.server.wait().await;
        assert!(
            !status.success(),
            "a process that cannot sync exits with {status}"
        );
        let log = self.server.output();
        assert!(
            names_the_cause(&log),
            "no plain message in:\n{}",
            log.join("\n")
        );
        assert!(self.recorder.sync_failed(), "no sync was made to fail");
        self.recorder.crash(self.server).await;

        self.server = self.recorder.start().await;
        self.audit("after the error", false).await;
        self.diary_client().resend_unanswered().await;
        self.audit("after resending", true).await;
        assert!(
            self.recorder.terminate(self.server).await.success(),
            "a clean end exits with 0"
        );
    }

    async fn audit(&self, context: &str, all: bool) {
        let client = self.server.client(&self.project.secret);
        let audit = Audit::read(&client, &self.project.product, &load::wallets(&WORKS)).await;
        let records = self.diary.records();
        audit.assert(context, &records, |number| all || records[number].answered);
    }
}
