//! Subscriptions, invoices, and what pays them.

use serde_json::{Value, json};

use super::{View, inner_list, joined};
use crate::core::{
    books::Books,
    records::{
        Cardless, Invoice, InvoiceLine, InvoicePayment, InvoiceStatus, Price, Reason, Subscription,
    },
};

impl View for Subscription {
    fn view(&self, books: &Books) -> Value {
        let price = books
            .get::<Price>(&self.price)
            .map(|price| price.view(books));
        let item = json!({
            "id": self.item,
            "object": "subscription_item",
            "billing_thresholds": null,
            "created": self.head.created,
            "current_period_end": self.period_end,
            "current_period_start": self.period_start,
            "discounts": [],
            "metadata": {},
            "price": price,
            "quantity": self.quantity,
            "subscription": self.head.id,
            "tax_rates": [],
        });
        let url = format!("/v1/subscription_items?subscription={}", self.head.id);
        let first = json!({
            "id": self.head.id,
            "object": "subscription",
            "application": null,
            "application_fee_percent": null,
            "automatic_tax": { "disabled_reason": null, "enabled": false, "liability": null },
            "billing_cycle_anchor": self.anchor,
            "billing_cycle_anchor_config": null,
            "billing_mode": {
                "type": "flexible", "flexible": { "proration_discounts": "included" },
                "updated_at": self.head.created,
            },
            "billing_schedules": [],
            "billing_thresholds": null,
            "cancel_at": self.cancel_at_end.then_some(self.period_end),
            "cancel_at_period_end": self.cancel_at_end,
            "canceled_at": self.canceled_at,
            "cancellation_details": { "comment": null, "feedback": null, "reason": self.why_ended },
            "collection_method": "charge_automatically",
            "created": self.head.created,
            "currency": self.currency,
            "customer": self.customer,
            "customer_account": null,
            "days_until_due": null,
            "default_payment_method": null,
            "default_source": null,
            "default_tax_rates": [],
            "description": null,
        });
        let second = json!({
            "discounts": self.discount.iter().map(|discount| &discount.id).collect::<Vec<_>>(),
            "ended_at": self.ended_at,
            "invoice_settings": { "account_tax_ids": null, "issuer": { "type": "self" } },
            "items": inner_list(vec![item], &url),
            "latest_invoice": self.latest_invoice,
            "livemode": false,
            "managed_payments": null,
            "metadata": self.metadata,
            "next_pending_invoice_item_invoice": null,
            "on_behalf_of": null,
            "pause_collection": self.pause.as_ref().map(|pause| json!({
                "behavior": pause.behavior.word(), "resumes_at": pause.resumes_at,
            })),
            "payment_settings": {
                "payment_method_options": null, "payment_method_types": null,
                "save_default_payment_method": "off",
            },
            "pending_invoice_item_interval": null,
            "pending_setup_intent": null,
            "pending_update": null,
            "schedule": self.schedule,
            "start_date": self.head.created,
            "status": self.status.word(),
            "test_clock": null,
            "transfer_data": null,
            "trial_end": self.trial.as_ref().map(|trial| trial.end),
            "trial_settings": { "end_behavior": {
                "missing_payment_method":
                    self.trial.as_ref().map_or(Cardless::CreateInvoice, |trial| trial.cardless).word(),
            } },
            "trial_start": self.trial.as_ref().map(|trial| trial.start),
            "quantity": self.quantity,
        });
        joined(first, second)
    }
}

/// Where anybody who knows the address sees an invoice.
pub(crate) fn invoice_url(books: &Books, id: &str) -> String {
    format!("{}/invoices/{id}", books.base)
}

impl View for Invoice {
    fn view(&self, books: &Books) -> Value {
        let paid = self.status == InvoiceStatus::Paid;
        let draft = self.status == InvoiceStatus::Draft;
        // Those of before there were drafts were written out when they were made.
        let finalized = (!draft).then(|| self.finalized_at.unwrap_or(self.head.created));
        let url = (!draft).then(|| invoice_url(books, &self.head.id));
        let (total, amount_paid) = (self.total(), self.paid());
        let due = self.due_amount();
        let ended = |status: InvoiceStatus| self.ended_at.filter(|_| self.status == status);
        let reason = match self.reason {
            Reason::Create => "subscription_create",
            Reason::Cycle => "subscription_cycle",
            Reason::Update => "subscription_update",
            Reason::Manual => "manual",
        };
        let lines = self.lines.iter().map(|line| self.line(line)).collect();
        let start = self.lines.iter().map(|line| line.start).min();
        let end = self.lines.iter().map(|line| line.end).max();
        let first = json!({
            "id": self.head.id,
            "object": "invoice",
            "account_country": "US",
            "account_name": "Sandbox",
            "account_tax_ids": null,
            "amount_due": due,
            "amount_overpaid": 0,
            "amount_paid": amount_paid,
            "amount_remaining": due.saturating_sub(amount_paid),
            "amount_shipping": 0,
            "application": null,
            "attempt_count": self.attempts,
            "attempted": self.attempts > 0,
            "auto_advance": self.status == InvoiceStatus::Open || self.finalizes_at.is_some(),
            "automatic_tax": {
                "disabled_reason": null, "enabled": false, "liability": null, "provider": null,
                "status": null,
            },
            "automatically_finalizes_at": self.finalizes_at.filter(|_| draft),
            "billing_reason": reason,
            "collection_method": "charge_automatically",
            "created": self.head.created,
            "currency": self.currency,
            "custom_fields": null,
            "customer": self.customer,
            "customer_account": null,
            "customer_address": null,
            "customer_email": self.email,
            "customer_name": null,
            "customer_phone": null,
        });
        let second = json!({
            "customer_shipping": null,
            "customer_tax_exempt": "none",
            "customer_tax_ids": [],
            "default_payment_method": null,
            "default_source": null,
            "default_tax_rates": [],
            "description": null,
            "discounts": [],
            "due_date": null,
            "effective_at": finalized,
            "ending_balance": finalized.map(|_| self.balance_after()),
            "footer": null,
            "from_invoice": null,
            "hosted_invoice_url": url,
            "invoice_pdf": url.as_ref().map(|url| format!("{url}/pdf")),
            "issuer": { "type": "self" },
            "last_finalization_error": null,
            "latest_revision": null,
            "lines": inner_list(lines, &format!("/v1/invoices/{}/lines", self.head.id)),
            "livemode": false,
            "metadata": {},
        });
        let third = json!({
            "next_payment_attempt": self.next_attempt,
            "number": finalized.map(|_| self.number()),
            "on_behalf_of": null,
            "parent": self.of_subscription().then(|| json!({
                "type": "subscription_details",
                "quote_details": null,
                "subscription_details": {
                    "metadata": self.metadata, "subscription": self.subscription,
                },
            })),
            "payment_settings": {
                "default_mandate": null, "payment_method_options": null,
                "payment_method_types": null,
            },
            "period_end": end,
            "period_start": start,
            "post_payment_credit_notes_amount": 0,
            "pre_payment_credit_notes_amount": 0,
            "receipt_number": null,
            "rendering": null,
            "shipping_cost": null,
            "shipping_details": null,
            "starting_balance": self.balance,
            "statement_descriptor": null,
            "status": self.status.word(),
            "status_transitions": {
                "finalized_at": finalized,
                "marked_uncollectible_at": ended(InvoiceStatus::Uncollectible),
                "paid_at": self.paid_at.filter(|_| paid),
                "voided_at": ended(InvoiceStatus::Void),
            },
            "subtotal": self.subtotal(),
            "subtotal_excluding_tax": self.subtotal(),
            "test_clock": null,
            "total": total,
            "total_discount_amounts": [],
            "total_excluding_tax": total,
            "total_pretax_credit_amounts": [],
            "total_taxes": [],
            "webhooks_delivered_at": null,
        });
        joined(joined(first, second), third)
    }
}

impl Invoice {
    fn of_subscription(&self) -> bool {
        !self.subscription.is_empty()
    }

    /// What people call it.
    pub(crate) fn number(&self) -> String {
        format!("SANDBOX-{:06}", self.head.n)
    }

    fn line(&self, line: &InvoiceLine) -> Value {
        let parent = if self.of_subscription() {
            json!({
                "type": "subscription_item_details",
                "invoice_item_details": null,
                "subscription_item_details": {
                    "invoice_item": null,
                    "proration": line.proration,
                    "proration_details": { "credited_items": null },
                    "subscription": self.subscription,
                    "subscription_item": self.item,
                },
            })
        } else {
            json!({
                "type": "invoice_item_details",
                "invoice_item_details": {
                    "invoice_item": line.id.replace("il_", "ii_"),
                    "proration": false,
                    "proration_details": { "credited_items": null },
                    "subscription": null,
                },
                "subscription_item_details": null,
            })
        };
        json!({
            "id": line.id,
            "object": "line_item",
            "amount": line.amount,
            "currency": self.currency,
            "description": line.description,
            "discount_amounts": [],
            "discountable": !line.proration,
            "discounts": [],
            "invoice": self.head.id,
            "livemode": false,
            "metadata": {},
            "parent": parent,
            "period": { "start": line.start, "end": line.end },
            "pretax_credit_amounts": [],
            "pricing": {
                "type": "price_details",
                "price_details": { "price": line.price, "product": line.product },
                "unit_amount_decimal": line.amount.checked_div(line.quantity).map(|n| n.to_string()),
            },
            "quantity": line.quantity,
            "subtotal": line.amount,
            "taxes": [],
        })
    }
}

impl View for InvoicePayment {
    fn view(&self, _: &Books) -> Value {
        let paid = self.paid_at.is_some();
        json!({
            "id": self.head.id,
            "object": "invoice_payment",
            "amount_paid": paid.then_some(self.amount),
            "amount_requested": self.amount,
            "created": self.head.created,
            "currency": self.currency,
            "invoice": self.invoice,
            "is_default": true,
            "livemode": false,
            "payment": { "type": "payment_intent", "payment_intent": self.intent },
            "status": if paid { "paid" } else { "open" },
            "status_transitions": { "canceled_at": null, "paid_at": self.paid_at },
        })
    }
}
