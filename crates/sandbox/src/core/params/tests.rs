use super::*;

fn params(query: &str) -> Result<Params, Refusal> {
    Params::new(url::form_urlencoded::parse(query.as_bytes()).into_owned())
}

#[test]
fn an_unused_parameter_is_refused_by_name() {
    let params = params("a=1&b[0][c]=2&expand[]=x").unwrap();
    assert_eq!(params.integer::<i64>("a").unwrap(), Some(1));
    let refusal = params.finish().unwrap_err();
    assert_eq!(refusal.code, Some("parameter_unknown"));
    assert_eq!(refusal.param.as_deref(), Some("b[0][c]"));
    assert_eq!(params.below("b"), ["0"]);
    assert_eq!(params.text("b[0][c]").unwrap().as_deref(), Some("2"));
    params.finish().unwrap();
}

#[test]
fn lists_come_with_and_without_numbers() {
    assert_eq!(
        params("a[]=x&a[]=y").unwrap().list("a").unwrap(),
        ["x", "y"]
    );
    assert_eq!(
        params("a[0]=x&a[1]=y").unwrap().list("a").unwrap(),
        ["x", "y"]
    );
}

#[test]
fn malformed_repeated_and_empty_ones_are_refused() {
    for query in ["a=1&a=2", "a[=1", "[a]=1", "a]b=1", "a[b]c=1", "=1"] {
        assert!(params(query).is_err(), "{query}");
    }
    let params = params("a=&n=1x&f=yes").unwrap();
    assert_eq!(
        params.text("a").unwrap_err().code,
        Some("parameter_invalid_empty")
    );
    let code = params.integer::<i64>("n").unwrap_err().code;
    assert_eq!(code, Some("parameter_invalid_integer"));
    assert!(params.flag("f").is_err());
}

#[test]
fn metadata_is_bounded() {
    let long = |key: usize, value: usize| {
        params(&format!("m[{}]={}", "k".repeat(key), "v".repeat(value))).unwrap()
    };
    assert_eq!(long(40, 500).metadata("m").unwrap().len(), 1);
    assert!(long(41, 1).metadata("m").is_err());
    assert!(long(1, 501).metadata("m").is_err());
}
