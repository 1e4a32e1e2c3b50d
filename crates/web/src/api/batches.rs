//! The handlers of the batches, one for each kind of item.

use axum::{extract::State, response::Response};
use edge::{body::BatchBody, caller::SecretKey};
use wire::Error;

use super::{
    App,
    batch::{BatchItem, answer},
    deduct::ListedDeduction,
    hold::ListedHold,
    settle::ListedCharge,
};
use crate::http::grant::Credit;

macro_rules! handlers {
    ($($name:ident: $item:ty;)*) => {$(
        pub(super) async fn $name(
            State(app): State<App>,
            key: SecretKey<<$item as BatchItem>::Needs>,
            body: BatchBody,
        ) -> Result<Response, Error> {
            answer::<$item>(&app, &key, &body).await
        }
    )*};
}

handlers! {
    deduct_batch: ListedDeduction;
    hold_batch: ListedHold;
    settle_batch: ListedCharge;
    credit_batch: Credit;
}
