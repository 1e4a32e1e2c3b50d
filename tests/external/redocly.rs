//! Redocly's linter finds nothing wrong with either OpenAPI document.

use crate::node::run_tool;

#[test]
fn both_documents_are_in_order() {
    let offline = [
        ("REDOCLY_TELEMETRY", "off"),
        ("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true"),
    ];
    for document in ["api", "admin"] {
        let path = format!("../../docs/openapi/{document}.json");
        let words = [
            "node_modules/@redocly/cli/bin/cli.js",
            "lint",
            "--format",
            "json",
            &path,
        ];
        let output = run_tool("node", &words, &offline);
        assert!(output.contains("\"errors\": 0"), "{document}: {output}");
    }
}
