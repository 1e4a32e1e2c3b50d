'use client';

import { formatInstant, formatMoney, useLocale, useWallet, type Subscription } from '@scrip/react';
import type { ReactNode } from 'react';

type Bill = NonNullable<Subscription['openInvoice']>;

export interface OpenInvoiceProps {
  /** What the link says. */
  children?: ReactNode;
  /** Markup of your own, for each bill. */
  render?: (bill: Bill, subscription: Subscription) => ReactNode;
  className?: string;
}

/** Bills of subscriptions that wait for the buyer: a card was declined, or its bank asks them to confirm. Else nothing. */
export function OpenInvoice({ children = 'Pay now', render, className }: OpenInvoiceProps) {
  const locale = useLocale();
  const { wallet } = useWallet();
  const open = wallet?.subscriptions.filter(({ openInvoice }) => openInvoice) ?? [];
  return open.map((subscription) => {
    const bill = subscription.openInvoice;
    if (!bill) return null;
    const key = `${subscription.productId} ${bill.url}`;
    if (render) return <div key={key}>{render(bill, subscription)}</div>;
    return (
      <div key={key} role="status" className={`scrip scrip-notice ${className ?? ''}`}>
        <p>
          {`A payment of ${formatMoney(bill.amountCents, bill.currency, locale)} for ${subscription.label ?? 'your subscription'} did not go through.`}
          {bill.nextAttemptAt && ` It is tried again on ${formatInstant(bill.nextAttemptAt, locale)}.`}
        </p>
        <a className="scrip-button" href={bill.url} rel="noreferrer">
          {children}
        </a>
      </div>
    );
  });
}
