//! Stored objects of each kind stay readable: `kept.jsonl` has them as they were first written. A kind that is
//! written differently needs a new version of its note, and keeps its line.

use std::collections::BTreeSet;

use super::{super::objects::Note, *};
use crate::check_object;

const KEPT: &str = include_str!("kept.jsonl");

#[test]
fn objects_of_every_kind_read_as_they_were_first_written() {
    let mut kinds = BTreeSet::new();
    for line in KEPT.lines() {
        let note: Note = serde_json::from_str(line).unwrap();
        assert_eq!(note.text(), line);
        assert_eq!(check_object(&note.head().id, line), Ok(()));
        let value: Value = serde_json::from_str(line).unwrap();
        kinds.insert(value["object"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds.len(), Note::KINDS, "{kinds:?}");
}

#[test]
fn an_object_that_is_none_is_not_taken_for_one() {
    let line = KEPT.lines().next().unwrap();
    let note: Note = serde_json::from_str(line).unwrap();
    let id = note.head().id.clone();
    assert!(check_object("another", line).is_err());
    assert!(check_object(&id, &line[..line.len() - 1]).is_err());
    let later = line.replacen("\"object\":\"", "\"object\":\"later_", 1);
    assert!(check_object(&id, &later).is_err());
    let mut db = Database::new(String::new(), START, Ids::new([7; 32]));
    assert!(db.restore(&[(id, later)]).is_err());
}
