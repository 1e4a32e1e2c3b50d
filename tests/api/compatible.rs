//! Compatibility: the current OpenAPI document against that of every release. Within v1 no path, method, field,
//! value or code is removed, and no new input becomes required.

use std::{fs, path::Path};

use serde_json::{Value, json};

mod document;
mod shape;

fn read(path: &Path) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The current document. `described.rs` compares it with what is served.
fn present() -> Value {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi/api.json"))
}

#[test]
fn nothing_that_a_release_promised_is_gone() {
    let present = present();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi/released/v1");
    let mut compared = 0;
    for entry in fs::read_dir(kept).unwrap() {
        let path = entry.unwrap().path();
        let released = read(&path);
        let version = path.file_stem().unwrap().to_str().unwrap();
        assert_eq!(released["info"]["version"], version, "{}", path.display());
        assert!(!document::codes(&released).is_empty());
        let broken = document::broken(&released, &present);
        assert!(
            broken.is_empty(),
            "callers of {version} would miss:\n{}",
            broken.join("\n")
        );
        compared += 1;
    }
    assert!(compared > 0, "scripts/keep-api keeps a release's document");
}

/// A small API with everything that the comparison looks at.
fn small() -> Value {
    json!({
        "paths": { "/things/{id}": { "post": {
            "security": [{ "publishable": [] }, { "secret": [] }],
            "parameters": [
                { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } },
                { "name": "limit", "in": "query", "schema": { "type": "integer", "maximum": 100 } },
            ],
            "requestBody": { "required": true, "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/Order" },
            } } },
            "responses": {
                "200": {
                    "description": "Done",
                    "headers": { "X-Request-Id": {} },
                    "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Thing" } } },
                },
                "404": { "description": "`thing_not_found`: No.\n\n`owner_not_found`: No." },
            },
        } } },
        "components": { "schemas": {
            "Order": { "allOf": [
                {
                    "type": "object",
                    "required": ["amount"],
                    "properties": {
                        "amount": { "type": "integer", "minimum": 1 },
                        "size": { "enum": ["small", "large"] },
                        "note": { "type": ["string", "null"], "maxLength": 10 },
                    },
                },
                { "oneOf": [
                    { "type": "object", "required": ["code"], "properties": { "code": { "type": "string" } } },
                    { "type": "object", "required": ["user"], "properties": { "user": { "type": "string" } } },
                ] },
            ] },
            "Thing": {
                "type": "object",
                "required": ["id", "status", "parts"],
                "properties": {
                    "id": { "type": "string" },
                    "status": { "type": "string", "enum": ["new", "sold"] },
                    "parts": { "type": "array", "items": { "$ref": "#/components/schemas/Thing" } },
                    "owner": { "oneOf": [{ "$ref": "#/components/schemas/Owner" }, { "type": "null" }] },
                },
            },
            "Owner": { "type": "object", "properties": { "name": { "type": "string" } } },
        } },
    })
}

/// What a change of the small API breaks.
fn after(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut changed = small();
    change(&mut changed);
    document::broken(&small(), &changed)
}

const OPERATION: &str = "/paths/~1things~1{id}/post";
const SCHEMAS: &str = "/components/schemas";

fn at<'a>(document: &'a mut Value, place: &str) -> &'a mut Value {
    let path = match place.strip_prefix('@') {
        Some(rest) => format!("{OPERATION}{rest}"),
        None => format!("{SCHEMAS}{place}"),
    };
    document
        .pointer_mut(&path)
        .unwrap_or_else(|| panic!("{path}"))
}

#[test]
fn what_is_taken_away_is_noticed() {
    let all = after(|it| it["paths"] = json!({}));
    assert_eq!(all[0], "POST /things/{id} is gone");
    // (where, what is taken out of it, the sentence)
    for (place, key, sentence) in [
        ("/Thing/properties", "owner", "200.owner is gone"),
        ("/Owner/properties", "name", "200.owner.name is gone"),
        ("/Order/allOf/0/properties", "note", "body.note is gone"),
        ("@/responses", "200", "answers no 200 any more"),
        (
            "@/responses/200/headers",
            "X-Request-Id",
            "200 has no X-Request-Id any more",
        ),
        ("@/responses/200", "content", "200 has no JSON any more"),
        (
            "/Thing/properties/status",
            "enum",
            "200.status does not say its values any more",
        ),
    ] {
        let broken = after(|it| drop(at(it, place).as_object_mut().unwrap().remove(key)));
        assert!(
            broken.len() == 1 && broken[0].contains(sentence),
            "{sentence}: {broken:?}"
        );
    }
}

#[test]
fn what_is_changed_so_that_a_caller_fails_is_noticed() {
    // (where, what it becomes, the sentence)
    for (place, value, sentence) in [
        (
            "/Thing/properties/status/enum",
            json!(["new"]),
            r#"200.status has no value "sold" any more"#,
        ),
        ("/Thing/properties/id/type", json!("integer"), "200.id was"),
        (
            "/Thing/properties/id/type",
            json!(["string", "null"]),
            "200.id was",
        ),
        (
            "/Thing/required",
            json!(["id", "parts"]),
            "200.status may be left out now",
        ),
        (
            "/Order/allOf/0/required",
            json!(["amount", "size"]),
            "body.size is required now",
        ),
        (
            "/Order/allOf/0/properties/amount/minimum",
            json!(5),
            "body.amount has a tighter minimum",
        ),
        (
            "/Order/allOf/0/properties/note/maxLength",
            json!(5),
            "body.note has a tighter maxLength",
        ),
        (
            "/Order/allOf/0/properties/note/type",
            json!("string"),
            "body.note was",
        ),
        (
            "/Order/allOf/0/properties/size/enum",
            json!(["large"]),
            r#"body.size has no value "small""#,
        ),
        (
            "/Order/allOf/1/oneOf",
            json!([{ "type": "object", "required": ["code"], "properties": { "code": {} } }]),
            "no choice any more",
        ),
        (
            "/Order/allOf/1/oneOf/0/required",
            json!(["code", "pin"]),
            "body|0.pin is required now",
        ),
        (
            "/Order/allOf/0/anyOf",
            json!([{ "required": ["size"] }, { "required": ["note"] }]),
            "has a choice to make now",
        ),
        (
            "@/parameters/1/required",
            json!(true),
            "\"limit\" is required now",
        ),
        ("@/parameters/1/name", json!("size"), "\"limit\" is gone"),
        (
            "@/parameters/1/schema/maximum",
            json!(50),
            "\"limit\" has a tighter maximum",
        ),
        (
            "@/security",
            json!([{ "secret": [] }]),
            "takes no publishable key any more",
        ),
        (
            "@/responses/404/description",
            json!("`thing_not_found`: No."),
            "code owner_not_found is gone",
        ),
    ] {
        // Further breaks that follow from it are ignored.
        let broken = after(|it| {
            let (parent, key) = place.rsplit_once('/').unwrap();
            match at(it, parent) {
                Value::Object(parent) => drop(parent.insert(key.into(), value)),
                parent => parent[key.parse::<usize>().unwrap()] = value,
            }
        });
        assert!(
            broken.iter().any(|line| line.contains(sentence)),
            "{sentence}: {broken:?}"
        );
    }
}

#[test]
fn what_is_added_breaks_nothing() {
    let none: [String; 0] = [];
    assert_eq!(after(|_| {}), none);
    for (place, key, value) in [
        ("/Thing/properties", "colour", json!({ "type": "string" })),
        (
            "/Thing/properties/status",
            "enum",
            json!(["new", "sold", "lent"]),
        ),
        (
            "/Order/allOf/0/properties",
            "colour",
            json!({ "type": "string" }),
        ),
        (
            "/Order/allOf/0/properties/size",
            "enum",
            json!(["small", "large", "huge"]),
        ),
        ("/Order/allOf/0/properties/amount", "minimum", json!(0)),
        ("/Order/allOf/0", "required", json!([])),
        (
            "/Order/allOf/0",
            "anyOf",
            json!([{ "required": ["amount"] }, { "required": ["size"] }]),
        ),
        ("@/responses", "201", json!({ "description": "Made" })),
        (
            "@/responses/404",
            "description",
            json!("`thing_not_found`: No.\n\n`owner_not_found`: None.\n\n`x`: New."),
        ),
        (
            "@",
            "parameters",
            json!([
                { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } },
                { "name": "limit", "in": "query", "schema": { "type": "integer", "maximum": 200 } },
                { "name": "sort", "in": "query", "schema": { "type": "string" } },
            ]),
        ),
    ] {
        let broken = after(|it| {
            let parent = at(it, place).as_object_mut().unwrap();
            parent.insert(key.into(), value);
        });
        assert_eq!(broken, none, "{place}/{key}");
    }
    let third = json!({ "type": "object", "required": ["mail"], "properties": { "mail": {} } });
    let broken = after(|it| {
        at(it, "/Order/allOf/1/oneOf")
            .as_array_mut()
            .unwrap()
            .push(third)
    });
    assert_eq!(broken, none);
}
