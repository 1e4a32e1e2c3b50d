// Work against a hold: whatever happens to the work, the credits are either charged or back.
import { ScripError, isScripError, type Deduction, type Hold, type PlacedHold, type Released } from '@scrip/core';
import type { HoldInput } from './input.js';

export type WithHoldInput = HoldInput & {
  /**
   * With a key of your own: take up an open hold that was placed under it before, as a queue does that gives
   * a job out again after a crash. Without it a key is used once, since two runs at once would be paid once:
   * also where only the answer to the first attempt was lost, which cannot be told from another run.
   */
  resume?: boolean;
};

/** The hold that the work runs against. */
export interface RunningHold extends PlacedHold {
  /** Ends the work: the caller's signal did, or the hold was closed under it. */
  readonly signal: AbortSignal;
}

/** What the work cost, and what came of it. */
export interface Worked<T> {
  amount: number;
  value?: T;
}

export interface Outcome<T> {
  value: T;
  /** What can be spent now. */
  balance: number;
  /** What was taken. */
  charged: number;
  /** What the work cost beyond the hold and could not be taken, since the wallet had not enough left. */
  shortfall: number;
}

interface Holds {
  place(onHeaders: (headers: Headers) => void): Promise<PlacedHold>;
  read(holdId: string): Promise<Hold>;
  settle(holdId: string, amount: number): Promise<Deduction>;
  release(holdId: string): Promise<Released>;
  extend(holdId: string, expiresInSeconds: number): Promise<Hold>;
}

/** As the service has it where nothing is said. */
const DEFAULT_SECONDS = 900;

export async function withHold<T>(
  holds: Holds,
  input: WithHoldInput,
  work: (hold: RunningHold) => Promise<Worked<T>>,
  signal: AbortSignal | undefined,
): Promise<Outcome<T>> {
  const ended = () => new ScripError('aborted', 'The call was aborted.', { cause: signal?.reason });
  if (signal?.aborted) throw ended();
  let replayed = false;
  // To its end, though the signal may come meanwhile: a hold that nobody knows of could not be released.
  const placed = await holds.place((headers) => {
    replayed = headers.get('idempotency-replayed') === 'true';
  });
  const id = placed.holdId;
  // A key that the caller gave and that was used before: work for which another run is charged, or was. With
  // a key of our own it is our own retry.
  if (replayed && input.idempotencyKey !== undefined) {
    if (!input.resume)
      throw new ScripError('hold_replayed', 'Work was begun under this key before.', { idempotencyKey: input.idempotencyKey });
    if ((await holds.read(id)).status !== 'open')
      throw new ScripError('hold_closed', 'The work of this key is over.', { idempotencyKey: input.idempotencyKey });
  }
  if (signal?.aborted) {
    await holds.release(id).catch(() => undefined);
    throw ended();
  }
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort);
  const seconds = input.expiresInSeconds ?? DEFAULT_SECONDS;
  // Twice before it would end.
  const timer = setInterval(
    () => {
      holds.extend(id, seconds).catch((error: unknown) => {
        // Closed under the work, by a rotation of the code say. Anything else may pass until the next time.
        if (isScripError(error, 'hold_closed') || isScripError(error, 'hold_not_found')) stop.abort(error);
      });
    },
    (seconds * 1000) / 3,
  );
  let worked: Worked<T>;
  try {
    worked = await work({ ...placed, signal: stop.signal });
    if (!Number.isSafeInteger(worked?.amount) || worked.amount < 0)
      throw new ScripError('invalid_request', 'The work has to say what it cost: { amount } with a whole number.', { param: 'amount' });
  } catch (error) {
    // What cannot be released now comes back when the hold expires: the work's own error matters more.
    await holds.release(id).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', onAbort);
  }
  return { value: worked.value as T, ...(await settle(holds, placed, worked.amount)) };
}

/** Charges what the work cost; where the wallet has not enough for it, what was held. */
async function settle(holds: Holds, { holdId, amount: held }: PlacedHold, cost: number) {
  try {
    const { balance } = await holds.settle(holdId, cost);
    return { balance, charged: cost, shortfall: 0 };
  } catch (error) {
    if (!isScripError(error, 'insufficient_credits')) throw error;
    const { balance } = await holds.settle(holdId, held);
    return { balance, charged: held, shortfall: cost - held };
  }
}
