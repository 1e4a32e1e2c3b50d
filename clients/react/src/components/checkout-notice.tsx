'use client';

import { formatCredits, useBalance, useCheckout, useLocale, useMessages, useProducts, useScrip, useWallet, type Messages, type Order } from '@scrip-wallet/react';
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
  const client = useScrip();
  const { say } = useMessages();
  const classes = `scrip scrip-notice ${className ?? ''}`;
  if (completionError) return <ErrorMessage error={completionError} onRetry={() => void complete()} className={className} />;
  if (completing || !order) return null;
  if (render) return <>{render(order)}</>;
  if (order.status === 'paid') {
    return (
      <div className={classes}>
        <Thanks order={order} />
        {order.code && !client.isCodeKept && <Unkept code={order.code} />}
        {order.code && <Elsewhere code={order.code} />}
        {children}
      </div>
    );
  }
  return (
    <div className={classes}>
      <p role="status">{say(order.processing ? 'processing' : (WORDS[order.status] ?? 'pending'))}</p>
    </div>
  );
}

const WORDS: Record<string, keyof Messages> = { pending: 'pending', failed: 'failed', expired: 'expired', refunded: 'refunded' };

function Thanks({ order }: { order: Order }) {
  const locale = useLocale();
  const { say } = useMessages();
  const { wallet } = useWallet();
  const { products } = useProducts();
  // A plan's credits are often of another product.
  const price = products?.flatMap(({ prices }) => prices).find(({ id }) => id === order.priceId);
  const { unit, balance } = useBalance(price?.creditsProductId ?? order.productId);
  // What there is now, where it was bought for the wallet that is open here: the order knows only what there was.
  const isHere = !order.code || order.code === wallet?.code;
  return (
    <p role="status">
      {say('thanks')}
      {unit && ` ${say('youHave', { credits: formatCredits((isHere ? balance : undefined) ?? order.balance, unit, locale) })}`}
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

/** The payment made a wallet while another one was opened here: nobody may lose either unasked. */
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
