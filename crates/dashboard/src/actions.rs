//! Forms that change a wallet by hand: grant and deduct credits, grant and revoke features, release holds. Each needs a
//! reason and a confirmation, and is applied once however often its form is sent.

use actors::Address;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Amount, Timestamp,
    id::{ProductId, WalletKey},
    text::{Feature, IdempotencyKey, Meta},
    wallet::{credit::Credit, feature::FeatureAction},
};
use identity::Privilege;
use maud::{Markup, html};
use operator::{Action, DeductCredits, GrantCredits, ReleaseHold, SetFeature, manual_note};
use uuid::Uuid;
use wire::Error;

use super::{
    confirm::ActionForm,
    fields::{Fields, KEY},
    form::{self, FieldLabel, Form},
    layout::Tab,
    page_request::{FormPost, PageRequest},
    wallets::{head, path, wallet},
};
use crate::state::App;

const MAX_REASON: usize = 300;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Grant,
    Deduct,
}

impl Way {
    /// The last part of the form's path, the verb, and the message afterwards.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Self::Grant => ["grant", "Grant", "granted"],
            Self::Deduct => ["deduct", "Deduct", "deducted"],
        }
    }
}

struct CreditForm {
    product: ProductId,
    amount: Amount,
    meta: Option<Meta>,
    key: IdempotencyKey,
    expires_at: Option<Timestamp>,
}

pub(super) fn forms(request: &PageRequest, project: &ProjectCatalog, key: WalletKey) -> Markup {
    let page_path = path(project, key);
    let fields = Fields::default()
        .with(KEY, Uuid::now_v7())
        .with_some("productId", project.only_credit_product());
    let form = Form::new(&fields, None);
    html! { @if request.may(Privilege::Support) {
        section.card #grant { h2 { "Grant credits" } (credit_form(request, project, &page_path, Way::Grant, form.called("grant-"))) }
        section.card #deduct { h2 { "Deduct credits" } (credit_form(request, project, &page_path, Way::Deduct, form.called("deduct-"))) }
        section.card #features { h2 { "Features" } (feature_form(request, &page_path, form.called("feature-"))) }
    } }
}

fn credit_form(
    request: &PageRequest,
    project: &ProjectCatalog,
    page_path: &str,
    way: Way,
    form: Form<'_>,
) -> Markup {
    let holding = project.products().filter(|product| product.holds_credits());
    let products: Vec<_> = holding
        .map(|product| (product.id.to_string(), product.name.clone()))
        .collect();
    let [action, verb, ..] = way.words();
    html! {
        @if products.is_empty() { p.empty { "No product of this project holds credits." } } @else {
            (form.alert(&["productId", "amount", "reason", "expiresAt"]))
            form method="post" action={ (page_path) "/" (action) } {
                (form::token(request))
                input type="hidden" name=(KEY) value=(form.fields.text(KEY));
                div.pair {
                    (form.choice(&FieldLabel("productId", "Product", ""), &products))
                    (form.number(&FieldLabel("amount", "Credits", "")))
                }
                (form.text(&FieldLabel("reason", "Reason", "Shown in the wallet's ledger, which its owner can see.")))
                @if way == Way::Grant { (form.day(&FieldLabel("expiresAt", "Last day", "In your time zone. Empty: the credits never expire."))) }
                button type="submit" { (verb) "…" }
            }
        }
    }
}

fn feature_form(request: &PageRequest, page_path: &str, form: Form<'_>) -> Markup {
    html! {
        (form.alert(&["feature", "reason"]))
        form method="post" action={ (page_path) "/feature" } {
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
pub(super) async fn grant(
    app: State<App>,
    posted: FormPost<GrantCredits>,
) -> Result<Response, Error> {
    let read = |wallet, form: CreditForm| GrantCredits {
        wallet,
        credit: Credit {
            product: form.product,
            amount: form.amount,
            expires_at: form.expires_at,
            key: form.key,
            meta: form.meta,
        },
    };
    move_credits(app, posted, Way::Grant, read).await
}

/// `POST …/wallets/{wallet}/deduct`: deducts credits.
pub(super) async fn deduct(
    app: State<App>,
    posted: FormPost<DeductCredits>,
) -> Result<Response, Error> {
    let read = |wallet, form: CreditForm| DeductCredits {
        wallet,
        product: form.product,
        amount: form.amount,
        key: form.key,
        meta: form.meta,
    };
    move_credits(app, posted, Way::Deduct, read).await
}

async fn move_credits<A: Action>(
    State(app): State<App>,
    posted: FormPost<A>,
    way: Way,
    read: impl FnOnce(WalletKey, CreditForm) -> A,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let back = path(&project, wallet);
    let [_, verb, did] = way.words();
    let address = Address::Stored(wallet);
    let view = app.handle.read(&project.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    let done = async {
        let now = app.handle.now_in(&project.scope);
        let action = read(wallet, parse_credit_form(&fields, &project, now)?);
        let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
        form.run(action, &back, did).await
    };
    Ok(done.await.unwrap_or_else(|error| {
        let (form, title) = (Form::new(&fields, Some(&error)), format!("{verb} credits"));
        let body = html! {
            (head(&project, &view, &title))
            section.card { (credit_form(&request, &project, &back, way, form)) }
        };
        form.response(Tab::Wallets.page(&request, &project, &title, &body))
    }))
}

fn parse_credit_form(
    fields: &Fields,
    project: &ProjectCatalog,
    now: Timestamp,
) -> Result<CreditForm, Error> {
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
    Ok(CreditForm {
        product,
        amount,
        meta: manual_note(&reason(fields)?)?,
        key: fields.key()?,
        expires_at,
    })
}

fn reason(fields: &Fields) -> Result<String, Error> {
    let message = "Enter a reason of one line, at most 300 characters.";
    fields.line("reason", MAX_REASON, message)
}

/// `POST …/wallets/{wallet}/feature`: grants a feature, or revokes a manual grant.
pub(super) async fn feature(
    State(app): State<App>,
    posted: FormPost<SetFeature>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let back = path(&project, wallet);
    let (action, message) = match fields.text("action") {
        "grant" => (FeatureAction::Grant, "feature_granted"),
        "revoke" => (FeatureAction::Revoke, "feature_revoked"),
        _ => return Err(Error::missing("action")),
    };
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    let done = async {
        let wanted = "A slug of 1 to 100 letters, digits and . _ : -";
        let invalid = |_| Error::invalid("feature", wanted);
        let set = SetFeature {
            wallet,
            feature: Feature::new(fields.text("feature")).map_err(invalid)?,
            action,
            reason: reason(&fields)?,
        };
        form.run(set, &back, message).await
    };
    let error = match done.await {
        Ok(done) => return Ok(done),
        Err(error) => error,
    };
    let view = app
        .handle
        .read(&project.scope, &Address::Stored(wallet))
        .await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    let form = Form::new(&fields, Some(&error));
    let body = html! {
        (head(&project, &view, "Features"))
        section.card { (feature_form(&request, &back, form)) }
    };
    Ok(form.response(Tab::Wallets.page(&request, &project, "Features", &body)))
}

/// `POST …/wallets/{wallet}/release`: releases a hold.
pub(super) async fn release(
    State(app): State<App>,
    posted: FormPost<ReleaseHold>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let hold = fields.parsed("holdId", "a hold")?;
    let hold = hold.ok_or_else(|| Error::missing("holdId"))?;
    let form = ActionForm::new(&app, &request, &project, &fields, Tab::Wallets);
    form.run(
        ReleaseHold { wallet, hold },
        &path(&project, wallet),
        "released",
    )
    .await
}
