//! How usage is grouped.

use persistence::usage::Interval;

use super::text::Text;
use crate::choice;

/// An interval of usage as callers send it.
pub type IntervalText = Text<Interval>;
/// What usage is grouped by, as callers send it.
pub type GroupByText = Text<GroupBy>;

/// What usage is grouped by besides time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// By the deductions' `meta.feature`.
    Feature,
}

choice!(Interval, "Interval":
    "hour" => Interval::Hour,
    "day" => Interval::Day,
    "month" => Interval::Month,
);
choice!(GroupBy, "GroupBy": "feature" => GroupBy::Feature);
