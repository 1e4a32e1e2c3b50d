//! A buyer's receipts and invoices, as pages and as a plain PDF.

use maud::{Markup, html};

use super::Page;
use crate::core::prelude::*;

fn rows(rows: &[(String, String)]) -> Markup {
    html! {
        dl {
            @for (name, value) in rows {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

fn document(title: &str, shop: &str, body: &Markup) -> Page {
    let html = html! {
        main class="alone" { h1 { (title) } p { (shop) } (body) }
    };
    Page::new(&format!("{shop}: {title}"), &html, [])
}

pub(crate) fn receipt(charge: &Charge, shop: &str) -> Page {
    let mut lines = vec![
        ("Paid".into(), written(charge.amount, &charge.currency)),
        ("On".into(), date(charge.head.created)),
    ];
    if charge.amount_refunded > 0 {
        let back = written(charge.amount_refunded, &charge.currency);
        lines.push(("Refunded".into(), back));
    }
    document("Receipt", shop, &rows(&lines))
}

fn lines(invoice: &Invoice, db: &Database) -> Vec<(String, String)> {
    let amount = |amount: i64| written(amount, &invoice.currency);
    let lines = invoice.full_lines(db).into_iter();
    let mut shown: Vec<(String, String)> = lines
        .map(|line| (line.description, amount(line.amount)))
        .collect();
    if invoice.discount > 0 {
        let off = invoice.discount.saturating_neg();
        shown.push(("Discount".into(), amount(off)));
    }
    shown.push(("Total".into(), amount(invoice.total())));
    shown.push(("Paid".into(), amount(invoice.paid())));
    shown.push(("Status".into(), invoice.status.word().into()));
    shown.push(("Date".into(), date(invoice.head.created)));
    shown
}

pub(crate) fn invoice(invoice: &Invoice, db: &Database, shop: &str) -> Page {
    let body = html! {
        (rows(&lines(invoice, db)))
        p { a href={ (invoice_url(db, &invoice.head.id)) "/pdf" } { "View as PDF" } }
    };
    document(&format!("Invoice {}", invoice.number()), shop, &body)
}

pub(crate) fn pdf(invoice: &Invoice, db: &Database, shop: &str) -> Vec<u8> {
    let mut text = format!("BT /F1 12 Tf 60 780 Td 18 TL ({}) Tj T*\n", ascii(shop));
    text.push_str(&format!("(Invoice {}) Tj T*\n", ascii(&invoice.number())));
    for (name, value) in lines(invoice, db) {
        text.push_str(&format!("({}: {}) Tj T*\n", ascii(&name), ascii(&value)));
    }
    text.push_str("ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << \
         /F1 5 0 R >> >> >>"
            .to_owned(),
        format!(
            "<< /Length {} >>\nstream\n{text}\nendstream",
            text.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(file.len());
        file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let table = file.len();
    file.push_str("xref\n0 6\n0000000000 65535 f \n");
    for place in places {
        file.push_str(&format!("{place:010} 00000 n \n"));
    }
    file.push_str(&format!(
        "trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"
    ));
    file.into_bytes()
}

/// A text for a PDF, without characters that are not ASCII or would end it.
fn ascii(text: &str) -> String {
    let euros = text
        .replace('€', "EUR ")
        .replace('£', "GBP ")
        .replace('−', "-");
    euros
        .chars()
        .filter(|c| (c.is_ascii_graphic() || *c == ' ') && !matches!(c, '(' | ')' | '\\'))
        .collect()
}
