// The names under which the clients speak of what the service sends and takes. All of them are taken from
// the generated types; unknown fields and values may come at any time within v1.
import type { ServiceErrorCode, components, queries } from './api.generated.js';

type Schemas = components['schemas'];

export type Balance = Schemas['Balance'];
export type Product = Schemas['Product'];
export type Price = Schemas['Price'];
export type Subscription = Schemas['Subscription'];
/** A bill of a subscription that waits for the buyer. */
export type OpenInvoice = Schemas['OpenInvoice'];
/** A wallet that its recovery code opens. */
export type Wallet = Schemas['CodeWallet'];
/** A wallet of one of your own users. */
export type ExternalWallet = Schemas['ExternalWallet'];
export type Order = Schemas['Order'];
export type LedgerEntry = Schemas['LedgerEntry'];
export type Identity = Schemas['Identity'];
export type Checkout = Schemas['CheckoutResult'];
/** What became of a deduction: `deducted` is false for a repeat, which changed nothing. */
export type Deduction = Schemas['Deducted'];
/** A hold that was just placed. */
export type PlacedHold = Schemas['PlacedHold'];
/** How a hold stands. */
export type Hold = Schemas['Hold'];
export type Released = Schemas['Released'];
export type Portal = Schemas['Portal'];
export type Reason = Schemas['Reason'];
export type Meta = Schemas['Meta'];

/** One page of a list, newest first. `nextCursor` is null on the last one. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** Where a page begins: with `nextCursor` of the page before. */
type From<T> = Omit<T, 'cursor'> & { cursor?: string | null };

/** What a list of ledger entries may be narrowed to. */
export type LedgerFilter = From<queries['read_ledger']>;
/** How a list of orders is read. */
export type OrderFilter = From<queries['list_orders']>;

/** The last argument of every call. */
export interface CallOptions {
  /** Ends the call, its retries included. */
  signal?: AbortSignal | undefined;
  /** How long one attempt may take, in milliseconds. */
  timeoutMs?: number | undefined;
}

/** Fields that a refusal adds to its code. */
export type ErrorBody = Schemas['Error'];

/** What fails on this side of the wire, or is no answer of the service. */
export type ClientErrorCode =
  /** The options of a client make no sense: a secret key in a browser, say. */
  | 'invalid_options'
  /** No answer arrived: offline, refused, or forbidden by the browser. */
  | 'network_error'
  /** No answer arrived in time. */
  | 'timeout'
  /** The caller's signal ended it, or the buyer came back from the page they were sent to. */
  | 'aborted'
  /** An answer that the service does not give: a proxy's page, the login page of a network. */
  | 'unexpected_response'
  /** There is no stored recovery code. */
  | 'no_wallet'
  /** The browser did not let the checkout's window open. */
  | 'popup_blocked'
  /** A key under which work was done before, or is being done. */
  | 'hold_replayed'
  /** What arrived is not what the service signed. */
  | 'invalid_signature'
  /** The checkout's window was closed before anything was paid. */
  | 'checkout_closed';

/** Every code of a `ScripError` that is known today; more may come. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode;

/** What can be left out: the client fills it in. */
export type Loose<T, K extends PropertyKey> = T extends unknown
  ? Omit<T, K> & { [P in keyof T as P extends K ? P : never]?: T[P] | undefined }
  : never;
