//! What the kernel saw, by strace: no answer to a write comes before its sync, and a sync that
//! fails is never acknowledged and stops the process.

mod order;
mod trace;
mod traced_server;

use self::{order::Order, traced_server::TracedServer};
use crate::{
    books::{Audit, Diary, DiaryClient, Outcome, Work, load},
    fault_settings, seed,
};
use kit::Server;
use rand::{RngExt, rngs::StdRng};
use std::sync::Arc;

/// Run one after the other, so that the writes and syncs of each request can be distinguished.
const WORKS: [Work; 5] = [
    Work::Grant,
    Work::Deduct,
    Work::DeductHot,
    Work::Batch {
        items: 5,
        padding: 100,
    },
    Work::HoldAndSettle { wallet: 0 },
];

/// Rounds of all works whose order is checked.
const ROUNDS: usize = 12;

/// Rounds within which an injected sync failure must have happened.
const ROUNDS_TO_FAILURE: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_precedes_its_sync() {
    let mut rng = seed::rng();
    let (mut server, diary) = open().await;
    let first = diary.records().len();
    let mut traced = TracedServer::start(&server, None).await;
    let diary_client = DiaryClient::new(traced.instance().base(), server.project(), &diary);
    for work in WORKS.repeat(ROUNDS) {
        let outcome = load::perform(&diary_client, work, &mut rng).await;
        assert!(matches!(outcome, Outcome::Done), "{work:?}: {outcome:?}");
    }
    let (status, calls) = traced.terminate().await;
    assert!(status.success(), "a clean end exits with 0");

    let order = Order::new(&calls, server.data_dir());
    let answered = order.assert(diary.records().iter().enumerate().skip(first));
    assert!(
        answered >= WORKS.len() * ROUNDS,
        "only {answered} answers were seen"
    );
    server.start_again().await;
    audit(&server, &diary, "after the trace", true).await;
    assert!(
        server.terminate().await.success(),
        "a clean end exits with 0"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_sync_is_never_acknowledged_and_stops_the_process() {
    let mut rng = seed::rng();
    let (mut server, diary) = open().await;
    for round in 1..=3 {
        let first = diary.records().len();
        let failing = syncs_of_a_start(&server).await + rng.random_range(3..20);
        let mut traced = TracedServer::start(&server, Some(failing)).await;
        let diary_client = DiaryClient::new(traced.instance().base(), server.project(), &diary);
        until_failure(&diary_client, &mut rng).await;
        let (status, lines, calls) = traced.ends_by_itself().await;
        assert!(
            !status.success(),
            "a process that cannot sync exits with {status}"
        );
        assert!(
            names_the_cause(&lines),
            "no plain message in:\n{}",
            lines.join("\n")
        );

        assert!(
            calls.iter().any(trace::Call::injected),
            "no sync was made to fail"
        );
        let order = Order::new(&calls, server.data_dir());
        order.assert(diary.records().iter().enumerate().skip(first));

        server.start_again().await;
        audit(
            &server,
            &diary,
            &format!("after failed sync {round}"),
            false,
        )
        .await;
        let diary_client = DiaryClient::new(server.instance().base(), server.project(), &diary);
        diary_client.resend_unanswered().await;
        audit(
            &server,
            &diary,
            &format!("after resending in round {round}"),
            true,
        )
        .await;
        assert!(
            server.terminate().await.success(),
            "a clean end exits with 0"
        );
        server.verify();
    }
}

/// A stopped server with its wallets opened.
async fn open() -> (Server, Arc<Diary>) {
    let mut server = Server::launch(fault_settings::frequent_checkpoints(100)).await;
    let diary = Arc::new(Diary::default());
    let diary_client = DiaryClient::new(server.instance().base(), server.project(), &diary);
    load::open_wallets(&diary_client, &WORKS).await;
    assert!(
        server.terminate().await.success(),
        "a clean end exits with 0"
    );
    (server, diary)
}

/// The most syncs of one thread when the server is only started and ended: strace counts them per thread.
async fn syncs_of_a_start(server: &Server) -> usize {
    let (status, calls) = TracedServer::start(server, None).await.terminate().await;
    assert!(status.success(), "a clean end exits with 0");
    trace::most_syncs_of_a_thread(&calls)
}

async fn until_failure(diary_client: &DiaryClient, rng: &mut StdRng) {
    for work in WORKS.repeat(ROUNDS_TO_FAILURE) {
        match load::perform(diary_client, work, rng).await {
            Outcome::Done => {}
            Outcome::Refused(code) => {
                assert_eq!(code, "unavailable", "the code of a failed log");
                return;
            }
            Outcome::Lost(_) => return,
        }
    }
    panic!("everything was acknowledged although syncs were failing");
}

/// Whether a line explains what happened.
pub(crate) fn names_the_cause(lines: &[String]) -> bool {
    lines.iter().map(|line| line.to_lowercase()).any(|line| {
        ["sync", "input/output error", "i/o error"]
            .iter()
            .any(|words| line.contains(words))
    })
}

async fn audit(server: &Server, diary: &Diary, context: &str, all: bool) {
    let wallets = load::wallets(&WORKS);
    let audit = Audit::read(&server.client(), server.product(), &wallets).await;
    let records = diary.records();
    audit.assert(context, &records, |number| all || records[number].answered);
}
