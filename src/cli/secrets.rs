//! `scrip admin-token replace` and `scrip server-key replace`: take the place of secrets that were lost or have leaked.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use operations::data_dir::{
    secrets::{self, NEW_TOKEN_FILE, ProvidedSecrets},
    server_key,
};

use super::{Failure, local::LocalArgs, print};

/// What to do with the administrator's token.
#[derive(Debug, Args)]
pub(super) struct AdminTokenArgs {
    #[command(subcommand)]
    command: AdminTokenCommand,
    #[command(flatten)]
    local: LocalArgs,
}

#[derive(Debug, Subcommand)]
enum AdminTokenCommand {
    /// Create a new token, in a file in the data directory.
    ///
    /// The server accepts it, and no longer the former one, from its next start on.
    Replace,
}

/// What to do with the server key.
#[derive(Debug, Args)]
pub(super) struct ServerKeyArgs {
    #[command(subcommand)]
    command: ServerKeyCommand,
    #[command(flatten)]
    local: LocalArgs,
}

#[derive(Debug, Subcommand)]
enum ServerKeyCommand {
    /// Add a new key to a data directory that no server is using.
    ///
    /// From the next start on, new data is encrypted under it, and wallet sessions made under the former one end. What is
    /// stored is read with the former keys.
    Replace {
        /// Where to write the keys, if they come from SCRIP_SERVER_KEY or SCRIP_SERVER_KEY_FILE: a file that does not
        /// exist [default: server.key in the data directory].
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
}

pub(super) fn admin_token(args: AdminTokenArgs) -> Result<(), Failure> {
    let AdminTokenCommand::Replace = args.command;
    let dir = args.local.read()?.data_dir;
    let provided = ProvidedSecrets::from_environment().map_err(Failure::new)?;
    if provided.admin_token.is_some() {
        return Err(Failure(
            "the token comes from SCRIP_ADMIN_TOKEN or SCRIP_ADMIN_TOKEN_FILE: put a new one there, and restart the \
             server"
                .into(),
        ));
    }
    secrets::replace_admin_token(&dir).map_err(Failure::new)?;
    print::line(&format!(
        "the new administrator token is in {}: keep it elsewhere, and delete the file. Restart the server: it refuses the \
         former one then, and all dashboard sessions end",
        dir.join(NEW_TOKEN_FILE).display()
    ));
    Ok(())
}

pub(super) fn server_key(args: ServerKeyArgs) -> Result<(), Failure> {
    let ServerKeyCommand::Replace { to } = args.command;
    let dir = args.local.read()?.data_dir;
    if persistence::is_in_use(&dir).map_err(Failure::new)? {
        return Err(Failure(format!(
            "a server is using {}: stop it first",
            dir.display()
        )));
    }
    let provided = ProvidedSecrets::from_environment().map_err(Failure::new)?;
    server_key::replace(&dir, provided.server_key, to.as_deref()).map_err(Failure::new)?;
    let file = to.unwrap_or_else(|| dir.join(secrets::KEY_FILE));
    print::line(&format!(
        "a new server key was added to {}. All keys in it are needed: keep a copy of the file apart from the data",
        file.display()
    ));
    Ok(())
}
