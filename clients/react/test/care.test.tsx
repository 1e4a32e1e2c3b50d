// Losses, double charges and misleading texts that must not happen.
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { renderToString } from 'react-dom/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  BalanceBadge,
  CheckoutButton,
  CheckoutNotice,
  ErrorMessage,
  LedgerTable,
  PricingTable,
  RecoveryCode,
  RedeemCode,
  ScripError,
  ScripProvider,
  useDeduct,
  useWallet,
} from '../src';
import { de, en, fr } from '../src/messages';
import { accessible } from './axe';
import { baseUrl, fund, heldBack, keeps, openShop, pay, visit, walletOf, watched, type Shop } from './shop';

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => vi.restoreAllMocks());

const LOST = 'OLIVE-AAAA-BBBB-CCCC';

describe('a code that opens nothing', () => {
  it('dies on no page: it is said, and buying, starting over and the form go on', async () => {
    const page = visit(shop, <><BalanceBadge /><RecoveryCode /><LedgerTable /><CheckoutButton priceId={shop.priceId}>Buy</CheckoutButton></>, { code: LOST });
    await screen.findByText(`The code stored here, ${LOST}, no longer opens a wallet.`);
    await screen.findByText('0 images');
    await screen.findByText('Nothing yet.');
    expect(screen.queryByRole('alert')).toBeNull();
    await accessible(page.container);
    expect(page.asked.filter((path) => path.includes('CODE'))).toHaveLength(1);
    await userEvent.click(screen.getByText('Start over'));
    await waitFor(() => expect(screen.queryByText(/no longer opens/)).toBeNull());
    expect(await page.client.lostCode()).toBeNull();
  });

  it('is not forgotten with the wallet that took its place, nor replaces it', async () => {
    const page = visit(shop, <RedeemCode />, { code: LOST });
    await screen.findByText('Try again');
    const { code } = await page.client.ensureWallet();
    await waitFor(() => expect(screen.queryByText('Try again')).toBeNull());
    await userEvent.click(screen.getByText('Forget it'));
    await waitFor(() => expect(screen.queryByText(/no longer opens/)).toBeNull());
    expect(await page.client.code()).toBe(code);
  });

  it('is opened again where it was only wrong for a while', async () => {
    const code = await fund(shop, 7);
    const wrong = new Response(JSON.stringify({ code: 'wallet_not_found', message: 'No such wallet.' }), { status: 404 });
    let away = true;
    visit(shop, <><RecoveryCode /><BalanceBadge /></>, { code, fetch: (...given) => (away && String(given[0]).includes('/wallets/') ? Promise.resolve(wrong.clone()) : fetch(...given)) });
    await screen.findByText('Try again');
    away = false;
    await userEvent.click(screen.getByText('Try again'));
    await screen.findByText('7 images');
    expect(screen.queryByText(/no longer opens/)).toBeNull();
  });
});

it('a buyer whose browser keeps nothing is shown the code, and again after a reload', async () => {
  const { client } = watched(shop, { code: null });
  const { url, checkoutId } = await client.checkout({ priceId: shop.priceId });
  await pay(url);
  const blocked = () => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };
  vi.spyOn(Storage.prototype, 'getItem').mockImplementation(blocked);
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(blocked);
  vi.spyOn(Storage.prototype, 'removeItem').mockImplementation(blocked);
  history.replaceState(null, '', `/thanks?scrip_checkout=${checkoutId}`);
  for (let n = 0; n < 2; n++) {
    const page = visit(shop, <><CheckoutNotice /><BalanceBadge /></>);
    await screen.findByText('Payment received, thank you. You have 100 images.');
    const { code } = (await page.client.wallet()) ?? expect.fail('no wallet');
    await screen.findByText(code ?? '');
    screen.getByText(/This browser keeps nothing/);
    page.unmount();
  }
});

it('one press is one good: a second one while the first is under way takes and gives nothing', async () => {
  const code = await fund(shop, 10);
  function Draw() {
    const { deduct } = useDeduct({ productId: shop.productId });
    const [goods, setGoods] = useState(0);
    return <button type="button" onClick={() => void deduct({ amount: 1 }).then((taken) => taken && setGoods((n) => n + 1))}>{`${goods} goods`}</button>;
  }
  const { fetch, go } = heldBack(/\/deduct$/);
  const page = visit(shop, <Draw />, { code, fetch });
  await userEvent.dblClick(screen.getByRole('button'));
  go();
  await screen.findByText('1 goods');
  expect(page.asked.filter((path) => path.endsWith('/deduct'))).toHaveLength(1);
  expect((await walletOf(shop, code)).balances[0]?.balance).toBe(9);
});

it('a storage that is written where it is used makes no client at each render', async () => {
  const kept = keeps(await fund(shop, 5));
  const asked = vi.spyOn(globalThis, 'fetch');
  function Page() {
    const [n, setN] = useState(0);
    return (
      <ScripProvider baseUrl={baseUrl} publishableKey={shop.publishableKey} storage={{ get: () => kept.get(), set: (code) => kept.set(code), remove: () => kept.remove() }}>
        <BalanceBadge />
        <button type="button" onClick={() => setN(n + 1)}>{`Again ${n}`}</button>
      </ScripProvider>
    );
  }
  render(<Page />);
  await screen.findByText('5 images');
  const before = asked.mock.calls.length;
  for (let n = 0; n < 5; n++) await userEvent.click(screen.getByText(`Again ${n}`));
  expect(asked.mock.calls).toHaveLength(before);
});

it('a popup says what it waits for', async () => {
  const popup = { document: document.implementation.createHTMLDocument(), location: { href: '' }, closed: false, close: vi.fn() };
  vi.spyOn(window, 'open').mockReturnValue(popup as unknown as Window);
  visit(shop, <CheckoutButton priceId={shop.priceId} popup>Buy</CheckoutButton>, { code: null, fetch: () => new Promise(() => undefined) });
  await userEvent.click(screen.getByText('Buy'));
  expect([popup.document.title, popup.document.body.textContent]).toEqual(['Opening checkout…', 'Opening checkout…']);
});

it('what recurs says so wherever it is offered', async () => {
  const price = { id: 'price_1', amountCents: 900, currency: 'EUR', creditsGranted: 500, features: [], label: 'Starter' };
  const error = new ScripError('insufficient_credits', 'Not enough credits.', { status: 402, body: { code: 'insufficient_credits', message: '', prices: [{ ...price, interval: 'month' }, { ...price, id: 'price_2', label: null, interval: 'one_time' }] } });
  visit(shop, <ErrorMessage error={error} />, { code: null });
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(['Subscribe to Starter for €9.00 a month', 'Buy 500 credits for €9.00']);
});

describe('words', () => {
  it('are said in the language of the page', async () => {
    const page = render(
      <ScripProvider client={watched(shop, { code: null }).client} locale="de" messages={de}>
        <PricingTable /><RedeemCode recoverByEmail /><ErrorMessage error={new ScripError('rate_limited', 'Too many requests.')} />
      </ScripProvider>,
    );
    await screen.findByRole('button', { name: /^100 images für 5,00\s€ kaufen$/ });
    screen.getByRole('button', { name: /^Studio für 9,00\s€ im Monat abonnieren$/ });
    expect(screen.getByRole('alert').textContent).toContain('Warten Sie einen Moment');
    await accessible(page.container);
  });

  it('are all there in each language, with the same gaps', () => {
    const gaps = (text: string | undefined) => [...(text ?? '').matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();
    for (const other of [de, fr]) {
      for (const [name, text] of Object.entries(en)) expect([name, gaps(other[name as keyof typeof en])]).toEqual([name, gaps(text)]);
      expect(Object.values(other).every(Boolean)).toBe(true);
    }
  });

  it('of one’s own take the place of some', async () => {
    render(<ScripProvider client={watched(shop, { code: null }).client} messages={{ buy: 'Get it', 'error.rate_limited': 'Slow down.' }}><CheckoutButton priceId="price_1" /><ErrorMessage error={new ScripError('rate_limited', 'No.')} /></ScripProvider>);
    screen.getByText('Get it');
    screen.getByText('Slow down.');
  });
});

it('what a server knew is in its markup, and read again in the browser', async () => {
  const { client } = watched(shop, { code: null });
  const products = await client.products();
  const wallet = { balances: [{ productId: shop.productId, balance: 12, creditUnit: 'images', held: 0, owed: 0 }], features: [], subscriptions: [] };
  const tree = <ScripProvider client={client} initial={{ products, wallet }} locale="en-GB"><BalanceBadge /><PricingTable /></ScripProvider>;
  vi.stubGlobal('window', undefined);
  const html = renderToString(tree);
  // A server renders for many: what one of them has is never another's.
  const other = renderToString(<ScripProvider client={client}><BalanceBadge /></ScripProvider>);
  vi.unstubAllGlobals();
  expect(html).toContain('12 images');
  expect(html).toContain('Buy 100 images for €5.00');
  expect(other).toContain('Loading balance…');
  function Who() {
    const { wallet: now } = useWallet();
    return <p>{now === null ? 'none' : 'some'}</p>;
  }
  render(<ScripProvider client={client} initial={{ products, wallet }}><Who /></ScripProvider>);
  screen.getByText('some');
  await screen.findByText('none');
});
