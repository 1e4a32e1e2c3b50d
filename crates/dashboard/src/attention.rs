//! What a person has to do, at the top of a project's overview: the first steps, and what went wrong.

use actors::OrderState;
use domain::{catalog::EndpointStatus, time::DAY_SECONDS};
use identity::Approval;
use operations::backups::FinishedBackup;

use super::{
    catalog::{path, product_name},
    prelude::*,
    top_ups, wallets,
    webhooks::address,
};

/// The page about the server, which owners see.
const SYSTEM: &str = "/dashboard/system";
/// A backup that is older than this is too old, in seconds.
const BACKUP_SECONDS: i64 = 2 * 24 * 3600;

/// Wallets with several subscriptions to one product that are named.
const MAX_DOUBLED: usize = 5;

/// One thing to do, with the page where it is done.
struct Task {
    path: String,
    text: Markup,
}

/// The card; empty where nothing has to be done.
pub(super) async fn card(request: &PageRequest) -> Markup {
    let mut tasks = tasks(request);
    if !request.authority.may(Privilege::Own, None) {
        tasks.retain(|task| task.path != SYSTEM);
    }
    tasks.extend(doubled(&request.app, &request.project).await);
    let suspended = top_ups::task(request).await;
    tasks.extend(suspended.map(|(path, text)| Task { path, text }));
    let (handle, products) = (&request.app.handle, request.project.product_ids());
    let states = [OrderState::Disputed, OrderState::Processing];
    let totals = handle.order_totals_by_state(&request.project.scope, products, states);
    // If the books cannot be read, the list of orders shows why.
    let [disputed, processing] = totals.await.unwrap_or_default();
    let list = |state| format!("{}/orders?status={state}", base(&request.project));
    let orders = |count| if count == 1 { "order" } else { "orders" };
    for (status, count, what) in [
        (
            "disputed",
            disputed.count,
            [" disputed ", " to answer at the payment provider"],
        ),
        (
            "processing",
            processing.count,
            [" ", " whose payment is under way, as of a bank debit"],
        ),
    ] {
        if count > 0 {
            let [before, after] = what;
            tasks.push(Task {
                path: list(status),
                text: html! { (count) (before) (orders(count)) (after) },
            });
        }
    }
    if request.may(Privilege::Manage) {
        let (edge, id) = (&request.app.edge, request.project.project.id);
        let waiting = edge.people.approvals(id, edge.clock.now());
        let is_own = |it: &&Approval| it.is_of(&request.authority);
        let (own, others): (Vec<_>, Vec<_>) = waiting.iter().partition(is_own);
        let approved = own.iter().filter(|it| it.approved_by.is_some()).count();
        let others = others.iter().filter(|it| it.approved_by.is_none()).count();
        let path = layout::approvals(&request.project);
        if approved > 0 {
            let text = html! { (approved) @if approved == 1 { " secret key" } @else { " secret keys" } " that you asked for: approved" };
            let path = path.clone();
            tasks.insert(0, Task { path, text });
        }
        if others > 0 {
            let text = html! { (others) @if others == 1 { " request waits" } @else { " requests wait" } " for approval" };
            tasks.insert(0, Task { path, text });
        }
    }
    html! {
        @if !tasks.is_empty() {
            section.card.attention {
                h2 { "Action required" }
                ul { @for task in &tasks { li { a href=(task.path) { (task.text) } } } }
            }
        }
    }
}

/// The steps from an empty project to its first sale; nothing once something was sold.
pub(super) fn first_steps(project: &ProjectCatalog, has_sold: bool) -> Markup {
    let base = base(project);
    let product = project.products().next();
    let priced = project
        .products()
        .find(|it| project.prices(&it.id).next().is_some());
    let prices = priced
        .or(product)
        .map(|it| format!("{}/prices", path(project, it)));
    let is_used = project
        .keys()
        .any(|key| project.key_last_used(&key.id).is_some());
    let steps = [
        (
            project.has_provider(),
            "Choose a payment provider",
            "The sandbox takes no money: begin with it. Stripe comes later.",
            format!("{base}/settings#payments"),
        ),
        (
            product.is_some(),
            "Create a product",
            "What you sell: credits, a subscription, or a feature.",
            format!("{base}/catalog/new"),
        ),
        (
            priced.is_some(),
            "Give it a price",
            "What buyers pay, and what they get for it.",
            prices.unwrap_or_else(|| format!("{base}/catalog/new")),
        ),
        (
            is_used,
            "Call the API with a key",
            "The secret key is for your server; create another if you lost it.",
            format!("{base}/keys"),
        ),
        (
            has_sold,
            "Sell it",
            "Begin a checkout and pay it, as the quick start shows.",
            "/docs/quick-start".to_owned(),
        ),
    ];
    let next = steps.iter().position(|(is_done, ..)| !is_done);
    html! { @if !has_sold && !project.project.archived {
        section.card.steps {
            h2 { "From here to the first sale" }
            ol { @for (at, (is_done, what, why, path)) in steps.iter().enumerate() {
                li.ticked[*is_done] aria-current=[(next == Some(at)).then_some("step")] {
                    a href=(path) { (what) } @if *is_done { span.hidden { " (done)" } }
                    @if !is_done { p.hint { (why) } }
                }
            } }
        }
    } }
}

/// Wallets that pay for several subscriptions to one product. A list that cannot be read now is left out.
async fn doubled(app: &App, project: &ProjectCatalog) -> Vec<Task> {
    let (wallets, besides) = match app.payments.doubled().of(project, MAX_DOUBLED).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "Wallets with several subscriptions to one product cannot be listed now");
            return Vec::new();
        }
    };
    let mut tasks = Vec::with_capacity(wallets.len());
    for wallet in &wallets {
        let mut products: Vec<_> = wallet.subscriptions.iter().map(|it| it.product).collect();
        products.dedup();
        let names: Vec<_> = products
            .iter()
            .map(|it| product_name(project, *it))
            .collect();
        let text = html! {
            @match &wallet.user { Some(user) => (verbatim(user.as_str())), None => (wallet.id) }
            " pays for " (wallet.subscriptions.len()) " subscriptions to " (names.join(" and "))
            ": cancel those that were not meant, and refund them"
        };
        let path = wallets::path(project, wallet.key);
        tasks.push(Task { path, text });
    }
    if besides > 0 {
        let text = html! { (besides) " more wallets pay for several subscriptions to one product" };
        let path = format!("{}/wallets", base(project));
        tasks.push(Task { path, text });
    }
    tasks
}

fn tasks(request: &PageRequest) -> Vec<Task> {
    let base = base(&request.project);
    let id = request.project.project.id;
    let mut tasks = Vec::new();
    let mut add = |path: String, text: Markup| tasks.push(Task { path, text });
    let unfulfilled = request.app.payments.unfulfilled().count(Some(id));
    if unfulfilled > 0 {
        let text = html! { (unfulfilled) @if unfulfilled == 1 { " payment that no order was found for" } @else { " payments that no order was found for" } };
        add(format!("{base}/unfulfilled-payments"), text);
    }
    let proof = request.app.payments.reconciliations().status(id);
    let differs = proof.last.as_ref().filter(|last| !last.adds_up());
    if let Some(last) = differs {
        let text = html! { "The daily reconciliation found " (last.differences) " differences" };
        add(format!("{base}/unfulfilled-payments"), text);
    } else if proof.error.is_some() {
        let text = html! { "The daily reconciliation failed" };
        add(format!("{base}/unfulfilled-payments"), text);
    }
    for endpoint in request.project.endpoints() {
        let why = match endpoint.status {
            EndpointStatus::Failing => "accepted nothing for days",
            EndpointStatus::Gone => "answered 410 Gone",
            EndpointStatus::Active => {
                if let Some(since) = request.app.webhooks.health(endpoint.id).failing_since {
                    let text = html! { "Webhooks to " (verbatim(&address(request, endpoint))) " have all failed since " (layout::when(since)) };
                    add(format!("{base}/webhooks/{}", endpoint.id), text);
                }
                continue;
            }
            EndpointStatus::Off | EndpointStatus::Deleted => continue,
        };
        let text = html! { "Webhooks to " (verbatim(&address(request, endpoint))) " are disabled: it " (why) };
        add(format!("{base}/webhooks/{}", endpoint.id), text);
    }
    let mails = request.app.mails.report(id);
    let since = mails.unreachable_since;
    if let Some(since) = since.filter(|_| request.project.project.mails.is_on()) {
        let text = html! { "Mails to customers wait: the mail server has not been reached since " (layout::when(since)) };
        add(format!("{base}/mails#failed"), text);
    }
    let yesterday = request.app.handle.now().plus_seconds(-DAY_SECONDS);
    let failed = mails.failed.iter().filter(|mail| mail.at > yesterday);
    let failed = failed.count();
    if failed > 0 {
        let text = html! { (failed) @if failed == 1 { " mail to a customer failed today" } @else { " mails to customers failed today" } };
        add(format!("{base}/mails#failed"), text);
    }
    let backups = request.app.backups.status();
    let system = || SYSTEM.to_owned();
    if let Some(FinishedBackup { result: Err(_), .. }) = &backups.last {
        add(system(), html! { "The last backup failed" });
    }
    match (backups.last_good, request.app.backups.age_seconds()) {
        (Some(at), age) if age > BACKUP_SECONDS => {
            add(
                system(),
                html! { "The last backup is of " (layout::when(at)) },
            );
        }
        (None, _) => add(system(), html! { "There is no backup" }),
        _ => {}
    }
    if !request.app.payments.missing_permissions().is_empty() {
        add(system(), html! { "A provider's key lacks permissions" });
    }
    tasks
}
