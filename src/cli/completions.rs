//! `scrip completions` and `scrip man`: generated from the same declarations that parse the command line.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Arg, Args, Command, builder::Resettable};
use clap_complete::Shell;

use super::{Failure, help};

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
pub(super) fn complete(args: &CompletionsArgs, mut command: Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "scrip", &mut text);
    put(&text)
}

/// Prints the manual page, or writes all of them.
pub(super) fn man(args: &ManArgs, mut command: Command) -> Result<(), Failure> {
    command.build();
    if let Some(dir) = &args.dir {
        let unusable = |error| Failure(format!("cannot write to {}: {error}", dir.display()));
        std::fs::create_dir_all(dir).map_err(unusable)?;
        return write_pages(&command, "scrip", dir).map_err(unusable);
    }
    put(page(&command, "scrip").map_err(Failure::new)?.as_bytes())
}

/// Writes the page of a command, and of each below it.
fn write_pages(command: &Command, path: &str, dir: &Path) -> io::Result<()> {
    let file = dir.join(format!("{}.1", path.replace(' ', "-")));
    std::fs::write(file, page(command, path)?)?;
    let mut below = command.get_subcommands();
    below.try_for_each(|it| match it.get_name() {
        "help" => Ok(()),
        name => write_pages(it, &format!("{path} {name}"), dir),
    })
}

/// A command's page: what clap knows of it, examples, exit status and variables.
fn page(command: &Command, path: &str) -> io::Result<String> {
    let mut text = Vec::new();
    // Examples have a section of their own.
    let plain = command.clone().after_help(Resettable::Reset);
    clap_mangen::Man::new(plain).render(&mut text)?;
    let mut text = String::from_utf8(text).map_err(io::Error::other)?;
    let mut more = ".SH EXAMPLES\n.nf\n".to_owned();
    for line in help::examples(path) {
        more.push_str(&format!("{}\n", escaped(line)));
    }
    more.push_str(".fi\n.SH \"EXIT STATUS\"\n");
    for (status, when) in [
        ("0", "The command did what it is for."),
        (
            "1",
            "It failed, or found a problem; standard error says why.",
        ),
        ("2", "The command line has a mistake."),
        (
            "75",
            "Another process leads the cluster; this one is to be started again.",
        ),
    ] {
        if status != "75" || path == "scrip serve" {
            more.push_str(&entry(status, when));
        }
    }
    let variables: Vec<_> = command.get_arguments().flat_map(variables).collect();
    if !variables.is_empty() {
        more.push_str(".SH ENVIRONMENT\n");
    }
    for (name, what) in variables {
        more.push_str(&entry(&name, &what));
    }
    text.insert_str(text.find(".SH VERSION").unwrap_or(text.len()), &more);
    Ok(text)
}

/// The variables that an argument can come from instead, and what each is for.
fn variables(arg: &Arg) -> Vec<(String, String)> {
    let option = arg.get_long().map(|long| format!("--{long}"));
    let option = option.unwrap_or_default();
    let secret = match (arg.get_id().as_str(), arg.get_env()) {
        (_, Some(name)) => {
            let name = name.to_string_lossy().into_owned();
            return vec![(name, format!("The same as {option}."))];
        }
        ("config", _) => {
            return [
                ("SCRIP_CONFIG", "The configuration file, as --config."),
                (
                    "SCRIP_<KEY>",
                    "A setting of the file: SCRIP_LISTEN, SCRIP_BACKUP_TO.",
                ),
            ]
            .map(|(name, what)| (name.to_owned(), what.to_owned()))
            .into();
        }
        ("admin_token", _) => "SCRIP_ADMIN_TOKEN",
        ("key", _) if option == "--key" => "SCRIP_SECRET_KEY",
        ("secret", _) => "SCRIP_WEBHOOK_SECRET",
        ("stripe_key", _) => "SCRIP_STRIPE_KEY",
        _ => return Vec::new(),
    };
    vec![
        (secret.to_owned(), format!("The same as {option}.")),
        (format!("{secret}_FILE"), "A file with it.".to_owned()),
    ]
}

/// An entry of a list in a page.
fn entry(name: &str, what: &str) -> String {
    format!(".TP\n.B {}\n{}\n", escaped(name), escaped(what))
}

/// A line of a page as roff has it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

/// Writes to standard output; a reader that closed the pipe is not an error.
fn put(text: &[u8]) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(error)),
        _ => Ok(()),
    }
}
