import type { Balance, ScripError } from '@scrip-wallet/browser';
import { useShared } from '../provider';
import { useResource } from './use-resource';

export interface BalanceState {
  /** What can be spent now, 0 without a wallet; undefined until it is known. */
  readonly balance: number | undefined;
  /** What the credits are called. */
  readonly unit: string | null;
  /** What open holds set aside. */
  readonly held: number;
  /** What the wallet owes. */
  readonly owed: number;
  /** What expires next. */
  readonly nextExpiry: NonNullable<Balance['nextExpiry']> | null;
  /** Whose balance it is. */
  readonly productId: string | undefined;
  readonly loading: boolean;
  readonly error: ScripError | undefined;
}

/** What this browser's wallet has of a product: the first one of the catalog that holds credits when left out. */
export function useBalance(productId?: string): BalanceState {
  const { store } = useShared();
  const wallet = useResource(store.wallet);
  const products = useResource(store.products);
  const product = products.data?.find(({ id, creditUnit }) => (productId ? id === productId : creditUnit));
  // What is no longer sold can still be spent.
  const id = productId ?? product?.id ?? wallet.data?.balances[0]?.productId;
  const held = wallet.data?.balances.find((balance) => balance.productId === id);
  const known = wallet.data !== undefined && (id !== undefined || !products.loading);
  const error = wallet.error ?? (id === undefined ? products.error : undefined);
  return {
    balance: known ? (held?.balance ?? 0) : undefined,
    unit: held?.creditUnit ?? product?.creditUnit ?? null,
    held: held?.held ?? 0,
    owed: held?.owed ?? 0,
    nextExpiry: held?.nextExpiry ?? null,
    productId: id,
    loading: !known && !error,
    error: known ? undefined : error,
  };
}
