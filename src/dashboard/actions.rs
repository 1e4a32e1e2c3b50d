//! Manual changes of a wallet: grants and deducts credits, grants and revokes features, releases holds. Each
//! needs a reason and a confirmation, and is applied once however often its form is sent.

use actors::HoldAccess;
use axum::{extract::State, response::Response};
use domain::{
    Amount, Timestamp,
    id::{ProductId, WalletKey},
    text::{Feature, IdempotencyKey, Meta},
    wallet::{ProductRef, credit::Credit, deduct::Deduct, feature::FeatureAction},
};
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    audit::audited,
    fields::Fields,
    form::{self, FieldLabel, Form},
    layout::{self, At, Tab},
    money::grouped,
    page_request::{FormPost, PageRequest},
    projects::refused,
    wallets::{path, wallet},
};
use crate::{
    catalog::ProjectCatalog,
    http::{Error, ErrorCode},
    state::App,
};

/// The form field that says that the confirmation page was accepted.
pub(super) const CONFIRMED: &str = "confirmed";
const LONGEST_REASON: usize = 300;

/// Whether credits are granted or deducted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Grant,
    Deduct,
}

/// The fields of a grant or deduction, checked.
struct CreditForm {
    product: ProductId,
    amount: Amount,
    reason: String,
    key: IdempotencyKey,
    expires_at: Option<Timestamp>,
}

/// The forms on a wallet's page.
pub(super) fn forms(request: &PageRequest, project: &ProjectCatalog, key: WalletKey) -> Markup {
    let here = path(project, key);
    let fields = Fields::default()
        .with("idempotencyKey", Uuid::now_v7())
        .with_some("productId", project.only_credit_product());
    let form = Form::new(&fields, None);
    html! {
        section.card { h2 { "Grant credits" } (credit_form(request, project, &here, Way::Grant, form.called("grant-"))) }
        section.card { h2 { "Deduct credits" } (credit_form(request, project, &here, Way::Deduct, form.called("deduct-"))) }
        section.card { h2 { "Features" } (feature_form(request, &here, form.called("feature-"))) }
    }
}

fn credit_form(
    request: &PageRequest,
    project: &ProjectCatalog,
    here: &str,
    way: Way,
    form: Form<'_>,
) -> Markup {
    let holding = project.products().filter(|product| product.holds_credits());
    let products: Vec<_> = holding
        .map(|product| (product.id.to_string(), product.name.clone()))
        .collect();
    let (action, press) = match way {
        Way::Grant => ("grant", "Grant…"),
        Way::Deduct => ("deduct", "Deduct…"),
    };
    html! {
        @if products.is_empty() { p.empty { "No product of this project holds credits." } } @else {
            (form.alert(&["productId", "amount", "reason", "expiresAt"]))
            form method="post" action={ (here) "/" (action) } {
                (form::token(request))
                input type="hidden" name="idempotencyKey" value=(form.fields.text("idempotencyKey"));
                div.pair {
                    (form.choice(&FieldLabel("productId", "Product", ""), &products))
                    (form.number(&FieldLabel("amount", "Credits", "")))
                }
                (form.text(&FieldLabel("reason", "Reason", "Shown in the wallet's ledger, which its owner can see.")))
                @if way == Way::Grant { (form.day(&FieldLabel("expiresAt", "Last day", "UTC. Empty: the credits never expire."))) }
                button type="submit" { (press) }
            }
        }
    }
}

fn feature_form(request: &PageRequest, here: &str, form: Form<'_>) -> Markup {
    html! {
        (form.alert(&["feature", "reason"]))
        form method="post" action={ (here) "/feature" } {
            (form::token(request))
            (form.text(&FieldLabel("feature", "Feature", "Its slug, such as hd. A feature unlocked by a subscription or a purchase cannot be revoked.")))
            (form.text(&FieldLabel("reason", "Reason", "Recorded in the audit log.")))
            div.row {
                button name="action" value="grant" type="submit" { "Grant…" }
                button name="action" value="revoke" type="submit" { "Revoke…" }
            }
        }
    }
}

/// `POST …/wallets/{wallet}/grant`: grants credits.
pub(super) async fn grant(app: State<App>, posted: FormPost) -> Result<Response, Error> {
    move_credits(app, posted, Way::Grant).await
}

/// `POST …/wallets/{wallet}/deduct`: deducts credits.
pub(super) async fn deduct(app: State<App>, posted: FormPost) -> Result<Response, Error> {
    move_credits(app, posted, Way::Deduct).await
}

async fn move_credits(
    State(app): State<App>,
    posted: FormPost,
    way: Way,
) -> Result<Response, Error> {
    let FormPost { request, fields } = posted;
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let here = path(&project, wallet);
    let again = |error: Error| {
        let form = Form::new(&fields, Some(&error));
        let title = match way {
            Way::Grant => "Grant credits",
            Way::Deduct => "Deduct credits",
        };
        let body = html! {
            h1 { (title) }
            section.card { (credit_form(&request, &project, &here, way, form)) }
        };
        let page = layout::page(&request, At::Project(&project, Tab::Wallets), title, &body);
        refused(&error, page)
    };
    let asked = match asked(&fields, &project, app.handle.now_in(&project.scope)) {
        Ok(asked) => asked,
        Err(error) => return Ok(again(error)),
    };
    let (credits, product) = (grouped(asked.amount.get()), name(&project, asked.product));
    if !fields.is_on(CONFIRMED) {
        let detail = app.handle.look(&project.scope, wallet).await;
        let detail = detail.map_err(|error| Error::from_wallet(error, &project))?;
        let said = match way {
            Way::Grant => format!("Grant {credits} of {product}?"),
            Way::Deduct => format!("Deduct {credits} of {product}?"),
        };
        let action = match way {
            Way::Grant => format!("{here}/grant"),
            Way::Deduct => format!("{here}/deduct"),
        };
        let facts = about(&fields, &super::wallets::name(&detail));
        return Ok(confirm(
            &request,
            At::Project(&project, Tab::Wallets),
            &fields,
            (&action, &here),
            &said,
            &facts,
        ));
    }
    let meta = serde_json::json!({"reason": asked.reason, "by": "dashboard"}).to_string();
    let meta = Meta::new(meta).map_err(|error| Error::text("reason", error))?;
    let applied = match way {
        Way::Grant => {
            let command = Credit {
                product: asked.product,
                amount: asked.amount,
                expires_at: asked.expires_at,
                key: asked.key,
                meta: Some(meta),
            };
            app.handle
                .credit_stored(&project.scope, wallet, command)
                .await
        }
        Way::Deduct => {
            let command = Deduct {
                product: ProductRef::Named(asked.product),
                amount: asked.amount,
                key: asked.key,
                meta: Some(meta),
            };
            let outcome = app
                .handle
                .deduct_stored(&project.scope, wallet, command)
                .await;
            app.metrics.deducted(outcome.as_ref());
            outcome
        }
    };
    let applied = match applied {
        Ok(applied) => applied,
        Err(error) => return Ok(again(Error::from_wallet(error, &project))),
    };
    if applied.replayed {
        return Ok(layout::done(&here, "again"));
    }
    let (said, did) = match way {
        Way::Grant => ("granted", "Granted"),
        Way::Deduct => ("deducted", "Deducted"),
    };
    let what = format!(
        "{did} {credits} of {} in {}: {}",
        asked.product,
        called(&app, &project, wallet).await,
        asked.reason
    );
    Ok(audited(layout::done(&here, said), &request.signed, what))
}

fn asked(fields: &Fields, project: &ProjectCatalog, now: Timestamp) -> Result<CreditForm, Error> {
    let product = fields.parsed("productId", "a product of this project")?;
    let product: ProductId = product.ok_or_else(|| Error::missing("productId"))?;
    let holds = project
        .product(&product)
        .is_some_and(|product| product.holds_credits());
    if !holds {
        return Err(Error::invalid(
            "productId",
            "This product holds no credits.",
        ));
    }
    let amount = Amount::new(fields.needed("amount")?).ok_or_else(|| {
        Error::invalid("amount", "Credits are a whole number from 1 to 2^53 - 1.")
    })?;
    let expires_at = fields.day_end("expiresAt")?;
    if expires_at.is_some_and(|at| at <= now) {
        return Err(Error::invalid("expiresAt", "That day is in the past."));
    }
    let key = format!("dashboard:{}", fields.text("idempotencyKey"));
    Ok(CreditForm {
        product,
        amount,
        reason: reason(fields)?,
        key: IdempotencyKey::new(key).map_err(|error| Error::text("idempotencyKey", error))?,
        expires_at,
    })
}

fn reason(fields: &Fields) -> Result<String, Error> {
    let reason = fields.some("reason");
    let reason = reason.ok_or_else(|| Error::invalid("reason", "Enter a reason."))?;
    if reason.chars().count() > LONGEST_REASON || reason.chars().any(char::is_control) {
        let message = "A reason is one line of at most 300 characters.";
        return Err(Error::invalid("reason", message));
    }
    Ok(reason.to_owned())
}

/// `POST …/wallets/{wallet}/feature`: grants a feature, or revokes a manual grant.
pub(super) async fn feature(State(app): State<App>, posted: FormPost) -> Result<Response, Error> {
    let FormPost { request, fields } = posted;
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let here = path(&project, wallet);
    let read = || {
        let slug = fields.text("feature");
        let wanted = "A slug of 1 to 100 letters, digits and . _ : -";
        let feature = Feature::new(slug).map_err(|_| Error::invalid("feature", wanted))?;
        Ok((feature, reason(&fields)?))
    };
    let (feature, reason) = match read() {
        Ok(read) => read,
        Err(error) => {
            let form = Form::new(&fields, Some(&error));
            let body = html! {
                h1 { "Features" }
                section.card { (feature_form(&request, &here, form)) }
            };
            let page = layout::page(
                &request,
                At::Project(&project, Tab::Wallets),
                "Features",
                &body,
            );
            return Ok(refused(&error, page));
        }
    };
    let (action, verb, said) = match fields.text("action") {
        "grant" => (FeatureAction::Grant, "Grant", "feature_granted"),
        "revoke" => (FeatureAction::Revoke, "Revoke", "feature_revoked"),
        _ => return Err(Error::missing("action")),
    };
    let slug = feature.as_str().to_owned();
    if !fields.is_on(CONFIRMED) {
        let detail = app.handle.look(&project.scope, wallet).await;
        let detail = detail.map_err(|error| Error::from_wallet(error, &project))?;
        let facts = about(&fields, &super::wallets::name(&detail));
        let asked = format!("{verb} the feature {slug}?");
        let action = format!("{here}/feature");
        return Ok(confirm(
            &request,
            At::Project(&project, Tab::Wallets),
            &fields,
            (&action, &here),
            &asked,
            &facts,
        ));
    }
    let scope = &project.scope;
    let set = app
        .handle
        .set_feature_stored(scope, wallet, feature, action)
        .await;
    set.map_err(|error| Error::from_wallet(error, &project))?;
    let did = match action {
        FeatureAction::Grant => "Granted",
        FeatureAction::Revoke => "Revoked",
    };
    let to = called(&app, &project, wallet).await;
    let what = format!("{did} feature {slug} in {to}: {reason}");
    Ok(audited(layout::done(&here, said), &request.signed, what))
}

/// `POST …/wallets/{wallet}/release`: releases a hold.
pub(super) async fn release(State(app): State<App>, posted: FormPost) -> Result<Response, Error> {
    let FormPost { request, fields } = posted;
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let hold = fields.parsed("holdId", "a hold")?;
    let hold: domain::id::HoldId = hold.ok_or_else(|| Error::missing("holdId"))?;
    if hold.wallet != wallet {
        return Err(Error::new(ErrorCode::HoldNotFound));
    }
    let released = app
        .handle
        .release(&project.scope, HoldAccess::All, hold)
        .await;
    released.map_err(|error| Error::from_wallet(error, &project))?;
    let here = path(&project, wallet);
    let what = format!("Released hold {hold}");
    Ok(audited(
        layout::done(&here, "released"),
        &request.signed,
        what,
    ))
}

/// The wallet's id for the audit log.
async fn called(app: &App, project: &ProjectCatalog, wallet: WalletKey) -> String {
    let detail = app.handle.look(&project.scope, wallet).await;
    detail.map_or_else(|_| "a wallet".into(), |detail| detail.id.to_string())
}

fn name(project: &ProjectCatalog, product: ProductId) -> String {
    let known = project.product(&product);
    known.map_or_else(|| product.to_string(), |product| product.name.clone())
}

/// The confirmation page of a form; its button sends all fields again.
pub(super) fn confirm(
    request: &PageRequest,
    at: At<'_>,
    fields: &Fields,
    (action, back): (&str, &str),
    asked: &str,
    facts: &Markup,
) -> Response {
    let body = html! {
        h1 { (asked) }
        section.card {
            (facts)
            form.row method="post" action=(action) {
                (form::token(request))
                @for (name, value) in fields.without(super::page_request::TOKEN) {
                    input type="hidden" name=(name) value=(value);
                }
                input type="hidden" name=(CONFIRMED) value="on";
                button.primary type="submit" { "Yes, do it" }
                a.button href=(back) { "No" }
            }
        }
    };
    layout::page(request, at, "Please confirm", &body)
}

/// The wallet, reason and last day shown on a confirmation page.
fn about(fields: &Fields, to: &Markup) -> Markup {
    html! { dl {
        div { dt { "Wallet" } dd { (to) } }
        div { dt { "Reason" } dd { (fields.text("reason")) } }
        @if let Some(day) = fields.some("expiresAt") { div { dt { "Last day" } dd { (day) } } }
    } }
}
