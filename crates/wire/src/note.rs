//! Notes of operators in the `meta` of ledger entries.

use domain::text::Meta;
use serde_json::{Map, Value};

/// A deduction's own `meta`, by which usage is counted, with a note of why it was given back; the note alone where both
/// are too long.
#[must_use]
pub fn with_note(meta: Option<&Meta>, note: Option<String>) -> Option<Meta> {
    let Some(note) = note else {
        return meta.cloned();
    };
    let own = meta.and_then(|meta| serde_json::from_str::<Map<String, Value>>(meta.as_str()).ok());
    let noted = |mut fields: Map<String, Value>| {
        fields.insert("note".into(), note.clone().into());
        Meta::new(Value::Object(fields).to_string()).ok()
    };
    noted(own.unwrap_or_default()).or_else(|| noted(Map::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_stands_beside_what_the_deduction_said() {
        let with = |meta: &str, note: Option<&str>| {
            let meta = Meta::new(meta).unwrap();
            let meta = with_note(Some(&meta), note.map(str::to_owned)).unwrap();
            meta.as_str().to_owned()
        };
        let own = r#"{"feature":"export"}"#;
        assert_eq!(with(own, None), own);
        assert_eq!(
            with(own, Some("an \"outage\"")),
            r#"{"feature":"export","note":"an \"outage\""}"#
        );
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(4080));
        assert_eq!(with(&long, Some("why")), r#"{"note":"why"}"#);
        assert_eq!(with_note(None, None), None);
    }
}
