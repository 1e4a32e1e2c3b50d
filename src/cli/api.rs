//! `scrip api`: every operation of the API and of the admin API by its identifier, with options and help made from their
//! descriptions. `scrip keys` and `scrip users` are some of them under shorter names.

mod answer;
mod field;
mod verb;

use std::{fmt::Write as _, sync::LazyLock};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde_json::Value;
use verb::Verb;
use web::{
    admin, api,
    docs::{Document, operations},
};

use super::{Failure, help, remote};

static API: LazyLock<Value> = LazyLock::new(api::description::document);
static ADMIN: LazyLock<Value> = LazyLock::new(admin::description::document);

const KEYS: &[(&str, &str)] = &[
    ("list", "list-keys"),
    ("create", "create-key"),
    ("update", "update-key"),
    ("revoke", "revoke-key"),
];
const USERS: &[(&str, &str)] = &[
    ("list", "list-users"),
    ("invite", "invite-user"),
    ("invite-again", "invite-user-again"),
    ("update", "update-user"),
    ("remove", "remove-user"),
    ("sessions", "list-dashboard-sessions"),
    ("end-session", "end-dashboard-session"),
];

/// All operations, those of the admin API first.
fn verbs() -> impl Iterator<Item = Verb> {
    [(&*ADMIN, true), (&*API, false)]
        .into_iter()
        .flat_map(|(document, is_admin)| {
            let all = operations(document).into_iter();
            all.map(move |operation| Verb {
                document: Document(document),
                operation,
                is_admin,
            })
        })
}

/// An operation of a command and its options: of `scrip api`, `scrip keys` or `scrip users`. They are made only where one
/// of them, or their list, is wanted.
#[derive(Debug)]
pub(super) struct OperationArgs<const COMMAND: char>(ArgMatches);

pub(super) type ApiArgs = OperationArgs<'a'>;
pub(super) type KeysArgs = OperationArgs<'k'>;
pub(super) type UsersArgs = OperationArgs<'u'>;

impl<const COMMAND: char> FromArgMatches for OperationArgs<COMMAND> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl<const COMMAND: char> Args for OperationArgs<COMMAND> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| match COMMAND {
            'k' => short(command, KEYS),
            'u' => short(command, USERS),
            _ => all(command),
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn all(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{{after-help}}",
        listing()
    );
    command
        .subcommands(verbs().map(|verb| verb.command(&verb.operation.verb(), "scrip api")))
        .help_template(template)
}

/// `scrip api` with the names of its operations alone: shells get slow by their three thousand options.
pub(super) fn outline(api: &Command) -> Command {
    let names = verbs()
        .map(|verb| Command::new(verb.operation.verb()).about(verb.operation.text("summary")));
    let about = api.get_about().cloned().unwrap_or_default();
    Command::new("api").about(about).subcommands(names)
}

fn short(command: Command, names: &[(&'static str, &str)]) -> Command {
    let path = format!("scrip {}", command.get_name());
    let all: Vec<Verb> = verbs().collect();
    let subcommands = names.iter().filter_map(|(name, verb)| {
        let verb = all.iter().find(|it| it.operation.verb() == *verb)?;
        Some(verb.command(name, &path))
    });
    command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(subcommands)
}

/// The operations of both APIs by what they are about.
fn listing() -> String {
    let mut text = String::new();
    let mut tags: Vec<(bool, &str)> = verbs()
        .map(|it| (!it.is_admin, it.operation.tag()))
        .collect();
    tags.sort_unstable();
    tags.dedup();
    for (is_public, tag) in tags {
        let key = if is_public {
            "with a key"
        } else {
            "with the administrator's token"
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n", help::heading(&format!("{tag} ({key})")));
        for verb in verbs().filter(|it| (!it.is_admin, it.operation.tag()) == (is_public, tag)) {
            let (name, about) = (verb.operation.verb(), verb.operation.text("summary"));
            let _ = writeln!(text, "  {name:<30} {about}");
        }
    }
    text
}

/// Calls the operation that the command line names, or lists all.
pub(super) fn run<const COMMAND: char>(args: &OperationArgs<COMMAND>) -> Result<(), Failure> {
    let Some((name, matches)) = args.0.subcommand() else {
        let mut command = help::command();
        command.build();
        let api = command.find_subcommand_mut("api");
        return api
            .map_or(Ok(()), Command::print_help)
            .map_err(Failure::new);
    };
    let names = match COMMAND {
        'k' => KEYS,
        'u' => USERS,
        _ => &[],
    };
    let long = names.iter().find(|(short, _)| *short == name);
    let name = long.map_or(name, |(_, long)| long);
    let verb = verbs().find(|verb| verb.operation.verb() == name);
    let verb = verb.ok_or_else(|| Failure(format!("there is no operation {name}")))?;
    remote::wait(verb.call(matches))
}

/// Prints an answer of the admin API, with its fields in the order of this schema.
pub(super) fn print_answer(schema: &str, answer: &Value) {
    let schema = ADMIN.pointer(&format!("/components/schemas/{schema}"));
    answer::print(Document(&ADMIN), schema, answer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_operations_have_one_name() {
        let mut names: Vec<String> = verbs().map(|verb| verb.operation.verb()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn shorter_names_are_of_operations() {
        let names: Vec<String> = verbs().map(|verb| verb.operation.verb()).collect();
        for (_, long) in KEYS.iter().chain(USERS) {
            assert!(names.iter().any(|name| name == long), "{long}");
        }
    }
}
