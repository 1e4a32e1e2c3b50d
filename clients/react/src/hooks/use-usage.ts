import type { Bucket, ScripError } from '@scrip-wallet/browser';
import { useCallback } from 'react';
import { noneWithoutWallet } from '../errors';
import { useScrip } from '../provider';
import { useOfWallet } from './use-resource';

export interface UsageInput {
  /** Whose credits; may be left out where the project has one product that holds any. */
  productId?: string | undefined;
  /** Whose use to count; everybody's when left out. */
  member?: string | undefined;
  /** How many days, today the last; 30 when left out. */
  days?: number | undefined;
}

export interface DayOfUsage {
  /** Its first instant; it is a day of UTC. */
  readonly start: string;
  /** Credits that were used. */
  readonly used: number;
}

export interface UsageState {
  /** Oldest first, without gaps; none without a wallet, or of a member who on a day is not among the 200 who used most;
   * undefined until they are known. */
  readonly days: readonly DayOfUsage[] | undefined;
  readonly loading: boolean;
  readonly error: ScripError | undefined;
  readonly refresh: () => Promise<void>;
}

const DAY_MS = 86_400_000;
/** The service tells so many apart in one day. */
const MAX_MEMBERS = 200;

/** What was used of the wallet on each day, for users who are signed in; read again when the wallet changes. */
export function useUsage({ productId, member, days = 30 }: UsageInput = {}): UsageState {
  const client = useScrip();
  const { data, loading, error, resource } = useOfWallet({ productId, member, days }, async (input): Promise<DayOfUsage[]> => {
    // A day more, as the service's clock may be in the next one.
    const from = new Date(Date.now() - input.days * DAY_MS).toISOString();
    const isOne = input.member !== undefined;
    const query = { from, ...(input.productId && { productId: input.productId }), ...(isOne && { groupBy: 'member' as const }) };
    const buckets = (await client.usage(query).catch(noneWithoutWallet)).slice(-input.days);
    const credits = ({ groups }: Bucket) => groups?.find(({ key }) => key === input.member)?.credits;
    // Of more members than that, the rest is one group.
    if (buckets.some((each) => (each.groups?.length ?? 0) > MAX_MEMBERS && credits(each) === undefined)) return [];
    return buckets.map((each) => ({ start: each.start, used: isOne ? (credits(each) ?? 0) : each.deducted }));
  });
  const refresh = useCallback(() => resource.refresh(), [resource]);
  return { days: data, loading, error: data ? undefined : error, refresh };
}
