import type { ScripError } from '@scrip-wallet/browser';
import { useShared } from '../provider';
import { useResource } from './use-resource';

export interface FeatureState {
  /** Whether the wallet unlocks it; false until that is known. */
  readonly enabled: boolean;
  readonly loading: boolean;
  readonly error: ScripError | undefined;
}

/** Whether this browser's wallet unlocks a feature. For what is shown: what must not be had for nothing is
 * guarded by a server. */
export function useFeature(slug: string): FeatureState {
  const { store } = useShared();
  const { data, loading, error } = useResource(store.wallet);
  return { enabled: data?.features.includes(slug) ?? false, loading, error: data === undefined ? error : undefined };
}
