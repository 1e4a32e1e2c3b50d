'use client';

import { formatBrand, useMessages, usePaymentMethod, useScrip, type PaymentMethodState, type SavedCard } from '@scrip-wallet/react';
import { useId, useRef, useState, type ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface PaymentMethodProps {
  /** Where the provider's page leads back to; this page when left out. */
  returnUrl?: string;
  /** Markup of your own. */
  render?: (state: PaymentMethodState) => ReactNode;
  className?: string;
}

/** The card that may be charged without its owner, for users who are signed in: to be added, replaced or removed. */
export function PaymentMethod({ returnUrl, render, className }: PaymentMethodProps) {
  const state = usePaymentMethod();
  const { bySession } = useScrip();
  const { say } = useMessages();
  const [removing, setRemoving] = useState(false);
  const [removed, setRemoved] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const warning = useId();
  const { card, arriving, loading, error, refresh, setUp, remove, pending, actionError } = state;
  if (!bySession) return null;
  if (render) return <>{render(state)}</>;
  const classes = `scrip scrip-card ${className ?? ''}`;
  if (loading) return <p role="status" className={classes}>{say('loading')}</p>;
  if (error) return <ErrorMessage error={error} onRetry={() => void refresh()} className={className} />;
  if (card === undefined) return null;
  const enter = () => {
    setRemoved(false);
    void setUp({ returnUrl });
  };
  const confirm = async () => {
    if (!(await remove())) return;
    setRemoving(false);
    setRemoved(true);
    // The button is gone with the card.
    whole.current?.focus();
  };
  const keep = () => {
    setRemoving(false);
    opener.current?.focus();
  };
  return (
    <div ref={whole} role="group" aria-label={say('paymentMethod')} tabIndex={-1} className={classes}>
      {card ? <Card card={card} /> : !arriving && <p>{say('noCard')}</p>}
      <p role="status" className="scrip-muted">{arriving ? say('cardArriving') : removed && !card ? say('cardRemoved') : ''}</p>
      <p className="scrip-actions">
        <button type="button" className={`scrip-button ${card ? '' : 'scrip-primary'}`} aria-busy={pending} disabled={pending} onClick={enter}>
          {say(pending ? 'opening' : card ? 'replaceCard' : 'addCard')}
        </button>
        {card && (
          <button ref={opener} type="button" className="scrip-button" aria-expanded={removing} disabled={pending} onClick={() => setRemoving(!removing)}>
            {say('removeCard')}
          </button>
        )}
      </p>
      {card && removing && (
        <div role="group" aria-labelledby={warning} className="scrip-actions">
          <p id={warning}>{say('removeCardWarning')}</p>
          <button type="button" className="scrip-button" aria-busy={pending} disabled={pending} onClick={() => void confirm()}>
            {say('removeIt')}
          </button>
          <button type="button" className="scrip-button" disabled={pending} onClick={keep}>
            {say('keepIt')}
          </button>
        </div>
      )}
      <ErrorMessage error={actionError} />
    </div>
  );
}

const MONTH_MS = 31 * 86_400_000;

function Card({ card }: { card: SavedCard }) {
  const { brand, last4, expMonth, expYear } = card;
  const { say } = useMessages();
  const name = say('card', { brand: formatBrand(brand), last4 });
  // It may be used until its month is over.
  const leftMs = Date.UTC(expYear, expMonth) - Date.now();
  return (
    <>
      <p>{say('cardUntil', { card: name, expiry: `${String(expMonth).padStart(2, '0')}/${expYear}` })}</p>
      {leftMs < MONTH_MS && <p className="scrip-warning">{say(leftMs > 0 ? 'cardExpires' : 'cardExpired')}</p>}
    </>
  );
}
