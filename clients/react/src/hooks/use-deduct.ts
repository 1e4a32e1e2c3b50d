import { isScripError, type Deduction, type DeductInput as Input } from '@scrip/browser';
import { useCallback, useRef } from 'react';
import { useShared } from '../provider';
import { useAction, type Action } from './use-action';

/** As the client takes it. */
export type DeductInput = Omit<Input, 'productId'> & {
  /** Left out: the product given to the hook. */
  productId?: string | undefined;
};

export interface DeductState extends Action {
  /** Takes credits; answers undefined where they were not taken, for which `error` has the reason. */
  readonly deduct: (input: DeductInput) => Promise<Deduction | undefined>;
}

/** A deduction that may or may not have been applied, so that trying again means the same one. */
interface Doubt {
  readonly of: string;
  readonly key: string;
}

/** Takes credits from this browser's wallet, which is made if there is none: what is given away for free counts.
 * The same call while one is under way joins it, and after a lost answer trying again does not take a second time. */
export function useDeduct(options: { productId?: string } = {}): DeductState {
  const { store } = useShared();
  const { run, ...action } = useAction();
  const underWay = useRef(new Map<string, Promise<Deduction | undefined>>());
  const doubt = useRef<Doubt | undefined>(undefined);
  const usual = options.productId;
  const deduct = useCallback(
    (input: DeductInput): Promise<Deduction | undefined> => {
      const productId = input.productId ?? usual;
      if (productId === undefined) throw new TypeError('Which productId? Give one to useDeduct or to deduct');
      const of = JSON.stringify([productId, input.amount, input.meta, input.idempotencyKey]);
      const same = underWay.current.get(of);
      if (same) return same;
      const kept = doubt.current?.of === of ? doubt.current.key : undefined;
      const key = input.idempotencyKey ?? kept;
      const work = run(async () => {
        try {
          if ((await store.client.code()) === null) await store.client.ensureWallet();
          const result = await store.client.deduct({ ...input, productId, idempotencyKey: key });
          doubt.current = undefined;
          store.spent(productId, result.balance);
          return result;
        } catch (error) {
          const used = keyInDoubt(error);
          doubt.current = used === undefined ? undefined : { of, key: used };
          throw error;
        }
      }).finally(() => underWay.current.delete(of));
      underWay.current.set(of, work);
      return work;
    },
    [store, run, usual],
  );
  return { ...action, deduct };
}

/** The key of what may have been applied; nothing where it was refused, which uses up no key. */
function keyInDoubt(error: unknown): string | undefined {
  if (!isScripError(error) || (error.status >= 400 && error.status < 500)) return undefined;
  return error.idempotencyKey;
}
