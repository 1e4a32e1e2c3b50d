//! The administrator's token, for the commands that need one: a flag, a file, or the environment.

use std::path::PathBuf;

use clap::Args;
use operations::data_dir::{
    environment::{of_file, secret},
    secrets::ADMIN_TOKEN_VARIABLE,
};

use super::Failure;

/// Options for the administrator's token.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// The administrator's token. Other users of this machine can see it here, and not in SCRIP_ADMIN_TOKEN,
    /// SCRIP_ADMIN_TOKEN_FILE or --token-file.
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_file")]
    admin_token: Option<String>,
    /// A file with the administrator's token.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl TokenArgs {
    /// The token; `None`: there is none.
    pub(super) fn read(&self) -> Result<Option<String>, Failure> {
        let token = match (&self.admin_token, &self.token_file) {
            (Some(token), _) if !token.is_empty() => return Ok(Some(token.clone())),
            (_, Some(file)) => of_file("--token-file", file).map(Some),
            _ => secret(ADMIN_TOKEN_VARIABLE),
        };
        token.map_err(Failure::new)
    }
}
