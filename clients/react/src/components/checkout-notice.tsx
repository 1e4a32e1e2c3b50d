'use client';

import { formatCredits, useBalance, useCheckout, useLocale, useMessages, useProducts, useScrip, useWallet, type Order } from '@scrip-wallet/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface CheckoutNoticeProps {
  /** Shown beside the thanks once it is paid, such as a `<RecoveryCode>`. */
  children?: ReactNode;
  /** Markup of your own. */
  render?: (order: Order) => ReactNode;
  className?: string;
}

/** Tells a buyer who came back from the checkout what became of the payment, until it is closed. Nothing for others. */
export function CheckoutNotice({ children, render, className }: CheckoutNoticeProps) {
  const { order, completing, completionError, complete, dismiss } = useCheckout();
  const client = useScrip();
  const { messages, say } = useMessages();
  if (completionError) return <ErrorMessage error={completionError} onRetry={() => void complete()} className={className} />;
  if (completing || !order) return null;
  if (render) return <>{render(order)}</>;
  const isPaid = order.status === 'paid';
  return (
    <div className={`scrip scrip-notice ${isPaid ? 'scrip-paid' : ''} ${className ?? ''}`}>
      {isPaid ? (
        <>
          <Thanks order={order} />
          {order.code && !client.isCodeKept && <Unkept code={order.code} />}
          {order.code && <Elsewhere code={order.code} />}
          {children}
        </>
      ) : (
        <p role="status">{say(order.processing ? 'processing' : order.status in messages ? (order.status as 'failed') : 'pending')}</p>
      )}
      <button type="button" className="scrip-close" aria-label={say('close')} onClick={dismiss}>
        ×
      </button>
    </div>
  );
}

function Thanks({ order }: { order: Order }) {
  const locale = useLocale();
  const { say } = useMessages();
  const { products } = useProducts();
  // A plan's credits are often of another product.
  const price = products?.flatMap(({ prices }) => prices).find(({ id }) => id === order.priceId);
  const { unit } = useBalance(price?.creditsProductId ?? order.productId);
  return (
    <p role="status">
      {say('thanks')}
      {/* When it was paid: what is spent later is no part of the thanks. */}
      {unit && ` ${say('youHave', { credits: formatCredits(order.balance, unit, locale) })}`}
    </p>
  );
}

/** Nothing is stored here: once this page is gone, so is the code. */
function Unkept({ code }: { code: string }) {
  const { say } = useMessages();
  return (
    <p>
      {say('unkept')}
      <br />
      <code translate="no">{code}</code>
    </p>
  );
}

/** The payment made a wallet while another one was opened here: neither may be lost without asking. */
function Elsewhere({ code }: { code: string }) {
  const { wallet, redeem, pending, actionError } = useWallet();
  const { say } = useMessages();
  if (!wallet?.code || wallet.code === code) return null;
  return (
    <div className="scrip-elsewhere">
      <p>
        {say('elsewhere')}
        <br />
        <code translate="no">{code}</code>
      </p>
      <button type="button" className="scrip-button" aria-busy={pending} disabled={pending} onClick={() => void redeem(code)}>
        {say('openHere')}
      </button>
      <ErrorMessage error={actionError} />
    </div>
  );
}
