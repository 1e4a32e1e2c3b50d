//! What the command line prints: on a terminal, in a file, at the most talkative level of the log. Who did not ask for a
//! code or a secret sees none.

use std::{path::Path, process::Command};

use kit::{Launch, deadline, process::Process};

use crate::{visitors::Holder, walk::Walk, world::World};

/// What says all that there is to say.
const LOUD: (&str, &str) = ("SCRIP_LOG", "trace");

/// Commands that ask the running server.
pub(crate) async fn ask_everything(walk: &Walk, world: &World) {
    for shop in &world.shops {
        let project = ["--project", &shop.project.id];
        let some = |name: &str| shop.values.get(name).into_iter().flatten().take(3);
        let mut all: Vec<Vec<&str>> = vec![
            vec!["api", "list-project-orders", "--limit", "100"],
            vec!["api", "list-project-orders", "--format", "csv"],
            vec!["keys", "list"],
        ];
        let queries = shop.users.iter().chain(some("code").skip(1));
        let queries = queries
            .chain(some("orderIdOrCheckoutId"))
            .chain(some("holdId"))
            .chain(&world.addresses);
        for query in queries {
            all.push(vec!["api", "search", "--query", query]);
            all.push(vec!["api", "list-wallets", "--query", query]);
        }
        for words in all {
            run(walk, world, &[&words[..], &project].concat());
        }
        listens(walk, world, &shop.project.secret).await;
    }
    for words in [
        &["users", "list"][..],
        &["reconcile"],
        &["api", "get-user", "--user-id", "usr_nobody"],
    ] {
        run(walk, world, words);
    }
    let data = world.server.data_dir();
    let url = world.server.instance().base();
    for (verb, words) in [
        ("doctor", &["--url", url][..]),
        ("doctor", &["--json", "--url", url]),
        ("verify", &[]),
        ("export", &["-", "--url", url]),
        ("export", &["-", "--format", "csv", "--url", url]),
    ] {
        on_the_data(walk, (verb, data), words);
    }
}

/// Commands that need the data for themselves.
pub(crate) fn read_the_data(walk: &Walk, data: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let (to, back) = (
        folder.path().join("backups"),
        folder.path().join("restored"),
    );
    let to = to.to_str().unwrap();
    for (verb, words) in [
        ("verify", &[][..]),
        ("doctor", &[]),
        ("export", &["-"]),
        ("backup", &["--to", to]),
    ] {
        let ended_well = on_the_data(walk, (verb, data), words);
        assert!(ended_well || verb == "doctor", "{verb} failed");
    }
    let made = std::fs::read_dir(to)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    on_the_data(
        walk,
        ("restore", &back),
        &["--from", made.to_str().unwrap()],
    );
    let replaced = on_the_data(walk, ("server-key", data), &["replace"]);
    assert!(replaced, "the server key was not replaced");
}

fn run(walk: &Walk, world: &World, words: &[&str]) {
    search_text(walk, &mut world.server.command(words), words);
}

/// Runs a command on a data directory; returns whether all was well.
fn on_the_data(walk: &Walk, (verb, data): (&str, &Path), words: &[&str]) -> bool {
    let launch = Launch::default();
    search_text(
        walk,
        launch.command(verb, data).args(words),
        &[&[verb], words].concat(),
    )
}

fn search_text(walk: &Walk, command: &mut Command, words: &[&str]) -> bool {
    let output = command.env(LOUD.0, LOUD.1).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let words = words.join(" ");
    assert!(!text.contains("panicked"), "{words}: {text}");
    assert_ne!(output.status.code(), Some(2), "{words}: {text}");
    walk.search_answer(&Holder::Terminal, &format!("scrip {words}"), &text, &words);
    output.status.success()
}

/// Listens until the newest event has come.
async fn listens(walk: &Walk, world: &World, key: &str) {
    let mut command = world.server.command(&["listen", "--from-start"]);
    command.env("SCRIP_SECRET_KEY", key).env(LOUD.0, LOUD.1);
    let mut process = Process::start(command, false);
    let is_newest = |line: &str| line.contains("order.paid").then_some(());
    process.wait_for_line("an order", is_newest).await;
    let client = world.server.instance().client(key);
    let newest = deadline::answered("all events", deadline::SOON, async || {
        let mut after = String::new();
        loop {
            let page = client
                .get(&format!("/api/v1/events?limit=100{after}"))
                .await
                .expect(200);
            let events = page["events"].as_array().unwrap();
            match events
                .last()
                .map(|it| it["id"].as_str().unwrap().to_owned())
            {
                Some(id) if events.len() == 100 => after = format!("&after={id}"),
                Some(id) => return Some(id),
                None => return after.split_once('=').map(|(_, id)| id.to_owned()),
            }
        }
    });
    let newest = newest.await;
    let is_newest = |line: &str| line.contains(&newest).then_some(());
    process.wait_for_line("the newest event", is_newest).await;
    let log = process.output().join("\n");
    walk.search_answer(&Holder::Terminal, "scrip listen", &log, "");
}
