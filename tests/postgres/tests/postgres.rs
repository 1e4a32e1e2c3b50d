//! The servers do what tests will rely on.
#![allow(
    clippy::unwrap_used,
    reason = "a panic in a test is a failed test, which is the point"
)]

use std::{
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
};

use postgres_kit::{Options, Postgres, shared, wait::until};

#[test]
fn each_test_has_a_database_of_its_own_in_a_durable_server() {
    let (one, other) = (shared().create_database(), shared().create_database());
    shared().psql_in(&one, "CREATE TABLE here (n int)");
    let error = shared().try_psql(&other, "SELECT * FROM here");
    assert!(error.unwrap_err().contains("does not exist"));
    let settings = "SELECT current_setting('fsync'), current_setting('synchronous_commit')";
    assert_eq!(shared().psql(settings), "on|on");
}

#[test]
fn the_user_of_the_databases_may_create_its_own_schema_and_nothing_else() {
    let database = shared().create_database();
    let as_owner = |sql: &str| {
        let url = shared().url(&database);
        Command::new("psql").args(["-qc", sql, &url]).output()
    };
    assert!(as_owner("CREATE SCHEMA scrip").unwrap().status.success());
    assert!(!as_owner("CREATE ROLE another").unwrap().status.success());
}

#[test]
fn a_killed_and_a_stopped_server_keep_what_was_committed_and_frozen_ones_wait() {
    let server = Postgres::with(Options {
        max_connections: 17,
        tls: true,
        settings: &[("log_statement", "all")],
    });
    assert_eq!(server.psql("SHOW max_connections"), "17");
    assert_eq!(server.psql("SHOW log_statement"), "all");
    server.psql("CREATE TABLE kept (n int)");
    server.psql("INSERT INTO kept VALUES (1)");
    server.kill();
    assert!(server.try_psql("postgres", "SELECT 1").is_err());
    server.start_again();
    server.psql("INSERT INTO kept VALUES (2)");
    server.stop();
    server.start_again();
    assert_eq!(server.psql("SELECT sum(n) FROM kept"), "3");

    server.set("statement_timeout", "1234");
    assert_eq!(server.psql("SHOW statement_timeout"), "1234ms");

    let roots = server.ca();
    let encrypted = format!(
        "{}?sslmode=verify-full&sslrootcert={}",
        server.admin_url("postgres"),
        roots.display()
    );
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let psql = Command::new("psql")
        .args(["-Atc", sql, &encrypted])
        .output();
    assert_eq!(psql.unwrap().stdout, b"t\n");

    server.freeze();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| server.psql("SELECT 1"));
        // The kernel accepts the connection, and nothing answers.
        drop(TcpStream::connect(server.address()).unwrap());
        assert!(!waiting.is_finished());
        server.thaw();
        assert_eq!(waiting.join().unwrap(), "1");
    });
}

/// Says where its servers are, and never ends. It is another test's child.
#[test]
#[ignore = "is started by the test of what a killed process leaves"]
fn holds_servers() {
    let frozen = Postgres::start();
    for server in [shared(), &frozen] {
        let data = server.psql("SHOW data_directory");
        println!("server {data} {}", server.address());
    }
    frozen.freeze();
    println!("ready");
    loop {
        thread::park();
    }
}

#[test]
fn a_test_process_that_is_killed_leaves_no_server_and_no_file() {
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holds_servers", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines
        .map(Result::unwrap)
        .take_while(|line| line != "ready")
        .collect();
    let servers = lines.iter().filter_map(|line| {
        let (_, server) = line.split_once("server ")?;
        server.split_once(' ')
    });
    let servers: Vec<(&str, SocketAddr)> = servers
        .map(|(data, address)| (data, address.parse().unwrap()))
        .collect();
    assert_eq!(servers.len(), 2, "{lines:?}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    for (data, address) in servers {
        until("the directory is gone", || {
            (!Path::new(data).parent().unwrap().exists()).then_some(())
        });
        assert!(TcpStream::connect(address).is_err());
        assert_eq!(working_in(data), 0, "processes of {data}");
    }
}

#[test]
fn a_test_that_panics_leaves_no_server() {
    let server = Postgres::start();
    let (data, address) = (server.psql("SHOW data_directory"), server.address());
    assert!(working_in(&data) > 1);
    let failed = thread::spawn(move || {
        server.freeze();
        panic!("as a test that fails, with {}", server.address());
    });
    assert!(failed.join().is_err());
    assert!(TcpStream::connect(address).is_err());
    assert!(!Path::new(&data).exists());
    assert_eq!(working_in(&data), 0);
}

/// The number of processes whose working directory this is, or was before it was removed.
fn working_in(data: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let places =
        processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok());
    places
        .filter(|place| place.to_string_lossy().starts_with(data))
        .count()
}
