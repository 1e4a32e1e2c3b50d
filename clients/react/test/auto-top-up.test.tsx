// The card on file and automatic top-up, as a user who is signed in sees them. How the service goes on, the test says.
import { Scrip, type AutoTopUp as Settings, type SavedCard } from '@scrip-wallet/browser';
import { act, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AutoTopUp, PaymentMethod, ScripError, ScripProvider, useAutoTopUp, type ScripProviderProps, type Session } from '../src';
import { de, en, fr } from '../src/messages';
import { accessible } from './axe';
import { baseUrl, openShop, visit, type Shop } from './shop';

let shop: Shop;
let user: string;
beforeEach(async () => {
  shop = await openShop();
  user = `ann-${crypto.randomUUID()}`;
});
afterEach(() => {
  vi.useRealTimers();
  sessionStorage.clear();
});

const VISA: SavedCard = { brand: 'visa', last4: '4242', expMonth: 4, expYear: 2099 };
const OFF: Settings = {
  enabled: false, state: 'off', reason: null, nextAttemptAt: null, priceId: null, threshold: null, monthlyLimitCents: null, maxPerDay: null,
  chargedThisMonthCents: 0, attemptsToday: 0, currency: null, consent: null,
};
const later = '2099-11-30T10:00:00.000Z';
const on = (more: Partial<Settings> = {}): Settings => ({
  ...OFF,
  enabled: true,
  state: 'armed',
  priceId: shop.bigPriceId,
  threshold: 200,
  quantity: 1,
  target: null,
  monthlyLimitCents: 20_000,
  maxPerDay: 3,
  chargedThisMonthCents: 4_000,
  attemptsToday: 1,
  currency: 'EUR',
  consent: { text: 'Yes', at: later },
  ...more,
});

const secretly = async <T,>(path: string, body: object): Promise<T> => {
  const headers = { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' };
  const reply = await fetch(`${baseUrl}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as T;
};
const session = () => secretly<Session>('/sessions', { externalUserId: user });
const give = (amount: number) => secretly('/credit', { externalUserId: user, productId: shop.productId, amount, idempotencyKey: crypto.randomUUID() });

/** A user's client, whose card and settings the test holds. */
function signIn(held: { card?: SavedCard | null; settings?: Settings } = {}) {
  const client = new Scrip({ baseUrl, session, retries: 0 });
  const state = { card: null as SavedCard | null, settings: OFF, ...held };
  const wallet = client.wallet.bind(client);
  vi.spyOn(client, 'wallet').mockImplementation(async (options) => {
    const found = await wallet(options);
    return found && { ...found, paymentMethod: state.card };
  });
  const left = vi.spyOn(client, 'redirectToPaymentMethod').mockImplementation(() => new Promise(() => undefined));
  const removed = vi.spyOn(client, 'removePaymentMethod').mockImplementation(async () => void (state.card = null));
  const read = vi.spyOn(client, 'readAutoTopUp').mockImplementation(async () => ({ ...state.settings }));
  const saved = vi.spyOn(client, 'setAutoTopUp').mockImplementation(async (input) => (state.settings = input.enabled ? on({ ...input, quantity: input.quantity ?? null, target: input.target ?? null } as Partial<Settings>) : OFF));
  return { client, state, left, removed, read, saved };
}
const show = (client: Scrip, page: ReactNode, props: Partial<ScripProviderProps> = {}) =>
  render(<ScripProvider client={client} locale="en-GB" timeZone="UTC" {...props}>{page}</ScripProvider>, { reactStrictMode: true });
const press = (name: string) => userEvent.click(screen.getByRole('button', { name }));
const fill = async (label: string | RegExp, text: string) => {
  const field = screen.getByLabelText(label);
  await userEvent.clear(field);
  await userEvent.type(field, text);
};

describe('<PaymentMethod>', () => {
  it('shows the card that may be charged', async () => {
    const { client } = signIn({ card: VISA });
    const { container } = show(client, <PaymentMethod className="mine" />);
    await screen.findByText('Visa ending in 4242, valid until 04/2099');
    expect(screen.queryByText(/expire/)).toBeNull();
    expect(screen.getByRole('group', { name: 'Payment method' }).className).toContain('mine');
    await accessible(container);
  });

  it.each([
    [0, /expires soon/],
    [-1, /has expired/],
  ])('warns of a card that ends %i months from now', async (months, words) => {
    const ends = new Date();
    ends.setUTCDate(1);
    ends.setUTCMonth(ends.getUTCMonth() + months);
    const { client } = signIn({ card: { brand: 'amex', last4: '0005', expMonth: ends.getUTCMonth() + 1, expYear: ends.getUTCFullYear() } });
    show(client, <PaymentMethod />);
    await screen.findByText(/^American Express ending in 0005/);
    screen.getByText(words);
  });

  it('leads to the provider’s page, and waits for the card on the way back', async () => {
    const { client, state, left } = signIn();
    const { unmount } = show(client, <PaymentMethod />);
    await screen.findByText('No card is on file.');
    await press('Add a card');
    await waitFor(() => expect(left).toHaveBeenCalled());
    const { returnUrl = '', locale } = left.mock.calls[0]?.[0] ?? {};
    expect([new URL(returnUrl).searchParams.get('scrip_card'), locale]).toEqual(['1', 'en-GB']);
    screen.getByRole('button', { name: 'Opening…' });
    unmount();
    history.replaceState(null, '', new URL(returnUrl).pathname + new URL(returnUrl).search);
    const back = signIn();
    const { container } = show(back.client, <PaymentMethod />);
    await screen.findByText('Waiting for your card…');
    await accessible(container);
    expect(location.search).toBe('');
    back.state.card = VISA;
    await screen.findByText(/^Visa ending in 4242/);
    expect(screen.queryByText('Waiting for your card…')).toBeNull();
    expect(state.card).toBeNull();
  });

  it('removes the card once that is confirmed', async () => {
    const { client, removed } = signIn({ card: VISA });
    const { container } = show(client, <PaymentMethod />);
    await screen.findByText(/^Visa/);
    await press('Remove the card…');
    await accessible(container);
    await press('Keep it');
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Remove the card…' }));
    expect(removed).not.toHaveBeenCalled();
    await press('Remove the card…');
    await press('Remove it');
    await screen.findByText('The card was removed.');
    screen.getByRole('button', { name: 'Add a card' });
    expect(document.activeElement).toBe(screen.getByRole('group', { name: 'Payment method' }));
  });

  it('keeps a card that could not be removed, and says why', async () => {
    const { client, removed } = signIn({ card: VISA });
    removed.mockRejectedValueOnce(new ScripError('provider_error', 'The provider does not answer.', { status: 502 }));
    show(client, <PaymentMethod />);
    await screen.findByText(/^Visa/);
    await press('Remove the card…');
    await press('Remove it');
    expect((await screen.findByRole('alert')).textContent).toContain('does not answer');
    screen.getByText(/^Visa/);
  });

  it('is nothing without a signed-in user', async () => {
    const { container, asked } = visit(shop, <><PaymentMethod /><AutoTopUp /></>, { code: null });
    await waitFor(() => expect(asked.length).toBeGreaterThan(0));
    expect(container.textContent).toBe('');
    const nobody = new Scrip({ baseUrl, session: () => null, retries: 0 });
    const page = show(nobody, <><PaymentMethod /><AutoTopUp /></>);
    await waitFor(() => expect(page.container.textContent).toBe(''));
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('<AutoTopUp>', () => {
  const form = () => screen.findByRole('combobox', { name: 'What to buy' });
  const consent = () => screen.getByRole('checkbox', { name: /^I allow/ });

  it('is switched on with the very words that were agreed to', async () => {
    const { client, saved } = signIn({ card: VISA });
    const { container } = show(client, <AutoTopUp seller="Atelier" />);
    await form();
    screen.getByText('It is off.');
    await accessible(container);
    await userEvent.selectOptions(screen.getByRole('combobox'), '1,000 images · €40.00');
    await fill(/fewer images than/, '200');
    await fill(/At most in a month/, '80.50');
    await userEvent.click(screen.getByText('More settings'));
    await fill(/Charges a day/, '2');
    await userEvent.click(consent());
    await press('Switch on');
    const text =
      'I allow Atelier to charge my Visa ending in 4242 without asking me each time: 1,000 images for €40.00, whenever fewer than 200 images are left; at most 2× a day, and at most €80.50 in a calendar month. I can end this at any time here, with “Switch off”, for all later charges.';
    await screen.findByText('It is on: 1,000 images for €40.00, whenever fewer than 200 images are left.');
    expect(saved).toHaveBeenCalledExactlyOnceWith({ enabled: true, priceId: shop.bigPriceId, threshold: 200, quantity: 1, monthlyLimitCents: 8050, maxPerDay: 2, consent: { text } });
    expect(document.activeElement).toBe(screen.getByRole('group', { name: 'Automatic top-up' }));
    await accessible(container);
  });

  it('asks for consent again where anything changes', async () => {
    const { client, saved } = signIn({ card: VISA });
    show(client, <AutoTopUp />);
    await form();
    await userEvent.click(consent());
    expect(consent()).toHaveProperty('checked', true);
    await fill(/At most in a month/, '100');
    expect(consent()).toHaveProperty('checked', false);
    await press('Switch on');
    expect(saved).not.toHaveBeenCalled();
  });

  it('buys as many as reach a balance, and at once where that is wanted', async () => {
    await give(5);
    const { client, saved } = signIn({ card: VISA });
    show(client, <AutoTopUp />);
    await form();
    await userEvent.click(screen.getByRole('radio', { name: /this balance/ }));
    const target = screen.getByRole('spinbutton', { name: 'As many as bring me to this balance' });
    await userEvent.clear(target);
    await userEvent.type(target, '300');
    await userEvent.click(await screen.findByRole('checkbox', { name: 'You have 5 images, which is fewer: charge the card at once' }));
    await userEvent.click(consent());
    await press('Switch on');
    await screen.findByText('It is on: as many of 100 images at €5.00 each as bring the balance to 300 images, whenever fewer than 20 images are left.');
    expect(saved.mock.calls[0]?.[0]).toMatchObject({ target: 300, chargeNow: true });
    expect(saved.mock.calls[0]?.[0]).not.toHaveProperty('quantity');
  });

  it('leads to the card first, and back to the form as it was left', async () => {
    const { client, left } = signIn();
    const { unmount } = show(client, <AutoTopUp />);
    await form();
    expect(screen.queryByRole('checkbox', { name: /^I allow/ })).toBeNull();
    await fill(/fewer images than/, '33');
    await press('Continue to the card');
    await waitFor(() => expect(left).toHaveBeenCalled());
    unmount();
    history.replaceState(null, '', '/?scrip_card=1');
    const back = signIn({ card: VISA });
    show(back.client, <AutoTopUp />);
    await form();
    await waitFor(() => expect(screen.getByLabelText(/fewer images than/)).toHaveProperty('value', '33'));
    await userEvent.click(consent());
    // The service does not know it yet.
    back.saved.mockRejectedValueOnce(new ScripError('payment_method_required', 'There is no card.', { status: 409 }));
    await press('Switch on');
    await screen.findByText(/^It is on: 100 images/);
    expect(back.saved).toHaveBeenCalledTimes(2);
    expect(sessionStorage.length).toBe(0);
  });

  it('has the card entered again where a session alone may not raise what is charged', async () => {
    const { client, saved, left } = signIn({ card: VISA, settings: on() });
    const { container } = show(client, <AutoTopUp />);
    await screen.findByText(/^It is on/);
    await press('Change…');
    await fill(/At most in a month/, '500');
    await userEvent.click(consent());
    saved.mockRejectedValueOnce(new ScripError('payment_method_confirmation_required', 'Once more.', { status: 409 }));
    await press('Switch on');
    expect((await screen.findByRole('alert')).textContent).toContain('enter it once more');
    await accessible(container);
    await press('Enter the card');
    await waitFor(() => expect(left).toHaveBeenCalled());
    expect(sessionStorage.getItem('scrip:auto-top-up')).toContain('"500"');
  });

  it('is switched off with one press', async () => {
    const { client, saved } = signIn({ card: VISA, settings: on() });
    show(client, <AutoTopUp />);
    await screen.findByText(/^It is on/);
    await press('Switch off');
    await screen.findByText('It is off.');
    expect(saved).toHaveBeenCalledExactlyOnceWith({ enabled: false });
  });

  it('shows what was charged of the month’s limit', async () => {
    const { client } = signIn({ card: VISA, settings: on() });
    show(client, <AutoTopUp />);
    const meter = await screen.findByRole<HTMLMeterElement>('meter', { name: '€40.00 of €200.00 charged this month' });
    expect([meter.value, meter.max]).toEqual([4_000, 20_000]);
  });

  it.each<[Partial<Settings>, RegExp]>([
    [{ state: 'charging' }, /^Your card is being charged…$/],
    [{ state: 'cooling_down', nextAttemptAt: later }, /^It is on: .* The next charge is possible from 30 Nov 2099, 10:00\.$/],
    [{ state: 'cooling_down', reason: 'monthly_limit', nextAttemptAt: later }, /^This month’s limit is reached\. It goes on from 30 Nov 2099/],
    [{ state: 'cooling_down', reason: 'daily_limit', nextAttemptAt: later }, /^No more charges today/],
    [{ state: 'suspended', reason: 'declined' }, /declined three times\. Replace the card/],
    [{ state: 'suspended', reason: 'card_unusable' }, /can no longer be used/],
    [{ state: 'suspended', reason: 'card_missing' }, /there is no card/],
    [{ state: 'suspended', reason: 'disputed' }, /was disputed/],
    [{ state: 'suspended', reason: 'price_changed' }, /the price has changed/],
    [{ state: 'suspended', reason: 'moon' }, /^It has stopped \(moon\)/],
    [{ state: 'new_state' }, /^It is on/],
    [{ priceId: 'price_gone' }, /^It is on\.$/],
  ])('says of %o what it means', async (more, words) => {
    const { client } = signIn({ card: VISA, settings: on(more) });
    const { container } = show(client, <AutoTopUp />);
    expect((await screen.findByRole('status', { name: '' })).textContent).toBeTruthy();
    await screen.findByText(words);
    await accessible(container);
  });

  it('leads to the page where a bank’s question is answered', async () => {
    const { client } = signIn({ card: VISA, settings: on({ state: 'action_required', actionUrl: 'https://pay.example/confirm' }) });
    show(client, <AutoTopUp />);
    expect(await screen.findByRole('link', { name: 'Confirm the payment' })).toHaveProperty('href', 'https://pay.example/confirm');
  });

  it('goes on after a suspension once that was agreed to again', async () => {
    const { client, saved } = signIn({ card: VISA, settings: on({ state: 'suspended', reason: 'price_changed' }) });
    show(client, <AutoTopUp />);
    await screen.findByText(/the price has changed/);
    await press('Agree again…');
    await userEvent.click(consent());
    await press('Switch on');
    await screen.findByText(/^It is on/);
    expect(saved).toHaveBeenCalledTimes(1);
  });

  it('follows a charge until it is over, ever less often', async () => {
    const { client, state, read } = signIn({ card: VISA, settings: on({ state: 'charging' }) });
    vi.useFakeTimers({ shouldAdvanceTime: true });
    show(client, <AutoTopUp />);
    await screen.findByText('Your card is being charged…');
    const before = read.mock.calls.length;
    // React renders between these.
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) await act(() => vi.advanceTimersByTimeAsync(1_000));
    };
    await pass(60);
    expect(read.mock.calls.length - before).toBeGreaterThan(3);
    expect(read.mock.calls.length - before).toBeLessThan(10);
    state.settings = on();
    await pass(31);
    await screen.findByText(/^It is on/);
    const after = read.mock.calls.length;
    await pass(60);
    expect(read.mock.calls.length).toBe(after);
  });

  it('follows the wallet', async () => {
    const { client, state } = signIn({ card: VISA, settings: on() });
    show(client, <AutoTopUp />);
    await screen.findByText(/^It is on/);
    state.settings = on({ state: 'charging' });
    await give(1);
    await screen.findByText('Your card is being charged…');
  });

  it('is nothing where nothing could be bought, or the session may not buy', async () => {
    const { client } = signIn({ card: VISA });
    const page = show(client, <AutoTopUp filter={() => false} />);
    await waitFor(() => expect(page.container.textContent).toBe(''));
    page.unmount();
    const other = signIn();
    other.read.mockRejectedValue(new ScripError('session_forbidden', 'No.', { status: 403 }));
    const second = show(other.client, <AutoTopUp />);
    await waitFor(() => expect(second.container.textContent).toBe(''));
  });

  it('offers to try again where it could not be read', async () => {
    const { client, read } = signIn({ card: VISA, settings: on() });
    read.mockRejectedValueOnce(new ScripError('network_error', 'No answer.'));
    show(client, <AutoTopUp />);
    await userEvent.click(await screen.findByRole('button', { name: 'Try again' }));
    await screen.findByText(/^It is on/);
  });

  it('has markup of one’s own', async () => {
    const { client } = signIn({ card: VISA, settings: on() });
    show(client, <AutoTopUp render={({ topUp }) => <output>{topUp?.state}</output>} />);
    await screen.findByText('armed');
  });

  it.each([
    ['de-AT', de, /^Es ist eingeschaltet: 1,000 images für €\s40,00, sobald weniger als 200 images übrig sind\.$/, 'Ändern…', /^Ich erlaube diesem Anbieter, meine Visa mit den Endziffern 4242/],
    ['fr-FR', fr, /^Elle est activée : 1,000 images pour 40,00/, 'Modifier…', /^J’autorise ce vendeur à débiter ma carte \(Visa se terminant par 4242\)/],
  ] as const)('speaks %s', async (locale, messages, state, change, words) => {
    const { client, saved } = signIn({ card: VISA, settings: on({ quantity: 1 }) });
    const { container } = show(client, <AutoTopUp />, { locale, messages });
    await screen.findByText(/1.?000 images/);
    expect(within(container).getAllByRole('status')[0]?.textContent).toMatch(state);
    await press(change);
    const box = screen.getByRole('checkbox', { name: words });
    await userEvent.click(box);
    await press(messages.switchOn);
    await waitFor(() => expect(saved).toHaveBeenCalled());
    const input = saved.mock.calls[0]?.[0];
    expect(input?.enabled && input.consent.text).toMatch(words);
  });

  it('has words without gaps in all languages', () => {
    const gaps = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();
    for (const [name, text] of Object.entries(en)) for (const other of [de, fr]) expect(gaps(other[name as keyof typeof en] ?? ''), name).toEqual(gaps(text));
  });
});

describe('useAutoTopUp', () => {
  it('saves what a page of one’s own wants', async () => {
    const { client, saved } = signIn({ card: VISA });
    function Mine() {
      const { topUp, save, actionError } = useAutoTopUp();
      return <><button type="button" onClick={() => void save({ enabled: true, priceId: shop.priceId, threshold: 1, monthlyLimitCents: 1, consent: { text: '' } })}>Save</button><p>{actionError?.param ?? topUp?.state}</p></>;
    }
    show(client, <Mine />);
    await screen.findByText('off');
    saved.mockRejectedValueOnce(new ScripError('validation_failed', 'A text is missing.', { status: 400, param: 'consent.text' }));
    await press('Save');
    await screen.findByText('consent.text');
    await press('Save');
    await screen.findByText('armed');
  });
});
