//! What is on the disk stays readable, and what is not readable is named.

use data_encoding::HEXLOWER;
use domain::text::PaymentId;
use port::{Origin, Subject};

use super::*;

const PROJECT: ProjectId = ProjectId(0x0193_aaaa_bbbb_cccc_dddd_eeee_ffff_0001);
const EVENT: &str =
    r#"{"id":"evt_1","kind":"charge.refunded","at":1795000000000,"about":"payment","name":"pi_1"}"#;
const UNFULFILLED: &str = r#"{"payment":"pi_1","checkout":"cs_1","paid":{"amountCents":900,"payment":"pi_1","invoice":null,"customer":"cus_1","email":null,"receipt":{"provider":"stripe","livemode":true,"receiptUrl":null,"invoiceUrl":null}},"billing":null,"currency":"EUR","paidAt":1795000000000,"reason":"unknown_price","seenAt":1795000000000,"state":"open"}"#;
const PROOF: &str = r#"{"from":1,"until":2,"beganAt":3,"endedAt":4,"charges":5,"refunds":6,"disputes":7,"mended":8,"differences":0,"sums":[],"found":[]}"#;
const OBJECT: &str = r#"{"note":"customer","head":{"id":"cus_1","n":1,"created":1795000000},
    "email":"a@b.example","name":null,"description":null,"metadata":{},"declines":false}"#;

fn to_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

fn event() -> StoredEvent {
    StoredEvent {
        key: EventKey::new(PROJECT, "evt_1"),
        told: Told {
            id: "evt_1".into(),
            kind: "charge.refunded".into(),
            at: Timestamp(1_795_000_000_000),
            about: Subject::Payment(PaymentId::new("pi_1").unwrap()),
            origin: Origin::Ours,
        },
    }
}

/// As the sandbox says what is wrong with an object of its own.
fn object(id: &str, json: &str) -> Result<(), String> {
    let named = json.contains(&format!(r#""id":"{id}""#)) && json.ends_with('}');
    named
        .then_some(())
        .ok_or_else(|| "its body is another object".into())
}

/// Each kind, and how it is on the disk: the key, then the body as far as it is no text.
fn golden() -> [(Note, &'static str, &'static str, &'static str); 7] {
    [
        (
            Note::Event(event()),
            "010193aaaabbbbccccddddeeeeffff0001a2cec2a04030098c69038791d4d963e3",
            "01",
            EVENT,
        ),
        (
            Note::Made {
                project: PROJECT,
                what: [0xcd; 16],
                id: "bpc_1".into(),
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
        (
            Note::Read {
                project: PROJECT,
                until: Timestamp(1_795_000_000_000),
                heard: true,
            },
            "060193aaaabbbbccccddddeeeeffff0001",
            "01",
            "[1795000000000,true]",
        ),
        (
            Note::Unfulfilled {
                project: PROJECT,
                payment: serde_json::from_str(UNFULFILLED).unwrap(),
            },
            "070193aaaabbbbccccddddeeeeffff000170695f31",
            "01",
            UNFULFILLED,
        ),
        (
            Note::Proof {
                project: PROJECT,
                proof: serde_json::from_str(PROOF).unwrap(),
            },
            "080193aaaabbbbccccddddeeeeffff0001",
            "01",
            PROOF,
        ),
        (
            Note::Audit(AuditPage {
                number: 258,
                text: "{}".into(),
            }),
            "10000000000000000000000000000000000000000000000102",
            "01",
            "{}",
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
        assert_eq!(to_hex(&stored_key), key, "{note:?}");
        assert_eq!(
            to_hex(&stored_body),
            format!("{body}{}", to_hex(text.as_bytes()))
        );
        assert_eq!(Note::read(&stored_key, &stored_body), Ok(note.clone()));
        let forgotten = note.key().forget();
        assert_eq!((forgotten.key, forgotten.body), (stored_key, None));
    }
}

/// What is said of a note that cannot be read; it names the key.
fn said(key: &[u8], body: &[u8]) -> String {
    let said = Note::read(key, body).unwrap_err().to_string();
    assert!(said.contains(&to_hex(key)), "{said}");
    assert_eq!(verify([(key, body)], object), std::slice::from_ref(&said));
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
        // A text may have any length.
        if !matches!(
            note,
            Note::Made { .. } | Note::Sandbox { .. } | Note::Audit(_)
        ) {
            said(&key, &body[..body.len() - 1]);
            said(&key, &body[..1]);
        }
        said(&key, &[1, 0xff, 0xfe]);
    }
    let (mut key, body) = stored(&Note::Event(event()));
    *key.last_mut().unwrap() ^= 1;
    assert!(said(&key, &body).contains("another event"));
    let (_, body) = stored(&golden()[2].0);
    let other = Key::sandbox(PROJECT, "cus_2").encode();
    let found = verify([(&*other, &*body)], object);
    assert!(
        found.len() == 1 && found[0].contains("another object"),
        "{found:?}"
    );
}

#[test]
fn a_key_of_no_kind_is_named() {
    for key in [
        &b""[..],
        b"\x00",
        b"\x0fthen what a later release wrote",
        b"\x3fwhat a release before this one wrote",
        b"\x02of a former release",
        b"\x04short",
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
fn notes_of_others_are_theirs_to_read() {
    let theirs = [FIRST_FOREIGN_KIND, 7];
    assert_eq!(
        verify([(&theirs[..], &[][..])], object),
        Vec::<String>::new()
    );
    let ours = [FIRST_FOREIGN_KIND.wrapping_sub(1), 7];
    assert_eq!(verify([(&ours[..], &[][..])], object).len(), 1);
}

#[test]
fn notes_that_read_are_no_problem() {
    let notes = golden().map(|(note, ..)| stored(&note));
    let notes = notes.iter().map(|(key, body)| (&**key, &**body));
    assert_eq!(verify(notes, object), Vec::<String>::new());
}

#[test]
fn the_objects_of_one_sandbox_begin_alike_and_no_others_do() {
    let prefix = Key::sandbox(PROJECT, "").encode();
    let prefix = &*prefix;
    for (note, ..) in golden() {
        let of_sandbox = matches!(note, Note::Sandbox { .. });
        assert_eq!(stored(&note).0.starts_with(prefix), of_sandbox);
    }
    let other = Key::sandbox(ProjectId(1), "cus_1");
    assert!(!other.encode().starts_with(prefix));
}
