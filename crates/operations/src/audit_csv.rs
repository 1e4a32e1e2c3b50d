//! The audit log as comma-separated values.

use domain::Timestamp;

use crate::audit::AuditEntry;

/// Entries with a head, a line each. What a table would take for a formula gets an apostrophe in front of it.
#[must_use]
pub fn lines(entries: &[AuditEntry]) -> String {
    let mut text = String::from("at,actor,description,address,projectId,kind,status\n");
    for entry in entries {
        let project = entry.project.map(|project| project.to_string());
        let cells = [
            time(entry.at),
            entry.who.clone(),
            entry.what.clone(),
            entry.from.clone(),
            project.unwrap_or_default(),
            entry.kind.clone(),
            state(entry).to_owned(),
        ];
        text.push_str(&cells.map(|cell| quoted(&cell)).join(","));
        text.push('\n');
    }
    text
}

/// Whether a change was done; `unknown`: it was begun, and its result is not known.
#[must_use]
pub const fn state(entry: &AuditEntry) -> &'static str {
    match entry.open {
        true => "unknown",
        false => "done",
    }
}

fn time(at: i64) -> String {
    let Timestamp(millis) = Timestamp(at);
    jiff::Timestamp::from_millisecond(millis)
        .map_or_else(|_| millis.to_string(), |at| at.to_string())
}

fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
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
            line.starts_with("\"1970-01-01T00:00:00Z\",\"'=cmd()\",\"a \"\"b\"\", c\""),
            "{line}"
        );
    }
}
