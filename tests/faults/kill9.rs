//! SIGKILL under load, repeatedly on one data directory: what was acknowledged is there exactly once, and after
//! resending the rest the books are exact.

use crate::{
    books::{Audit, Diary, DiaryClient, Load, Work, load},
    fault_settings, seed,
};
use kit::{Instance, Server, deadline};
use rand::{RngExt, rngs::StdRng};
use std::{sync::Arc, time::Duration};

const KILLS: usize = 20;

const WORKS: [Work; 10] = [
    Work::Deduct,
    Work::Deduct,
    Work::DeductHot,
    Work::DeductHot,
    Work::Grant,
    Work::Batch {
        items: 10,
        padding: 0,
    },
    Work::Batch {
        items: 10,
        padding: 200,
    },
    Work::HoldAndSettle { wallet: 0 },
    Work::HoldAndSettle { wallet: 1 },
    Work::ReadHot,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_kills_under_load_lose_and_repeat_nothing() {
    let mut rng = seed::rng();
    let mut server = Server::launch(fault_settings::frequent_checkpoints(400)).await;
    let diary = Arc::new(Diary::default());
    load::open_wallets(&diary_client(&server, &diary), &WORKS).await;
    for kill in 1..=KILLS {
        let clients = WORKS.map(|work| (diary_client(&server, &diary), work));
        let load = Load::start(clients, &mut rng);
        moment(&diary, &mut rng).await;
        assert_eq!(
            load.running(),
            WORKS.len(),
            "a worker ended before kill {kill}"
        );
        server.crash().await;
        assert_eq!(
            load.wait().await.len(),
            WORKS.len(),
            "a worker outlived its server"
        );

        if rng.random_ratio(1, 4) {
            crash_at_start(&server, &mut rng).await;
        }
        server.start_again().await;
        audit(
            &server,
            &diary,
            &format!("after kill {kill}"),
            |records, number| records[number].answered,
        )
        .await;
        diary_client(&server, &diary).resend_unanswered().await;
        audit(
            &server,
            &diary,
            &format!("after resending what kill {kill} cut off"),
            |_, _| true,
        )
        .await;
    }
    assert!(
        server.terminate().await.success(),
        "a clean end exits with 0"
    );
    server.verify();
}

fn diary_client(server: &Server, diary: &Arc<Diary>) -> DiaryClient {
    DiaryClient::new(server.instance().base(), server.project(), diary)
}

async fn audit(
    server: &Server,
    diary: &Diary,
    context: &str,
    acknowledged: impl Fn(&[crate::books::Record], usize) -> bool,
) {
    let audit = Audit::read(&server.client(), server.product(), &load::wallets(&WORKS)).await;
    let records = diary.records();
    audit.assert(context, &records, |number| acknowledged(&records, number));
}

/// Waits for a random moment: first for some answers, so that slow machines get as far as fast ones, then for a
/// random time.
async fn moment(diary: &Diary, rng: &mut StdRng) {
    let answers = diary.answers() + rng.random_range(1..500);
    deadline::until("answers under load", deadline::SOON, || {
        (diary.answers() >= answers).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_micros(rng.random_range(0..5_000))).await;
}

/// Starts the server and kills it at a random moment of its recovery.
async fn crash_at_start(server: &Server, rng: &mut StdRng) {
    let mut process = Instance::begin(server.launch_settings(), server.data_dir());
    tokio::time::sleep(Duration::from_millis(rng.random_range(0..150))).await;
    process.kill();
    process.wait(deadline::SOON).await;
}
