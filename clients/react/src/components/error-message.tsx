'use client';

import { formatMoney, isScripError, useLocale, type ScripError } from '@scrip/react';
import { CheckoutButton } from './checkout-button';

export interface ErrorMessageProps {
  error: ScripError | undefined;
  /** Offers to try again. */
  onRetry?: () => void;
  className?: string;
}

/** What went wrong, in the service's own words. Where credits were wanting it offers what would cover them. */
export function ErrorMessage({ error, onRetry, className }: ErrorMessageProps) {
  if (!error) return null;
  return (
    <div role="alert" className={`scrip scrip-error ${className ?? ''}`}>
      <p>{error.message}</p>
      {/* What whoever runs the service finds it by in its log. */}
      {error.status >= 500 && error.requestId && <p className="scrip-muted">Reference: {error.requestId}</p>}
      {isScripError(error, 'insufficient_credits') && <Offers prices={error.prices ?? []} />}
      {onRetry && (
        <button type="button" className="scrip-button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

function Offers({ prices }: { prices: readonly { id: string; label?: string | null; amountCents: number; currency: string }[] }) {
  const locale = useLocale();
  if (prices.length === 0) return null;
  return (
    <ul className="scrip-offers" aria-label="What would be enough">
      {prices.map(({ id, label, amountCents, currency }) => (
        <li key={id}>
          <CheckoutButton priceId={id}>
            {`${label ?? 'Buy'} for ${formatMoney(amountCents, currency, locale)}`}
          </CheckoutButton>
        </li>
      ))}
    </ul>
  );
}
