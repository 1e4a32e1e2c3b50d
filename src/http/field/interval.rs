//! How usage is grouped.

use persistence::usage::Interval;

use super::{choice, text::Text};

pub(crate) type IntervalText = Text<Interval>;
pub(crate) type GroupByText = Text<GroupBy>;

/// What usage is grouped by besides time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupBy {
    /// By the deductions' `meta.feature`.
    Feature,
}

choice!(Interval, "Interval":
    "hour" => Interval::Hour,
    "day" => Interval::Day,
    "month" => Interval::Month,
);
choice!(GroupBy, "GroupBy": "feature" => GroupBy::Feature);
