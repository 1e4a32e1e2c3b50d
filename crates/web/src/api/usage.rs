//! `GET /usage`: what was granted and used of a product, by hours, days or months.

use std::{collections::BTreeMap, sync::Arc};

use actors::Address;
use api_types::{Bucket, FeatureUse, UsageGroup};
use axum::{extract::State, response::Response};
use domain::{Timestamp, session::WalletSession, time::Span};
use edge::caller::{MayRead, SecretKey};
use persistence::usage::{self, Group, Interval};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{GroupByText, InstantText, IntervalText, ProductName, Text, UserText},
    respond,
    view::instant,
};

use crate::{
    api::App,
    http::{
        query::Params,
        subject::{product, users_wallet},
    },
};

/// Most intervals in one answer.
const MAX_BUCKETS: usize = 1000;
/// Intervals in the answer to a request without `from`.
const DEFAULT_BUCKETS: usize = 30;
const TOO_MANY_ENTRIES: &str =
    "This wallet has more than 200,000 entries in this span. Ask for a shorter span.";

/// Which usage to read.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// The user whose wallet's usage to read, instead of the project's. A session reads its own wallet's.
    #[param(inline)]
    external_user_id: Option<UserText>,
    /// The product; may be left out where the project has exactly one that holds credits.
    #[param(inline)]
    product_id: Option<ProductName>,
    /// The first instant; 30 intervals before `to` when left out. Cut down to the interval.
    #[param(inline)]
    from: Option<InstantText>,
    /// The first instant after; the end of the current interval when left out. Rounded up to the interval.
    #[param(inline)]
    to: Option<InstantText>,
    /// `day` when left out. Hours are kept for 90 days, days for three years, months for good.
    #[param(inline)]
    interval: Option<IntervalText>,
    /// Adds how much was used for each `meta.feature`, by each rate card, or for each value of the attribute `model`.
    #[param(inline)]
    group_by: Option<GroupByText>,
}

/// What was granted and used.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Usage {
    /// Oldest first, without gaps; at most 1,000.
    buckets: Vec<Bucket>,
}

pub(super) async fn read_usage(
    State(app): State<App>,
    key: SecretKey<MayRead>,
    Params(part): Params<PageQuery>,
) -> Result<Response, Error> {
    let wallet = wallet(part.external_user_id, key.session())?;
    let product = match &part.product_id {
        Some(name) => product(name, &key)?,
        None => key
            .only_credit_product()
            .ok_or(Error::new(ErrorCode::ProductRequired))?,
    };
    let interval = part
        .interval
        .map_or(Interval::Day, |Text(interval)| interval);
    let group_by = part.group_by.map(|Text(group)| group);
    let instant = |text: Option<InstantText>| text.map(|Text(instant)| instant);
    let starts = starts(
        interval,
        (instant(part.from), instant(part.to)),
        app.handle.now_in(&key.scope),
    )?;
    let (Some(first), Some(last)) = (starts.first(), starts.last()) else {
        return respond::json(&Usage {
            buckets: Vec::new(),
        });
    };
    let end = Timestamp(last.0.saturating_add(1));
    let refused = |error| Error::from_wallet(error, &key);
    let mut periods: BTreeMap<_, _> = match wallet {
        None => {
            let periods = app.handle.usage(product, interval, (*first, end)).await;
            periods.map_err(refused)?.into_iter().collect()
        }
        Some(wallet) => {
            let end = interval.span(*last).map_or(end, |span| span.end);
            let within = Span { start: *first, end };
            let usage = app
                .handle
                .usage_of_wallet(&key.scope, &wallet, product, interval, within);
            let usage = usage.await.map_err(refused)?;
            usage.ok_or_else(|| Error::invalid("from", TOO_MANY_ENTRIES))?
        }
    };
    let buckets = starts.into_iter().map(|start| {
        let usage = periods.remove(&start).unwrap_or_default();
        bucket(start, &usage, group_by)
    });
    respond::json(&Usage {
        buckets: buckets.collect(),
    })
}

/// The wallet that is asked about: the one that is named, or the session's own; `None`: the whole project.
fn wallet(
    named: Option<UserText>,
    session: Option<&Arc<WalletSession>>,
) -> Result<Option<Address>, Error> {
    match (named, session) {
        (named @ Some(_), session) => users_wallet(named, session).map(Some),
        (None, Some(session)) => Ok(Some(Address::Session(Arc::clone(session)))),
        (None, None) => Ok(None),
    }
}

/// The first instants of all intervals that are asked for.
fn starts(
    interval: Interval,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
    now: Timestamp,
) -> Result<Vec<Timestamp>, Error> {
    let span = |name: &'static str, at| {
        let message = format!("{name} is past the calendar's end.");
        interval
            .span(at)
            .ok_or_else(|| Error::invalid(name, message))
    };
    let to = match to {
        // The end of the interval of the last instant before it.
        Some(to) => span("to", Timestamp(to.0.saturating_sub(1)))?.end,
        None => span("to", now)?.end,
    };
    // Backwards, so that the usual span needs no other arithmetic.
    let first = from.map(|from| span("from", from)).transpose()?;
    let first = first.map(|span| span.start);
    let mut starts = Vec::new();
    let mut end = to;
    while first.map_or(starts.len() < DEFAULT_BUCKETS, |first| first < end) {
        if starts.len() == MAX_BUCKETS {
            let message = "That is more than 1000 intervals. Ask for a shorter span, or for longer intervals.";
            return Err(Error::invalid("from", message));
        }
        end = span("from", Timestamp(end.0.saturating_sub(1)))?.start;
        starts.push(end);
    }
    starts.reverse();
    Ok(starts)
}

fn bucket(start: Timestamp, usage: &usage::Usage, group_by: Option<Group>) -> Bucket {
    let usage::Count {
        granted,
        deducted,
        refunded,
        expired,
        deductions,
    } = usage.count;
    Bucket {
        start: instant(start),
        granted,
        deducted,
        refunded,
        expired,
        deductions,
        features: (group_by == Some(Group::Feature)).then(|| {
            let features = groups(usage, Group::Feature).into_iter();
            let features = features.map(|group| FeatureUse {
                feature: group.key,
                credits: group.credits,
                deductions: group.deductions,
            });
            features.collect()
        }),
        groups: group_by.map(|group| groups(usage, group)),
    }
}

/// The values of a group, the most used first.
fn groups(usage: &usage::Usage, group: Group) -> Vec<UsageGroup> {
    let (mut credits, mut deductions) = (usage.count.deducted, usage.count.deductions);
    let mut groups: Vec<UsageGroup> = Vec::new();
    for (name, used) in usage.by(group) {
        credits = credits.saturating_sub(used.credits);
        deductions = deductions.saturating_sub(used.deductions);
        groups.push(UsageGroup {
            key: Some(name.to_owned()),
            credits: used.credits,
            deductions: used.deductions,
        });
    }
    if deductions > 0 {
        groups.push(UsageGroup {
            key: None,
            credits,
            deductions,
        });
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.credits));
    // A project's are kept so from the start; a wallet's are summed up from its ledger.
    let rest = groups.split_off(groups.len().min(usage::FEATURES));
    if !rest.is_empty() {
        let sum = |of: fn(&UsageGroup) -> i64| rest.iter().map(of).fold(0, i64::saturating_add);
        groups.push(UsageGroup {
            key: Some(usage::OTHER.into()),
            credits: sum(|it| it.credits),
            deductions: sum(|it| it.deductions),
        });
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn hours(from: Option<i64>, to: Option<i64>, now: i64) -> Result<Vec<i64>, Error> {
        let after = |hour: i64, millis: i64| {
            let start = hour.checked_mul(HOUR).unwrap();
            Timestamp(start.checked_add(millis).unwrap())
        };
        let at = |hour: Option<i64>| hour.map(|hour| after(hour, 5));
        let all = starts(Interval::Hour, (at(from), at(to)), after(now, 7))?;
        Ok(all.iter().map(|start| start.0 / HOUR).collect())
    }

    #[test]
    fn spans_are_cut_to_the_interval_and_have_no_gaps() {
        assert_eq!(hours(Some(3), Some(6), 9).unwrap(), [3, 4, 5, 6]);
        assert_eq!(
            hours(Some(8), None, 9).unwrap(),
            [8, 9],
            "the one under way"
        );
        assert_eq!(hours(Some(6), Some(6), 9).unwrap(), [6]);
        assert_eq!(hours(Some(7), Some(6), 9).unwrap(), [0; 0]);
        assert_eq!(hours(Some(8), Some(6), 9).unwrap(), [0; 0]);
        let whole = |from, to| {
            let at = |hour: i64| Some(Timestamp(hour * HOUR));
            starts(Interval::Hour, (at(from), at(to)), Timestamp(0))
                .unwrap()
                .len()
        };
        assert_eq!((whole(3, 6), whole(6, 6)), (3, 0));
        assert_eq!(
            hours(None, None, 99).unwrap(),
            (70..=99).collect::<Vec<_>>()
        );
    }

    #[test]
    fn no_answer_has_more_than_a_thousand() {
        assert_eq!(hours(Some(0), Some(999), 0).unwrap().len(), 1000);
        assert_eq!(
            hours(Some(0), Some(1000), 0).unwrap_err().param(),
            Some("from")
        );
    }
}
