//! The audit log as comma-separated values.

use domain::Timestamp;
use wire::{
    csv::{harmless, row},
    view::instant,
};

use crate::audit::AuditEntry;

/// Entries with a head, a line each. What a table would take for a formula gets an apostrophe in front of it.
pub fn lines(entries: &[AuditEntry]) -> String {
    let mut text = String::from("at,actor,description,address,projectId,kind,status\r\n");
    for entry in entries {
        let project = entry.project.map(|project| project.to_string());
        let cells = [
            instant(Timestamp(entry.at)).to_string(),
            harmless(&entry.who),
            harmless(&entry.what),
            harmless(&entry.from),
            project.unwrap_or_default(),
            entry.kind.clone(),
            state(entry).to_owned(),
        ];
        text.push_str(&row(cells.iter().map(String::as_str)));
    }
    text
}

/// Whether a change was done; `unknown`: it was begun, and its result is not known.
pub const fn state(entry: &AuditEntry) -> &'static str {
    match entry.open {
        true => "unknown",
        false => "done",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_outside_are_quoted_and_no_formulas() {
        let entry = AuditEntry::done(Timestamp(0), "=cmd()".into(), "a \"b\", c", "::1".into());
        let text = lines(&[entry.about(None, "keys")]);
        let line = text.lines().nth(1).unwrap();
        assert!(
            line.starts_with("1970-01-01T00:00:00.000Z,'=cmd(),\"a \"\"b\"\", c\",::1,"),
            "{line}"
        );
    }
}
