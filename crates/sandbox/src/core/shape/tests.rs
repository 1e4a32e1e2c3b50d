use serde_json::json;

use super::*;

#[test]
fn missing_fields_are_filled_in_and_internal_ones_hidden() {
    assert!(BLANK.len() > 15);
    let kept = json!({
        "_n": 1, "id": "price_1", "active": false, "secret": 1, "metadata": {"object": "price", "mine": "1"},
    });
    let price = visible("price", kept);
    assert_eq!((price.get("_n"), price.get("secret")), (None, None));
    let shown = completed(json!({ "object": "list", "data": [price] }));
    let price = &shown["data"][0];
    assert_eq!(
        (&price["active"], &price["billing_scheme"]),
        (&json!(false), &json!("per_unit"))
    );
    assert_eq!(price["metadata"], json!({"object": "price", "mine": "1"}));
}

#[test]
fn notes_say_no_nulls() {
    let mut note = json!({"a": null, "b": [{"c": null, "d": 1}], "e": {"f": null}});
    without_nulls(&mut note);
    assert_eq!(note, json!({"b": [{"d": 1}], "e": {}}));
}
