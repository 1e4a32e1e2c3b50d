//! How usage is counted together.

use persistence::usage::Interval;

use super::{choice, text::Text};

/// By which stretches of time.
pub(crate) type IntervalText = Text<Interval>;
/// By what else.
pub(crate) type GroupByText = Text<GroupBy>;

/// What usage is told apart by besides time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupBy {
    /// By `meta.feature`.
    Feature,
}

choice!(Interval, "Interval":
    "hour" => Interval::Hour,
    "day" => Interval::Day,
    "month" => Interval::Month,
);
choice!(GroupBy, "GroupBy": "feature" => GroupBy::Feature);
