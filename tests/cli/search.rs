//! `scrip search`, `scrip wallet find` and `scrip orders`.

use kit::Server;

use crate::{failure_of, stdout_of};

#[tokio::test]
async fn what_is_looked_for_is_found_or_the_exit_status_says_so() {
    let server = Server::start().await;
    server.grant("ann-1", 100, "g1").await;
    server.grant("ann-2", 7, "g2").await;
    let output = stdout_of(&server, &["search", "ANN"]);
    assert!(
        output.contains("ann-1") && output.contains("ann-2"),
        "{output}"
    );
    let output = stdout_of(&server, &["wallet", "find", "ann-2"]);
    assert!(
        output.contains(" 7 ") && !output.contains("ann-1"),
        "{output}"
    );
    let output = failure_of(&server, &["search", "nobody"]);
    assert!(output.contains("nothing was found"), "{output}");
    failure_of(&server, &["wallet", "find", "nobody"]);
    let output = stdout_of(&server, &["orders", "list", "--status", "pending"]);
    assert!(output.contains("0 orders in all"), "{output}");
    let output = stdout_of(&server, &["orders", "list", "--csv"]);
    assert!(output.starts_with("createdAt,id,status,"), "{output}");
}
