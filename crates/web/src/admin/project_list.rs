//! The list of all projects, of all cells.

use api_types::admin::Projects;
use axum::{Json, http::Uri};
use cluster::cells;
use edge::{Read, context::Context};
use serde::Deserialize;
use wire::{
    Error, ErrorCode,
    field::{Archived, ArchivedText, Text},
};

use super::{call::AdminCall, projects::of_cell};
use crate::http::query::Params;

/// Which projects a list has.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Those that are archived; `all`: these and the others. Only the others when left out.
    #[param(inline)]
    archived: Option<ArchivedText>,
}

pub(super) async fn list(
    call: AdminCall<Read>,
    context: Context,
    uri: Uri,
    Params(which): Params<Which>,
) -> Result<Json<Projects>, Error> {
    let mut all = of_cell(&call.app);
    if let Some(part) = &call.app.cluster
        && cells::named(&uri).is_none()
    {
        let answers = part.ask_others::<Projects>("projects", context.client.address());
        for (_, answer) in answers.await {
            // A list that lacks some would be taken for all.
            let others = answer.ok_or(Error::new(ErrorCode::Unavailable))?;
            all.projects.extend(others.projects);
        }
        all.projects.sort_by(|one, other| one.id.cmp(&other.id));
        // One that is being moved may be in two.
        all.projects.dedup_by(|one, other| one.id == other.id);
    }
    match which.archived.map_or(Archived::No, |Text(which)| which) {
        Archived::All => {}
        Archived::Yes => all.projects.retain(|project| project.archived),
        Archived::No => all.projects.retain(|project| !project.archived),
    }
    Ok(Json(all))
}
