//! `scrip openapi`: the description of the HTTP interface, without a server.

use clap::Args;

use super::{Failure, print};
use crate::{admin, api, http::openapi};

/// What to print.
#[derive(Debug, Args)]
pub(super) struct OpenapiArgs {
    /// The administrator's interface instead of the public one.
    #[arg(long)]
    admin: bool,
}

pub(super) fn run(args: &OpenapiArgs) -> Result<(), Failure> {
    let text = if args.admin {
        serde_json::to_string_pretty(&admin::document())
    } else {
        let (_, gathered) = api::router::routes();
        serde_json::to_string_pretty(&openapi::document(&gathered))
    };
    print::line(&text.map_err(Failure::new)?);
    Ok(())
}
