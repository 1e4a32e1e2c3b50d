import type { Estimate, EstimateInput as Input, ScripError } from '@scrip-wallet/browser';
import { useCallback } from 'react';
import { useScrip } from '../provider';
import { useOfWallet } from './use-resource';

export type EstimateInput = Input;

export interface EstimateState {
  /** What it would cost; undefined until it is known. */
  readonly estimate: Estimate | undefined;
  readonly loading: boolean;
  readonly error: ScripError | undefined;
  readonly refresh: () => Promise<void>;
}

/** What a use would cost by a rate card, and where there is a wallet whether it has enough. */
export function useEstimate(input: EstimateInput): EstimateState {
  const client = useScrip();
  const { data, loading, error, resource } = useOfWallet(input, (asked) => client.estimate(asked));
  const refresh = useCallback(() => resource.refresh(), [resource]);
  return { estimate: data, loading, error: data ? undefined : error, refresh };
}
