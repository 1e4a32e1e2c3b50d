'use client';

import { formatCredits, useBalance, useEstimate, useLocale, useMessages, type EstimateState } from '@scrip-wallet/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface PriceEstimateProps {
  /** The rate card that prices it. */
  rateCard: string;
  /** What its rates match: `{ model: 'gpt-5' }`. */
  attributes?: Record<string, string>;
  /** How much of each unit. */
  quantities: Record<string, number>;
  /** Whose credits; the first product that holds any when left out. */
  productId?: string;
  /** Markup of your own. */
  render?: (state: EstimateState) => ReactNode;
  className?: string;
}

/** What a use would cost, and whether the wallet has enough. Read out when it changes. */
export function PriceEstimate({ rateCard, attributes, quantities, productId, render, className }: PriceEstimateProps) {
  const state = useEstimate({ rateCard, attributes, quantities });
  const { unit } = useBalance(productId);
  const locale = useLocale();
  const { messages, say } = useMessages();
  if (render) return <>{render(state)}</>;
  const { estimate, error, loading, refresh } = state;
  if (error) return <ErrorMessage error={error} onRetry={() => void refresh()} className={className} />;
  const { amount = 0, balance, affordable } = estimate ?? {};
  const words = { need: formatCredits(amount, unit ?? messages.credits, locale), have: formatCredits(balance ?? 0, null, locale) };
  return (
    <p role="status" className={`scrip scrip-estimate ${className ?? ''}`} aria-busy={loading}>
      {say(loading ? 'loading' : balance == null ? 'costs' : affordable ? 'affordable' : 'needs', words)}
    </p>
  );
}
