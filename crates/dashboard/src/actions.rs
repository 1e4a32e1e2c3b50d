//! Forms that change a wallet by hand: grant and deduct credits, grant and revoke features, release holds. Each needs a
//! reason and a confirmation, and is applied once however often its form is sent.

use domain::{
    id::{ProductId, WalletKey},
    text::Feature,
    wallet::{credit::Credit, feature::FeatureAction},
};
use operator::{Action, DeductCredits, GrantCredits, ReleaseHold, SetFeature, manual_note};
use uuid::Uuid;

use super::{
    prelude::*,
    wallets::{head, path, wallet, wallet_view},
};

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

pub(super) fn forms(request: &PageRequest, key: WalletKey) -> Markup {
    let page_path = path(&request.project, key);
    let fields = Fields::default()
        .with(KEY, Uuid::now_v7())
        .with_some("productId", request.project.only_credit_product());
    let form = Form::new(&fields, None);
    html! { @if request.may(Privilege::Support) {
        section.card #grant { h2 { "Grant credits" } (credit_form(request, &page_path, Way::Grant, form.called("grant-"))) }
        section.card #deduct { h2 { "Deduct credits" } (credit_form(request, &page_path, Way::Deduct, form.called("deduct-"))) }
        section.card #features { h2 { "Features" } (feature_form(request, &page_path, form.called("feature-"))) }
    } }
}

fn credit_form(request: &PageRequest, page_path: &str, way: Way, form: Form<'_>) -> Markup {
    let holding = request
        .project
        .products()
        .filter(|product| product.holds_credits());
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

pub(super) async fn grant(request: FormPost<GrantCredits>) -> PageResult {
    let action = |wallet, credit| GrantCredits { wallet, credit };
    move_credits(request, Way::Grant, action).await
}

pub(super) async fn deduct(request: FormPost<DeductCredits>) -> PageResult {
    let action = |wallet, credit: Credit| DeductCredits {
        wallet,
        product: credit.product,
        amount: credit.amount,
        key: credit.key,
        meta: credit.meta,
    };
    move_credits(request, Way::Deduct, action).await
}

async fn move_credits<A: Action>(
    request: FormPost<A>,
    way: Way,
    action: impl FnOnce(WalletKey, Credit) -> A,
) -> PageResult {
    let wallet = wallet(&request)?;
    let back = path(&request.project, wallet);
    let [_, verb, did] = way.words();
    let done = async {
        let action = action(wallet, credit(&request)?);
        request.run(action, &back, did).await
    };
    let form =
        |form: Form<'_>| html! { section.card { (credit_form(&request, &back, way, form)) } };
    let title = format!("{verb} credits");
    or_again(&request, done.await, wallet, &title, form).await
}

/// The answer to a form of a wallet's page; if it was refused, the form again.
pub(super) async fn or_again<P>(
    request: &FormPost<P>,
    answer: PageResult,
    wallet: WalletKey,
    title: &str,
    form: impl FnOnce(Form<'_>) -> Markup,
) -> PageResult {
    let error = match answer {
        Ok(answer) => return Ok(answer),
        Err(error) => error,
    };
    let view = wallet_view(request, wallet).await?;
    let again = Form::new(&request.fields, Some(&error));
    let body = html! { (head(&request.project, &view, title)) (form(again)) };
    Ok(again.response(request.show(title, &body)))
}

/// The credits that a form names, with their reason.
fn credit<P>(request: &FormPost<P>) -> Result<Credit, Error> {
    let (fields, project) = (&request.fields, &request.project);
    let product: ProductId = fields.required("productId", "a product of this project")?;
    let holds = project
        .product(&product)
        .is_some_and(|it| it.holds_credits());
    if !holds {
        return Err(Error::invalid(
            "productId",
            "This product holds no credits.",
        ));
    }
    let expires_at = fields.day_end("expiresAt")?;
    if expires_at.is_some_and(|at| at <= request.app.handle.now_in(&project.scope)) {
        return Err(Error::invalid("expiresAt", "That day is in the past."));
    }
    Ok(Credit {
        product,
        amount: fields.credits("amount")?,
        meta: manual_note(&reason(fields)?)?,
        key: fields.key()?,
        expires_at,
    })
}

fn reason(fields: &Fields) -> Result<String, Error> {
    let message = "Enter a reason of one line, at most 300 characters.";
    fields.line("reason", MAX_REASON, message)
}

pub(super) async fn feature(request: FormPost<SetFeature>) -> PageResult {
    let wallet = wallet(&request)?;
    let back = path(&request.project, wallet);
    let (action, message) = match request.fields.text("action") {
        "grant" => (FeatureAction::Grant, "feature_granted"),
        "revoke" => (FeatureAction::Revoke, "feature_revoked"),
        _ => return Err(Error::missing("action")),
    };
    let done = async {
        let wanted = "A slug of 1 to 100 letters, digits and . _ : -";
        let invalid = |_| Error::invalid("feature", wanted);
        let set = SetFeature {
            wallet,
            feature: Feature::new(request.fields.text("feature")).map_err(invalid)?,
            action,
            reason: reason(&request.fields)?,
        };
        request.run(set, &back, message).await
    };
    let form = |form: Form<'_>| html! { section.card { (feature_form(&request, &back, form)) } };
    or_again(&request, done.await, wallet, "Features", form).await
}

pub(super) async fn release(request: FormPost<ReleaseHold>) -> PageResult {
    let wallet = wallet(&request)?;
    let hold = request.fields.required("holdId", "a hold")?;
    let (release, back) = (ReleaseHold { wallet, hold }, path(&request.project, wallet));
    request.run(release, &back, "released").await
}
