// What calls of the browser client take.
import type { CallOptions, Charge, Holdings, HttpOptions, Rated, UsageFormat, components } from '@scrip-wallet/core';
import type { SessionSource } from './session.js';
import type { CodeStorage } from './storage.js';

type Schemas = components['schemas'];

export interface ScripOptions extends HttpOptions {
  /** A publishable key. A secret key is refused: anyone who sees it can spend everybody's credits. */
  publishableKey?: string | undefined;
  /** Where the recovery code is kept. Default: the browser's `localStorage`, a name for each `baseUrl`. */
  storage?: CodeStorage | undefined;
  /** In place of a key: the wallet of the user who is signed in to your application. */
  session?: SessionSource | undefined;
}

type Spent<T> = Omit<T, 'idempotencyKey' | keyof Charge> & { amount: number; idempotencyKey?: string | undefined };
/** A key is made where none is given; it is on the error of a call that failed. */
export type DeductInput = Omit<Spent<Schemas['DeductExternal']>, 'externalUserId' | 'productId'> & { productId: string };
/** As for a deduction; `productId` may be left out where the project has one product with a credit unit. */
export type HoldInput = Spent<Schemas['PlaceHold']>;
export type SettleInput = Omit<Schemas['SettleHold'], keyof Charge> & { amount: number };
/** What an estimate is about. */
export type EstimateInput = Rated & ({ usage?: undefined } | { usageFormat: UsageFormat });
export type ExtendInput = Schemas['ExtendHold'];
export type CheckoutInput = Omit<Schemas['Checkout'], 'code' | 'externalUserId' | 'idempotencyKey'> & {
  /** Made where none is given: for 24 hours the same checkout is answered under it. */
  idempotencyKey?: string | undefined;
  /** The wallet to fill. Left out: the stored one, if there is one. Null: a new one. */
  code?: string | null | undefined;
};
export interface PopupOptions extends CallOptions {
  /** The window's text until the checkout is there. Default: Opening checkout… */
  opening?: string | undefined;
  /** Called when the buyer closes the window, before it is known whether they paid. */
  onClose?: (() => void) | undefined;
}
export interface SubscriptionInput {
  /** The product that is subscribed to: its subscription that goes on. */
  productId?: string | undefined;
  /** The subscription's `id`, in place of the product: of several to one product only this names one. */
  subscriptionId?: string | undefined;
  idempotencyKey?: string | undefined;
}
/** A wallet that is open here: by its code, or by a session. */
export interface OpenWallet extends Holdings, Pick<Schemas['ExternalWallet'], 'paymentMethod' | 'email'> {
  /** Anyone who has it can spend the credits. */
  code?: string;
  walletId?: string;
  /** Whose it is, of your own users. */
  externalUserId?: string;
}
export interface PortalInput {
  /** Where the portal's way back leads. Default: this page. */
  returnUrl?: string | undefined;
  /** The `id` of the subscription whose customer's portal it is. Default: the current one. */
  subscriptionId?: string | undefined;
}
export interface PaymentMethodInput {
  /** Where the page leads back to, with a card or without. Default: this page. */
  returnUrl?: string | undefined;
  /** The page's language (BCP 47). Default: the browser's. */
  locale?: string | undefined;
}
export interface RotateInput {
  idempotencyKey?: string | undefined;
}
export interface WaitOptions extends CallOptions {
  /** How long to wait for the order, in milliseconds. Default 60,000. */
  timeoutMs?: number | undefined;
}
