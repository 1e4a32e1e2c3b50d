//! Two people who decide the same at the same moment: one of them does, and the log says what was done.

use kit::{Client, deadline, service::ADMIN_TOKEN, stripe::Override};
use scrip::identity::Role;
use serde_json::json;

use crate::{
    audit_outcomes::{REFUNDS, paid, refund},
    order_refresh::open,
    people::{new, person, signed_in},
};

#[tokio::test]
async fn while_one_approves_nobody_else_answers() {
    let (service, stripe, owner, base) = open().await;
    let order = paid(&service, &stripe, &owner, &base).await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", service.project.id);
    let rules = json!({"approvalAboveCents": 100});
    admin.patch(&project, &rules).await.expect(200);
    let sue = person(&service, new("Sue", Role::Support)).await;
    let sue = signed_in(&service, &sue).await;
    let olga = person(&service, new("Olga", Role::Operator)).await;
    let olga = signed_in(&service, &olga).await;
    let path = format!("{}/refund", order.path);
    sue.submit(&path, &refund("2", "k")).await;
    let page = olga.get(&format!("{base}/approvals")).await;
    let id = page.between("/approvals/", "/").to_owned();
    let request = format!("{base}/approvals/{id}");
    // The provider takes its time over Olga's yes.
    stripe.from_now_on(REFUNDS, Override::Silence);
    let (token, origin) = (olga.token().await, olga.base.clone());
    let approve = format!("{request}/approve");
    let approval = tokio::spawn(async move {
        let form = [("formToken", &*token)];
        let origin = [("origin", &*origin)];
        olga.post_as_it_is(&approve, &form, &origin).await.status
    });
    deadline::until("a refund", deadline::SOON, || {
        (!stripe.calls(REFUNDS).is_empty()).then_some(())
    })
    .await;
    for (who, answer) in [(&owner, "decline"), (&owner, "approve"), (&sue, "decline")] {
        let page = who.post(&format!("{request}/{answer}"), &[]).await;
        assert_eq!(page.status, 409, "{answer}: {}", page.html);
        page.shows("Someone else is deciding this request");
    }
    assert!(!approval.is_finished(), "it is not done yet");
    let log = owner.get(&format!("/dashboard/audit?text={id}")).await;
    log.shows("Approve to refund 2.00 EUR")
        .lacks("Declined")
        .lacks("Withdrew");
    approval.abort();
}
