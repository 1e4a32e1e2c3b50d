//! What `--help` shows beside clap's own text: the commands in groups, and examples.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _, Subcommand, builder::Styles};

use super::{Catalog, Cli, Cluster, Operations, Start, Tools, Wallets};

/// Command lines, each an example of the command that it begins with.
const EXAMPLES: &str = include_str!("examples.txt");

/// The command line with its help.
pub(super) fn command() -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{}\n{{options}}{{after-help}}",
        groups(),
        heading("Options"),
    );
    let command = with_examples(Cli::command(), "scrip");
    command
        .help_template(template)
        .after_help("`scrip COMMAND --help` shows a command's options and examples.")
}

/// The commands of each group with what they do.
fn groups() -> String {
    let mut text = String::new();
    for (name, group) in all_groups() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n", heading(name));
        for command in group.get_subcommands() {
            let about = command.get_about().cloned().unwrap_or_default();
            let _ = writeln!(text, "  {:<12} {about}", command.get_name());
        }
    }
    text
}

fn all_groups() -> [(&'static str, Command); 6] {
    fn of<T: Subcommand>() -> Command {
        T::augment_subcommands(Command::new(""))
    }
    [
        ("Start", of::<Start>()),
        ("Catalog", of::<Catalog>()),
        ("Wallets and orders", of::<Wallets>()),
        ("Operations", of::<Operations>()),
        ("Cluster", of::<Cluster>()),
        ("Developer tools", of::<Tools>()),
    ]
}

fn heading(name: &str) -> String {
    let style = *Styles::styled().get_header();
    format!("{style}{name}:{style:#}")
}

/// Adds to a command and those below it their examples.
fn with_examples(command: Command, path: &str) -> Command {
    let mut text = format!("{}\n", heading("Examples"));
    for line in examples(path) {
        let _ = writeln!(text, "  {line}");
    }
    command.after_help(text).mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        with_examples(below, &path)
    })
}

/// The examples of a command, by its words.
pub(super) fn examples(path: &str) -> impl Iterator<Item = &'static str> {
    EXAMPLES.lines().filter(move |line| {
        let rest = line.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let all = Cli::command();
        let mut names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
        let groups = all_groups();
        let groups = groups.iter().flat_map(|(_, group)| group.get_subcommands());
        let mut grouped: Vec<&str> = groups.map(Command::get_name).collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, names);
    }

    #[test]
    fn every_command_has_examples_that_can_be_parsed() {
        fn check(command: &Command, path: &str) {
            assert!(examples(path).next().is_some(), "{path} has no example");
            for below in command.get_subcommands() {
                check(below, &format!("{path} {}", below.get_name()));
            }
        }
        command().debug_assert();
        check(&Cli::command(), "scrip");
        for line in EXAMPLES.lines() {
            let (words, _) = line.split_once(" > ").unwrap_or((line, ""));
            // What is between quotes is one word.
            let parts = words.split('\'').enumerate();
            let words: Vec<&str> = parts
                .flat_map(|(at, part)| match at % 2 {
                    0 => part.split_whitespace().collect(),
                    _ => vec![part],
                })
                .collect();
            let parsed = command().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }
}
