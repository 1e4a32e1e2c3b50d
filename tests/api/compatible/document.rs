//! Compares two OpenAPI documents: what would callers of the old one miss in the new one?

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::shape::{At, Way, breaks};

/// What was removed, and what is newly required; empty if the new document is compatible.
pub(super) fn broken(old: &Value, new: &Value) -> Vec<String> {
    let mut matches = Vec::new();
    for (path, item) in object(old, "/paths") {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let place = format!("{} {path}", method.to_uppercase());
            let now = object(new, "/paths")
                .get(path)
                .and_then(|item| item.get(method));
            match now {
                None => matches.push(format!("{place} is gone")),
                Some(now) => Operation { old, new, place }.compare(operation, now, &mut matches),
            }
        }
    }
    let codes = codes(new);
    let gone = self::codes(old)
        .into_iter()
        .filter(|code| !codes.contains(code));
    matches.extend(gone.map(|code| format!("code {code} is gone")));
    matches
}

struct Operation<'a> {
    old: &'a Value,
    new: &'a Value,
    place: String,
}

impl Operation<'_> {
    fn compare(&self, before: &Value, after: &Value, found: &mut Vec<String>) {
        self.keys(before, after, found);
        self.parameters(before, after, found);
        let (old, new) = (before.get("requestBody"), after.get("requestBody"));
        let required = |body: Option<&Value>| body.is_some_and(|body| body["required"] == true);
        if !required(old) && required(new) {
            found.push(format!("{} needs a body now", self.place));
        }
        let empty = Value::Null;
        let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
        self.content(old, new, Way::In, "body", found);
        for (status, response) in object(before, "/responses") {
            match object(after, "/responses").get(status) {
                Some(now) => self.response(status, response, now, found),
                // A refusal that is no longer made breaks no caller.
                None if !status.starts_with('2') => {}
                None => found.push(format!("{} answers no {status} any more", self.place)),
            }
        }
    }

    /// Kinds of key that the operation no longer accepts.
    fn keys(&self, before: &Value, after: &Value, found: &mut Vec<String>) {
        let kinds = |operation: &Value| -> BTreeSet<String> {
            let all = operation["security"].as_array().into_iter().flatten();
            let all = all.filter_map(Value::as_object);
            all.flat_map(|kind| kind.keys().cloned().collect::<Vec<_>>())
                .collect()
        };
        let now = kinds(after);
        let gone = kinds(before).into_iter().filter(|kind| !now.contains(kind));
        found.extend(gone.map(|kind| format!("{} takes no {kind} key any more", self.place)));
    }

    fn parameters(&self, before: &Value, after: &Value, found: &mut Vec<String>) {
        let list = |operation: &Value| {
            operation["parameters"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        };
        let named = |list: &[Value], one: &Value| {
            let same = |other: &&Value| other["name"] == one["name"] && other["in"] == one["in"];
            list.iter().find(same).cloned()
        };
        let (old, new) = (list(before), list(after));
        for one in &old {
            let place = format!("{}: {}", self.place, one["name"]);
            let Some(now) = named(&new, one) else {
                found.push(format!("{place} is gone"));
                continue;
            };
            let schemas = (&one["schema"], &now["schema"]);
            found.extend(breaks(
                self.was(schemas.0),
                self.is(schemas.1),
                Way::In,
                &place,
            ));
        }
        for one in new.iter().filter(|one| one["required"] == true) {
            if named(&old, one).is_none_or(|before| before["required"] != true) {
                found.push(format!("{}: {} is required now", self.place, one["name"]));
            }
        }
    }

    fn response(&self, status: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
        self.content(before, after, Way::Out, status, found);
        let headers = object(after, "/headers");
        for name in object(before, "/headers").keys() {
            if !headers.contains_key(name) {
                found.push(format!("{} {status} has no {name} any more", self.place));
            }
        }
    }

    fn content(
        &self,
        before: &Value,
        after: &Value,
        way: Way,
        what: &str,
        found: &mut Vec<String>,
    ) {
        let schema = |of: &Value| of.pointer("/content/application~1json/schema").cloned();
        let place = format!("{}: {what}", self.place);
        match (schema(before), schema(after)) {
            (Some(old), Some(new)) => {
                found.extend(breaks(self.was(&old), self.is(&new), way, &place));
            }
            (Some(_), None) => found.push(format!("{place} has no JSON any more")),
            (None, _) => {}
        }
    }

    fn was<'b>(&'b self, schema: &'b Value) -> At<'b> {
        At {
            document: self.old,
            schema,
        }
    }

    fn is<'b>(&'b self, schema: &'b Value) -> At<'b> {
        At {
            document: self.new,
            schema,
        }
    }
}

/// All codes that some operation may answer.
pub(super) fn codes(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for item in object(document, "/paths").values() {
        for operation in item.as_object().into_iter().flat_map(Map::values) {
            for response in object(operation, "/responses").values() {
                let lines = response["description"].as_str().unwrap_or_default().lines();
                let code =
                    |line: &str| Some(line.strip_prefix('`')?.split_once("`: ")?.0.to_owned());
                found.extend(lines.filter_map(code));
            }
        }
    }
    found
}

fn object<'a>(value: &'a Value, pointer: &str) -> &'a Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value
        .pointer(pointer)
        .and_then(Value::as_object)
        .unwrap_or(&EMPTY)
}
