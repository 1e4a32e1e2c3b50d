// Gathers calls of one kind, deductions say: those that come while requests are under way go together with the next
// one, as a batch. It waits for no timer, so a lone call is sent at once. Calls of one wallet, or of one hold, are sent
// in their order, and each has an answer, a deadline, retries and an abort of its own. It knows no endpoint.
import { ScripError, retryDelay, type CallOptions } from '@scrip-wallet/core';

/** What all kinds of items have: a wallet or a hold, an amount or a rate card with what was used, and a key unless they settle a hold. */
export interface Item {
  externalUserId?: string | null;
  code?: string | null;
  holdId?: string | null;
  keepOpen?: boolean | null;
  productId?: string | null;
  member?: string | null;
  idempotencyKey?: string | null;
  onShortfall?: string | null;
  expiresAt?: string | null;
  amount?: number | null | undefined;
  rateCard?: string | null | undefined;
  usageFormat?: string | null | undefined;
  attributes?: object | null | undefined;
  quantities?: object | null | undefined;
  usage?: object | null | undefined;
  meta?: Record<string, unknown> | null;
}

/** How the requests are made: one attempt each. */
export interface Endpoints<A> {
  single(item: Item, options: CallOptions): Promise<A>;
  /** Ends with the signal. The results in the order of the items. */
  batch(items: readonly Item[], signal: AbortSignal): Promise<(A | ScripError)[]>;
  /** Makes a user's wallet, with as many attempts as it takes. */
  ensureWallet(externalUserId: string): Promise<unknown>;
}

export interface GatherOptions {
  /** How long an attempt may take, the time before it is sent included. */
  timeoutMs: number;
  retries: number;
}

export const MAX_ITEMS = 1_000;
/** Half of what a server takes. */
export const MAX_BATCH_BYTES = 512 * 1024;
/** Requests at a time. */
export const MAX_REQUESTS = 2;
/** What all calls without an answer may take of the memory: some 60,000 plain ones. */
export const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** What a call takes beside its text, roughly. */
const CALL_BYTES = 1024;
/** A longer call goes by itself. */
const MAX_ITEM_BYTES = 16 * 1024;
/** How long a server that has no batches is asked without them. */
export const SINGLES_MS = 60_000;

/** The calls of one wallet or one hold that are not under way, in their order. */
interface Line<A> {
  readonly key: string;
  readonly calls: GatheredCall<A>[];
  /** What they wait for: requests with calls of this line, pauses before a retry, the making of the wallet. */
  blocks: number;
}

interface GatheredCall<A> {
  readonly item: Item;
  readonly line: Line<A>;
  readonly order: number;
  readonly bytes: number;
  readonly timeoutMs: number;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
  /** Whether it goes by itself. */
  isAlone: boolean;
  attempt: number;
  /** What it waits for before its next attempt. */
  pause: Pause<A> | undefined;
  /** Whether its user's wallet was made for it. */
  hasWallet: boolean;
  /** The request that it is in. */
  request: BatchRequest | undefined;
  /** When its attempt is over. */
  until: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  onAbort: () => void;
}

/** The time before the next attempt of calls that failed together, and are sent together again. */
interface Pause<A> {
  readonly calls: Set<GatheredCall<A>>;
  readonly timer: ReturnType<typeof setTimeout>;
}

interface BatchRequest {
  /** Of a batch. */
  stop: AbortController | undefined;
  /** How many of its calls wait for its answer. */
  live: number;
}

export class Gatherer<A extends object> {
  readonly #endpoints: Endpoints<A>;
  readonly #options: GatherOptions;
  readonly #lines = new Map<string, Line<A>>();
  /** Lines whose first call may be sent, in the order in which they became so. */
  readonly #ready = new Set<Line<A>>();
  #requests = 0;
  #calls = 0;
  #waitingBytes = 0;
  #order = 0;
  #willFlush = false;
  #isClosed = false;
  #onIdle: (() => void)[] = [];
  /** Less than the maximum behind a proxy that takes less. */
  #batchBytes = MAX_BATCH_BYTES;
  #singlesUntil = 0;

  constructor(endpoints: Endpoints<A>, options: GatherOptions) {
    this.#endpoints = endpoints;
    this.#options = options;
  }

  /** Whether calls are gathered now. */
  get isOpen(): boolean {
    return !this.#isClosed && !this.#isWithoutBatches();
  }

  /** Gathers no more, and waits until all calls have their answers. */
  close(): Promise<void> {
    this.#isClosed = true;
    return new Promise((resolve) => (this.#calls > 0 ? this.#onIdle.push(resolve) : resolve()));
  }

  call(given: Item, options: CallOptions = {}): Promise<A> {
    const { signal, timeoutMs = this.#options.timeoutMs } = options;
    const { item, bytes, isAlone } = prepared(given);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(aborted(signal, item));
      if (this.#waitingBytes + bytes + CALL_BYTES > MAX_WAITING_BYTES)
        return reject(new ScripError('overloaded', 'Too many calls wait for an answer.', { status: 503, ...keyOf(item) }));
      const key = lineOf(item);
      let line = this.#lines.get(key);
      if (!line) this.#lines.set(key, (line = { key, calls: [], blocks: 0 }));
      const call: GatheredCall<A> = {
        item, line, order: this.#order++, bytes, timeoutMs, resolve, reject, signal, isAlone,
        attempt: 0, pause: undefined, hasWallet: false, request: undefined, until: 0, timer: undefined, onAbort: () => this.#abort(call),
      }; // prettier-ignore
      signal?.addEventListener('abort', call.onAbort);
      this.#calls++;
      this.#waitingBytes += bytes + CALL_BYTES;
      line.calls.push(call);
      this.#startAttempt(call);
      this.#offer(line);
      this.#flushSoon();
    });
  }

  #isWithoutBatches(): boolean {
    return Date.now() < this.#singlesUntil;
  }

  /** Has a line's calls sent, if they wait for nothing. */
  #offer(line: Line<A>): void {
    if (line.blocks > 0) return void this.#ready.delete(line);
    const [first] = line.calls;
    const isAlone = first?.isAlone || this.#isWithoutBatches();
    if (first && !isAlone) return void this.#ready.add(line);
    this.#ready.delete(line);
    if (!first) this.#lines.delete(line.key);
    else for (const call of line.calls.splice(0, first.isAlone ? 1 : Infinity)) void this.#send([call], false);
  }

  /** After the other calls of this turn, so that they go together. */
  #flushSoon(): void {
    if (!this.#willFlush) void Promise.resolve().then(() => this.#flush());
    this.#willFlush = true;
  }

  #flush(): void {
    this.#willFlush = false;
    while (this.#requests < MAX_REQUESTS && this.#ready.size > 0) void this.#send(this.#take(), true);
  }

  /** As much of what may be sent as a batch has room for: at least one call. */
  #take(): GatheredCall<A>[] {
    const taken: GatheredCall<A>[] = [];
    let bytes = 0;
    const fits = (call: GatheredCall<A>) => !call.isAlone && taken.length < MAX_ITEMS && (taken.length === 0 || bytes + call.bytes <= this.#batchBytes);
    for (const line of this.#ready) {
      let count = 0;
      for (const call of line.calls) {
        if (!fits(call)) break;
        taken.push(call);
        bytes += call.bytes;
        count++;
      }
      if (count === 0) break;
      line.calls.splice(0, count);
      this.#ready.delete(line);
    }
    return taken;
  }

  async #send(calls: readonly GatheredCall<A>[], isCounted: boolean): Promise<void> {
    const request: BatchRequest = { stop: undefined, live: calls.length };
    const lines = new Set(calls.map(({ line }) => line));
    for (const line of lines) line.blocks++;
    for (const call of calls) call.request = request;
    if (isCounted) this.#requests++;
    const [first] = calls;
    let results: (A | ScripError)[] = [];
    let failure: ScripError | undefined;
    try {
      if (calls.length === 1 && first) {
        // It keeps the time and the signal of its one call by itself.
        clearTimeout(first.timer);
        results = [await this.#endpoints.single(first.item, { signal: first.signal, timeoutMs: Math.max(first.until - Date.now(), 0) })];
      } else {
        request.stop = new AbortController();
        const items = calls.map(({ item }) => item);
        results = await this.#endpoints.batch(items, request.stop.signal);
      }
    } catch (error) {
      failure = error as ScripError;
    }
    if (isCounted) this.#requests--;
    if (failure && calls.length > 1) this.#learn(failure, calls);
    const isUndecided = failure && calls.length > 1 && [400, 404, 405, 413].includes(failure.status);
    const lacking: GatheredCall<A>[] = [];
    const failed: [GatheredCall<A>, ScripError][] = [];
    for (const [at, call] of calls.entries()) {
      // Those that gave up, or whose time was over, ask no more of it.
      if (call.request !== request) continue;
      call.request = undefined;
      const result = failure ?? (results[at] as A | ScripError);
      if (isUndecided) this.#putBack(call);
      else if (!(result instanceof Error)) this.#end(call, () => call.resolve(result));
      else if (result.code === 'wallet_not_found' && call.item.externalUserId != null && !call.hasWallet) lacking.push(call);
      else failed.push([call, result]);
    }
    this.#makeWallets(lacking);
    this.#fail(failed);
    this.#unblock(lines);
  }

  /** What a refusal of a whole batch says about its calls: they are sent again, under their keys, and lose no attempt. */
  #learn({ status, param }: ScripError, calls: readonly GatheredCall<A>[]): void {
    if (status === 413) this.#batchBytes = Math.floor(calls.reduce((sum, { bytes }) => sum + bytes, 0) / 2);
    if (status === 404 || status === 405) {
      this.#singlesUntil = Date.now() + SINGLES_MS;
      for (const line of this.#ready) this.#offer(line);
    }
    if (status !== 400) return;
    // The one at fault is asked about by itself, and its refusal is what a lone call gets.
    const named = calls[Number(/^items\[(\d+)\]/.exec(param ?? '')?.[1] ?? NaN)];
    for (const call of named ? [named] : calls) call.isAlone = true;
  }

  /** Makes the wallets of new users: they may begin with free credits. */
  #makeWallets(calls: readonly GatheredCall<A>[]): void {
    for (const call of calls) {
      call.hasWallet = true;
      clearTimeout(call.timer);
      this.#startAttempt(call);
      this.#putBack(call);
    }
    for (const line of new Set(calls.map((call) => call.line))) {
      line.blocks++;
      const made = this.#endpoints.ensureWallet(String(line.calls[0]?.item.externalUserId)).catch((error: unknown) => {
        for (const call of line.calls.filter((each) => calls.includes(each))) this.#giveUp(call, keyedError(error, call.item));
      });
      void made.then(() => this.#unblock([line]));
    }
  }

  #startAttempt(call: GatheredCall<A>): void {
    call.until = Date.now() + call.timeoutMs;
    call.timer = setTimeout(() => {
      if (call.request) this.#leave(call);
      else this.#remove(call);
      this.#fail([[call, new ScripError('timeout', `No answer came within ${call.timeoutMs} ms.`)]]);
      this.#offer(call.line);
      this.#flush();
    }, call.timeoutMs);
  }

  /** Tries again later, or says why not. */
  #fail(failed: readonly [GatheredCall<A>, ScripError][]): void {
    /** By the attempt and the failure. */
    const delays = new Map<string, number | undefined>();
    const groups = new Map<number, Set<GatheredCall<A>>>();
    for (const [call, failure] of failed) {
      const { attempt, item } = call;
      const kind = `${attempt} ${failure.code}`;
      if (!delays.has(kind)) delays.set(kind, attempt < this.#options.retries ? retryDelay(failure, true, attempt) : undefined);
      const delayMs = delays.get(kind);
      if (delayMs === undefined) {
        this.#end(call, () => call.reject(keyedError(failure, item)));
        continue;
      }
      groups.set(delayMs, (groups.get(delayMs) ?? new Set()).add(call));
    }
    for (const [delayMs, calls] of groups) {
      const timer = setTimeout(() => {
        for (const call of calls) {
          call.pause = undefined;
          this.#startAttempt(call);
        }
        this.#unblock([...calls].map(({ line }) => line));
      }, delayMs);
      for (const call of calls) {
        clearTimeout(call.timer);
        call.attempt++;
        call.pause = { calls, timer };
        call.line.blocks++;
        this.#putBack(call);
      }
    }
  }

  #abort(call: GatheredCall<A>): void {
    const { signal, item } = call;
    this.#giveUp(call, aborted(signal, item));
    this.#offer(call.line);
    this.#flushSoon();
  }

  /** Ends a call, and nothing but it. */
  #giveUp(call: GatheredCall<A>, error: unknown): void {
    if (call.request) this.#leave(call);
    else this.#remove(call);
    const { pause } = call;
    if (pause) call.line.blocks--;
    if (pause?.calls.delete(call) && pause.calls.size === 0) clearTimeout(pause.timer);
    this.#end(call, () => call.reject(error));
  }

  /** A request that no call waits for ends. */
  #leave(call: GatheredCall<A>): void {
    const { request } = call;
    call.request = undefined;
    if (request && --request.live === 0) request.stop?.abort();
  }

  #remove(call: GatheredCall<A>): void {
    const { calls } = call.line;
    const at = calls.indexOf(call);
    if (at >= 0) calls.splice(at, 1);
  }

  #putBack(call: GatheredCall<A>): void {
    const { calls } = call.line;
    const at = calls.findIndex(({ order }) => order > call.order);
    calls.splice(at < 0 ? calls.length : at, 0, call);
  }

  #unblock(lines: Iterable<Line<A>>): void {
    for (const line of lines) {
      line.blocks--;
      this.#offer(line);
    }
    this.#flush();
  }

  #end(call: GatheredCall<A>, answer: () => void): void {
    clearTimeout(call.timer);
    call.signal?.removeEventListener('abort', call.onAbort);
    this.#waitingBytes -= call.bytes + CALL_BYTES;
    answer();
    if (--this.#calls === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

const keyOf = ({ idempotencyKey }: Item) => (idempotencyKey == null ? {} : { idempotencyKey });

const aborted = (signal: AbortSignal | undefined, item: Item) => new ScripError('aborted', 'The call was aborted.', { cause: signal?.reason, ...keyOf(item) });

/** The failure of a request as that of one of its calls. */
const keyedError = (error: unknown, item: Item): unknown =>
  error instanceof ScripError ? new ScripError(error.code, error.message, { ...error, cause: error.cause, ...keyOf(item) }) : error;

const isName = (value: unknown) => typeof value === 'string' && value.length > 0 && value.length <= 255 && !/[\p{Cc}\p{Cs}]/u.test(value);

const OBJECTS = ['meta', 'attributes', 'quantities', 'usage'] as const;

/** What is sent, an upper bound of its length, and whether it goes by itself: what a batch would be refused for. */
function prepared(given: Item): { item: Item; bytes: number; isAlone: boolean } {
  const { externalUserId, code, holdId, productId, member, idempotencyKey, amount, rateCard, usageFormat, onShortfall, expiresAt } = given;
  let item = given;
  let length = 0;
  let areObjects = true;
  try {
    // As they are now: the caller may change them before they are sent.
    for (const name of OBJECTS) {
      if (given[name] == null) continue;
      const text = JSON.stringify(given[name]);
      areObjects &&= text.startsWith('{');
      length += text.length;
      item = { ...item, [name]: JSON.parse(text) as object };
    }
  } catch {
    areObjects = false;
  }
  const names = [externalUserId ?? code ?? holdId, productId, member, idempotencyKey, rateCard, usageFormat, onShortfall, expiresAt].filter((name) => name != null);
  // A character is three bytes at most, or two where it is escaped.
  const bytes = (rateCard == null ? 240 : 360) + 3 * names.reduce<number>((sum, name) => sum + String(name).length, length);
  const isNamed = names.every(isName) && (holdId ?? ((externalUserId ?? code) && idempotencyKey)) != null && (code == null || (productId ?? rateCard) != null);
  const isCharge = rateCard == null ? Number.isSafeInteger(amount) && Number(amount) >= (holdId == null ? 1 : 0) : amount == null;
  const isPlain = isNamed && areObjects && isCharge;
  return { item, bytes, isAlone: !isPlain || bytes > MAX_ITEM_BYTES };
}

/** The same for all spellings of a code. */
const lineOf = ({ code, externalUserId, holdId }: Item): string => {
  if (holdId != null) return `hold ${holdId}`;
  return code == null ? `user ${String(externalUserId)}` : `code ${String(code).replace(/-/g, '').toUpperCase().replace(/[IL]/g, '1').replace(/O/g, '0')}`;
};
