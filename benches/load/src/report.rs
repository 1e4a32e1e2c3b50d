//! The measured figures and their targets.

use std::io::Write;

use serde::Serialize;

use super::{
    error::{Context, Result},
    format::thousands,
};

/// The target of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
}

/// One measured number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figure {
    name: String,
    value: f64,
    /// A ratio has none.
    unit: &'static str,
    target: Option<Target>,
    note: String,
}

/// All figures of a run, in the order they were measured.
#[derive(Debug)]
pub(crate) struct Report {
    figures: Vec<Figure>,
    /// Whether a figure is called met or missed.
    is_judged: bool,
}

impl Report {
    pub(crate) const fn new(is_judged: bool) -> Self {
        Self {
            figures: Vec::new(),
            is_judged,
        }
    }

    /// Adds a figure without a target: it explains another one.
    pub(crate) fn value(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.figures.push(Figure {
            name: name.into(),
            value,
            unit,
            target: None,
            note: String::new(),
        });
    }

    /// Adds a figure with its target.
    pub(crate) fn add(
        &mut self,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        target: Target,
    ) {
        self.value(name, value, unit);
        if let Some(figure) = self.figures.last_mut() {
            figure.target = Some(target);
        }
    }

    /// Adds a note to the latest figure.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        if let Some(figure) = self.figures.last_mut() {
            figure.note = note.into();
        }
    }

    /// Writes all figures to standard output.
    pub(crate) fn print(&self, as_json: bool) -> Result<()> {
        let text = match as_json {
            true => serde_json::to_string_pretty(&self.figures).context("the figures")? + "\n",
            false => self.table(),
        };
        let printed = std::io::stdout().lock().write_all(text.as_bytes());
        printed.context("printing the figures")
    }

    fn table(&self) -> String {
        let rows: Vec<[String; 5]> = self.figures.iter().map(|f| f.row(self.is_judged)).collect();
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
}

impl Figure {
    fn amount(&self, value: f64) -> String {
        // Ratios and seconds need decimals, rates and megabytes do not.
        let number = match value.abs() < 100.0 {
            true => format!("{value:.2}"),
            false => thousands(value),
        };
        format!("{number} {}", self.unit).trim_end().to_owned()
    }

    fn row(&self, is_judged: bool) -> [String; 5] {
        let (target, is_met) = match self.target {
            Some(Target::AtLeast(least)) => {
                (format!(">= {}", self.amount(least)), self.value >= least)
            }
            Some(Target::AtMost(most)) => (format!("<= {}", self.amount(most)), self.value <= most),
            None => (String::new(), true),
        };
        let verdict = match self.target {
            None => "",
            Some(_) if !is_judged => "not judged",
            Some(_) if is_met => "met",
            Some(_) => "MISSED",
        };
        let (name, value) = (self.name.clone(), self.amount(self.value));
        [name, value, target, verdict.into(), self.note.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_called_missed() {
        let mut report = Report::new(true);
        report.add("ratio", 0.4, "", Target::AtLeast(0.5));
        report.add("memory", 250.0, "MB", Target::AtMost(300.0));
        report.value("rate", 123_456.0, "/s");
        report.note("p50 1 ms");
        let table = report.table();
        let lines: Vec<String> = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(lines[0], "ratio 0.40 >= 0.50 MISSED");
        assert_eq!(lines[1], "memory 250 MB <= 300 MB met");
        assert_eq!(lines[2], "rate 123,456 /s p50 1 ms");
    }

    #[test]
    fn the_figures_of_a_short_run_are_not_judged() {
        let mut report = Report::new(false);
        report.add("memory", 250.0, "MB", Target::AtMost(300.0));
        assert!(report.table().ends_with("not judged\n"));
    }
}
