//! Tables for people. Programs ask for `--json`.

use serde_json::Value;

use super::print;
use crate::dashboard::money;

/// A heading, and rows of as many cells.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these headings.
    pub(super) fn new(headings: &[&str]) -> Self {
        Self {
            rows: vec![headings.iter().map(|&text| text.to_owned()).collect()],
        }
    }

    /// Adds a row. What would steer a terminal is shown as what it is.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows
            .push(cells.into_iter().map(|cell| plain(&cell)).collect());
    }

    /// As lines: columns as wide as they have to be, numbers to the right.
    fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        let shape = |column| {
            let width = cells(column).map(|cell| cell.chars().count()).max();
            let numbers = cells(column)
                .skip(1)
                .all(|cell| cell.parse::<i64>().is_ok() || cell.is_empty());
            (width.unwrap_or_default(), numbers)
        };
        let shapes: Vec<(usize, bool)> = (0..columns).map(shape).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&shapes).map(|(cell, &(width, number))| {
                if number {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }

    /// Prints it; `nothing` where it has no rows.
    pub(super) fn print(&self, nothing: &str) {
        if self.rows.len() < 2 {
            return print::line(nothing);
        }
        for line in self.lines() {
            print::line(&line);
        }
    }
}

/// A text of somebody's without what would steer a terminal.
pub(super) fn plain(text: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// Prints an answer for programs.
pub(super) fn json(value: &Value) {
    print::line(&format!("{value:#}"));
}

/// A field of an answer as text; empty where it is null or not there.
pub(super) fn field(of: &Value, name: &str) -> String {
    match of.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A list in an answer.
pub(super) fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// An instant to the second, UTC.
pub(super) fn when(of: &Value, name: &str) -> String {
    let text = field(of, name);
    match text.get(..19) {
        Some(second) => format!("{}Z", second.replace('T', " ")),
        None => text,
    }
}

/// An amount with its currency; empty where it is not there.
pub(super) fn money(of: &Value, name: &str) -> String {
    let amount = of.get(name).and_then(Value::as_i64);
    let currency = field(of, "currency");
    amount.map_or_else(String::new, |amount| money::money(amount, &currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_as_people_count_it() {
        let order = serde_json::json!({ "amountCents": 123_450, "currency": "SEK", "at": null });
        assert_eq!(money(&order, "amountCents"), "1234.50 SEK");
        assert_eq!(money(&order, "refundedCents"), "");
    }

    #[test]
    fn columns_line_up_and_nobodys_text_steers_the_terminal() {
        let mut table = Table::new(&["USER", "BALANCE"]);
        table.row(["ann".to_owned(), "5".to_owned()]);
        table.row(["b\u{1b}[2J\u{9b}é".to_owned(), "1200".to_owned()]);
        assert_eq!(
            table.lines(),
            [
                "USER     BALANCE",
                "ann            5",
                "b\u{fffd}[2J\u{fffd}é     1200",
            ]
        );
    }
}
