//! What is on the disk stays readable, and what is not readable is named.

use domain::id::ProjectId;

use super::*;

/// A kind of notes for these tests: a number for each name.
struct Counts;

impl NoteKind for Counts {
    const NUMBER: u8 = 200;
    const NAME: &'static str = "count";
    type Key = (ProjectId, String);
    type Body = u32;

    fn check((_, name): &Self::Key, count: &u32) -> Result<(), String> {
        let fits = usize::try_from(*count).is_ok_and(|count| count >= name.len());
        fits.then_some(()).ok_or_else(|| "it is too small".into())
    }
}

const KINDS: &[ErasedKind] = &[ErasedKind::of::<Counts>()];

fn stored() -> (Box<[u8]>, Box<[u8]>) {
    let key = (ProjectId(7), "four".into());
    let Note { key, body } = put::<Counts>(&key, &12);
    (key, body.unwrap())
}

/// The error for a note that cannot be read, which must name the key.
fn refused(key: &[u8], body: &[u8]) -> String {
    let [error] = verify(KINDS, [(key, body)]).try_into().unwrap();
    let text = Unreadable::to_string(&error);
    assert!(text.contains(&HEXLOWER.encode(key)), "{text}");
    text
}

#[test]
fn a_note_reads_back_and_is_forgotten_by_its_key() {
    let (key, body) = stored();
    let expected = format!("c8{:032x}{}", 7, HEXLOWER.encode(b"four"));
    assert_eq!(HEXLOWER.encode(&key), expected);
    assert_eq!(*body, *b"\x0112");
    let read = read::<Counts>(&key, &body).unwrap();
    assert_eq!(read, ((ProjectId(7), "four".into()), 12));
    let forgotten = forget::<Counts>(&read.0);
    assert_eq!((forgotten.key, forgotten.body), (key.clone(), None));
    assert_eq!(verify(KINDS, [(&*key, &*body)]), []);
}

#[test]
fn what_cannot_be_read_is_named() {
    let (key, body) = stored();
    for version in [0, 2, 255] {
        let text = refused(&key, &[&[version], &body[1..]].concat());
        assert!(text.contains(&format!("version is {version}")), "{text}");
    }
    assert!(refused(&key, &[]).contains("empty"));
    assert!(refused(&key, &[1]).contains("EOF"));
    assert!(refused(&key, b"\x01true").contains("u32"));
    assert!(refused(&key, b"\x013").contains("too small"));
    // Without a name, and with one that is no text.
    for name in [&[][..], &[0xff]] {
        let text = refused(&[&key[..17], name].concat(), &body);
        assert!(
            text.contains("(count)") && text.contains("its key"),
            "{text}"
        );
    }
}

#[test]
fn what_is_of_no_kind_is_named() {
    let (key, body) = stored();
    for key in [&[][..], &[201], &[&[0], &key[1..]].concat()] {
        assert!(refused(key, &body).contains("unknown"));
    }
    assert!(read::<Counts>(&[201], &body).is_err());
}
