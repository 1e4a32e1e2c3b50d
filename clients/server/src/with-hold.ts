// Work against a hold: its credits are either charged or released, however the work ends.
import { ScripError, isScripError, type Amount, type Charge, type Hold, type Outcome, type PlacedHold, type Rated, type Released, type Unsettled, type Used } from '@scrip-wallet/core';
import type { DrawInput, Drawn, HoldInput, OnShortfall, SettleInput, Settled } from './input.js';

export type WithHoldInput = HoldInput & {
  /**
   * With a key of your own: take up an open hold that was placed under it before, as a queue does that gives
   * a job out again after a crash. Without it a key is used once, since two runs at once would be paid once. A key whose
   * hold ended without a charge may be used again: the next hold is placed under `key#2`, `key#3` and so on.
   */
  resume?: boolean | undefined;
  /** What becomes of a cost that the wallet has not enough for. Default `drain`: what there is is taken. */
  onShortfall?: OnShortfall | undefined;
};

/** The hold that the work runs against. */
export interface RunningHold extends PlacedHold {
  /** Ends the work: the caller's signal did, or the hold was closed under it. */
  readonly signal: AbortSignal;
  /**
   * Charges a part of what the work costs while it goes on: it stays charged however the work ends. What the work
   * says in the end is all of it, draws included.
   */
  readonly draw: (cost: number | Cost, options?: Omit<DrawInput, keyof Charge>) => Promise<Drawn>;
}

/** What work costs: an amount, or what it used, by the rate card and the attributes of its hold unless it names others. */
export type Cost = Amount | (Used & Partial<Pick<Rated, 'rateCard' | 'attributes'>> & { amount?: undefined });

/** What the work cost, and what came of it. */
export type Worked<T> = Cost & {
  value?: T;
  /** A note for the ledger entry: it is laid over that of the hold, whose other keys stay. */
  meta?: SettleInput['meta'];
};

interface Holds {
  place(idempotencyKey: string, expiresInSeconds: number, onHeaders: (headers: Headers, repeated: boolean) => void): Promise<PlacedHold>;
  read(holdId: string): Promise<Hold>;
  draw(holdId: string, input: DrawInput): Promise<Drawn>;
  settle(holdId: string, input: SettleInput): Promise<Settled>;
  release(holdId: string): Promise<Released>;
  extend(holdId: string, expiresInSeconds: number): Promise<Hold>;
}

/** The service's default, and a little more: no two runs ask for quite the same time. */
const usualSeconds = () => 900 + Math.floor(Math.random() * 300);
/** `Date` counts seconds, and a clock may be put right. */
const CLOCK_SLACK_MS = 2_000;
/** How often work may be begun under a key, while none of its holds is charged. */
const MAX_ATTEMPTS = 20;

export async function withHold<T>(
  holds: Holds,
  input: WithHoldInput & { idempotencyKey: string },
  hasOwnKey: boolean,
  work: (hold: RunningHold) => Promise<Worked<T>>,
  signal: AbortSignal | undefined,
): Promise<Outcome<T>> {
  const ended = () => new ScripError('aborted', 'The call was aborted.', { cause: signal?.reason });
  if (signal?.aborted) throw ended();
  const { idempotencyKey } = input;
  const seconds = input.expiresInSeconds ?? usualSeconds();
  const begun = Date.now();
  let placed: PlacedHold;
  let key = idempotencyKey;
  // Whether it is this run's to give back: one that another run placed may be what that one works against.
  let mine: boolean;
  for (let at = 1; ; at++) {
    if (at > 1) key = `${idempotencyKey}#${at}`;
    let replayed = false;
    // To its end, though the signal may come: a hold whose id is unknown could not be released.
    let replay: Headers | undefined;
    placed = await holds.place(key, seconds, (headers, repeated) => {
      replayed = headers.get('idempotency-replayed') === 'true';
      if (repeated) replay = headers;
    });
    mine = !replayed || !hasOwnKey;
    // Placed by an attempt of this very call, whose answer was lost: within its time, by the service's own clock.
    if (!mine && replay) {
      const age = Date.parse(replay.get('date') ?? '') - (Date.parse(placed.expiresAt) - seconds * 1000);
      mine = age >= -CLOCK_SLACK_MS && age <= Date.now() - begun + CLOCK_SLACK_MS;
    }
    // With a key of our own it is our own retry.
    if (!replayed || !hasOwnKey) break;
    // A key that the caller gave and that was used before: work for which another run is charged, or was.
    const { status, settledAmount, drawn } = await holds.read(placed.holdId);
    const isUnpaid = (status === 'released' || status === 'expired') && !settledAmount && !drawn;
    if (isUnpaid && at < MAX_ATTEMPTS) continue;
    if (!isUnpaid && !input.resume && !mine) throw new ScripError('hold_replayed', 'Work was begun under this key before.', { idempotencyKey: key });
    if (status !== 'open') throw new ScripError('hold_closed', 'The work of this key is over.', { idempotencyKey: key });
    break;
  }
  const id = placed.holdId;
  // What cannot be released now comes back when the hold expires.
  const giveBack = async () => void (mine && (await holds.release(id).catch(() => undefined)));
  if (signal?.aborted) {
    await giveBack();
    throw ended();
  }
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort);
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
  /** By the card that the hold was placed with. */
  const charge = (cost: Cost) => (cost.amount === undefined && (cost.usage ?? cost.quantities) && input.rateCard !== undefined ? { rateCard: input.rateCard, attributes: input.attributes, ...cost } : cost) as Charge;
  let value: T;
  let settlement: SettleInput;
  try {
    const draw: RunningHold['draw'] = (cost, options) => holds.draw(id, { ...options, ...charge(typeof cost === 'number' ? { amount: cost } : cost) });
    const worked = await work({ ...placed, signal: stop.signal, draw });
    const { value: made, meta, ...cost } = Object(worked) as Worked<T>;
    value = made as T;
    settlement = { ...charge(cost), meta };
    const { amount, rateCard } = settlement;
    if (rateCard === undefined && !(Number.isSafeInteger(amount) && Number(amount) >= 0))
      throw new ScripError('invalid_request', 'The work has to say what it cost: { amount } with a whole number.', { param: 'amount' });
  } catch (error) {
    // The work's own error matters more than one from here.
    await giveBack();
    throw error;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', onAbort);
  }
  return settle(holds, id, settlement, value, key);
}

/** Charges what the work cost. Where that fails, what was made is on the error, and can still be paid for. */
async function settle<T>(holds: Holds, holdId: string, settlement: SettleInput, value: T, idempotencyKey: string): Promise<Outcome<T>> {
  const { amount } = settlement;
  try {
    const settled = await holds.settle(holdId, settlement);
    const { balance, charged = settled.amount ?? amount ?? 0, owed = 0, uncovered = 0, cost, rateVersion, unpricedUsage } = settled;
    return { value, balance, charged, owed, uncovered, ...(cost != null && { cost, rateVersion: rateVersion ?? undefined, unpricedUsage }) };
  } catch (cause) {
    const { status, message } = cause as ScripError;
    const error = new ScripError('settle_failed', `What the work cost could not be taken. ${message}`, { status, idempotencyKey, cause });
    const unsettled: Unsettled<T> = { holdId, amount, value, resume: () => settle(holds, holdId, settlement, value, idempotencyKey) };
    throw Object.assign(error, unsettled);
  }
}
