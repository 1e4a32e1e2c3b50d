//! `GET /products`: the catalog for buyers.

use domain::catalog::KeyKind;
use scrip::catalog::ProductChange;
use serde_json::json;

use crate::service::Service;

#[tokio::test]
async fn active_products_with_their_active_prices() {
    let service = Service::start().await;
    let price = service.add_price(100).await;
    let hidden = service.add_product("Hidden").await;
    let change = ProductChange {
        active: Some(false),
        ..ProductChange::default()
    };
    service
        .catalog
        .update_product(service.project.id, hidden, change)
        .await
        .unwrap();
    let expected = json!({ "products": [{
        "id": service.product, "name": "Render credits", "description": null, "type": "credits",
        "creditUnit": "renders", "freeGrant": null,
        "prices": [{
            "id": price, "label": null, "amountCents": 500, "currency": "EUR",
            "creditsGranted": 100, "features": [], "interval": "one_time",
        }],
    }] });
    assert_eq!(
        service.secret.get("/api/v1/products").await.expect(200),
        expected
    );
    assert_eq!(
        service
            .publishable
            .get("/api/v1/products")
            .await
            .expect(200),
        expected
    );
}

#[tokio::test]
async fn another_project_sees_its_own() {
    let service = Service::start().await;
    let stranger = service.stranger(KeyKind::Publishable).await;
    assert_eq!(
        stranger.get("/api/v1/products").await.expect(200),
        json!({ "products": [] })
    );
}
