//! `scrip verify`: on no data, and on data whose bytes are intact but whose contents are wrong.

use std::{collections::BTreeSet, path::Path, process::Output, sync::Arc};

use domain::{
    Timestamp,
    catalog::{Document, Interval, Price},
    id::{PriceId, ProductId},
};
use kit::Server;
use persistence::{Append, LogEvent, Note, Options, SledJournal, Store};

use crate::{errors, run};

/// Writes an entry to a stopped server's log that no server would, and folds it if `fold`.
fn plant(data_dir: &Path, what: &LogEvent, fold: bool) {
    let mut options = Options::new(data_dir);
    options.min_free_bytes = 0;
    let store = Store::of(Arc::new(SledJournal::open(options).unwrap()));
    let mut append = Append::default();
    append.push(what).unwrap();
    store.log.append(append, None).unwrap();
    if fold {
        store.books.flush().unwrap();
    }
    store.log.close().unwrap();
}

fn verify(server: &Server) -> (Output, String) {
    let mut command = server
        .launch_settings()
        .command("verify", server.data_dir());
    let output = command.output().expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

async fn stopped() -> Server {
    let mut server = Server::start().await;
    server.grant("ann", 10, "k").await;
    assert!(server.terminate().await.success());
    let (output, text) = verify(&server);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("is clean"), "{text}");
    server
}

#[tokio::test]
async fn a_price_of_a_product_that_is_gone_is_named() {
    for fold in [false, true] {
        let server = stopped().await;
        let price = Price {
            id: PriceId(7),
            project: server.project().id.parse().unwrap(),
            product: ProductId(8),
            label: None,
            amount_cents: 500,
            currency: "EUR".into(),
            credits_granted: 100,
            credits_product: None,
            credits_expire_after_days: None,
            rollover: false,
            repeatable: false,
            limits: Vec::new(),
            trial_days: None,
            trial_credits: 0,
            features: BTreeSet::new(),
            interval: Interval::OneTime,
            active: true,
            created_at: Timestamp(0),
        };
        let sentence = format!(
            "{} is a price of {}, which is missing",
            price.id, price.product
        );
        plant(
            server.data_dir(),
            &LogEvent::Catalog(Document::Price(price)),
            fold,
        );
        let (output, text) = verify(&server);
        assert_eq!(output.status.code(), Some(1));
        assert!(text.contains(&format!("PROBLEM: {sentence}")), "{text}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("has 1 problems"), "{errors}");
    }
}

#[tokio::test]
async fn a_note_that_says_nothing_is_named() {
    for fold in [false, true] {
        let server = stopped().await;
        let note = |body: Option<&[u8]>| {
            LogEvent::Note(Note {
                key: [&[6][..], &[0; 16]].concat().into(),
                body: body.map(Box::from),
            })
        };
        plant(server.data_dir(), &note(Some(&[9])), fold);
        let (output, text) = verify(&server);
        assert_eq!(output.status.code(), Some(1));
        assert!(text.contains("PROBLEM: the note 06"), "{text}");
        assert!(text.contains("its version is 9"), "{text}");

        plant(server.data_dir(), &note(None), fold);
        let (output, text) = verify(&server);
        assert!(output.status.success(), "it is forgotten: {text}");
    }
}

#[test]
fn there_is_nothing_to_verify_where_there_is_no_data() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["verify", "--data-dir", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors(&output).contains("holds no data"),
        "{}",
        errors(&output)
    );
}
