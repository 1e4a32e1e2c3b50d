//! Notes as they are written and read back.

use domain::id::EventId;

use super::*;

const ENDPOINT: EndpointId = EndpointId(7);

fn delivery() -> Delivery {
    Delivery {
        id: DeliveryId(3),
        event: EventId(5 << 64 | 9),
        kind: EventType::named("order.paid").unwrap(),
        wallet: WalletKey([4; 16]),
        origin: Origin::Replay,
        status: Status::Pending,
        attempts: vec![
            Attempt {
                at: Timestamp(1_795_000_000_000),
                status_code: Some(500),
                error: Some("it said \"no\"".into()),
                millis: 12,
            },
            Attempt {
                at: Timestamp(1_795_000_005_000),
                status_code: None,
                error: None,
                millis: 0,
            },
        ],
        scheduled: 2,
        next_at: Some(Timestamp(1_795_000_300_000)),
    }
}

fn answer() -> Said {
    Said {
        at: Timestamp(1_795_000_000_000),
        status_code: 500,
        headers: vec![("server".into(), "a \"b\"".into())],
        body: "no\n".into(),
        is_cut: true,
    }
}

fn bytes(note: &Note) -> (&[u8], &[u8]) {
    (&note.key, note.body.as_deref().unwrap())
}

#[test]
fn what_is_kept_reads_back() {
    let note = put_delivery(ENDPOINT, &delivery());
    let (key, body) = bytes(&note);
    let Ok(Read::Delivery(ENDPOINT, read_back)) = read(key, body) else {
        panic!("it does not read back")
    };
    assert_eq!(read_back, delivery());
    let by_hand = Delivery {
        scheduled: 1,
        ..delivery()
    };
    let note = put_delivery(ENDPOINT, &by_hand);
    let (key, body) = bytes(&note);
    let Ok(Read::Delivery(ENDPOINT, read_back)) = read(key, body) else {
        panic!("it does not read back")
    };
    assert_eq!(read_back, by_hand);
    let note = put_said(ENDPOINT, DeliveryId(3), &answer());
    let (key, body) = bytes(&note);
    let Ok(Read::Said(read_back)) = read(key, body) else {
        panic!("it does not read back")
    };
    assert_eq!(read_back, answer());
    assert_eq!(verify([(key, body)]), Vec::<String>::new());
    assert_eq!(verify([(&key[..20], body)]).len(), 1);
    let progress = Progress {
        cursor: 77,
        failing_since: Some(5),
        replay: Some(Replay {
            cursor: 1,
            end: 2,
            since: 3,
        }),
    };
    let note = put_progress(ENDPOINT, &progress);
    let (key, body) = bytes(&note);
    let Ok(Read::Progress(ENDPOINT, read_back)) = read(key, body) else {
        panic!("it does not read back")
    };
    assert_eq!(read_back, progress);
    assert_eq!(verify([(key, body)]), Vec::<String>::new());
}

#[test]
fn notes_are_written_as_ever() {
    let note = put_delivery(ENDPOINT, &delivery());
    let (key, body) = bytes(&note);
    assert_eq!(HEXLOWER.encode(key), format!("40{:032x}{:032x}", 7, 3));
    let text = std::str::from_utf8(&body[1..]).unwrap();
    let expected = r#"{"event":"evt_0000000000002g000000000009","kind":"order.paid","wallet":"04040404040404040404040404040404","replay":true,"outcome":"pending","attempts":[[1795000000000,500,"it said \"no\"",12],[1795000005000,null,null,0]],"next":1795000300000}"#;
    assert_eq!((body[0], text), (1, expected));
    let note = put_said(ENDPOINT, DeliveryId(3), &answer());
    let (key, body) = bytes(&note);
    assert_eq!(HEXLOWER.encode(key), format!("42{:032x}{:032x}", 7, 3));
    let text = std::str::from_utf8(&body[1..]).unwrap();
    let expected = r#"{"at":1795000000000,"status":500,"headers":[["server","a \"b\""]],"body":"no\n","cut":true}"#;
    assert_eq!((body[0], text), (1, expected));
}

#[test]
fn what_cannot_be_read_is_named() {
    let note = put_delivery(ENDPOINT, &delivery());
    let (key, body) = bytes(&note);
    let unknown = [&[200], &key[1..]].concat();
    let later = [&[2], &body[1..]].concat();
    for (key, body) in [
        (&unknown[..], body),
        (key, &later[..]),
        (key, &[1]),
        (key, &[]),
        (&key[..20], body),
    ] {
        let problems = verify([(key, body)]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains(&HEXLOWER.encode(key)), "{problems:?}");
    }
    assert_eq!(verify([(&[1, 2][..], &[][..])]), Vec::<String>::new());
}
