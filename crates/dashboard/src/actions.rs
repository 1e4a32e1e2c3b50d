//! Manual changes of a wallet: grants and deducts credits, grants and revokes features, releases holds. Each
//! needs a reason and a confirmation, and is applied once however often its form is sent.

use actors::{Address, FeatureSource, HoldAccess, WalletView};
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    Amount, Timestamp,
    id::{ProductId, WalletKey},
    text::{Feature, IdempotencyKey, Meta},
    wallet::{
        ProductRef, credit::Credit, deduct::Deduct, feature::FeatureAction, shortfall::OnShortfall,
    },
};
use edge::Support;
use identity::{OutgoingValue, Privilege};
use maud::{Markup, html};
use uuid::Uuid;
use wire::{Error, ErrorCode};

use super::{
    admission,
    catalog::product_name,
    confirm::confirm,
    fields::{CONFIRMED, Fields, KEY},
    form::{self, FieldLabel, Form},
    layout::{At, Tab},
    money::grouped,
    page_request::{FormPost, PageRequest},
    verbatim::verbatim,
    wallets::{head, name, owner, path, wallet},
};
use crate::state::App;

const MAX_REASON: usize = 300;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Grant,
    Deduct,
}

impl Way {
    /// The last part of the form's path, the verb, its preposition, and its past.
    const fn words(self) -> [&'static str; 4] {
        match self {
            Self::Grant => ["grant", "Grant", "to", "Granted"],
            Self::Deduct => ["deduct", "Deduct", "from", "Deducted"],
        }
    }
}

struct CreditForm {
    product: ProductId,
    amount: Amount,
    reason: String,
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
pub(super) async fn grant(app: State<App>, posted: FormPost<Support>) -> Result<Response, Error> {
    move_credits(app, posted, Way::Grant).await
}

/// `POST …/wallets/{wallet}/deduct`: deducts credits.
pub(super) async fn deduct(app: State<App>, posted: FormPost<Support>) -> Result<Response, Error> {
    move_credits(app, posted, Way::Deduct).await
}

async fn move_credits(
    State(app): State<App>,
    posted: FormPost<Support>,
    way: Way,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let (scope, page_path) = (&project.scope, path(&project, wallet));
    let [action, verb, to_or_from, did] = way.words();
    let address = Address::Stored(wallet);
    let view = app.handle.read(scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    let again = |error: Error| {
        let (form, title) = (Form::new(&fields, Some(&error)), format!("{verb} credits"));
        let body = html! {
            (head(&project, &view, &title))
            section.card { (credit_form(&request, &project, &page_path, way, form)) }
        };
        form.response(Tab::Wallets.page(&request, &project, &title, &body))
    };
    let parsed = match parse_credit_form(&fields, &project, app.handle.now_in(scope)) {
        Ok(parsed) => parsed,
        Err(error) => return Ok(again(error)),
    };
    let CreditForm {
        product,
        amount,
        reason,
        key,
        expires_at,
    } = parsed;
    let credits = grouped(amount.get());
    let value = (way == Way::Grant).then(|| OutgoingValue::Grant {
        wallet,
        product,
        credits: amount.get(),
        expires_at: expires_at.map(|at| at.0),
    });
    if !fields.is_on(CONFIRMED) {
        let of = product_name(&project, product);
        let title = format!("{verb} {credits} {of} {to_or_from} {}?", owner(&view));
        let notice = value.map(|value| admission::notice(&request, &project, &value));
        let facts = html! { (about(&fields, &view)) (notice.unwrap_or_default()) };
        let at = At::Project(&project, Tab::Wallets);
        let paths = (&*format!("{page_path}/{action}"), &*page_path);
        return Ok(confirm(&request, at, &fields, paths, &title, &facts));
    }
    if let Some(value) = &value {
        let why = (reason.as_str(), key.as_str());
        match admission::admit(&app, &request, &project, value, why).await {
            Ok(None) => {}
            Ok(Some(pending)) => return Ok(pending),
            Err(error) => return Ok(again(error)),
        }
    }
    let meta = serde_json::json!({"reason": reason, "by": "dashboard"}).to_string();
    let meta = Some(Meta::new(meta).map_err(|error| Error::text("reason", error))?);
    let applied = match way {
        Way::Grant => {
            let command = Credit {
                product,
                amount,
                expires_at,
                key,
                meta,
            };
            app.handle.credit(scope, &address, command).await
        }
        Way::Deduct => {
            let command = Deduct {
                product: ProductRef::Named(product),
                amount,
                key,
                meta,
                on_shortfall: OnShortfall::Refuse,
            };
            let outcome = app.handle.deduct(scope, &address, command).await;
            app.edge.metrics.deducted(outcome.as_ref());
            outcome
        }
    };
    match applied {
        Ok(applied) if applied.replayed => Ok(request.done_before(&page_path)),
        Ok(_) => {
            let what = format!("{did} {credits} of {product} in {}: {reason}", view.id);
            Ok(request.done(&page_path, &did.to_lowercase(), what))
        }
        Err(error) => Ok(again(Error::from_wallet(error, &project))),
    }
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
        reason: reason(fields)?,
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
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let (scope, page_path) = (&project.scope, path(&project, wallet));
    let read = || {
        let slug = fields.text("feature");
        let wanted = "A slug of 1 to 100 letters, digits and . _ : -";
        let feature = Feature::new(slug).map_err(|_| Error::invalid("feature", wanted))?;
        Ok((feature, reason(&fields)?))
    };
    let address = Address::Stored(wallet);
    let detail = app.handle.inspect(scope, &address, 0).await;
    let detail = detail.map_err(|error| Error::from_wallet(error, &project))?;
    let view = &detail.view;
    let (feature, reason) = match read() {
        Ok(read) => read,
        Err(error) => {
            let form = Form::new(&fields, Some(&error));
            let body = html! {
                (head(&project, view, "Features"))
                section.card { (feature_form(&request, &page_path, form)) }
            };
            let page = Tab::Wallets.page(&request, &project, "Features", &body);
            return Ok(form.response(page));
        }
    };
    let (action, [verb, to_or_from, did, message]) = match fields.text("action") {
        "grant" => (
            FeatureAction::Grant,
            ["Grant", "to", "Granted", "feature_granted"],
        ),
        "revoke" => (
            FeatureAction::Revoke,
            ["Revoke", "from", "Revoked", "feature_revoked"],
        ),
        _ => return Err(Error::missing("action")),
    };
    let slug = feature.as_str().to_owned();
    let sources = detail.access.get(&slug);
    let is_granted = sources.is_some_and(|all| all.contains(&FeatureSource::Manual));
    if is_granted == (action == FeatureAction::Grant) {
        return Ok(request.done_before(&page_path));
    }
    if !fields.is_on(CONFIRMED) {
        let title = format!("{verb} the feature {slug} {to_or_from} {}?", owner(view));
        let (at, facts) = (At::Project(&project, Tab::Wallets), about(&fields, view));
        let paths = (&*format!("{page_path}/feature"), &*page_path);
        return Ok(confirm(&request, at, &fields, paths, &title, &facts));
    }
    let set = app.handle.set_feature(scope, &address, feature, action);
    set.await
        .map_err(|error| Error::from_wallet(error, &project))?;
    let what = format!("{did} feature {slug} in {}: {reason}", view.id);
    Ok(request.done(&page_path, message, what))
}

/// `POST …/wallets/{wallet}/release`: releases a hold.
pub(super) async fn release(
    State(app): State<App>,
    posted: FormPost<Support>,
) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    let project = request.project(&app)?;
    let wallet = wallet(&request)?;
    let hold = fields.parsed("holdId", "a hold")?;
    let hold: domain::id::HoldId = hold.ok_or_else(|| Error::missing("holdId"))?;
    if hold.wallet != wallet {
        return Err(Error::new(ErrorCode::HoldNotFound));
    }
    let address = Address::Stored(wallet);
    let view = app.handle.read(&project.scope, &address).await;
    let view = view.map_err(|error| Error::from_wallet(error, &project))?;
    let page_path = path(&project, wallet);
    if !fields.is_on(CONFIRMED) {
        let at = At::Project(&project, Tab::Wallets);
        let paths = (&*format!("{page_path}/release"), &*page_path);
        let facts = html! { dl {
            div { dt { "Wallet" } dd { (name(&view)) } }
            div { dt { "Hold" } dd { code { (hold) } } }
            div { dt { "What happens" } dd { "The credits can be spent again, except for what was drawn; the hold can no longer be settled." } }
        } };
        let title = "Release this hold?";
        return Ok(confirm(&request, at, &fields, paths, title, &facts));
    }
    let access = HoldAccess::All;
    let released = app.handle.release(&project.scope, access, hold).await;
    let released = released.map_err(|error| Error::from_wallet(error, &project))?;
    if released.replayed {
        return Ok(request.done_before(&page_path));
    }
    let what = format!("Released hold {hold} of {}", view.id);
    Ok(request.done(&page_path, "released", what))
}

/// The wallet's id for the audit log.
pub(super) async fn called(app: &App, project: &ProjectCatalog, address: &Address) -> String {
    let view = app.handle.read(&project.scope, address).await;
    view.map_or_else(|_| "a wallet".into(), |view| view.id.to_string())
}

fn about(fields: &Fields, wallet: &WalletView) -> Markup {
    html! { dl {
        div { dt { "Wallet" } dd { (name(wallet)) } }
        div { dt { "Reason" } dd { (verbatim(fields.text("reason"))) } }
        @if let Some(day) = fields.some("expiresAt") { div { dt { "Last day" } dd { (day) } } }
    } }
}
