//! Settings of a session besides the payment: trials, taxes, addresses, invoices, consent.

use crate::core::{billing::MAX_TRIAL_DAYS, prelude::*};

/// The least seconds to a trial's end.
const SOONEST_TRIAL_END: i64 = 48 * 3600;

const LOCALES: &str = "auto bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hr hu id it ja ko lt \
    lv ms mt nb nl pl pt pt-BR ro ru sk sl sv th tr vi zh zh-HK zh-TW";

fn check_locale(text: &str) -> Result<()> {
    if LOCALES.split(' ').any(|locale| locale == text) {
        return Ok(());
    }
    let (others, last) = LOCALES.rsplit_once(' ').unwrap_or_default();
    let others = others.replace(' ', ", ");
    let message = format!("Invalid locale: must be one of {others}, or {last}");
    Err(Refusal::param("locale", message))
}

/// The trial, and what happens after it without a card.
pub(super) fn trial(params: &Params, mode: Mode, now: i64) -> Result<Option<TrialOffer>> {
    const METHOD: &str = "payment_method_collection";
    const DAYS: &str = "subscription_data[trial_period_days]";
    const END: &str = "subscription_data[trial_end]";
    let collection = params.word(METHOD, &["always", "if_required"])?;
    let message = "`payment_method_collection` can only be used in `subscription` mode.";
    Refusal::param(METHOD, message).when(collection.is_some() && mode != Mode::Subscription)?;
    if mode != Mode::Subscription {
        return Ok(None);
    }
    let path = "subscription_data[trial_settings][end_behavior][missing_payment_method]";
    let cardless = params.choice(path)?.unwrap_or(WithoutCard::CreateInvoice);
    let days = params.integer::<i64>(DAYS)?;
    let until = params.integer::<i64>(END)?;
    Refusal::exclusive(DAYS, "trial_end, trial_period_days")
        .when(days.is_some() && until.is_some())?;
    let message = "The minimum number of trial period days is 1.";
    Refusal::param(DAYS, message)
        .with_code("parameter_invalid_integer")
        .when(days.is_some_and(|days| days < 1))?;
    let message = format!("The maximum number of trial period days is {MAX_TRIAL_DAYS} (2 years).");
    Refusal::param(DAYS, message).when(days.is_some_and(|days| days > MAX_TRIAL_DAYS))?;
    let message = "The `trial_end` date has to be at least 2 days in the future.";
    Refusal::param(END, message)
        .when(until.is_some_and(|until| until < now.saturating_add(SOONEST_TRIAL_END)))?;
    Ok((days.is_some() || until.is_some()).then_some(TrialOffer {
        days,
        until,
        cardless,
        no_card: collection == Some("if_required"),
    }))
}

pub(super) fn options(params: &Params, mode: Mode, has_customer: bool) -> Result<CheckoutOptions> {
    let on = |path: &str| Ok::<_, Refusal>(params.flag(path)? == Some(true));
    let locale = params.text("locale")?;
    if let Some(text) = &locale {
        check_locale(text)?;
    }
    let tax = on("automatic_tax[enabled]")?;
    let tax_ids = on("tax_id_collection[enabled]")?;
    params.word("tax_id_collection[required]", &["if_supported", "never"])?;
    let saves = |field: &str| {
        let path = format!("customer_update[{field}]");
        let word = params.word(&path, &["auto", "never"])?;
        let message = "`customer_update` can only be used with `customer`.";
        Refusal::param("customer_update", message).when(word.is_some() && !has_customer)?;
        Ok(word == Some("auto"))
    };
    let (address, name, shipping) = (saves("address")?, saves("name")?, saves("shipping")?);
    let message = "Automatic tax calculation in Checkout requires a valid address on the \
                   Customer. Add a valid address to the Customer or set either \
                   `customer_update[address]` to 'auto' or `customer_update[shipping]` to 'auto' \
                   to save the address entered in Checkout to the Customer.";
    Refusal::invalid(message)
        .with_code("customer_tax_location_invalid")
        .when(tax && has_customer && !address && !shipping)?;
    let message = "Tax ID collection requires updating business name on the customer. To enable \
                   tax ID collection for an existing customer, please set \
                   `customer_update[name]` to `auto`.";
    Refusal::invalid(message).when(tax_ids && has_customer && !name)?;
    let billing = params.word("billing_address_collection", &["auto", "required"])?;
    let invoice = on("invoice_creation[enabled]")?;
    let message = "You can only enable invoice creation when `mode` is set to `payment`. Invoices \
                   are created automatically when `mode` is set to `subscription`.";
    Refusal::param("invoice_creation", message).when(invoice && mode != Mode::Payment)?;
    params.metadata("invoice_creation[invoice_data][metadata]")?;
    params.bounded("invoice_creation[invoice_data][description]", 500)?;
    let terms = params.word(
        "consent_collection[terms_of_service]",
        &["none", "required"],
    )?;
    Ok(CheckoutOptions {
        locale,
        tax,
        tax_ids,
        billing: billing.map(Into::into),
        invoice,
        terms: terms == Some("required"),
    })
}
