'use client';

import { useBalance, useFeature, useLocale, useMessages, useWallet, formatCredits } from '@scrip-wallet/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';
import { PricingTable, type PricingTableProps } from './pricing-table';

export interface PaywallProps {
  children: ReactNode;
  /** The feature that opens it. */
  feature?: string;
  /** Or so many credits, at least. */
  credits?: number;
  /** Whose credits; the first product that holds any when left out. */
  productId?: string;
  /** Shown instead of the children while it is closed; what would open it when left out. */
  fallback?: ReactNode;
  /** Goes with each checkout. */
  checkout?: PricingTableProps['checkout'];
  /** What features are called, by their slugs. */
  features?: PricingTableProps['features'];
  className?: string;
}

/** Shows its children to users who have the feature or the credits, and to others the prices that bring them. It only
 * hides what is in the page: work that costs you money belongs behind a server. */
export function Paywall({ children, feature, credits, productId, fallback, checkout, features, className }: PaywallProps) {
  const { loading, error, refresh } = useWallet();
  const { enabled } = useFeature(feature ?? '');
  const balance = useBalance(productId);
  const locale = useLocale();
  const { messages, say } = useMessages();
  const classes = `scrip scrip-paywall ${className ?? ''}`;
  const waiting = loading || (credits !== undefined && balance.loading);
  if (waiting) return <p role="status" className={classes}>{say('loading')}</p>;
  const failure = feature !== undefined && !enabled ? error : credits !== undefined ? balance.error : undefined;
  if (failure) return <ErrorMessage error={failure} onRetry={() => void refresh()} className={className} />;
  const open = (feature === undefined || enabled) && (credits === undefined || (balance.balance ?? 0) >= credits);
  if (open) return <>{children}</>;
  if (fallback !== undefined) return <>{fallback}</>;
  return (
    <div className={classes}>
      <p>
        {feature !== undefined && !enabled
          ? say('notPart')
          : say('needs', {
              need: formatCredits(credits ?? 0, balance.unit ?? messages.credits, locale),
              have: formatCredits(balance.balance ?? 0, null, locale),
            })}
      </p>
      <PricingTable
        level={3}
        checkout={checkout}
        features={features}
        filter={(price, product) =>
          feature !== undefined && !enabled
            ? price.features.includes(feature)
            : price.creditsGranted > 0 && (price.creditsProductId ?? product.id) === balance.productId
        }
      />
    </div>
  );
}
