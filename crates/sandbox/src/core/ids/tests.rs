use super::*;

#[test]
fn no_two_are_alike_and_a_seed_tells_them_all() {
    let mut ids = Ids::new([1; 32]);
    let (a, b) = (ids.usual("pi_"), ids.usual("pi_"));
    assert_ne!(a, b);
    assert_eq!(a.len(), 27);
    assert_eq!(ids.secret("cs_test_").len(), 66);
    assert_eq!(Ids::new([1; 32]).usual("pi_"), a);
    assert_ne!(Ids::new([2; 32]).usual("pi_"), a);
}
