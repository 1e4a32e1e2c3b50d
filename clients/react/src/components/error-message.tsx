'use client';

import { formatCredits, formatPrice, isScripError, useBalance, useLocale, useMessages, type Price, type ScripError } from '@scrip-wallet/react';
import { useRef } from 'react';
import { CheckoutButton } from './checkout-button';

export interface ErrorMessageProps {
  error: ScripError | undefined;
  /** Offers to try again. */
  onRetry?: () => void;
  className?: string;
}

/** What went wrong, in words of the provider or the service's own. Where credits are missing it offers the prices that
 * would cover them, until there are enough. */
export function ErrorMessage(props: ErrorMessageProps) {
  const { error } = props;
  if (!error) return null;
  return isScripError(error, 'insufficient_credits') ? <Refusal {...props} error={error} /> : <Alert {...props} error={error} />;
}

/** Where enough credits came since, what it says is over. */
function Refusal(props: ErrorMessageProps & { error: ScripError & { productId: string; requested: number } }) {
  const { error } = props;
  const { balance } = useBalance(error.productId);
  const before = useRef({ error, balance });
  if (before.current.error !== error || before.current.balance === undefined) before.current = { error, balance };
  // A balance that was known before the refusal may be out of date.
  const isOver = balance !== undefined && balance !== before.current.balance && balance >= error.requested;
  return isOver ? null : <Alert {...props} />;
}

function Alert({ error, onRetry, className }: ErrorMessageProps & { error: ScripError }) {
  const { messages, say } = useMessages();
  return (
    <div role="alert" className={`scrip scrip-error ${className ?? ''}`}>
      <p>{messages[`error.${error.code}`] ?? error.message}</p>
      {/* The service's log has it under this. */}
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
      {prices.map((price, at) => {
        // A subscription is no purchase: it says so, and how often it is paid.
        const name = price.label ?? formatCredits(price.creditsGranted, messages.credits, locale);
        const words = { name, price: formatPrice(price, locale, messages) };
        return (
          <li key={price.id}>
            <CheckoutButton priceId={price.id} secondary={at > 0}>{say(price.interval === 'one_time' ? 'buyFor' : 'subscribeFor', words)}</CheckoutButton>
          </li>
        );
      })}
    </ul>
  );
}
