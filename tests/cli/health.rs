//! `scrip health`: whether a server is ready.

use std::process::Command;

use kit::{Server, launch::binary};

use crate::errors;

#[tokio::test]
async fn health_is_asked_of_the_server_that_the_configuration_names() {
    let server = Server::start().await;
    let address = server.instance().base().trim_start_matches("http://");
    let ask = |address: &str| {
        let mut command = Command::new(binary());
        command.arg("health").env("SCRIP_LISTEN", address);
        command.output().expect("the binary starts")
    };
    let well = ask(address);
    assert!(well.status.success(), "{}", errors(&well));
    let silent = ask("127.0.0.1:1");
    assert_eq!(silent.status.code(), Some(1));
    assert!(
        errors(&silent).contains("no server answers at 127.0.0.1:1"),
        "{}",
        errors(&silent)
    );
}
