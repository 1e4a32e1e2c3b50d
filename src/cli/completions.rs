//! `scrip completions` and `scrip man`: generated from the same declarations that parse the command line.

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use clap::{Args, Command};
use clap_complete::Shell;

use super::{Failure, api};

/// The shell to print completions for.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell that reads them.
    #[arg(value_enum)]
    shell: Shell,
}

/// Where to write manual pages.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Writes a page per command to this directory, instead of one page to standard output.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the completion script for a shell.
pub(super) fn complete(args: &CompletionsArgs, command: Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    let mut command = command.mut_subcommand("api", |api| api::outline(&api));
    clap_complete::generate(args.shell, &mut command, "scrip", &mut text);
    put(&text)
}

/// Prints the manual page, or writes all of them.
pub(super) fn man(args: &ManArgs, command: Command) -> Result<(), Failure> {
    if let Some(dir) = &args.dir {
        let made = std::fs::create_dir_all(dir);
        let written = made.and_then(|()| clap_mangen::generate_to(command, dir));
        return written
            .map_err(|error| Failure(format!("cannot write to {}: {error}", dir.display())));
    }
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(Failure::new)?;
    put(&text)
}

/// Writes to standard output; a reader that closed the pipe is not an error.
fn put(text: &[u8]) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(error)),
        _ => Ok(()),
    }
}
