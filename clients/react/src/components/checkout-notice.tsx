'use client';

import { formatCredits, useBalance, useCheckout, useLocale, useWallet, type Order } from '@scrip/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface CheckoutNoticeProps {
  /** Shown beside the thanks once it is paid, such as a `<RecoveryCode>`. */
  children?: ReactNode;
  /** Markup of your own. */
  render?: (order: Order) => ReactNode;
  className?: string;
}

/** Tells a buyer who came back from the checkout how it stands; nothing to anybody else. */
export function CheckoutNotice({ children, render, className }: CheckoutNoticeProps) {
  const { order, completing, completionError, complete } = useCheckout();
  const classes = `scrip scrip-notice ${className ?? ''}`;
  if (completionError) return <ErrorMessage error={completionError} onRetry={() => void complete()} className={className} />;
  if (completing || !order) return null;
  if (render) return <>{render(order)}</>;
  if (order.status === 'paid') {
    return (
      <div className={classes}>
        <Thanks order={order} />
        {order.code && <Elsewhere code={order.code} />}
        {children}
      </div>
    );
  }
  return (
    <div className={classes}>
      <p role="status">{(order.processing ? WORDS.processing : WORDS[order.status]) ?? WORDS.pending}</p>
    </div>
  );
}

// Not in plain quotes: shadcn's command takes such for class names, and takes out what is there twice.
const WORDS: Record<string, string> = {
  pending: `The payment is not confirmed yet. What you bought is yours as soon as it is.`,
  processing: `The payment is on its way, which may take days. What you bought is yours as soon as it arrives.`,
  failed: `The payment failed. Nothing was charged.`,
  expired: `The checkout was not completed in time. Nothing was charged.`,
  refunded: `This order was refunded.`,
};

function Thanks({ order }: { order: Order }) {
  const locale = useLocale();
  const { unit } = useBalance(order.productId);
  return (
    <p role="status">
      Payment received, thank you.
      {unit && ` You have ${formatCredits(order.balance, unit, locale)}.`}
    </p>
  );
}

/** The payment made a wallet while another one was opened here: nobody may lose either unasked. */
function Elsewhere({ code }: { code: string }) {
  const { wallet, redeem, pending, actionError } = useWallet();
  if (!wallet || wallet.code === code) return null;
  return (
    <div className="scrip-elsewhere">
      <p>
        What you bought is in a wallet of its own, and another one is open here. Keep both codes. The new one:
        <br />
        <code translate="no">{code}</code>
      </p>
      <button type="button" className="scrip-button" aria-busy={pending} disabled={pending} onClick={() => void redeem(code)}>
        Open it here
      </button>
      <ErrorMessage error={actionError} />
    </div>
  );
}
