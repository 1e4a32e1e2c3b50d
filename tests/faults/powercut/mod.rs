//! Power cuts. A server's writes, syncs and answers are recorded in one order; from the recording come images
//! of what a power cut at a random point would leave; the real server is started on each of them and must have
//! every operation that had been acknowledged by then.
//!
//! The recording includes checkpoints, the reuse of log space, two killed servers and a clean end: what a
//! server recovers from the page cache is not durable before it is synced either.

mod answers;
mod cuts;
mod disk;
mod event;
#[cfg(test)]
mod faulty_servers;
mod file;
mod folder;
mod image;
pub(crate) mod recorder;
mod recording;
mod replay;

use self::{file::Luck, image::ImageFolder, recorder::Recorder, replay::Replay};
use crate::{
    books::{Audit, Diary, DiaryClient, Load, Record, Work, load},
    fault_settings, seed,
};
use kit::{Background, Instance, Launch, Project, deadline};
use rand::{RngExt, rngs::StdRng};
use serde_json::json;
use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

const IMAGES: usize = 100;

/// Images checked concurrently.
const AT_ONCE: usize = 2;

/// One of this many images is also checked by `scrip verify`, after the server has recovered it.
const VERIFIED: usize = 10;

/// Bytes recorded of each server before it ends: enough for log space to be reused.
const BYTES_A_SERVER: u64 = 48 << 20;

/// How long that recording may take.
const RECORDED_WITHIN: Duration = Duration::from_secs(900);

/// How long the check of one image may take.
const LOOKED_WITHIN: Duration = Duration::from_secs(900);

const WORKS: [Work; 7] = [
    Work::Batch {
        items: 20,
        padding: 1_500,
    },
    Work::Batch {
        items: 20,
        padding: 1_500,
    },
    Work::Deduct,
    Work::DeductHot,
    Work::Grant,
    Work::HoldAndSettle { wallet: 0 },
    Work::ReadHot,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_at_any_moment_loses_nothing_acknowledged() {
    let mut rng = seed::rng();
    let recorded = Arc::new(record(&mut rng).await);
    let events = &recorded.recorder.events;
    let cuts = cuts::choose(events, recorded.first, IMAGES, &mut rng);
    let mut replay = Replay::new(events);
    let mut looks = VecDeque::new();
    let mut played = 0;
    for (place, cut) in cuts.into_iter().enumerate() {
        replay.play(cut - played);
        played = cut;
        let luck = Luck {
            kept: [0.0, 0.05, 0.5, 0.95, 1.0][rng.random_range(0..5)],
        };
        let check = ImageCheck {
            context: format!("image {place}, cut before event {cut}, {luck:?}"),
            folder: ImageFolder::out(&replay.power_cut(luck, &mut rng)),
            acknowledged: replay.acknowledged().clone(),
            verify: place % VERIFIED == 0,
            recorded: Arc::clone(&recorded),
        };
        looks.push_back(Background::spawn(check.context.clone(), check.run()));
        if looks.len() == AT_ONCE {
            looks
                .pop_front()
                .expect("there are some")
                .finish(LOOKED_WITHIN)
                .await;
        }
    }
    for check in looks {
        check.finish(LOOKED_WITHIN).await;
    }
    replay.play_out();
    recorded.assert_all_answers_seen(replay.acknowledged());
}

/// A recording, with the diary of what was sent.
struct RecordedRun {
    recorder: Recorder,
    /// The event after which the project and its wallets exist.
    first: usize,
    project: Project,
    records: Vec<Record>,
}

impl RecordedRun {
    /// Asserts that the recording contains all answers: one that is missing there would go unchecked.
    fn assert_all_answers_seen(&self, acknowledged: &HashSet<usize>) {
        for (number, record) in self
            .records
            .iter()
            .enumerate()
            .filter(|(_, it)| it.answered)
        {
            assert!(
                acknowledged.contains(&number),
                "no recording of the answer to {record:?}"
            );
        }
    }
}

fn settings() -> Launch {
    fault_settings::frequent_checkpoints(500)
}

/// Runs three servers one after another on one directory: killed, ended cleanly, killed.
async fn record(rng: &mut StdRng) -> RecordedRun {
    let mut recorder = Recorder::new(settings());
    let diary = Arc::new(Diary::default());

    let server = recorder.start().await;
    let project = Project::create(&server.admin()).await;
    let diary_client = |server: &Instance| DiaryClient::new(server.base(), &project, &diary);
    load::open_wallets(&diary_client(&server), &WORKS).await;
    let opened = diary.records().len();

    let load = Load::start(WORKS.map(|work| (diary_client(&server), work)), rng);
    enough(&recorder).await;
    recorder.crash(server).await;
    load.wait().await;

    let server = recorder.start().await;
    diary_client(&server).resend_unanswered().await;
    let load = Load::start(WORKS.map(|work| (diary_client(&server), work)), rng);
    enough(&recorder).await;
    assert_eq!(
        load.stop().await,
        Vec::<String>::new(),
        "nothing is refused"
    );
    assert!(
        recorder.terminate(server).await.success(),
        "a clean end exits with 0"
    );

    let server = recorder.start().await;
    let load = Load::start(WORKS.map(|work| (diary_client(&server), work)), rng);
    enough(&recorder).await;
    recorder.crash(server).await;
    load.wait().await;

    let first = cuts::after_answers(&recorder.events, opened);
    cuts::assert_worth_it(&recorder.events);
    RecordedRun {
        recorder,
        first,
        records: diary.records(),
        project,
    }
}

async fn enough(recorder: &Recorder) {
    deadline::until("enough recorded", RECORDED_WITHIN, || {
        (recorder.recorded_bytes() > BYTES_A_SERVER).then_some(())
    })
    .await;
}

/// A check of one image.
struct ImageCheck {
    context: String,
    folder: ImageFolder,
    acknowledged: HashSet<usize>,
    verify: bool,
    recorded: Arc<RecordedRun>,
}

impl ImageCheck {
    /// Starts the real server on the image, and panics unless everything acknowledged is there and the server
    /// works.
    async fn run(self) {
        let project = &self.recorded.project;
        let server = Instance::start(&settings(), &self.folder.data_dir()).await;
        let client = server.client(&project.secret);
        let audit = Audit::read(&client, &project.product, &load::wallets(&WORKS)).await;
        audit.assert(&self.context, &self.recorded.records, |number| {
            self.acknowledged.contains(&number)
        });
        let body = json!({
            "externalUserId": "newcomer", "productId": project.product, "amount": 5,
            "idempotencyKey": "after-the-power-cut",
        });
        client.post("/api/v1/credit", &body).await.expect(200);
        if self.verify {
            assert!(
                server.terminate().await.success(),
                "a clean end exits with 0"
            );
            settings().verify(&self.folder.data_dir());
        } else {
            server.crash().await;
        }
    }
}
