//! `scrip search`, `scrip wallet find` and `scrip orders`.

use kit::Server;

use crate::{complains, says};

#[tokio::test]
async fn what_is_looked_for_is_found_or_the_exit_status_says_so() {
    let server = Server::start().await;
    server.grant("ann-1", 100, "g1").await;
    server.grant("ann-2", 7, "g2").await;
    let said = says(&server, &["search", "ANN"]);
    assert!(said.contains("ann-1") && said.contains("ann-2"), "{said}");
    let said = says(&server, &["wallet", "find", "ann-2"]);
    assert!(said.contains(" 7 ") && !said.contains("ann-1"), "{said}");
    let said = complains(&server, &["search", "nobody"]);
    assert!(said.contains("nothing was found"), "{said}");
    complains(&server, &["wallet", "find", "nobody"]);
    let said = says(&server, &["orders", "list", "--status", "pending"]);
    assert!(said.contains("0 orders in all"), "{said}");
    let said = says(&server, &["orders", "list", "--csv"]);
    assert!(said.starts_with("createdAt,id,status,"), "{said}");
}
