//! The cluster: hand the log over to another process, split a cell.

use axum::http::StatusCode;
use domain::id::ProjectId;
use edge::body::Body;
use operator::{HandOver, NoProject, SplitCell};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{Error, ErrorCode, field::BoundedInteger};

use super::call::AdminCall;

pub(super) async fn hand_over(call: AdminCall<HandOver>) -> Result<StatusCode, Error> {
    call.run(NoProject, HandOver).await?;
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

pub(super) async fn split(call: AdminCall<SplitCell>, body: Body) -> Result<StatusCode, Error> {
    let Split {
        to: BoundedInteger(to),
        projects,
    } = body.parse()?;
    let unfit = |_| Error::new(ErrorCode::InvalidSplit).saying("A cell is a number up to 32767.");
    let to = i16::try_from(to).map_err(unfit)?;
    let read = projects.iter().map(|id| id.parse::<ProjectId>());
    let projects = read.collect::<Result<_, _>>();
    let projects = projects.map_err(|_| Error::new(ErrorCode::ProjectNotFound))?;
    call.run(NoProject, SplitCell { projects, to }).await?;
    Ok(StatusCode::ACCEPTED)
}
