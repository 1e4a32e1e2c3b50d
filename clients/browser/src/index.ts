export { ScripError, isScripError } from '@scrip/core';
export type {
  Balance,
  CallOptions,
  Checkout,
  ClientErrorCode,
  Deduction,
  ErrorCode,
  Hold,
  Identity,
  LedgerEntry,
  LedgerFilter,
  OpenInvoice,
  Order,
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
export type { CheckoutInput, DeductInput, ExtendInput, HoldInput, PortalInput, RotateInput, SettleInput, WaitOptions } from './input.js';
export { publishableKey } from './key.js';
export { Scrip, type ScripOptions } from './scrip.js';
export { browserStorage, type CodeStorage } from './storage.js';
