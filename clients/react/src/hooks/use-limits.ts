import type { Limit, LimitsQuery, ScripError } from '@scrip-wallet/browser';
import { useCallback, useEffect } from 'react';
import { noneWithoutWallet } from '../errors';
import { useScrip } from '../provider';
import { useOfWallet } from './use-resource';

export interface LimitsState {
  /** The wallet's limits, with what is used and left of each; none without a wallet, undefined until they are known. */
  readonly limits: readonly Limit[] | undefined;
  readonly loading: boolean;
  readonly error: ScripError | undefined;
  readonly refresh: () => Promise<void>;
}

/** The service's clock may be a little behind this one. */
const SLACK_MS = 2_000;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** How much of this wallet may be used, and what a member used of it; read again when the wallet changes or a window ends. */
export function useLimits({ member }: LimitsQuery = {}): LimitsState {
  const client = useScrip();
  const { data, loading, error, resource } = useOfWallet({ member }, (query) => client.limits(query).catch(noneWithoutWallet));
  useEffect(() => {
    const ends = (data ?? []).flatMap(({ resetsAt }) => (resetsAt ? Date.parse(resetsAt) : []));
    const waitMs = Math.min(...ends) - Date.now() + SLACK_MS;
    if (!(waitMs < MAX_TIMEOUT_MS)) return;
    const timer = setTimeout(() => resource.invalidate(), Math.max(waitMs, 5 * SLACK_MS));
    return () => clearTimeout(timer);
  }, [data, resource]);
  const refresh = useCallback(() => resource.refresh(), [resource]);
  return { limits: data, loading, error: data ? undefined : error, refresh };
}
