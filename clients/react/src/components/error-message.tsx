'use client';

import { formatCredits, formatPrice, isScripError, useBalance, useLocale, useMessages, type Price, type ScripError } from '@scrip-wallet/react';
import { useRef } from 'react';
import { CheckoutButton } from './checkout-button';

export interface ErrorMessageProps {
  error: ScripError | undefined;
  /** Offers to try again. */
  onRetry?: () => void;
  /** Opens the checkouts that it offers in a window of their own instead of leaving the page. */
  popup?: boolean;
  className?: string;
}

/** What went wrong, in words of the provider or the service's own. Where credits are missing it offers the prices that
 * would cover them, until there are enough. */
export function ErrorMessage({ error, ...more }: ErrorMessageProps) {
  if (!error) return null;
  // Of another refusal another balance is remembered.
  return isScripError(error, 'insufficient_credits') ? <Refusal key={error.requestId} error={error} {...more} /> : <Alert error={error} {...more} />;
}

type AlertProps = ErrorMessageProps & { error: ScripError };

/** Gone once enough credits came. */
function Refusal(props: AlertProps & { error: { productId: string; requested: number } }) {
  const { balance = -1 } = useBalance(props.error.productId);
  const before = useRef(balance);
  // The balance that was known before the refusal may be out of date.
  if (before.current < 0) before.current = balance;
  return balance !== before.current && balance >= props.error.requested ? null : <Alert {...props} />;
}

function Alert({ error, onRetry, popup, className }: AlertProps) {
  const { messages, say } = useMessages();
  return (
    <div role="alert" className={`scrip scrip-error ${className ?? ''}`}>
      <p>{messages[`error.${error.code}`] ?? error.message}</p>
      {/* The service's log has it under this. */}
      {error.status >= 500 && error.requestId && <p className="scrip-muted">{say('reference', { id: error.requestId })}</p>}
      {isScripError(error, 'insufficient_credits') && <Offers prices={error.prices ?? []} popup={popup} />}
      {onRetry && (
        <button type="button" className="scrip-button" onClick={onRetry}>
          {say('tryAgain')}
        </button>
      )}
    </div>
  );
}

function Offers({ prices, popup }: { prices: readonly Price[]; popup: boolean | undefined }) {
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
            <CheckoutButton priceId={price.id} popup={popup} secondary={at > 0}>{say(price.interval === 'one_time' ? 'buyFor' : 'subscribeFor', words)}</CheckoutButton>
          </li>
        );
      })}
    </ul>
  );
}
