// One way to ask the service: attempts, waits, and every failure as a `ScripError`. It knows no endpoint.
import { ScripError, isUnanswered } from './error.js';
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
  headers?: Record<string, string> | undefined;
  /** The answer goes on for as long as it is listened to: it is given as it comes. */
  stream?: boolean;
  /** Whether doing it twice is doing it once. A body with an idempotency key makes it so. */
  repeatable?: boolean;
  /** Called with the headers of an answer that was no refusal, and whether an attempt before it may have done it. */
  onHeaders?: (headers: Headers, repeated: boolean) => void;
}

/** Who asks, where that is no key that lasts. */
export interface Bearer {
  /** What is good now. */
  token(): string | Promise<string>;
  /** This one was refused: it is not given again. */
  drop(token: string): void;
}

/** A longer `Retry-After` is the caller's to wait for: it is on the error. */
const MAX_WAIT_MS = 10_000;

/** A key for an operation whose caller gave none. */
export const newKey = (): string =>
  // Pages that are not served over TLS have no randomUUID.
  crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The input under a key. A misspelled field is refused: of a misspelled key each run would be a new operation. */
export const keyed = <T extends { idempotencyKey?: string | null | undefined }>(input: T, fields?: string): T & { idempotencyKey: string } => {
  const unknown = fields && Object.keys(input).find((name) => !` idempotencyKey ${fields} `.includes(` ${name} `));
  if (unknown) throw new ScripError('invalid_request', `There is no field ${unknown} here.`, { param: unknown });
  return { ...input, idempotencyKey: input.idempotencyKey ?? newKey() };
};

/**
 * One step of a path. What is no name must not become another path: `..`, say. Spaces, full stops, what cannot be seen
 * and dashes of other kinds do not count: people write codes with them.
 */
export const segment = (value: string, param: string): string => {
  const name = String(value ?? '').replace(/[\s\p{Cf}.⁃−。]|(?!-)\p{Pd}/gu, '');
  if (/^[\w-]+$/.test(name)) return name;
  throw new ScripError('invalid_request', `This is no ${param}.`, { param });
};

const aborted = (signal: AbortSignal) => new ScripError('aborted', 'The call was aborted.', { cause: signal.reason });

/** The work, or that the caller no longer waits for it: it goes on for others. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const stop = () => {
      signal?.removeEventListener('abort', stop);
      if (signal?.aborted) reject(aborted(signal));
    };
    signal?.addEventListener('abort', stop);
    work.then(resolve, reject).finally(stop);
    if (signal?.aborted) stop();
  });

/** Waits, unless it is aborted. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  return unlessAborted(over, signal).finally(() => clearTimeout(timer));
};

const keyBearer = (key: string): Bearer => ({
  // What is not set is no fault before it is used: builds and tests make clients without keys, too.
  token: () => {
    if (key) return key;
    throw new ScripError('invalid_options', 'No key is set.');
  },
  drop: () => undefined,
});

export class Http {
  /** Where the service is, as errors name it. */
  readonly #address: string;
  readonly #bearer: Bearer;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #retries: number;

  constructor(options: HttpOptions, bearer: string | Bearer) {
    const { baseUrl, fetch: own } = options;
    // Empty or a path: the address that a page comes from.
    if (!/^(https?:\/\/|\/|$)/.test(baseUrl)) throw new ScripError('invalid_options', 'baseUrl has to be an http(s) address.');
    this.#address = baseUrl.replace(/\/+$/, '');
    this.#bearer = typeof bearer === 'string' ? keyBearer(bearer) : bearer;
    // The global one is looked up at each call: what watches or fakes it may come later. A browser's refuses
    // to be anything's method.
    this.#fetch = (...given) => (own ?? fetch)(...given);
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    this.#retries = options.retries ?? 3;
  }

  /** Asks until there is an answer, or a refusal that asking again would not change. */
  async call<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, call: Call = {}): Promise<T> {
    const { body, signal } = call;
    const idempotencyKey = (body as { idempotencyKey?: string } | undefined)?.idempotencyKey;
    const repeatable = call.repeatable ?? (method === 'GET' || idempotencyKey !== undefined);
    const url = this.#url(path, call.query);
    let text: string | undefined;
    try {
      text = body && JSON.stringify(body);
    } catch (cause) {
      throw new ScripError('invalid_request', 'The input is no JSON.', { cause, idempotencyKey });
    }
    let [renewed, repeated] = [false, false];
    for (let attempt = 0; ; attempt++) {
      let token = '';
      let failure: ScripError;
      try {
        const given = this.#bearer.token();
        token = typeof given === 'string' ? given : await unlessAborted(given, signal);
        return await this.#attempt<T>(method, url, text, call, idempotencyKey, token, repeated);
      } catch (error) {
        failure = error as ScripError;
      }
      if (failure.code === 'session_expired') {
        this.#bearer.drop(token);
        if (!renewed) {
          renewed = true;
          continue;
        }
      }
      const waitMs = retryDelay(failure, repeatable, attempt);
      if (attempt >= this.#retries || waitMs === undefined) throw failure;
      repeated ||= !isUndone(failure);
      await pause(waitMs, signal).catch((stopped: ScripError) => {
        throw new ScripError(stopped.code, stopped.message, { cause: stopped.cause, idempotencyKey });
      });
    }
  }

  #url(path: string, query?: object): string {
    // What a page may say, a server cannot: there is nothing that it would be relative to.
    if (!/^http/.test(this.#address) && !globalThis.location) throw new ScripError('invalid_options', 'baseUrl has to be an http(s) address.');
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) if (value != null) search.set(name, String(value));
    return `${this.#address}/api/v1${path}${String(search) && `?${search}`}`;
  }

  async #attempt<T>(
    method: string,
    url: string,
    body: string | undefined,
    call: Call,
    idempotencyKey: string | undefined,
    token: string,
    repeated: boolean,
  ): Promise<T> {
    const { signal, timeoutMs = this.#timeoutMs } = call;
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    const timer = setTimeout(() => stop.abort(), timeoutMs);
    try {
      const headers = { ...call.headers, authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
      const response = await this.#fetch(url, { method, headers, signal: stop.signal, body: body ?? null });
      if (call.stream && response.ok && response.body) return response.body as T;
      const answer = read<T>(response, await response.text(), idempotencyKey);
      call.onHeaders?.(response.headers, repeated);
      return answer;
    } catch (cause) {
      if (cause instanceof ScripError) throw cause;
      const known = { cause, idempotencyKey };
      if (signal?.aborted) throw new ScripError('aborted', 'The call was aborted.', { ...known, cause: signal.reason });
      const from = `No answer came from ${this.#address || 'the service'}`;
      if (stop.signal.aborted) throw new ScripError('timeout', `${from} within ${timeoutMs} ms.`, known);
      throw new ScripError('network_error', `${from}.`, known);
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
  // Recovery and what removes something answer without a body, and say so by their status.
  if (ok && ((body && typeof body === 'object') || ((status === 202 || status === 204) && body === undefined))) return body as T;
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

/** Whether it was refused before anything was done. */
const isUndone = ({ code, status }: ScripError): boolean => status === 429 || code === 'overloaded';

/** How long to wait before the next attempt; nothing where there should be none. */
export function retryDelay(failure: ScripError, repeatable: boolean, attempt: number): number | undefined {
  const { retryAfterMs = 0 } = failure;
  const passing = isUnanswered(failure) || failure.status >= 500;
  if (!isUndone(failure) && !(repeatable && passing)) return undefined;
  if (retryAfterMs > MAX_WAIT_MS) return undefined;
  // Never before the interval that was named, and not all at the same instant.
  return retryAfterMs + 250 * 2 ** attempt * (0.5 + Math.random() / 2);
}
