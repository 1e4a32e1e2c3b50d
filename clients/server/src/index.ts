export { ScripError, isScripError } from '@scrip-wallet/core';
export type {
  Balance,
  CallOptions,
  Checkout,
  ClientErrorCode,
  Deduction,
  ErrorCode,
  EventData,
  EventType,
  ExternalWallet,
  Hold,
  Identity,
  LedgerEntry,
  LedgerFilter,
  Order,
  OrderFilter,
  Outcome,
  Page,
  PlacedHold,
  Portal,
  Price,
  Product,
  Reason,
  Released,
  ScripEvent,
  ScripEventOf,
  Session,
  Subscription,
  Unsettled,
  Wallet,
} from '@scrip-wallet/core';
export type { PollOptions } from './events.js';
export type * from './input.js';
export { scripHandler, scripNodeHandler, type HandlerOptions, type NodeRequest, type NodeResponse } from './handler.js';
export { ScripServer, type ScripServerOptions } from './scrip-server.js';
export { signWebhook, verifyWebhook } from './webhooks.js';
export type { RunningHold, WithHoldInput, Worked } from './with-hold.js';
