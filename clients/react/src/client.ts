// All that has state, or listens to a press. `scripts/mark.mjs` marks it for browsers.
export * from './headless';
export { AutoTopUp, type AutoTopUpProps } from './components/auto-top-up';
export { BalanceBadge, type BalanceBadgeProps } from './components/balance-badge';
export { CheckoutButton, type CheckoutButtonProps } from './components/checkout-button';
export { CheckoutNotice, type CheckoutNoticeProps } from './components/checkout-notice';
export { ErrorMessage, type ErrorMessageProps } from './components/error-message';
export { LedgerTable, type LedgerTableProps } from './components/ledger-table';
export { LostCode, type LostCodeProps } from './components/lost-code';
export { OpenInvoice, type OpenInvoiceProps } from './components/open-invoice';
export { PaymentMethod, type PaymentMethodProps } from './components/payment-method';
export { Paywall, type PaywallProps } from './components/paywall';
export { PortalButton, type PortalButtonProps } from './components/portal-button';
export { PriceEstimate, type PriceEstimateProps } from './components/price-estimate';
export { PricingTable, type PricingTableProps } from './components/pricing-table';
export { RecoveryCode, type RecoveryCodeProps } from './components/recovery-code';
export { RedeemCode, type RedeemCodeProps } from './components/redeem-code';
export { Usage, type UsageProps } from './components/usage';
