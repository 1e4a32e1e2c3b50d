//! The time range that the overview shows: a usual one up to now, or days that were entered; and the one before it.

use domain::time::Span;
use jiff::tz::TimeZone;
use persistence::usage::Interval;

use super::prelude::*;

/// Most intervals of a period: longer ones count by the next larger interval.
const MAX_INTERVALS: usize = 92;

/// The periods up to now that links name: the query's value, the link's text, the intervals and how many of them.
const PRESETS: [(&str, &str, Interval, usize); 3] = [
    ("day", "24 hours", Interval::Hour, 24),
    ("month", "30 days", Interval::Day, 30),
    ("year", "12 months", Interval::Month, 12),
];

/// A time range, in intervals of the UTC calendar.
pub(super) struct Period {
    /// The preset's name; `None`: days that were entered.
    preset: Option<&'static str>,
    pub(super) interval: Interval,
    /// The first instants of its intervals, oldest first.
    pub(super) starts: Vec<Timestamp>,
    /// The first instant after it.
    pub(super) end: Timestamp,
    /// The first instants of as many intervals before it.
    pub(super) before: Vec<Timestamp>,
}

impl Period {
    /// The period that a query asks for.
    /// # Errors
    /// A day cannot be read, or there is none between them.
    pub(super) fn of(query: &Fields, now: Timestamp) -> Result<Self, Error> {
        let (from, to) = (query.day("from")?, query.day_end("to")?);
        if let Some(from) = from {
            let end = to.unwrap_or(now).min(now);
            if end <= from {
                return Err(Error::invalid(
                    "to",
                    "The last day is before the first, or the first is yet to come.",
                ));
            }
            return Self::between(from, end);
        }
        let [_, usual, _] = PRESETS;
        let wanted = query.text("range");
        let preset = PRESETS.into_iter().find(|(name, ..)| *name == wanted);
        let (name, _, interval, count) = preset.unwrap_or(usual);
        let starts = last_starts(interval, count, now)?;
        let last = starts.last().copied().unwrap_or(now);
        let end = span(interval, last)?.end;
        Self::new(Some(name), interval, starts, end)
    }

    fn between(from: Timestamp, end: Timestamp) -> Result<Self, Error> {
        let last = Timestamp(end.0.saturating_sub(1));
        for (interval, most) in [
            (Interval::Hour, 48),
            (Interval::Day, MAX_INTERVALS),
            (Interval::Month, 1000),
        ] {
            let mut starts = Vec::new();
            let mut at = span(interval, from)?.start;
            while at <= last && starts.len() <= most {
                starts.push(at);
                at = span(interval, at)?.end;
            }
            if starts.len() <= most {
                return Self::new(None, interval, starts, at);
            }
        }
        Err(Error::invalid("from", "That is too long ago."))
    }

    fn new(
        preset: Option<&'static str>,
        interval: Interval,
        starts: Vec<Timestamp>,
        end: Timestamp,
    ) -> Result<Self, Error> {
        let first = starts.first().copied().unwrap_or(end);
        let just_before = Timestamp(first.0.saturating_sub(1));
        let before = last_starts(interval, starts.len(), just_before)?;
        Ok(Self {
            preset,
            interval,
            starts,
            end,
            before,
        })
    }

    /// The first instant of the period before it.
    pub(super) fn first_before(&self) -> Timestamp {
        let first = self.before.first().or(self.starts.first());
        first.copied().unwrap_or(self.end)
    }

    pub(super) fn start(&self) -> Timestamp {
        self.starts.first().copied().unwrap_or(self.end)
    }

    pub(super) const fn unit(&self) -> &'static str {
        match self.interval {
            Interval::Hour => "Hour",
            Interval::Day => "Day",
            Interval::Month => "Month",
        }
    }

    pub(super) fn labels(&self) -> Vec<String> {
        let form = match self.interval {
            Interval::Hour => "%-d %b %H:%M",
            Interval::Day => "%-d %b",
            Interval::Month => "%b %Y",
        };
        let label = |start: &Timestamp| {
            let at = jiff::Timestamp::from_millisecond(start.0).unwrap_or_default();
            at.to_zoned(TimeZone::UTC).strftime(form).to_string()
        };
        self.starts.iter().map(label).collect()
    }

    /// The links to the usual periods, and the form for others; `kept` begins the query of each.
    pub(super) fn choice(&self, path: &str, query: &Fields, kept: &[&str]) -> Markup {
        let form = Form::new(query, None).called("period-");
        html! {
            nav.ranges aria-label="Time" {
                @for (name, text, ..) in PRESETS {
                    a href={ (path) "?" (query.query(kept)) "range=" (name) }
                        aria-current=[(self.preset == Some(name)).then_some("true")] { (text) }
                }
            }
            details open[self.preset.is_none()] {
                summary { "Other days" }
                form.row method="get" action=(path) {
                    @for name in kept { @if let Some(value) = query.some(name) { input type="hidden" name=(name) value=(value); } }
                    (form.day(&FieldLabel("from", "From", "")))
                    (form.day(&FieldLabel("to", "To and including", "")))
                    button type="submit" { "Show" }
                }
            }
        }
    }

    pub(super) fn query(&self, query: &Fields) -> String {
        query.query(&["range", "from", "to"])
    }
}

fn span(interval: Interval, at: Timestamp) -> Result<Span, Error> {
    let span = interval.span(at);
    span.ok_or_else(|| Error::invalid("from", "That is not a day of our calendar."))
}

/// The first instants of so many intervals up to the one of `now`, oldest first.
fn last_starts(interval: Interval, count: usize, now: Timestamp) -> Result<Vec<Timestamp>, Error> {
    let mut starts = Vec::with_capacity(count);
    let mut at = now;
    while starts.len() < count {
        let start = span(interval, at)?.start;
        starts.push(start);
        at = Timestamp(start.0.saturating_sub(1));
    }
    starts.reverse();
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_called_what_it_is() {
        // 2026-11-18, 11:06 UTC.
        let now = Timestamp(1_795_000_000_000);
        for (range, unit, last) in [
            ("day", "Hour", "18 Nov 11:00"),
            ("month", "Day", "18 Nov"),
            ("year", "Month", "Nov 2026"),
        ] {
            let query = Fields::default().with("range", range);
            let period = Period::of(&query, now).unwrap();
            assert_eq!(period.unit(), unit);
            assert_eq!(period.labels().last().unwrap(), last);
        }
    }
}
