//! The bytes on disk, kept in `tests/golden`. What an old version wrote must read back for good,
//! and today's encoding must not drift from it unnoticed. A new format gets new files beside these;
//! `SCRIP_WRITE_GOLDEN=1 cargo test -p persistence golden` writes those that are missing.

use std::{fmt::Debug, fs, path::PathBuf};

use domain::{
    Amount, Timestamp,
    catalog::{
        ApiKey, Document, FreeGrant, Interval, KeyKind, Mode, Price, Product, ProductType, Project,
    },
    history::Record,
    id::{CodeHash, HoldId, KeyId, PriceId, ProductId, ProjectId, WalletId, WalletKey},
    text::{Feature, IdempotencyKey, Meta},
    time::Period,
    wallet::{Change, Created, Event, Owner, Wallet},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    codec::{Append, Logged, Note, decode_events, decode_value, encode_value},
    frame::{self, Place},
    recovery::encode_meta,
    watermark,
};

const KEY: WalletKey = WalletKey(*b"0123456789abcdef");
const PRODUCT: ProductId = ProductId(0x0190_1234_5678_7abc_8def_0123_4567_89ab);
const HOLD: HoldId = HoldId {
    serial: 77,
    wallet: KEY,
};
const OTHER_HOLD: HoldId = HoldId {
    serial: 78,
    wallet: KEY,
};
const NOW: Timestamp = Timestamp(1_760_000_000_123);
const LATER: Timestamp = Timestamp(1_760_003_600_123);

/// The bytes of a golden file. With `today` as what it should hold, if it has to be written.
fn golden(name: &str, today: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("SCRIP_WRITE_GOLDEN").is_some() && !path.exists() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, today).unwrap();
    }
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn value<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, value: &T) {
    let today = encode_value(value).unwrap();
    let kept = golden(name, &today);
    assert_eq!(
        &decode_value::<T>(&kept).unwrap(),
        value,
        "{name} reads back as something else"
    );
    assert_eq!(kept, today, "{name} is written differently now");
}

fn amount(credits: i64) -> Amount {
    Amount::new(credits).unwrap()
}

fn text(key: &str) -> IdempotencyKey {
    IdempotencyKey::new(key).unwrap()
}

/// Every change that there is, in an order that a wallet can live through.
fn changes() -> Vec<Change> {
    let meta = Some(Meta::new(r#"{"job":"é"}"#).unwrap());
    let feature = Feature::new("export.pdf").unwrap();
    let hold = |hold, key| Change::HoldPlaced {
        hold,
        product: PRODUCT,
        amount: amount(300),
        expires_at: LATER,
        key: text(key),
        meta: meta.clone(),
    };
    let owner = Owner::Code {
        hash: CodeHash(KEY.0),
        sealed: Box::new([1, 2, 3]),
    };
    vec![
        Change::Created(Box::new(Created {
            id: WalletId(5),
            project: ProjectId(6),
            owner,
        })),
        Change::CodeRotated {
            hash: CodeHash([9; 16]),
            sealed: Box::new([4, 5]),
            former: None,
        },
        Change::FreeGranted {
            product: PRODUCT,
            credits: amount(100),
            period: Period::Daily,
            start: NOW,
            end: LATER,
        },
        Change::Granted {
            product: PRODUCT,
            amount: amount(9_000_000_000_000),
            expires_at: None,
            key: text("grant"),
            meta: None,
        },
        Change::Deducted {
            product: PRODUCT,
            amount: amount(7),
            key: text("deduction"),
            meta: meta.clone(),
        },
        hold(HOLD, "hold"),
        Change::HoldExtended {
            hold: HOLD,
            expires_at: Timestamp(LATER.0 + 1),
        },
        Change::HoldSettled {
            hold: HOLD,
            amount: 250,
        },
        hold(OTHER_HOLD, "second hold"),
        Change::HoldReleased { hold: OTHER_HOLD },
        hold(
            HoldId {
                serial: 79,
                wallet: KEY,
            },
            "third hold",
        ),
        Change::HoldExpired {
            hold: HoldId {
                serial: 79,
                wallet: KEY,
            },
        },
        hold(
            HoldId {
                serial: 80,
                wallet: KEY,
            },
            "open hold",
        ),
        Change::FeatureGranted {
            feature: feature.clone(),
        },
        Change::FeatureRevoked { feature },
        Change::FeatureGranted {
            feature: Feature::new("kept").unwrap(),
        },
        Change::Granted {
            product: ProductId(2),
            amount: amount(5),
            expires_at: Some(LATER),
            key: text("expiring"),
            meta: None,
        },
        Change::LotExpired {
            product: ProductId(2),
            lot: 0,
            amount: amount(5),
        },
    ]
}

fn wallet() -> (Wallet, Vec<Record>) {
    let (mut wallet, mut records) = (None, Vec::new());
    for change in changes() {
        let (next, record) = Wallet::replay(wallet, KEY, Event { at: NOW, change }).unwrap();
        wallet = Some(next);
        records.extend(record);
    }
    (wallet.unwrap(), records)
}

fn documents() -> Vec<Document> {
    let mut project = Project::new(ProjectId(6), "Ünder".into(), Mode::ExternalUsers, NOW);
    project.allowed_origins = vec!["https://example.com".into()];
    project.wallet_creation_limit = None;
    let key = ApiKey {
        id: KeyId(1),
        project: ProjectId(6),
        kind: KeyKind::Publishable,
        hash: [3; 32],
        public: Some("pay_pk_x".into()),
        created_at: NOW,
        revoked_at: Some(LATER),
    };
    let product = Product {
        id: PRODUCT,
        project: ProjectId(6),
        name: "Pages".into(),
        description: None,
        kind: ProductType::Credits,
        credit_unit: Some("page".into()),
        free_grant: Some(FreeGrant {
            credits: amount(3),
            period: Period::Monthly,
        }),
        active: true,
        created_at: NOW,
    };
    let price = Price {
        id: PriceId(4),
        project: ProjectId(6),
        product: PRODUCT,
        label: Some("Pro".into()),
        amount_cents: 999,
        currency: "EUR".into(),
        credits_granted: 1000,
        credits_product: None,
        credits_expire_after_days: Some(30),
        rollover: false,
        features: [Feature::new("export").unwrap()].into(),
        interval: Interval::Month,
        active: true,
        created_at: NOW,
    };
    vec![
        Document::Project(project),
        Document::Key(key),
        Document::Product(product),
        Document::Price(price),
    ]
}

fn events() -> Vec<Logged> {
    let logged = |(version, change)| Logged::Wallet {
        key: KEY,
        version,
        event: Event { at: NOW, change },
    };
    let wallets = (1..).zip(changes()).map(logged);
    wallets
        .chain(documents().into_iter().map(Logged::Catalog))
        .collect()
}

#[test]
fn events_are_written_as_ever() {
    let events = events();
    let mut today = Append::default();
    for event in &events {
        today.push(event).unwrap();
    }
    let kept = golden("events-v1.bin", today.bytes());
    assert_eq!(decode_events(&kept, today.events()).unwrap(), events);
    assert_eq!(kept, today.bytes());
}

#[test]
fn notes_are_written_as_ever() {
    let note = |body: Option<&[u8]>| {
        Logged::Note(Note {
            key: Box::new([7, 0, 255]),
            body: body.map(Box::from),
        })
    };
    let notes = [note(Some(&[1, 200])), note(Some(&[])), note(None)];
    let mut today = Append::default();
    for note in &notes {
        today.push(note).unwrap();
    }
    let kept = golden("notes-v1.bin", today.bytes());
    assert_eq!(decode_events(&kept, today.events()).unwrap(), notes);
    assert_eq!(kept, today.bytes());
}

#[test]
fn a_frame_is_written_as_ever() {
    let mut payload = Vec::new();
    for event in &events() {
        frame::push(&mut payload, &Append::one(event).unwrap());
    }
    let appends = u32::try_from(events().len()).unwrap();
    let mut today = Vec::new();
    frame::encode(
        &mut today,
        &Place {
            lsn: 41,
            hash: [0xAB; 32],
        },
        &payload,
        appends,
    );
    let kept = golden("frame-v1.bin", &today);
    let read = frame::decode(&kept).unwrap();
    assert_eq!(
        (read.lsn, read.before, read.appends),
        (42, [0xAB; 32], appends)
    );
    assert_eq!(read.events().unwrap(), events());
    assert_eq!(kept, today);
}

#[test]
fn how_far_it_is_folded_is_written_as_ever() {
    let today = encode_meta(&Place {
        lsn: 42,
        hash: [0xCD; 32],
    })
    .unwrap();
    assert_eq!(golden("folded-v1.bin", &today), today);
    let today = watermark::encode(&Place {
        lsn: 42,
        hash: [0xEF; 32],
    });
    assert_eq!(golden("watermark-v1.bin", &today), today);
}

#[test]
fn stored_values_are_written_as_ever() {
    let (wallet, records) = wallet();
    value("wallet-v1.bin", &wallet);
    value("records-v1.bin", &records);
    for document in documents() {
        let (kind, _) = document.address();
        value(&format!("document-{kind}-v1.bin"), &document);
    }
}

#[test]
fn a_value_of_a_later_version_asks_for_a_newer_scrip() {
    let mut bytes = encode_value(&documents()).unwrap();
    bytes[0] += 1;
    let error = decode_value::<Vec<Document>>(&bytes).unwrap_err();
    assert!(error.to_string().contains("use a newer one"), "{error}");
}
