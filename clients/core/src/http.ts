// One way to ask the service: attempts, waits, and every failure as a `ScripError`. It knows no endpoint.
import { ScripError } from './error.js';
import type { CallOptions, ErrorBody } from './types.js';

export interface HttpOptions {
  /** Where the service is: `https://pay.example`. */
  baseUrl: string;
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** How long one attempt may take, in milliseconds. Default 15,000. */
  timeoutMs?: number | undefined;
  /** How often a call is tried again. Default 3. */
  retries?: number | undefined;
}

export interface Call extends CallOptions {
  query?: object | undefined;
  body?: { idempotencyKey?: string } | object | undefined;
  /** Whether doing it twice is doing it once. A body with an idempotency key makes it so. */
  repeatable?: boolean;
  /** Told the headers of an answer that was no refusal. */
  onHeaders?: (headers: Headers) => void;
}

/** A longer `Retry-After` is the caller's to wait for: it is on the error. */
const LONGEST_WAIT_MS = 10_000;

/** A key for an operation whose caller gave none. */
export const newKey = (): string =>
  // Pages that are not served over TLS have no randomUUID.
  crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** One step of a path. What is no name must not become another path: `..`, say. */
export const segment = (value: string, param: string): string => {
  const name = String(value ?? '').trim();
  if (/^[\w-]+$/.test(name)) return name;
  throw new ScripError('invalid_request', `This is no ${param}.`, { param });
};

/** Waits, unless it is aborted. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      signal?.aborted ? reject(aborted(signal)) : resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });

const aborted = (signal: AbortSignal) => new ScripError('aborted', 'The call was aborted.', { cause: signal.reason });

/** The work, or that the caller no longer waits for it: it goes on for others. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(aborted(signal as AbortSignal));
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop));
  });

export class Http {
  readonly #base: string;
  readonly #key: string;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #retries: number;

  constructor(options: HttpOptions, key: string) {
    const { baseUrl, fetch: own } = options;
    // Empty or a path: the address that a page comes from.
    if (!/^(https?:\/\/|\/|$)/.test(baseUrl)) throw new ScripError('invalid_options', 'baseUrl has to be an http(s) address.');
    this.#base = `${baseUrl.replace(/\/+$/, '')}/api/v1`;
    this.#key = key;
    // The global one is looked up at each call: what watches or fakes it may come later. A browser's refuses
    // to be anything's method.
    this.#fetch = (...given) => (own ?? fetch)(...given);
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    this.#retries = options.retries ?? 3;
  }

  /** Asks until there is an answer, or a refusal that asking again would not change. */
  async call<T>(method: 'GET' | 'POST', path: string, call: Call = {}): Promise<T> {
    const { body, signal } = call;
    const idempotencyKey = (body as { idempotencyKey?: string } | undefined)?.idempotencyKey;
    const repeatable = call.repeatable ?? (method === 'GET' || idempotencyKey !== undefined);
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {})) if (value != null) search.set(name, String(value));
    const url = `${this.#base}${path}${String(search) && `?${search}`}`;
    let text: string | undefined;
    try {
      text = body && JSON.stringify(body);
    } catch (cause) {
      throw new ScripError('invalid_request', 'The input cannot be written as JSON.', { cause, idempotencyKey });
    }
    for (let attempt = 0; ; attempt++) {
      let failure: ScripError;
      try {
        return await this.#attempt<T>(method, url, text, call, idempotencyKey);
      } catch (error) {
        failure = error as ScripError;
      }
      const waitMs = wait(failure, repeatable, attempt);
      if (attempt >= this.#retries || waitMs === undefined) throw failure;
      await pause(waitMs, signal).catch((stopped: ScripError) => {
        throw new ScripError(stopped.code, stopped.message, { cause: stopped.cause, idempotencyKey });
      });
    }
  }

  async #attempt<T>(method: string, url: string, body: string | undefined, call: Call, idempotencyKey: string | undefined): Promise<T> {
    const { signal, timeoutMs = this.#timeoutMs } = call;
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    const timer = setTimeout(() => stop.abort(), timeoutMs);
    try {
      const headers: Record<string, string> = { authorization: `Bearer ${this.#key}` };
      if (body !== undefined) headers['content-type'] = 'application/json';
      const init: RequestInit = { method, headers, signal: stop.signal };
      if (body !== undefined) init.body = body;
      const response = await this.#fetch(url, init);
      const answer = read<T>(response, await response.text(), idempotencyKey);
      call.onHeaders?.(response.headers);
      return answer;
    } catch (cause) {
      if (cause instanceof ScripError) throw cause;
      const known = { cause, idempotencyKey };
      if (signal?.aborted) throw new ScripError('aborted', 'The call was aborted.', { ...known, cause: signal.reason });
      if (stop.signal.aborted) throw new ScripError('timeout', `No answer within ${timeoutMs} ms.`, known);
      throw new ScripError('network_error', 'The service cannot be reached.', known);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

function read<T>(response: Response, text: string, idempotencyKey: string | undefined): T {
  const { status, ok, headers } = response;
  let body: unknown;
  try {
    body = text ? JSON.parse(text) : undefined;
  } catch {
    body = null;
  }
  // Only recovery answers without a body, and says so by its status.
  if (ok && ((body && typeof body === 'object') || (status === 202 && body === undefined))) return body as T;
  const seconds = Number(headers.get('retry-after') ?? NaN);
  const known = {
    status,
    requestId: headers.get('x-request-id'),
    retryAfterMs: seconds >= 0 ? seconds * 1000 : undefined,
    idempotencyKey,
  };
  const refusal = body as Partial<ErrorBody> | null | undefined;
  if (!ok && typeof refusal?.code === 'string' && typeof refusal.message === 'string')
    throw new ScripError(refusal.code, refusal.message, { ...known, body: refusal as ErrorBody });
  throw new ScripError('unexpected_response', `This is no answer of the service (status ${status}).`, known);
}

/** How long to wait before the next attempt; nothing where there should be none. */
function wait({ code, status, retryAfterMs }: ScripError, repeatable: boolean, attempt: number): number | undefined {
  // These were refused before anything was done.
  const undone = status === 429 || code === 'overloaded';
  const passing = code === 'network_error' || code === 'timeout' || status === 502 || status === 503 || status === 504;
  if (!undone && !(repeatable && passing)) return undefined;
  if ((retryAfterMs ?? 0) > LONGEST_WAIT_MS) return undefined;
  // Never before the interval that was named, and not all at the same instant.
  return (retryAfterMs ?? 0) + 250 * 2 ** attempt * (0.5 + Math.random() / 2);
}
