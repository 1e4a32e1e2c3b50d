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
  /** Told of the order that came of it; with `popup` only. */
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
        className="scrip-button scrip-primary"
        // What it says while it is busy is said, too.
        aria-label={state.pending ? undefined : label}
        aria-busy={state.pending}
        disabled={state.pending}
        onClick={buy}
      >
        {state.pending ? say('openingCheckout') : (children ?? say('buy'))}
      </button>
      {/* Whoever closed the window, or came back, knows that nothing was paid. */}
      {state.error && !LEFT.has(state.error.code) && <ErrorMessage error={state.error} />}
    </span>
  );
}

const LEFT = new Set(['checkout_closed', 'aborted']);
