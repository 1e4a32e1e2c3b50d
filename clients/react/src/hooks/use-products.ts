import type { Product, ScripError } from '@scrip-wallet/browser';
import { useCallback } from 'react';
import { useShared } from '../provider';
import { useResource } from './use-resource';

export interface ProductsState {
  /** What is for sale; undefined until it is known. */
  readonly products: readonly Product[] | undefined;
  readonly loading: boolean;
  readonly error: ScripError | undefined;
  readonly refresh: () => Promise<void>;
}

/** The catalog: active products with their active prices. Read once for the whole page. */
export function useProducts(): ProductsState {
  const { store } = useShared();
  const { data, loading, error } = useResource(store.products);
  const refresh = useCallback(() => store.products.refresh(), [store]);
  return { products: data, loading, error, refresh };
}
