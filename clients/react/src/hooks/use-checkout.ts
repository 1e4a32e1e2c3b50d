import type { CheckoutInput, Order, ScripError } from '@scrip-wallet/browser';
import { useCallback } from 'react';
import { useMessages, useShared } from '../provider';
import { withoutReturn } from '../store/store';
import { useAction, type Action } from './use-action';
import { useResource } from './use-resource';

export type { CheckoutInput };

export interface CheckoutState extends Action {
  /** Leads the buyer to the checkout, and back to this page where no `successUrl` is given. */
  readonly checkout: (input: CheckoutInput) => Promise<void>;
  /** The same in a window of its own; answers the order once it is final. To be called from a click. */
  readonly popup: (input: CheckoutInput) => Promise<Order | undefined>;
  /** The order that the buyer came back from; null where there is none, undefined until that is known. */
  readonly order: Order | null | undefined;
  /** Whether its payment is being waited for. */
  readonly completing: boolean;
  readonly completionError: ScripError | undefined;
  /** Waits for it: needed only on a success page with an address of your own, or to try again. */
  readonly complete: () => Promise<void>;
  /** Forgets the order, as a buyer does who closes the notice about it. */
  readonly dismiss: () => void;
}

/** Buying. The wallet is this browser's; where there is none, the payment makes one, whose code is kept here. */
export function useCheckout(): CheckoutState {
  const { store } = useShared();
  const { run, ...action } = useAction();
  const { openingCheckout: opening } = useMessages().messages;
  const { data, loading, error } = useResource(store.returned);
  const checkout = useCallback(
    async (input: CheckoutInput) => {
      // Back to this page as it is, also to what its fragment names.
      const cancelUrl = input.cancelUrl ?? withoutReturn(window.location.href);
      await run(() => store.client.redirectToCheckout({ ...input, cancelUrl }));
    },
    [store, run],
  );
  const popup = useCallback(
    // A buyer who closed the window waits for nothing, though what they did there may be known only later.
    (input: CheckoutInput) =>
      run((done) => store.client.checkoutPopup(input, { opening, onClose: done }).then((order) => store.arrived(order))),
    [store, run, opening],
  );
  const complete = useCallback(() => store.complete(), [store]);
  const dismiss = useCallback(() => store.returned.put(() => null), [store]);
  return { ...action, checkout, popup, order: data, completing: loading, completionError: error, complete, dismiss };
}
