'use client';

import { formatInstant, formatMoney, useLocale, useMessages, useTimeZone, useWallet, type Subscription } from '@scrip-wallet/react';
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
export function OpenInvoice({ children, render, className }: OpenInvoiceProps) {
  const locale = useLocale();
  const timeZone = useTimeZone();
  const { say } = useMessages();
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
          {say('invoice', { amount: formatMoney(bill.amountCents, bill.currency, locale), plan: subscription.label ?? say('yourSubscription') })}
          {bill.nextAttemptAt && ` ${say('invoiceAgain', { when: formatInstant(bill.nextAttemptAt, locale, timeZone) })}`}
        </p>
        <a className="scrip-button" href={bill.url} rel="noreferrer">
          {children ?? say('payNow')}
        </a>
      </div>
    );
  });
}
