import { isScripError, type Deduction, type DeductInput as Input } from '@scrip-wallet/browser';
import { useCallback, useRef } from 'react';
import { useShared } from '../provider';
import { useAction, type Action } from './use-action';

/** As the client takes it. */
export type DeductInput = Omit<Input, 'productId'> & {
  /** Left out: the product given to the hook. */
  productId?: string | undefined;
};

export interface DeductState extends Action {
  /** Takes credits; answers undefined where this call took none: `error` has the reason, or the same is under way. */
  readonly deduct: (input: DeductInput) => Promise<Deduction | undefined>;
}

/** A deduction that may or may not have been applied, so that trying again means the same one. */
interface Doubt {
  readonly of: string;
  readonly key: string;
}

/** Takes credits from this browser's wallet, which is made if there is none: what is given away for free counts.
 * The same call while one is under way takes nothing, and after a lost answer trying again does not take a second time. */
export function useDeduct(options: { productId?: string } = {}): DeductState {
  const { store } = useShared();
  const { run, ...action } = useAction();
  const underWay = useRef(new Set<string>());
  const doubt = useRef<Doubt | undefined>(undefined);
  const usual = options.productId;
  const deduct = useCallback(
    (input: DeductInput): Promise<Deduction | undefined> => {
      const productId = input.productId ?? usual;
      if (productId === undefined) throw new TypeError('Which productId?');
      const of = JSON.stringify([productId, input.amount, input.meta, input.idempotencyKey]);
      // A second press while one is under way takes nothing.
      if (underWay.current.has(of)) return Promise.resolve(undefined);
      const kept = doubt.current?.of === of ? doubt.current.key : undefined;
      const key = input.idempotencyKey ?? kept;
      underWay.current.add(of);
      return run(async () => {
        try {
          const answer = await store.client.deduct({ ...input, productId, idempotencyKey: key });
          // Under a key that was made here, a repeat is this hook's own.
          const result = { ...answer, deducted: answer.deducted || input.idempotencyKey === undefined };
          doubt.current = undefined;
          store.spent(productId, result.balance);
          return result;
        } catch (error) {
          const used = keyInDoubt(error);
          doubt.current = used === undefined ? undefined : { of, key: used };
          throw error;
        }
      }).finally(() => underWay.current.delete(of));
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
