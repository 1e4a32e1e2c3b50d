//! The cluster: hand the log over to another process, split a cell.

use axum::{extract::State, http::StatusCode};
use catalog::MAX_MOVED;
use cluster::{NoFollower, SplitRefusal};
use domain::id::ProjectId;
use edge::{Authorized, Own, body::Body};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{Error, ErrorCode, field::BoundedInteger};

use crate::admin::App;

pub(super) async fn hand_over(
    caller: Authorized<Own>,
    State(app): State<App>,
) -> Result<StatusCode, Error> {
    let none = || Error::new(ErrorCode::NoFollower);
    let cluster = app.cluster.as_ref().ok_or_else(none)?;
    let asked = cluster.hand_over().await;
    asked.map_err(|NoFollower| none())?;
    caller.did("Had the leading process hand over to another one");
    Ok(StatusCode::ACCEPTED)
}

/// A cell to create out of another one.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewCell)]
pub(super) struct Split {
    /// The number of the new cell.
    #[schema(value_type = i64, minimum = 1, maximum = 32767)]
    to: BoundedInteger<1, 32_767>,
    /// The projects that go on there.
    #[schema(min_items = 1, max_items = 1000)]
    projects: Vec<String>,
}

pub(super) async fn split(
    caller: Authorized<Own>,
    State(app): State<App>,
    body: Body,
) -> Result<StatusCode, Error> {
    let Split {
        to: BoundedInteger(to),
        projects,
    } = body.parse()?;
    let refused = |why: &'static str| Error::new(ErrorCode::InvalidSplit).saying(why);
    let to = i16::try_from(to).map_err(|_| refused("A cell is a number up to 32767."))?;
    if projects.is_empty() || projects.len() > MAX_MOVED {
        return Err(Error::invalid("projects", "Name 1 to 1000 projects."));
    }
    let read = projects.iter().map(|id| id.parse::<ProjectId>());
    let projects = read.collect::<Result<Vec<_>, _>>();
    let projects = projects.map_err(|_| Error::new(ErrorCode::ProjectNotFound))?;
    app.catalog
        .may_split(&projects, to)
        .map_err(catalog::Error::from)?;
    let part = app.cluster.as_ref();
    let part =
        part.ok_or_else(|| refused("This process keeps its log by itself: set storage.url."))?;
    let moved: Vec<_> = projects.iter().map(ToString::to_string).collect();
    part.split(projects, to)
        .await
        .map_err(|refusal| match refusal {
            SplitRefusal::Unreachable => Error::new(ErrorCode::Unavailable),
            SplitRefusal::Exists => refused("There is such a cell already."),
            SplitRefusal::NoJoiner => refused(
                "No process waits to become this cell: start one with cluster.cell set to its number and \
                 cluster.split_from to the number of the cell that is split.",
            ),
            SplitRefusal::Behind => refused(
                "The process that waits to become this cell has not read all of the log yet. Try again in a moment.",
            ),
        })?;
    let moved = moved.join(", ");
    caller.did(format!("Split the cell: {moved} go on in cell {to}"));
    Ok(StatusCode::ACCEPTED)
}
