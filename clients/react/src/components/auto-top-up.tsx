'use client';

import {
  formatAmount,
  formatBrand,
  formatCredits,
  formatInstant,
  formatMoney,
  parseAmount,
  useAutoTopUp,
  useBalance,
  useLocale,
  useMessages,
  usePaymentMethod,
  useProducts,
  useScrip,
  useTimeZone,
  type AutoTopUpSettings,
  type AutoTopUpState,
  type Price,
  type Product,
} from '@scrip-wallet/react';
import { useEffect, useId, useRef, useState, type FormEvent, type InputHTMLAttributes, type ReactNode } from 'react';
import { ErrorMessage } from './error-message';

export interface AutoTopUpProps {
  /** Only prices that fill this product's balance. */
  productId?: string;
  /** Only those prices. */
  filter?: (price: Price, product: Product) => boolean;
  /** Who charges the card, as the user knows you: it is part of what they agree to. */
  seller?: string;
  /** Where the provider's page for a card leads back to; this page when left out. */
  returnUrl?: string;
  /** Markup of your own. */
  render?: (state: AutoTopUpState) => ReactNode;
  className?: string;
}

/** Has credits bought with the card of the user who is signed in, before they run out: switched on, changed and off, and how it goes. */
export function AutoTopUp({ productId, filter, seller, returnUrl, render, className }: AutoTopUpProps) {
  const state = useAutoTopUp();
  const catalog = useProducts();
  const payment = usePaymentMethod();
  const { bySession } = useScrip();
  const { messages, say } = useMessages();
  const [draft, setDraft] = useState<Draft>();
  const whole = useRef<HTMLDivElement>(null);
  // Not before the first render, which a server's has to be like.
  useEffect(() => {
    const kept = takeKept();
    if (kept) setDraft(kept);
  }, []);
  const { topUp, loading, error, refresh, save, pending, actionError, reset } = state;
  if (!bySession) return null;
  if (render) return <>{render(state)}</>;
  if (topUp === null) return null;
  const classes = `scrip scrip-top-up ${className ?? ''}`;
  if (loading || catalog.loading || payment.loading) return <p role="status" className={classes}>{say('loading')}</p>;
  const again = () => void Promise.all([refresh(), payment.refresh(), catalog.refresh()]);
  const failure = error ?? payment.error ?? (catalog.products ? undefined : catalog.error);
  if (failure) return <ErrorMessage error={failure} onRetry={again} className={className} />;
  const products = catalog.products ?? [];
  const unitOf = (credits: string) => products.find(({ id }) => id === credits)?.creditUnit ?? messages.credits;
  const all = products.flatMap((product) =>
    product.prices.map((price) => {
      const credits = price.creditsProductId ?? product.id;
      return { price, product, credits, unit: unitOf(credits) };
    }),
  );
  const offers = all.filter(
    ({ price, product, credits }) =>
      price.interval === 'one_time' && price.creditsGranted > 0 && (productId === undefined || productId === credits) && (filter?.(price, product) ?? true),
  );
  if (!topUp || (!topUp.enabled && offers.length === 0)) return null;
  const close = () => {
    setDraft(undefined);
    reset();
    // What was pressed is gone.
    whole.current?.focus();
  };
  const switchOff = async () => {
    if (await save({ enabled: false })) close();
  };
  const isOpen = draft !== undefined || !topUp.enabled;
  const mustAgree = topUp.state === 'suspended';
  return (
    <div ref={whole} role="group" aria-label={say('autoTopUp')} tabIndex={-1} className={classes}>
      <Status topUp={topUp} offer={all.find(({ price }) => price.id === topUp.priceId)} />
      {topUp.enabled && !isOpen && (
        <p className="scrip-actions">
          {offers.length > 0 && (
            <button type="button" className={`scrip-button ${mustAgree ? 'scrip-primary' : ''}`} disabled={pending} onClick={() => setDraft(draftOf(topUp, offers))}>
              {say(mustAgree ? 'agreeAgain' : 'edit')}
            </button>
          )}
          <button type="button" className="scrip-button" aria-busy={pending} disabled={pending} onClick={() => void switchOff()}>
            {say('switchOff')}
          </button>
        </p>
      )}
      {isOpen && offers.length > 0 ? (
        <Form offers={offers} first={draft ?? draftOf(topUp, offers)} key={draft ? 'draft' : 'new'} isOn={topUp.enabled} seller={seller} returnUrl={returnUrl} state={state} onClose={close} />
      ) : (
        <ErrorMessage error={actionError} />
      )}
    </div>
  );
}

interface Offer {
  price: Price;
  /** Whose balance it fills. */
  credits: string;
  /** What these credits are called. */
  unit: string;
}

/** How it goes, in words. */
function Status({ topUp, offer }: { topUp: AutoTopUpSettings; offer: Offer | undefined }) {
  const locale = useLocale();
  const timeZone = useTimeZone();
  const { messages, say } = useMessages();
  const words = useWords();
  const charged = useId();
  const { state, reason, nextAttemptAt, actionUrl, threshold, target, quantity, monthlyLimitCents, currency } = topUp;
  const when = nextAttemptAt ? formatInstant(nextAttemptAt, locale, timeZone) : '';
  const armed = () => (offer && threshold != null ? say('topUpArmed', words(offer, quantity ?? 1, threshold, target)) : say('topUpOn'));
  const because = (messages as Partial<Record<string, string>>)[`topUp.${reason}`] === undefined ? undefined : say(`topUp.${reason}` as 'topUp.declined', { when });
  const said: Record<string, () => string> = {
    off: () => say('topUpOff'),
    charging: () => say('topUpCharging'),
    cooling_down: () => because ?? `${armed()} ${when && say('topUpWaits', { when })}`,
    action_required: () => say('topUpAction'),
    suspended: () => because ?? say('topUpStopped', { reason: reason ?? '?' }),
  };
  const money = (cents: number) => formatMoney(cents, currency ?? offer?.price.currency ?? '', locale);
  const spent = topUp.chargedThisMonthCents ?? 0;
  return (
    <>
      <p role="status" className={state === 'suspended' || state === 'action_required' ? 'scrip-warning' : ''}>{(said[state] ?? armed)()}</p>
      {state === 'off' && <p className="scrip-muted">{say('topUpAbout')}</p>}
      {state === 'action_required' && actionUrl && (
        <a className="scrip-button scrip-primary" href={actionUrl} rel="noreferrer">
          {say('topUpConfirm')}
        </a>
      )}
      {topUp.enabled && monthlyLimitCents != null && (
        <div>
          <p id={charged} className="scrip-muted">{say('topUpCharged', { charged: money(spent), limit: money(monthlyLimitCents) })}</p>
          <meter aria-labelledby={charged} value={spent} max={Math.max(monthlyLimitCents, 1)} />
        </div>
      )}
    </>
  );
}

const nameOf = ({ price, unit }: Offer, locale: string | undefined): string => price.label ?? formatCredits(price.creditsGranted, unit, locale);

/** What is bought when, as the sentences about it have it in their gaps. */
function useWords() {
  const locale = useLocale();
  const { say } = useMessages();
  return (offer: Offer, quantity: number, threshold: number, target: number | null | undefined) => {
    const { price, unit } = offer;
    const name = nameOf(offer, locale);
    const money = (times: number) => formatMoney(price.amountCents * times, price.currency, locale);
    const what = quantity > 1 ? `${formatCredits(quantity, null, locale)} × ${name}` : name;
    const buy = target == null ? say('topUpBuys', { what, money: money(quantity) }) : say('topUpFills', { what: name, money: money(1), target: formatCredits(target, unit, locale) });
    return { buy, threshold: formatCredits(threshold, unit, locale) };
  };
}

/** What is in the fields, as it was typed. */
interface Draft {
  priceId: string;
  threshold: string;
  byTarget: boolean;
  quantity: string;
  target: string;
  limit: string;
  maxPerDay: string;
  now: boolean;
  /** What was agreed to: where anything changes, it has to be again. */
  agreed: string;
}

function draftOf(topUp: AutoTopUpSettings, offers: readonly Offer[]): Draft {
  const price = (offers.find((offer) => offer.price.id === topUp.priceId) ?? offers[0])?.price;
  const { creditsGranted = 1, amountCents = 0, currency = '' } = price ?? {};
  const threshold = topUp.threshold ?? Math.max(1, Math.floor(creditsGranted / 5));
  return {
    priceId: price?.id ?? '',
    threshold: String(threshold),
    byTarget: topUp.target != null,
    quantity: String(topUp.quantity ?? 1),
    target: String(topUp.target ?? threshold + creditsGranted),
    limit: formatAmount(topUp.monthlyLimitCents ?? amountCents * 5, currency),
    maxPerDay: String(topUp.maxPerDay ?? 3),
    now: false,
    agreed: '',
  };
}

interface FormProps {
  offers: readonly Offer[];
  first: Draft;
  isOn: boolean;
  seller: string | undefined;
  returnUrl: string | undefined;
  state: AutoTopUpState;
  onClose: () => void;
}

function Form({ offers, first, isOn, seller, returnUrl, state, onClose }: FormProps) {
  const [draft, setDraft] = useState(first);
  const { save, pending, actionError } = state;
  const { card, arriving, setUp, pending: leaving, actionError: cardError } = usePaymentMethod();
  const locale = useLocale();
  const { messages, say } = useMessages();
  const offer = offers.find(({ price }) => price.id === draft.priceId) ?? offers[0];
  const { balance } = useBalance(offer?.credits);
  const words = useWords();
  const quantities = useId();
  if (!offer) return null;
  const { unit, price } = offer;
  const { amountCents, currency } = price;
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const [threshold, quantity, target, maxPerDay] = [draft.threshold, draft.quantity, draft.target, draft.maxPerDay].map(Number) as [number, number, number, number];
  const limitCents = parseAmount(draft.limit, currency) ?? 0;
  const isLow = balance !== undefined && balance < threshold;
  const text = say('topUpConsent', {
    ...words(offer, quantity, threshold, draft.byTarget ? target : null),
    seller: seller ?? messages.thisShop,
    card: card ? say('card', { brand: formatBrand(card.brand), last4: card.last4 }) : '',
    times: formatCredits(maxPerDay, null, locale),
    limit: formatMoney(limitCents, currency, locale),
    off: messages.switchOff,
  });
  const toCard = () => {
    keep(draft);
    void setUp({ returnUrl });
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (pending || leaving) return;
    if (!card) return toCard();
    const amount = draft.byTarget ? { target } : { quantity };
    const chosen = { enabled: true, priceId: price.id, threshold, ...amount, monthlyLimitCents: limitCents, maxPerDay, consent: { text } } as const;
    if (await save({ ...chosen, ...(draft.now && isLow && { chargeNow: true }) })) onClose();
  };
  const number = (name: 'threshold' | 'quantity' | 'target' | 'limit' | 'maxPerDay'): InputHTMLAttributes<HTMLInputElement> => ({
    type: 'number',
    inputMode: 'decimal',
    min: 1,
    step: 1,
    required: true,
    value: draft[name],
    onChange: (event) => set({ [name]: event.target.value }),
  });
  return (
    <form onSubmit={(event) => void submit(event)}>
      <label>
        {say('topUpPrice')}
        <select value={price.id} onChange={(event) => set({ priceId: event.target.value })}>
          {offers.map((each) => (
            <option key={each.price.id} value={each.price.id}>{`${nameOf(each, locale)} · ${formatMoney(each.price.amountCents, each.price.currency, locale)}`}</option>
          ))}
        </select>
      </label>
      <label>
        {say('topUpThreshold', { unit })}
        <input {...number('threshold')} />
      </label>
      <fieldset>
        <legend>{say('topUpHowMuch')}</legend>
        {([['quantity', false, 1], ['target', true, threshold + 1]] as const).map(([name, byTarget, min]) => (
          <div key={name} className="scrip-choice">
            <label className="scrip-check">
              <input type="radio" name={quantities} checked={draft.byTarget === byTarget} onChange={() => set({ byTarget })} />
              <span id={`${quantities}-${name}`}>{say(byTarget ? 'topUpTarget' : 'topUpQuantity')}</span>
            </label>
            {draft.byTarget === byTarget && <input {...number(name)} min={min} aria-labelledby={`${quantities}-${name}`} />}
          </div>
        ))}
      </fieldset>
      <label>
        {say('topUpLimit', { currency })}
        <input {...number('limit')} min={formatAmount(amountCents * (draft.byTarget ? 1 : quantity || 1), currency)} step={formatAmount(1, currency)} />
      </label>
      <details>
        <summary>{say('topUpMore')}</summary>
        <label>
          {say('topUpMaxPerDay')}
          <input {...number('maxPerDay')} />
        </label>
      </details>
      {isLow && (
        <label className="scrip-check">
          <input type="checkbox" checked={draft.now} onChange={(event) => set({ now: event.target.checked })} />
          <span>{say('topUpNow', { balance: formatCredits(balance, unit, locale) })}</span>
        </label>
      )}
      {card && (
        <label className="scrip-check">
          <input type="checkbox" checked={draft.agreed === text} onChange={(event) => set({ agreed: event.target.checked ? text : '' })} required />
          <span>{text}</span>
        </label>
      )}
      <p role="status" className="scrip-muted">{arriving ? say('cardArriving') : card ? '' : say('topUpNeedsCard')}</p>
      <p className="scrip-actions">
        <button type="submit" className="scrip-button scrip-primary" aria-busy={pending || leaving} disabled={pending || leaving}>
          {say(leaving ? 'opening' : card ? 'switchOn' : 'topUpToCard')}
        </button>
        {isOn && (
          <button type="button" className="scrip-button" disabled={pending} onClick={onClose}>
            {say('cancel')}
          </button>
        )}
      </p>
      <ErrorMessage error={actionError ?? cardError} />
      {actionError?.code.startsWith('payment_method_') && (
        <button type="button" className="scrip-button" aria-busy={leaving} disabled={leaving} onClick={toCard}>
          {say('topUpCardAgain')}
        </button>
      )}
    </form>
  );
}

const KEPT = 'scrip:auto-top-up';

/** Keeps what was entered while the user is away to enter a card. */
function keep(draft: Draft): void {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(draft));
  } catch {
    // A browser that keeps nothing: it has to be entered again.
  }
}

function takeKept(): Draft | undefined {
  try {
    const kept = sessionStorage.getItem(KEPT);
    sessionStorage.removeItem(KEPT);
    return kept ? (JSON.parse(kept) as Draft) : undefined;
  } catch {
    return undefined;
  }
}
