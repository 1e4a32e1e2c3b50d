//! `scrip completions` and `scrip man`: the command line as shells and manuals know it, made from the very
//! declarations that it is read by.

use std::{io::Write as _, path::PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use super::Failure;

/// Whose completions.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Where manual pages go.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Writes a page for each command there, instead of one on standard output.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints what the shell reads.
pub(super) fn complete(args: &CompletionsArgs, mut command: Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "scrip", &mut text);
    put(&text)
}

/// Prints or writes manual pages.
pub(super) fn man(args: &ManArgs, command: Command) -> Result<(), Failure> {
    if let Some(dir) = &args.dir {
        let unusable = |error| Failure(format!("{} cannot be written to: {error}", dir.display()));
        std::fs::create_dir_all(dir).map_err(unusable)?;
        return clap_mangen::generate_to(command, dir).map_err(unusable);
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut text)
        .map_err(Failure::new)?;
    put(&text)
}

/// A reader that went away is no reason to fail.
fn put(text: &[u8]) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(error)),
        _ => Ok(()),
    }
}
