//! The bytes on disk, kept in `tests/golden`. What an old version wrote must read back for good,
//! and today's encoding must not drift from it unnoticed. A new format gets new files beside these;
//! `SCRIP_WRITE_GOLDEN=1 cargo test -p persistence golden` writes those that are missing.

use std::{collections::VecDeque, fs, path::PathBuf};

use domain::{
    Amount, Timestamp,
    catalog::{
        ApiKey, Document, FreeGrant, Interval, KeyKind, Mode, Price, Product, ProductType, Project,
    },
    history::{Reason, Record},
    id::{
        KeyId, OrderSerial, PriceId, ProductId, ProjectId, PublicSubscriptionId, WalletId,
        WalletKey,
    },
    project_event::{EventData, OrderEvent, OrderSnapshot, ProjectEvent, SubscriptionSnapshot},
    text::{ExternalUserId, Feature, FreezeReason},
    time::Period,
    top_up::{Decline, DeclineCode, DeclineKind, Suspension},
    wallet::{ArchivedOrder, Change, Event, SubscriptionStatus, Wallet, event::SubscriptionEvent},
};

use self::changes::changes;
use crate::{
    format::{
        self,
        append::{Append, LogEvent, Note, decode_events},
        leadership::{Heartbeat, LeadershipItem, Resignation, Split, TermStart},
    },
    frames::{FramePosition, frame},
    log::{recovery::encode_meta, watermark},
    lookups::ListChange,
};

mod changes;
mod entries;

const KEY: WalletKey = WalletKey(*b"0123456789abcdef");
const PRODUCT: ProductId = ProductId(0x0190_1234_5678_7abc_8def_0123_4567_89ab);
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

fn amount(credits: i64) -> Amount {
    Amount::new(credits).unwrap()
}

fn documents() -> Vec<Document> {
    let mut project = Project::new(ProjectId(6), "Ünder".into(), Mode::ExternalUsers, NOW);
    project.allowed_origins = vec!["https://example.com".into()];
    project.wallet_creation_limit = None;
    let key = ApiKey {
        id: KeyId(1),
        project: ProjectId(6),
        kind: KeyKind::Publishable,
        can: std::collections::BTreeSet::new(),
        name: Some("Wörker".into()),
        first: "pay_pk_aTb9".into(),
        last: "7xYz".into(),
        hash: [3; 32],
        public: Some("pay_pk_x".into()),
        created_at: NOW,
        expires_at: Some(LATER),
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
        low_balance: Some(10),
        debt_limit: 500,
        limits: Vec::new(),
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
        repeatable: false,
        limits: Vec::new(),
        trial_days: None,
        trial_credits: 0,
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

fn life() -> (Vec<LogEvent>, Wallet) {
    let (mut wallet, mut events) = (None, Vec::new());
    let mut to_come: VecDeque<Change> = changes().into();
    while let Some(change) = to_come.pop_front() {
        let event = Event { at: NOW, change };
        let (next, applied) = Wallet::replay(&mut wallet, KEY, event.clone()).unwrap();
        let (version, moved) = (next.version, ListChange::of(next, &applied));
        let record = applied.record;
        // What is archived is recalled, once.
        if let Some(archived) = record.as_ref().and_then(Record::order) {
            to_come.push_front(Change::OrderRecalled(Box::new(archived.clone())));
        }
        events.push(LogEvent::Wallet {
            key: KEY,
            version,
            event,
            record,
            moved,
        });
    }
    (events, wallet.unwrap())
}

fn events() -> Vec<LogEvent> {
    let (mut events, _) = life();
    events.extend(documents().into_iter().map(LogEvent::Catalog));
    events
}

/// One of the orders that a wallet's life archives.
fn order() -> OrderSnapshot {
    let (life, _) = life();
    let archived = life.iter().find_map(|log_event| match log_event {
        LogEvent::Wallet { record, .. } => record.as_ref().and_then(Record::order),
        _ => None,
    });
    let ArchivedOrder { serial, order } = archived.unwrap().clone();
    OrderSnapshot {
        serial,
        order,
        balance: 7,
        code: Some([1, 200].into()),
    }
}

fn project_events() -> Vec<ProjectEvent> {
    let all = [
        EventData::WalletCreated,
        EventData::Order(OrderEvent::Refunded, Box::new(order())),
        EventData::Subscription(
            SubscriptionEvent::PastDue,
            Box::new(SubscriptionSnapshot {
                id: PublicSubscriptionId(5),
                product: PRODUCT,
                price: PriceId(4),
                label: Some("Pro".into()),
                status: SubscriptionStatus::PastDue,
                current_period_end: LATER,
                cancel_at_period_end: true,
                open_invoice: Some(Box::new(domain::wallet::OpenInvoice {
                    amount_cents: 900,
                    currency: domain::wallet::Currency::new("EUR").unwrap(),
                    url: domain::text::PageUrl::new("https://pay.example/i").unwrap(),
                    next_attempt_at: Some(LATER),
                })),
                collection_paused: true,
            }),
        ),
        EventData::Credited {
            product: PRODUCT,
            delta: 5,
            reason: Reason::Manual,
            order: Some(OrderSerial(9)),
            balance: 7,
        },
        EventData::BalanceLow {
            product: PRODUCT,
            balance: 2,
        },
        EventData::Depleted { product: PRODUCT },
        EventData::Owing {
            product: PRODUCT,
            balance: 0,
            owed: 9,
        },
        EventData::Repaid {
            product: PRODUCT,
            balance: 3,
        },
        EventData::Frozen {
            reason: FreezeReason::new("a stolen card").ok(),
        },
        EventData::Unfrozen,
        EventData::TopUpFailed {
            order: OrderSerial(9),
            decline: Decline {
                code: DeclineCode::new("insufficient_funds").unwrap(),
                kind: DeclineKind::Retryable,
            },
            next_attempt_at: Some(LATER),
        },
        EventData::TopUpSuspended(Suspension::PriceChanged),
        EventData::Features {
            features: Some(vec![Feature::new("export").unwrap()]),
            added: vec![Feature::new("export").unwrap()],
            removed: vec![Feature::new("beta").unwrap()],
        },
    ];
    let project_event = |data| ProjectEvent {
        project: ProjectId(6),
        at: NOW,
        recorded: LATER,
        key: KEY,
        wallet: WalletId(5),
        user: Some(ExternalUserId::new("ann").unwrap()),
        data,
    };
    all.map(project_event).into()
}

#[test]
fn project_events_are_written_as_ever() {
    let mut today = Append::default();
    for project_event in project_events() {
        today.push(&LogEvent::ProjectEvent(project_event)).unwrap();
    }
    let kept = golden("v1/project_events.bin", today.bytes());
    assert_eq!(today.bytes(), kept);
    let read = decode_events(&kept).unwrap();
    assert_eq!(
        read,
        project_events()
            .into_iter()
            .map(LogEvent::ProjectEvent)
            .collect::<Vec<_>>()
    );
}

#[test]
fn events_are_written_as_ever() {
    let events = events();
    let mut today = Append::default();
    for event in &events {
        today.push(event).unwrap();
    }
    let kept = golden("events-v1.bin", today.bytes());
    assert_eq!(decode_events(&kept).unwrap(), events);
    assert_eq!(kept, today.bytes());
}

#[test]
fn notes_are_written_as_ever() {
    let note = |body: Option<&[u8]>| {
        LogEvent::Note(Note {
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
    assert_eq!(decode_events(&kept).unwrap(), notes);
    assert_eq!(kept, today.bytes());
}

#[test]
fn who_leads_is_written_as_ever() {
    let leadership = [
        LeadershipItem::TermStart(TermStart {
            node: 7,
            incarnation: u128::MAX,
            attempt: 300,
            address: "http://10.0.0.1:8080".into(),
            at: NOW,
        }),
        LeadershipItem::Heartbeat(Heartbeat { at: NOW }),
        LeadershipItem::Resignation(Resignation {
            taken_by: None,
            at: LATER,
        }),
        LeadershipItem::Resignation(Resignation {
            taken_by: Some(1 << 100),
            at: LATER,
        }),
    ]
    .map(LogEvent::Leadership);
    let mut today = Append::default();
    for item in &leadership {
        today.push(item).unwrap();
    }
    let kept = golden("leadership-v1.bin", today.bytes());
    assert_eq!(decode_events(&kept).unwrap(), leadership);
    assert_eq!(kept, today.bytes());
}

#[test]
fn where_a_log_divides_is_written_as_ever() {
    let note = LogEvent::Note(Note {
        key: Box::new([1]),
        body: Some(Box::new([2])),
    });
    let split = LeadershipItem::Split(Split { to: 300, at: NOW });
    let split = [LogEvent::Leadership(split), note];
    let mut today = Append::default();
    for item in &split {
        today.push(item).unwrap();
    }
    let kept = golden("split-v1.bin", today.bytes());
    assert_eq!(decode_events(&kept).unwrap(), split);
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
        &FramePosition {
            lsn: 41,
            hash: [0xAB; 32],
        },
        &payload,
        appends,
    )
    .unwrap();
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
fn how_far_it_is_applied_is_written_as_ever() {
    let today = encode_meta(&FramePosition {
        lsn: 42,
        hash: [0xCD; 32],
    })
    .unwrap();
    assert_eq!(golden("folded-v1.bin", &today), today);
    let today = watermark::encode(&FramePosition {
        lsn: 42,
        hash: [0xEF; 32],
    });
    assert_eq!(golden("watermark-v1.bin", &today), today);
}

#[test]
fn a_wallet_and_documents_are_written_as_ever() {
    let (_, wallet) = life();
    let today = format::encode_wallet(&wallet).unwrap();
    let kept = golden("wallet-v1.bin", &today);
    assert_eq!(format::decode_wallet(&kept).unwrap(), wallet);
    assert_eq!(kept, today);
    for document in documents() {
        let (kind, _) = document.address();
        let today = format::encode_document(&document).unwrap();
        let kept = golden(&format!("document-{kind}-v1.bin"), &today);
        assert_eq!(format::decode_document(&kept).unwrap(), document);
        assert_eq!(kept, today);
    }
    let today = format::encode_note(&[1, 200]);
    let kept = golden("note-v1.bin", &today);
    assert_eq!(format::decode_note(&kept).unwrap(), [1, 200]);
    assert_eq!(kept, today);
}

#[test]
fn a_value_of_a_later_version_asks_for_a_newer_scrip() {
    let newer = |result: Result<(), crate::Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error, crate::Error::Unusable(_)), "{error}");
        assert!(error.to_string().contains("use a newer one"), "{error}");
    };
    let later = |mut bytes: Vec<u8>| {
        bytes[0] += 1;
        bytes
    };
    let document = later(format::encode_document(&documents()[0]).unwrap());
    newer(format::decode_document(&document).map(drop));
    let wallet = later(format::encode_wallet(&life().1).unwrap());
    newer(format::decode_wallet(&wallet).map(drop));
    newer(format::decode_note(&later(format::encode_note(b"x"))).map(drop));
    // An event of a kind that is not known, and a known one in a later form.
    newer(decode_events(&[10, 0, 0]).map(drop));
    let mut event = Append::one(&life().0[0]).unwrap().bytes().to_vec();
    let entry = 1 + 16 + 2;
    event[entry] += 1 << 4;
    newer(decode_events(&event).map(drop));
}
