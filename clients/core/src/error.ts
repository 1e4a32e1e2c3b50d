import type { ErrorBody, ErrorCode, Limit, Outcome, Price } from './types.js';

/** What certain codes add. */
interface Added {
  insufficient_credits: {
    /** What can be spent now. */
    balance: number;
    requested: number;
    shortfall: number;
    productId: string;
    /** Prices that would cover the shortfall. */
    prices: Price[];
  };
  limit_exceeded: {
    /** The limit that refused, with what it counts; `resetsAt` is when its next window begins. */
    limit: Limit;
    requested: number;
  };
  permission_missing: {
    /** What the restricted key would need. */
    permission: string;
  };
  already_refunded: { refundableCents: number };
  currency_mismatch: { currency?: string };
  settle_failed: Unsettled<unknown>;
}

/** Work that was done, and is not paid for yet. */
export interface Unsettled<T> {
  readonly holdId: string;
  /** What the work cost; of what a rate card prices only the service knows it. */
  readonly amount: number | undefined;
  /** What came of it. */
  readonly value: T;
  /** Tries again to take what it cost; never takes it twice. */
  readonly resume: () => Promise<Outcome<T>>;
}

type Fields<C> = C extends keyof Added ? Added[C] : unknown;

interface Known {
  status?: number | undefined;
  requestId?: string | null | undefined;
  param?: string | null | undefined;
  retryAfterMs?: number | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
  body?: ErrorBody | undefined;
}

/** What is taken over from a refusal: no more, since who answered is known by nothing but its shape. */
const FIELDS = [
  'requestId',
  'param',
  'docs',
  'retryAfterMs',
  'idempotencyKey',
  'balance',
  'requested',
  'shortfall',
  'productId',
  'prices',
  'limit',
  'permission',
  'refundableCents',
  'currency',
  'creditAvailable',
  'reason',
] as const;

/** The one kind of error that a client throws. */
export class ScripError extends Error {
  override readonly name = 'ScripError';
  /** What went wrong, as a program reads it. */
  readonly code: ErrorCode | (string & {});
  /** The HTTP status; 0 where no answer arrived. */
  readonly status: number;
  /** Names the request in the service's log. */
  declare readonly requestId?: string;
  /** The one input at fault. */
  declare readonly param?: string;
  /** Where the service explains the code, and what to do about it; relative to its address. */
  declare readonly docs?: string;
  /** How long to wait before trying again. */
  declare readonly retryAfterMs?: number;
  /**
   * The key that the operation was sent under. Where it is not known whether the operation was done, the
   * same call with this key finds out, and does it at most once.
   */
  declare readonly idempotencyKey?: string;

  constructor(code: ErrorCode | (string & {}), message: string, known: Known = {}) {
    super(message, 'cause' in known ? { cause: known.cause } : undefined);
    this.code = code;
    this.status = known.status ?? 0;
    const all: Record<string, unknown> = { ...known, ...known.body };
    for (const name of FIELDS) {
      const value = all[name];
      if (value != null) (this as Record<string, unknown>)[name] = value;
    }
  }

  /** The refusal as the service answered it, for a server to pass on to its page: `Response.json(error, { status: error.status })`. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** Whether it is a client's error, and of this code, if one is given. */
export const isScripError = <C extends ErrorCode | (string & {}) = string>(
  error: unknown,
  code?: C,
): error is ScripError & { readonly code: C } & Readonly<Fields<C>> =>
  // By its name: an application may well hold two copies of this class.
  error instanceof Error && error.name === 'ScripError' && (code === undefined || (error as ScripError).code === code);

/** Whether nothing came back, be it from the service or from where sessions come from. */
export const isUnanswered = ({ code, status }: ScripError): boolean => code === 'network_error' || code === 'timeout' || (code === 'session_failed' && !status);

/** What passes by itself: a loop that asks again and again does not end with it. */
export const isPassing = (error: unknown): boolean =>
  isScripError(error) && (isUnanswered(error) || error.status === 429 || error.status >= 500);
