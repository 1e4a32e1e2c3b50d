import type { PaymentMethodInput, SavedCard, ScripError } from '@scrip-wallet/browser';
import { useCallback } from 'react';
import { useLocale, useShared } from '../provider';
import { afterCard } from '../store/store';
import { useAction } from './use-action';
import { useResource } from './use-resource';

export interface PaymentMethodState {
  /** The card on file; null where there is none, undefined until that is known, and where nobody is signed in. */
  readonly card: SavedCard | null | undefined;
  /** Whether the user just came back from entering one that is not here yet. */
  readonly arriving: boolean;
  readonly loading: boolean;
  /** Why it could not be read. */
  readonly error: ScripError | undefined;
  readonly refresh: () => Promise<void>;
  /** Leads to the provider's page where a card is entered, and back to this page where no `returnUrl` is given. */
  readonly setUp: (input?: PaymentMethodInput) => Promise<void>;
  /** Forgets the card, at the provider too; answers whether that was done. */
  readonly remove: () => Promise<true | undefined>;
  /** Whether one of the above is under way, and why the last of them failed. */
  readonly pending: boolean;
  readonly actionError: ScripError | undefined;
  readonly reset: () => void;
}

/** The card of the user who is signed in, which may be charged without them. */
export function usePaymentMethod(): PaymentMethodState {
  const { store } = useShared();
  const locale = useLocale();
  const { data: wallet, loading, error } = useResource(store.wallet);
  const { data: coming = false } = useResource(store.cardComing);
  const { run, pending, error: actionError, reset } = useAction();
  const card = wallet?.externalUserId === undefined ? undefined : (wallet.paymentMethod ?? null);
  const refresh = useCallback(() => store.wallet.refresh(), [store]);
  const setUp = useCallback(
    async (input: PaymentMethodInput = {}) => {
      const returnUrl = input.returnUrl ?? afterCard(window.location.href);
      await run(() => store.client.redirectToPaymentMethod({ ...input, returnUrl, locale: input.locale ?? locale }));
    },
    [run, store, locale],
  );
  const remove = useCallback(
    () =>
      run(async () => {
        await store.client.removePaymentMethod();
        store.wallet.put((now) => now && { ...now, paymentMethod: null });
        return true as const;
      }),
    [run, store],
  );
  const arriving = coming && card === null;
  // A user who came back from that page, and not from it as they left this one, knows that nothing was entered.
  const failure = actionError?.code === 'aborted' ? undefined : actionError;
  return { card, arriving, loading, error: wallet === undefined ? error : undefined, refresh, setUp, remove, pending, actionError: failure, reset };
}
