use super::*;

#[test]
fn only_the_key_opens() {
    let check = |value: &str, key: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        check(&headers, key).is_ok()
    };
    assert!(check("Bearer sk_test_x", "sk_test_x"));
    assert!(check("Basic c2tfdGVzdF94Og==", "sk_test_x"));
    assert!(!check("Bearer sk_test_y", "sk_test_x"));
    assert!(!check("Basic c2tfdGVzdF95Og==", "sk_test_x"));
    assert!(!check("Bearer ", ""));
    assert!(!check("Basic Og==", ""));
    assert!(!check("sk_test_x", "sk_test_x"));
    assert!(super::check(&HeaderMap::new(), "sk_test_x").is_err());
}
