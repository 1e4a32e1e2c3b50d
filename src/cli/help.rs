//! What `--help` shows beside clap's own text: the commands in groups, and examples.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _, builder::Styles};

use super::Cli;

/// Command lines, each an example of the command that it begins with.
const EXAMPLES: &str = include_str!("examples.txt");

/// The commands by what they are for.
const GROUPS: [(&str, &str); 5] = [
    ("Start", "dev serve"),
    ("Catalog", "apply pull rates keys import"),
    (
        "Operations",
        "doctor health backup restore verify export reconcile users admin-token server-key",
    ),
    ("Cluster", "cluster"),
    (
        "Developer tools",
        "api listen trigger openapi bench completions man",
    ),
];

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
        .after_help(
            "`scrip COMMAND --help` shows a command's options and examples.\n\nEnvironment: SCRIP_URL, SCRIP_PROJECT, \
             SCRIP_ADMIN_TOKEN and SCRIP_SECRET_KEY are the defaults of --url, --project, --admin-token and --key; the last \
             two may be in a file that SCRIP_ADMIN_TOKEN_FILE or SCRIP_SECRET_KEY_FILE names. config.toml shows a variable for \
             each setting.\n\nExit status: 0, done; 1, it failed or found a \
             problem, and standard error says why; 2, the command line has a mistake; 75, another process leads the cluster, \
             and `scrip serve` is to be started again.",
        )
}

/// The commands of each group with what they do.
fn groups() -> String {
    let all = Cli::command();
    let mut text = String::new();
    for (name, commands) in GROUPS {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n", heading(name));
        for command in commands.split(' ').filter_map(|it| all.find_subcommand(it)) {
            let about = command.get_about().cloned().unwrap_or_default();
            let _ = writeln!(text, "  {:<12} {about}", command.get_name());
        }
    }
    text
}

pub(super) fn heading(name: &str) -> String {
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
fn examples(path: &str) -> impl Iterator<Item = &'static str> {
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
        let groups = GROUPS.iter().flat_map(|(_, group)| group.split(' '));
        let mut grouped: Vec<&str> = groups.collect();
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
