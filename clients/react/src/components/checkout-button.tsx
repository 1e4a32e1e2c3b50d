'use client';

import { useCheckout, useMessages, type CheckoutInput, type CheckoutState, type Order } from '@scrip-wallet/react';
import type { ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface CheckoutButtonProps extends CheckoutInput {
  /** What the button says. */
  children?: ReactNode;
  /** Names it where its words alone do not, such as one of many that say "Buy". */
  label?: string;
  /** In a window of its own instead of leaving the page. */
  popup?: boolean;
  /** Of many buttons, one that is not the first choice. */
  secondary?: boolean;
  /** Called with the order once it is final; with `popup` only. */
  onOrder?: (order: Order) => void;
  /** Markup of your own. */
  render?: (state: CheckoutState & { buy: () => void }) => ReactNode;
  className?: string;
}

/** Leads to the checkout of a price. */
export function CheckoutButton({
  children,
  label,
  popup = false,
  secondary = false,
  onOrder,
  render,
  className,
  ...input
}: CheckoutButtonProps) {
  const state = useCheckout();
  const { say } = useMessages();
  const buy = () => {
    if (!popup) return void state.checkout(input);
    void state.popup(input).then((order) => order && onOrder?.(order));
  };
  if (render) return <>{render({ ...state, buy })}</>;
  return (
    <span className={`scrip scrip-checkout ${className ?? ''}`}>
      <button
        type="button"
        className={`scrip-button ${secondary ? '' : 'scrip-primary'}`}
        // While it is busy, its own words are its name.
        aria-label={state.pending ? undefined : label}
        aria-busy={state.pending}
        disabled={state.pending}
        onClick={buy}
      >
        {state.pending ? say('openingCheckout') : (children ?? say('buy'))}
      </button>
      {/* A buyer who closed the window or came back knows that nothing was paid. */}
      {state.error && !LEFT.has(state.error.code) && <ErrorMessage error={state.error} />}
    </span>
  );
}

const LEFT = new Set(['checkout_closed', 'aborted']);
