//! `scrip openapi`: prints the OpenAPI document, without a server.

use clap::Args;
use web::{admin, api};

use super::{Failure, print};

/// Which document to print.
#[derive(Debug, Args)]
pub(super) struct OpenapiArgs {
    /// The admin API instead of the public one.
    #[arg(long)]
    admin: bool,
}

pub(super) fn run(args: &OpenapiArgs) -> Result<(), Failure> {
    let document = match args.admin {
        true => admin::description::document(),
        false => api::description::document(),
    };
    let text = serde_json::to_string_pretty(&document);
    print::line(&text.map_err(Failure::new)?);
    Ok(())
}
