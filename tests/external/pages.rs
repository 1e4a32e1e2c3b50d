//! The commands that the documentation gives do what it shows: the README's five minutes, the quick start's
//! second part, and the whole tour, against `scrip dev` in an empty folder. Only the port is another.

use std::{path::Path, process::Command};

use kit::{Demo, tool};

/// A page's text from one heading to the next of the same level.
fn part<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, after) = page.split_once(&format!("\n{heading}\n")).expect(heading);
    after.split("\n## ").next().unwrap_or_default()
}

/// The contents of all code blocks of a kind.
fn blocks(text: &str, kind: &str) -> String {
    let opening = format!("```{kind}\n");
    let blocks = text.split(opening.as_str()).skip(1);
    let inside = blocks.map(|block| block.split("```").next().unwrap_or_default());
    inside.collect()
}

/// Pastes all commands of a text at a demo of its own; returns their output.
async fn followed(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(&folder.path().join(".scrip")).await;
    // `verify` waits for the demo to end; another test has it.
    let commands = blocks(text, "sh").replace("scrip verify --data-dir .scrip\n", "");
    let (_, address) = demo.base().split_once("://").unwrap();
    let commands = commands.replace("127.0.0.1:8787", address);
    let mut shell = Command::new("sh");
    shell.args(["-euc", &commands]).current_dir(folder.path());
    let output = tool::run(&mut shell);
    demo.terminate().await;
    output
}

/// Asserts that each line shown as an answer, if it is the same each time, was answered, in this order.
fn answers_as_shown(text: &str, output: &str) {
    let shown = blocks(text, "json");
    // Identifiers, keys, instants and abbreviated parts differ.
    let differs = |line: &&str| {
        !["_01", "_test_", "_…", "…", "T1", "T2", "-"]
            .iter()
            .any(|part| line.contains(part))
    };
    let mut rest = output;
    let mut compared = 0;
    for line in shown.lines().filter(differs) {
        let (_, after) = rest
            .split_once(line)
            .unwrap_or_else(|| panic!("not answered: {line}\n{output}"));
        rest = after;
        compared += 1;
    }
    assert!(compared > 0, "{shown}");
}

fn read(page: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap()
}

#[tokio::test]
async fn the_first_minutes_of_the_readme_are_as_they_say() {
    let page = read("README.md");
    let text = part(&page, "## Five minutes");
    let output = followed(text).await;
    answers_as_shown(text, &output);
    assert!(
        output.contains("\"docs\":\"/docs/errors#insufficient_credits\""),
        "{output}"
    );
    assert!(output.contains("\"shortfall\":503"), "{output}");
}

#[tokio::test]
async fn the_quick_start_spends_a_credit() {
    let page = read("docs/quick-start.md");
    let text = part(&page, "## 2. Sell credits, and spend one");
    answers_as_shown(text, &followed(text).await);
}

#[tokio::test]
async fn the_tour_goes_through_all_that_it_names() {
    let page = read("docs/tour.md");
    let text = followed(&page).await;
    answers_as_shown(&page, &text);
    for seen in [
        "\"holdId\":\"hold_",
        "\"reason\":\"expiry\"",
        "\"refundedCents\":100",
        "\"cancelAtPeriodEnd\":true",
    ] {
        assert!(text.contains(seen), "{seen}: {text}");
    }
    // Only the one refusal that the tour shows.
    assert_eq!(text.matches("\"requestId\":").count(), 1, "{text}");
}

/// A reader goes on in the folder that they began in: each page has users and keys of its own.
#[tokio::test]
async fn the_pages_can_be_followed_in_a_row() {
    let (readme, start) = (read("README.md"), read("docs/quick-start.md"));
    let first = part(&readme, "## Five minutes");
    let second = part(&start, "## 2. Sell credits, and spend one");
    let all = [first, second, &read("docs/tour.md")].join("\n");
    answers_as_shown(&all, &followed(&all).await);
}
