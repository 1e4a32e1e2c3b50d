import type { LedgerEntry, ScripError } from '@scrip-wallet/browser';
import { useCallback, useMemo } from 'react';
import { useShared } from '../provider';
import type { LedgerFilter } from '../store/ledger';
import { useAction } from './use-action';
import { useResource } from './use-resource';

export type { LedgerFilter };

export interface LedgerState {
  /** What came and went, newest first; undefined until it is known. */
  readonly entries: readonly LedgerEntry[] | undefined;
  readonly loading: boolean;
  readonly error: ScripError | undefined;
  readonly hasOlder: boolean;
  readonly loadOlder: () => Promise<void>;
  readonly loadingOlder: boolean;
  readonly olderError: ScripError | undefined;
  readonly refresh: () => Promise<void>;
}

/** This browser's ledger, page by page. */
export function useLedger({ productId, reason, limit = 25 }: LedgerFilter = {}): LedgerState {
  const { store } = useShared();
  const ledger = useMemo(
    () => store.ledger({ limit, ...(productId && { productId }), ...(reason && { reason }) }),
    [store, productId, reason, limit],
  );
  const { data, loading, error } = useResource(ledger.pages);
  const { run, pending, error: olderError } = useAction();
  const loadOlder = useCallback(async () => void (await run(() => ledger.older())), [run, ledger]);
  const refresh = useCallback(() => ledger.pages.refresh(), [ledger]);
  return {
    entries: data?.entries,
    loading,
    error: data ? undefined : error,
    hasOlder: Boolean(data?.nextCursor),
    loadOlder,
    loadingOlder: pending,
    olderError,
    refresh,
  };
}
