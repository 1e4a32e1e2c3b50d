// Everything but markup. What the components are built of, so that a copy of one needs nothing that is not
// exported here.
export { ScripProvider, useLocale, useMessages, useScrip, useTimeZone, type ScripProviderProps } from './provider';
export { useWallet, type WalletState } from './hooks/use-wallet';
export { useProducts, type ProductsState } from './hooks/use-products';
export { useBalance, type BalanceState } from './hooks/use-balance';
export { useFeature, type FeatureState } from './hooks/use-feature';
export { useDeduct, type DeductInput, type DeductState } from './hooks/use-deduct';
export { useCheckout, type CheckoutInput, type CheckoutState } from './hooks/use-checkout';
export { useEstimate, type EstimateInput, type EstimateState } from './hooks/use-estimate';
export { useLimits, type LimitsState } from './hooks/use-limits';
export { useAutoTopUp, type AutoTopUpInput, type AutoTopUpState } from './hooks/use-auto-top-up';
export { usePaymentMethod, type PaymentMethodState } from './hooks/use-payment-method';
export { useUsage, type DayOfUsage, type UsageInput, type UsageState } from './hooks/use-usage';
export { useLedger, type LedgerFilter, type LedgerState } from './hooks/use-ledger';
export { useAction, type Action } from './hooks/use-action';
export { formatAmount, formatBrand, formatCredits, formatDay, formatDays, formatDelta, formatFeature, formatInstant, formatInterval, formatMoney, formatPrice, parseAmount } from './format';
export type { Messages } from './messages/en';
export {
  ScripError,
  isScripError,
  type AutoTopUp as AutoTopUpSettings,
  type Balance,
  type Deduction,
  type Estimate,
  type LedgerEntry,
  type Limit,
  type OpenInvoice,
  type OpenWallet,
  type Order,
  type Price,
  type Product,
  type SavedCard,
  type Session,
  type SessionSource,
  type Subscription,
  type Wallet,
} from '@scrip-wallet/browser';
