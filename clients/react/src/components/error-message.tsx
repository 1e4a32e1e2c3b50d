'use client';

import { formatCredits, formatPrice, isScripError, useLocale, useMessages, type Price, type ScripError } from '@scrip-wallet/react';
import { CheckoutButton } from './checkout-button';

export interface ErrorMessageProps {
  error: ScripError | undefined;
  /** Offers to try again. */
  onRetry?: () => void;
  className?: string;
}

/** What went wrong, in words of the provider or the service's own. Where credits were wanting it offers what would cover them. */
export function ErrorMessage({ error, onRetry, className }: ErrorMessageProps) {
  const { messages, say } = useMessages();
  if (!error) return null;
  return (
    <div role="alert" className={`scrip scrip-error ${className ?? ''}`}>
      <p>{messages[`error.${error.code}`] ?? error.message}</p>
      {/* What whoever runs the service finds it by in its log. */}
      {error.status >= 500 && error.requestId && <p className="scrip-muted">{say('reference', { id: error.requestId })}</p>}
      {isScripError(error, 'insufficient_credits') && <Offers prices={error.prices ?? []} />}
      {onRetry && (
        <button type="button" className="scrip-button" onClick={onRetry}>
          {say('tryAgain')}
        </button>
      )}
    </div>
  );
}

function Offers({ prices }: { prices: readonly Price[] }) {
  const locale = useLocale();
  const { messages, say } = useMessages();
  if (prices.length === 0) return null;
  return (
    <ul className="scrip-offers" aria-label={say('offers')}>
      {prices.map((price) => {
        // A subscription is no purchase: it says so, and how often it is paid.
        const name = price.label ?? formatCredits(price.creditsGranted, messages.credits, locale);
        const words = { name, price: formatPrice(price, locale, messages) };
        return (
          <li key={price.id}>
            <CheckoutButton priceId={price.id}>{say(price.interval === 'one_time' ? 'buyFor' : 'subscribeFor', words)}</CheckoutButton>
          </li>
        );
      })}
    </ul>
  );
}
