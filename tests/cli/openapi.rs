//! `scrip openapi`: the API's descriptions.

use crate::{errors, run};

#[test]
fn the_descriptions_are_printed_without_a_server() {
    for (words, path) in [
        (&["openapi"][..], "/wallets/external/deduct"),
        (&["openapi", "--admin"][..], "/projects/{projectId}/keys"),
    ] {
        let output = run(words);
        assert!(output.status.success(), "{}", errors(&output));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        assert!(document["paths"][path].is_object(), "{path}");
    }
}
