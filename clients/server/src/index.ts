export { ScripError, isScripError } from '@scrip/core';
export type {
  Balance,
  CallOptions,
  Checkout,
  ClientErrorCode,
  Deduction,
  ErrorCode,
  ExternalWallet,
  Hold,
  Identity,
  LedgerEntry,
  LedgerFilter,
  Order,
  OrderFilter,
  Page,
  PlacedHold,
  Portal,
  Price,
  Product,
  Reason,
  Released,
  Subscription,
  Wallet,
} from '@scrip/core';
export type { PollOptions } from './events.js';
export type * from './input.js';
export { secretKey } from './key.js';
export { ScripServer, type ScripServerOptions } from './scrip-server.js';
export { verifyWebhook } from './webhooks.js';
export type { Outcome, RunningHold, WithHoldInput, Worked } from './with-hold.js';
