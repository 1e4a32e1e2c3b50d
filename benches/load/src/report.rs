//! The measured figures and their targets.

use std::io::Write;

use serde_json::{Value, json};

use super::{
    error::{Context, Result},
    format::thousands,
};

/// The target of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    /// At least this; the second number is what is aimed for.
    AtLeast(f64, Option<f64>),
    /// At most this.
    AtMost(f64),
    /// The figure has none.
    None,
}

/// One measured number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// What is measured.
    pub(crate) name: String,
    /// The measured value.
    pub(crate) value: f64,
    /// The value's unit; a ratio has none.
    pub(crate) unit: &'static str,
    /// What the value should be.
    pub(crate) target: Target,
    /// More information, in a few words.
    pub(crate) note: String,
}

/// All figures of a run, in the order they were measured.
#[derive(Debug)]
pub(crate) struct Report {
    figures: Vec<Figure>,
    details: Vec<Value>,
    judged: bool,
}

impl Report {
    /// An empty report. If not `judged`, as with `--quick`, no figure is called met or missed.
    pub(crate) const fn new(judged: bool) -> Self {
        Self {
            figures: Vec::new(),
            details: Vec::new(),
            judged,
        }
    }

    /// Adds a figure without a target: it explains another one.
    pub(crate) fn value(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.add(name, value, unit, Target::None);
    }

    /// Adds a figure with its target.
    pub(crate) fn add(
        &mut self,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        target: Target,
    ) {
        let note = String::new();
        self.figures.push(Figure {
            name: name.into(),
            value,
            unit,
            target,
            note,
        });
    }

    /// Adds a note to the latest figure.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        if let Some(figure) = self.figures.last_mut() {
            figure.note = note.into();
        }
    }

    /// Adds details that only `--json` shows.
    pub(crate) fn detail(&mut self, detail: Value) {
        self.details.push(detail);
    }

    /// Writes all figures to standard output.
    pub(crate) fn print(&self, as_json: bool) -> Result<()> {
        let text = if as_json { self.json() } else { self.table() };
        std::io::stdout()
            .lock()
            .write_all(text.as_bytes())
            .context("printing the figures")
    }

    fn table(&self) -> String {
        let rows: Vec<[String; 5]> = self.figures.iter().map(|f| f.row(self.judged)).collect();
        let mut widths = [0_usize; 5];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let [name, value, target, verdict, _] = widths;
        let mut text = String::new();
        for [a, b, c, d, e] in &rows {
            let line = format!("{a:<name$}  {b:>value$}  {c:<target$}  {d:<verdict$}  {e}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn json(&self) -> String {
        let figures: Vec<Value> = self.figures.iter().map(|f| f.json(self.judged)).collect();
        format!(
            "{:#}\n",
            json!({"figures": figures, "details": self.details})
        )
    }
}

impl Figure {
    fn met(&self) -> Option<bool> {
        match self.target {
            Target::AtLeast(least, _) => Some(self.value >= least),
            Target::AtMost(most) => Some(self.value <= most),
            Target::None => None,
        }
    }

    fn amount(&self, value: f64) -> String {
        // Ratios and seconds need decimals, rates and megabytes do not.
        let number = if value.abs() < 100.0 {
            format!("{value:.2}")
        } else {
            thousands(value)
        };
        let unit = self.unit;
        if unit.is_empty() {
            number
        } else {
            format!("{number} {unit}")
        }
    }

    fn row(&self, judged: bool) -> [String; 5] {
        let target = match self.target {
            Target::AtLeast(least, Some(aim)) => {
                format!(">= {}, aim {}", self.amount(least), self.amount(aim))
            }
            Target::AtLeast(least, None) => format!(">= {}", self.amount(least)),
            Target::AtMost(most) => format!("<= {}", self.amount(most)),
            Target::None => String::new(),
        };
        let verdict = match self.met() {
            Some(_) if !judged => "not judged",
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        };
        [
            self.name.clone(),
            self.amount(self.value),
            target,
            verdict.into(),
            self.note.clone(),
        ]
    }

    fn json(&self, judged: bool) -> Value {
        let (least, aim, most) = match self.target {
            Target::AtLeast(least, aim) => (Some(least), aim, None),
            Target::AtMost(most) => (None, None, Some(most)),
            Target::None => (None, None, None),
        };
        json!({
            "name": self.name, "value": self.value, "unit": self.unit,
            "atLeast": least, "aim": aim, "atMost": most, "met": self.met().filter(|_| judged), "note": self.note,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_called_missed() {
        let mut report = Report::new(true);
        report.add("ratio", 0.4, "", Target::AtLeast(0.5, Some(0.7)));
        report.add("memory", 250.0, "MB", Target::AtMost(300.0));
        report.value("rate", 123_456.0, "/s");
        report.note("p50 1 ms");
        let table = report.table();
        let lines: Vec<String> = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(lines[0], "ratio 0.40 >= 0.50, aim 0.70 MISSED");
        assert_eq!(lines[1], "memory 250 MB <= 300 MB met");
        assert_eq!(lines[2], "rate 123,456 /s p50 1 ms");
    }

    #[test]
    fn what_was_taken_in_a_hurry_is_not_called_met() {
        let mut report = Report::new(false);
        report.add("memory", 250.0, "MB", Target::AtMost(300.0));
        assert!(report.table().ends_with("not judged\n"));
        assert!(report.json().contains("\"met\": null"));
    }
}
