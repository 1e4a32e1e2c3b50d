// The names under which the clients speak of what the service sends and takes. All of them are taken from
// the generated types; unknown fields and values may come at any time within v1.
import type { ServiceErrorCode, components, queries } from './api.generated.js';

type Schemas = components['schemas'];

export type Balance = Schemas['Balance'] & {
  /** What open holds set aside. */
  held: number;
  /** What the wallet owes; new credits pay it first. */
  owed: number;
};
export type Product = Schemas['Product'];
export type Price = Schemas['Price'];
export type Subscription = Schemas['Subscription'] & {
  /** Whether it ends with the cycle that is paid. */
  cancelAtPeriodEnd: boolean;
  /** Whether nothing is charged for the time being, though its features stay. */
  collectionPaused: boolean;
};
/** A bill of a subscription that waits for the buyer. */
export type OpenInvoice = Schemas['OpenInvoice'];
/** What a wallet holds. */
export interface Holdings {
  balances: Balance[];
  /** Features that the wallet unlocked. */
  features: string[];
  /** Active and past-due subscriptions. */
  subscriptions: Subscription[];
}
/** A wallet that its recovery code opens. */
export type Wallet = Omit<Schemas['CodeWallet'], keyof Holdings> & Holdings;
/** A wallet of one of your own users. */
export type ExternalWallet = Omit<Schemas['ExternalWallet'], keyof Holdings> & Holdings;
/** A card that may be charged without its owner. */
export type SavedCard = Schemas['PaymentMethod'];
/** What is bought when credits run low, and how that goes. */
export type AutoTopUp = Schemas['AutoTopUp'];
/** Automatic top-up as it is to be: on, with a card on file and all that this needs, or off. */
export type AutoTopUpInput = { enabled: false } | (Omit<Schemas['SetAutoTopUp'], 'externalUserId' | Needed> & { enabled: true } & { [K in Exclude<Needed, 'enabled'>]: NonNullable<Schemas['SetAutoTopUp'][K]> });
type Needed = 'enabled' | 'priceId' | 'threshold' | 'monthlyLimitCents' | 'consent';
export type Order = Schemas['Order'];
export type LedgerEntry = Schemas['LedgerEntry'];
export type Identity = Schemas['Identity'];
export type Checkout = Schemas['CheckoutResult'];
/** What became of a deduction: `deducted` is false for a repeat, which changed nothing. */
export type Deduction = Schemas['Deducted'];
/** A hold that was just placed. */
export type PlacedHold = Schemas['PlacedHold'];
/** A hold's state. */
export type Hold = Schemas['Hold'];
export type Released = Schemas['Released'];
export type Portal = Schemas['Portal'];
/** A limit of a wallet, with what its window counts so far. */
export type Limit = Schemas['LimitState'];
/** A limit to be set. */
export type LimitInput = Schemas['NewLimit'];
export interface LimitsQuery {
  /** Whose use to count where a limit is about each member. */
  member?: string | undefined;
}
/** Of what, and by which intervals, usage is read. */
export type UsageQuery = queries['read_usage'];
/** What was granted and used in one interval. */
export type Bucket = Schemas['Bucket'];
export type Reason = Schemas['Reason'];
export type Meta = Schemas['Meta'];

/** Lets a page see one wallet, and buy for it, until it ends. */
export interface Session {
  token: string;
  expiresAt: string;
}

export type UsageFormat = Schemas['UsageFormat'];
/** A version of a rate card: what things cost. */
export type RateCard = Schemas['RateCard'];
export type Estimate = Schemas['Estimate'];

/** What was used: in units that do not overlap, or as the model's provider reports it. */
export type Used =
  | { quantities: Record<string, number>; usage?: undefined; usageFormat?: undefined }
  | { usage: object; usageFormat?: UsageFormat | undefined; quantities?: undefined };

/** What a rate card prices, by its attributes: `{ model: 'gpt-5' }`. */
export type Rated = Used & { rateCard: string; attributes?: Record<string, string> | undefined; amount?: undefined };

/** An amount of credits that is known. */
export interface Amount {
  amount: number;
  rateCard?: undefined;
  attributes?: undefined;
  quantities?: undefined;
  usage?: undefined;
  usageFormat?: undefined;
}

/** How many credits: an amount, or what a rate card prices. */
export type Charge = Amount | Rated;

/** The input with how many credits it is about. */
export type Charging<T> = T extends unknown ? Omit<T, keyof Charge> & Charge : never;

/** What came of work against a hold. */
export interface Outcome<T> {
  value: T;
  /** What can be spent now. */
  balance: number;
  /** What was taken of what the work cost. */
  charged: number;
  /** What became debt. */
  owed: number;
  /** What could neither be taken nor become debt. */
  uncovered: number;
  /** The exact cost by a rate card; with one, as are the next two. */
  cost?: string | undefined;
  /** The version of the card. */
  rateVersion?: number | undefined;
  /** Counts in `usage` that have no price, since the server does not know them. */
  unpricedUsage?: string[] | undefined;
}

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
  /** There is no stored recovery code, or nobody is signed in whose wallet it could be. */
  | 'no_wallet'
  /** A session for the page could not be had from where it comes from. */
  | 'session_failed'
  /** The browser did not let the checkout's window open. */
  | 'popup_blocked'
  /** A key under which work was done before, or is being done. */
  | 'hold_replayed'
  /** Work was done, and what it cost could not be taken: `SettleError` has what is needed to try again. */
  | 'settle_failed'
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
