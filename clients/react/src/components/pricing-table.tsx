'use client';

import {
  formatCredits,
  formatDays,
  formatFeature,
  formatInterval,
  formatMoney,
  formatPrice,
  useLocale,
  useMessages,
  useProducts,
  useWallet,
  type CheckoutInput,
  type Messages,
  type Price,
  type Product,
} from '@scrip-wallet/react';
import { useId, type ReactNode } from 'react';
import { CheckoutButton } from './checkout-button';
import { ErrorMessage } from './error-message';
import { PortalButton } from './portal-button';

export interface PricingTableProps {
  /** Only this product's prices. */
  productId?: string;
  /** Only those prices. */
  filter?: (price: Price, product: Product) => boolean;
  /** Goes with each checkout, such as `successUrl`. */
  checkout?: Omit<CheckoutInput, 'priceId'>;
  /** In a window of its own instead of leaving the page. */
  popup?: boolean;
  /** What features are called, by their slugs, such as `{ 'export.pdf': 'Export as PDF' }`. */
  features?: Readonly<Record<string, string>>;
  /** The id of the price to recommend. */
  highlight?: string;
  /** The heading's level; 2 when left out. */
  level?: 2 | 3 | 4;
  /** A price in markup of your own. */
  renderPrice?: (price: Price, product: Product) => ReactNode;
  className?: string;
}

/** What is for sale, each price with a button that leads to its checkout. */
export function PricingTable({ productId, filter, checkout, popup, features, highlight, level = 2, renderPrice, className }: PricingTableProps) {
  const { products, loading, error, refresh } = useProducts();
  const { say } = useMessages();
  const classes = `scrip scrip-pricing ${className ?? ''}`;
  if (loading) return <p role="status" className={classes}>{say('loadingPrices')}</p>;
  if (!products) return <ErrorMessage error={error} onRetry={() => void refresh()} className={className} />;
  const shown = products
    .filter(({ id }) => productId === undefined || id === productId)
    .map((product) => ({ product, prices: product.prices.filter((price) => filter?.(price, product) ?? true) }))
    .filter(({ prices }) => prices.length > 0);
  if (shown.length === 0) return <p className={classes}>{say('nothingForSale')}</p>;
  return (
    <div className={classes}>
      {shown.map(({ product, prices }) => (
        <ProductPrices key={product.id} product={product} level={level}>
          {prices.map((price) => (
            <li key={price.id} className={`scrip-price ${price.id === highlight ? 'scrip-highlight' : ''}`}>
              {price.id === highlight && <p className="scrip-badge">{say('recommended')}</p>}
              {renderPrice?.(price, product) ?? (
                <PriceCard price={price} product={product} products={products} checkout={checkout} popup={popup} features={features} />
              )}
            </li>
          ))}
        </ProductPrices>
      ))}
    </div>
  );
}

function ProductPrices({ product, level, children }: { product: Product; level: 2 | 3 | 4; children: ReactNode }) {
  const heading = useId();
  const Heading = `h${level}` as const;
  return (
    <div role="group" className="scrip-product" aria-labelledby={heading}>
      <Heading id={heading}>{product.name}</Heading>
      {product.description && <p className="scrip-muted">{product.description}</p>}
      <FreeGrant product={product} />
      <ul>{children}</ul>
    </div>
  );
}

interface PriceCardProps {
  price: Price;
  product: Product;
  products: readonly Product[];
  checkout: PricingTableProps['checkout'];
  popup: boolean | undefined;
  features: PricingTableProps['features'];
}

function PriceCard({ price, product, products, checkout, popup, features }: PriceCardProps) {
  const locale = useLocale();
  const { messages, say } = useMessages();
  const { wallet } = useWallet();
  // Credits may fill another product than the one that is bought.
  const unit = products.find(({ id }) => id === (price.creditsProductId ?? product.id))?.creditUnit;
  const credits = price.creditsGranted > 0 ? formatCredits(price.creditsGranted, unit ?? messages.credits, locale) : undefined;
  const name = price.label ?? credits ?? product.name;
  const money = formatMoney(price.amountCents, price.currency, locale);
  const interval = formatInterval(price.interval, messages);
  const words = { name, price: formatPrice(price, locale, messages) };
  const subscribed = wallet?.subscriptions.find((held) => held.productId === product.id);
  // A buyer who owns all that it unlocks is not sold it again.
  const owned =
    !interval && !credits && price.features.length > 0 && price.features.every((feature) => wallet?.features.includes(feature));
  return (
    <>
      {name !== product.name && <p className="scrip-price-name">{name}</p>}
      <p className="scrip-price-amount">
        {money} {interval && <span className="scrip-muted">{interval}</span>}
      </p>
      <ul className="scrip-price-brings">
        {credits && credits !== name && <li>{interval ? `${credits} ${interval}` : credits}</li>}
        {price.creditsExpireAfterDays && <li>{say('expiresAfter', { days: formatDays(price.creditsExpireAfterDays, locale) })}</li>}
        {price.trialDays && <li>{say('trial', { days: formatDays(price.trialDays, locale) })}</li>}
        {price.features.map((feature) => (
          <li key={feature}>{features?.[feature] ?? formatFeature(feature)}</li>
        ))}
      </ul>
      {owned ? (
        <p className="scrip-current">{say('owned')}</p>
      ) : !interval || !subscribed ? (
        <CheckoutButton {...checkout} priceId={price.id} popup={popup} label={say(interval ? 'subscribeFor' : 'buyFor', words)}>
          {say(interval ? 'subscribe' : 'buy')}
        </CheckoutButton>
      ) : subscribed.priceId === price.id ? (
        <p className="scrip-current">{say('currentPlan')}</p>
      ) : (
        <PortalButton>{say('switchPlan')}</PortalButton>
      )}
    </>
  );
}

const FREE: Record<string, keyof Messages> = { once: 'freeOnce', daily: 'freeDaily', weekly: 'freeWeekly', monthly: 'freeMonthly', yearly: 'freeYearly' };

function FreeGrant({ product: { freeGrant, creditUnit } }: { product: Product }) {
  const locale = useLocale();
  const { messages, say } = useMessages();
  if (!freeGrant) return null;
  const credits = formatCredits(freeGrant.credits, creditUnit ?? messages.credits, locale);
  return <p className="scrip-muted">{say(FREE[freeGrant.period] ?? 'freeOnce', { credits })}</p>;
}
