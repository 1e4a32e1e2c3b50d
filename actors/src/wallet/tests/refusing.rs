//! A log that accepts one append and refuses the next, in the middle of one command.

use domain::text::Meta;

use super::{deduct, external, front::Front};
use crate::Error;

#[tokio::test]
async fn a_batch_whose_write_is_refused_half_way_acknowledges_nothing_that_is_not_there() {
    // One append for the credits; then a batch too large for one.
    for taken in 1..6 {
        let service = Front::filling(taken).service().await;
        service.credit("ann", 10_000).await.unwrap();
        let note = Meta::new(format!("{{\"note\":\"{}\"}}", "x".repeat(1000))).unwrap();
        let items = (0..100).map(|n| {
            let mut command = deduct(1, &format!("k{n}"));
            command.meta = Some(note.clone());
            (external("ann"), command)
        });
        let answer = service
            .handle
            .deduct_batch(&service.scope, items.collect())
            .await;
        let acknowledged = match answer {
            Ok(results) => results.iter().filter(|result| result.is_ok()).count(),
            Err(error) => {
                assert_eq!(error, Error::Unavailable);
                0
            }
        };
        let there = service.deltas("ann", 100).await.len() - 1;
        assert!(
            acknowledged <= there,
            "{acknowledged} acknowledged, {there} there"
        );
        let left = service.balance("ann").await.unwrap();
        assert_eq!(
            left,
            10_000 - i64::try_from(there).unwrap(),
            "memory is what the log has"
        );
    }
}
