//! What is on the disk stays readable, and what is not readable is named.

use domain::id::{OrderSerial, WalletKey};

use super::*;
use data_encoding::HEXLOWER;

const PROJECT: ProjectId = ProjectId(0x0193_aaaa_bbbb_cccc_dddd_eeee_ffff_0001);
const ORDER: OrderId = OrderId {
    serial: OrderSerial(0x0193_0000_0000_0000_0000_0000_0000_0002),
    wallet: WalletKey([0xab; 16]),
};
const EVENT: &str = r#"{"id":"evt_1","type":"charge.refunded","data":{"object":{"id":"ch_1",
    "object":"charge","amount":5,"amount_refunded":5,"refunded":true,"currency":"usd"}}}"#;
const OBJECT: &str = r#"{"note":"customer","head":{"id":"cus_1","n":1,"created":1795000000},
    "email":"a@b.example","name":null,"description":null,"metadata":{},"declines":false}"#;

fn event() -> StoredEvent {
    let event = Event::parse(EVENT.as_bytes()).unwrap();
    StoredEvent {
        key: EventKey::new(PROJECT, &event),
        event,
        delivered: EVENT.as_bytes().into(),
    }
}

/// Each kind, and how it is on the disk: the key, then the body as far as it is no text.
fn golden() -> [(Note, &'static str, &'static str, &'static str); 5] {
    [
        (
            Note::Event(event()),
            "010193aaaabbbbccccddddeeeeffff0001a2cec2a04030098c69038791d4d963e3",
            "01",
            EVENT,
        ),
        (
            Note::Reached {
                project: PROJECT,
                to: [Timestamp(1), Timestamp(-2), Timestamp(1_795_000_000_000)],
            },
            "020193aaaabbbbccccddddeeeeffff0001",
            "010000000000000001fffffffffffffffe000001a1ee565e00",
            "",
        ),
        (
            Note::Awaited {
                project: PROJECT,
                order: ORDER,
                until: Timestamp(1_795_000_000_000),
            },
            "030193aaaabbbbccccddddeeeeffff000101930000000000000000000000000002abababababababababababababababab",
            "01000001a1ee565e00",
            "",
        ),
        (
            Note::Portal {
                project: PROJECT,
                offer: [0xcd; 16],
                id: ConfigurationId::new("bpc_1").unwrap(),
            },
            "040193aaaabbbbccccddddeeeeffff0001cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
            "01",
            "bpc_1",
        ),
        (
            Note::Sandbox {
                project: PROJECT,
                id: "cus_1".into(),
                json: OBJECT.into(),
            },
            "050193aaaabbbbccccddddeeeeffff00016375735f31",
            "01",
            OBJECT,
        ),
    ]
}

fn stored(note: &Note) -> (Box<[u8]>, Box<[u8]>) {
    let put = note.put();
    (put.key, put.body.unwrap())
}

#[test]
fn each_kind_is_on_the_disk_as_it_always_was_and_reads_back() {
    for (note, key, body, text) in golden() {
        let (stored_key, stored_body) = stored(&note);
        assert_eq!(HEXLOWER.encode(&stored_key), key, "{note:?}");
        assert_eq!(
            HEXLOWER.encode(&stored_body),
            format!("{body}{}", HEXLOWER.encode(text.as_bytes()))
        );
        assert_eq!(Note::read(&stored_key, &stored_body), Ok(note.clone()));
        let forgotten = note.key().forget();
        assert_eq!((forgotten.key, forgotten.body), (stored_key, None));
    }
}

/// What is said of a note that cannot be read; it names the key.
fn said(key: &[u8], body: &[u8]) -> String {
    let said = Note::read(key, body).unwrap_err().to_string();
    assert!(said.contains(&HEXLOWER.encode(key)), "{said}");
    assert_eq!(verify([(key, body)]), std::slice::from_ref(&said));
    said
}

#[test]
fn another_version_is_never_guessed_at() {
    for (note, ..) in golden() {
        let (key, mut body) = stored(&note);
        for version in [0, 2, 255] {
            body[0] = version;
            let said = said(&key, &body);
            assert!(said.contains(&format!("version is {version}")), "{said}");
        }
        assert!(said(&key, &[]).contains("empty"));
    }
}

#[test]
fn a_body_that_is_cut_short_or_of_something_else_is_named() {
    for (note, ..) in golden() {
        let (key, body) = stored(&note);
        if !matches!(note, Note::Portal { .. }) {
            said(&key, &body[..body.len() - 1]);
        }
        said(&key, &body[..1]);
        said(&key, &[1, 0xff, 0xfe]);
    }
    let (mut key, body) = stored(&Note::Event(event()));
    *key.last_mut().unwrap() ^= 1;
    assert!(said(&key, &body).contains("another event"));
    let (_, body) = stored(&golden()[4].0);
    let other = Key::Sandbox(PROJECT, "cus_2".into()).encode();
    assert!(said(&other, &body).contains("another object"));
}

#[test]
fn a_key_of_no_kind_is_named() {
    for key in [
        &b""[..],
        b"\x00",
        b"\x06then what a later release wrote",
        b"inbox/what a release before this one wrote",
        b"\x02short",
    ] {
        assert!(said(key, b"\x01").contains("unknown"));
    }
    for (note, ..) in golden() {
        let (key, body) = stored(&note);
        // An object's identifier may have any length.
        if !matches!(note, Note::Sandbox { .. }) {
            said(&key[..key.len() - 1], &body);
            said(&[&key[..], &[0]].concat(), &body);
        }
    }
}

#[test]
fn notes_that_read_are_no_problem() {
    let notes = golden().map(|(note, ..)| stored(&note));
    let notes = notes.iter().map(|(key, body)| (&**key, &**body));
    assert_eq!(verify(notes), Vec::<String>::new());
}

#[test]
fn the_objects_of_one_sandbox_begin_alike_and_no_others_do() {
    let prefix = Key::sandbox_prefix(PROJECT);
    for (note, ..) in golden() {
        let of_sandbox = matches!(note, Note::Sandbox { .. });
        assert_eq!(stored(&note).0.starts_with(&prefix), of_sandbox);
    }
    let other = Key::Sandbox(ProjectId(1), "cus_1".into());
    assert!(!other.encode().starts_with(&prefix));
}
