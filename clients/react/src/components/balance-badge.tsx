'use client';

import { formatCredits, useBalance, useLocale, useMessages, type BalanceState } from '@scrip-wallet/react';
import type { ReactNode } from 'react';

export interface BalanceBadgeProps {
  /** Whose credits; the first product that holds any when left out. */
  productId?: string;
  /** Markup of your own. */
  render?: (state: BalanceState) => ReactNode;
  className?: string;
}

/** How many credits there are to spend. Read out when it changes. */
export function BalanceBadge({ productId, render, className }: BalanceBadgeProps) {
  const state = useBalance(productId);
  const locale = useLocale();
  const { messages, say } = useMessages();
  if (render) return <>{render(state)}</>;
  const { balance, unit, error } = state;
  return (
    <span role="status" className={`scrip scrip-balance ${className ?? ''}`} aria-busy={state.loading}>
      {balance !== undefined ? formatCredits(balance, unit, locale) : error ? (messages[`error.${error.code}`] ?? error.message) : say('loadingBalance')}
    </span>
  );
}
