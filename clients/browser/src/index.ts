export { ScripError, isScripError } from '@scrip-wallet/core';
export type {
  Balance,
  CallOptions,
  Checkout,
  ClientErrorCode,
  Deduction,
  ErrorCode,
  Hold,
  Holdings,
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
  Session,
  Subscription,
  Wallet,
} from '@scrip-wallet/core';
export type {
  CheckoutInput,
  DeductInput,
  ExtendInput,
  HoldInput,
  OpenWallet,
  PopupOptions,
  PortalInput,
  RotateInput,
  ScripOptions,
  SettleInput,
  SubscriptionInput,
  WaitOptions,
} from './input.js';
export { Scrip } from './scrip.js';
export type { SessionSource } from './session.js';
export { browserStorage, type CodeStorage } from './storage.js';
