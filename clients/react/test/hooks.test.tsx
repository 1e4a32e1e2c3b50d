import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import * as React from 'react';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import {
  BalanceBadge,
  ErrorMessage,
  LedgerTable,
  ScripProvider,
  useBalance,
  useDeduct,
  useFeature,
  useLedger,
  useProducts,
  useWallet,
} from '../src';
import { baseUrl, fund, grant, heldBack, openShop, visit, walletOf, type Shop } from './shop';

let shop: Shop;
// Each test has a catalog of its own.
beforeEach(async () => {
  shop = await openShop();
});

function Wallet() {
  const { wallet, loading } = useWallet();
  return <p>{loading ? 'reading' : wallet ? `wallet ${wallet.code}` : 'no wallet'}</p>;
}

function Products() {
  const { products } = useProducts();
  return <p>{products ? products.map(({ name }) => name).join(', ') : 'reading'}</p>;
}

function Spend({ amount = 5 }: { amount?: number }) {
  const { deduct, pending, error } = useDeduct({ productId: shop.productId });
  const { balance } = useBalance(shop.productId);
  const [said, setSaid] = React.useState('');
  const spend = async () => setSaid((await deduct({ amount, meta: { feature: 'draw' } })) ? 'drawn' : 'not drawn');
  return (
    <>
      <output>{balance ?? 'unknown'}</output>
      <button type="button" onClick={() => void spend()}>
        Draw
      </button>
      <p>{pending ? 'drawing' : said}</p>
      <ErrorMessage error={error} />
    </>
  );
}

describe('looking', () => {
  it('runs on the React that its project names', () => {
    expect(React.version.split('.')[0]).toBe(inject('react'));
  });

  it('makes no wallet, and asks once for however many look, strict mode or not', async () => {
    const page = visit(
      shop,
      <>
        <Wallet />
        <Wallet />
        <BalanceBadge />
        <BalanceBadge productId={shop.productId} />
        <Products />
        <Products />
      </>,
      { strict: true },
    );
    expect(await screen.findAllByText('no wallet')).toHaveLength(2);
    expect(await screen.findAllByText('0 images')).toHaveLength(2);
    expect(await screen.findAllByText('Images, Studio')).toHaveLength(2);
    // Without a code there is nothing to ask about a wallet.
    expect(page.asked).toEqual(['GET /products']);
  });

  it('reads a wallet once for all who show it', async () => {
    const code = await fund(shop, 120);
    const page = visit(shop, <><Wallet /><BalanceBadge /><Wallet /><Spend /></>, { strict: true, code });
    expect(await screen.findByText('120 images')).toBeTruthy();
    await screen.findAllByText(`wallet ${code}`);
    expect(page.asked.sort()).toEqual(['GET /products', 'GET /wallets/CODE']);
  });

  it('tells features, and a balance of 0 where there is no wallet', async () => {
    function Feature() {
      const { enabled, loading } = useFeature('editor');
      return <p>{loading ? 'reading' : enabled ? 'may edit' : 'may not edit'}</p>;
    }
    const code = await fund(shop, 1);
    const answer = await fetch(`${baseUrl}/api/v1/features`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ code, feature: 'editor' }),
    });
    expect(answer.status).toBe(200);
    const page = visit(shop, <Feature />, { code });
    await screen.findByText('may edit');
    page.unmount();
    visit(shop, <Feature />, { code: null });
    await screen.findByText('may not edit');
  });

  it('reads again when somebody comes back to the page, but not at every glance', async () => {
    const code = await fund(shop, 10);
    const page = visit(shop, <Spend />, { code });
    await waitFor(() => expect(screen.getByText('10')).toBeTruthy());
    const before = page.asked.length;
    for (let n = 0; n < 20; n++) window.dispatchEvent(new Event('focus'));
    expect(page.asked).toHaveLength(before);
    await grant(shop, code, 5);
    const later = at(Date.now() + 60_000);
    window.dispatchEvent(new Event('focus'));
    window.dispatchEvent(new Event('focus'));
    later();
    await waitFor(() => expect(screen.getByText('15')).toBeTruthy());
    expect(page.asked.slice(before)).toEqual(['GET /wallets/CODE']);
  });

  it('shows what another tab opened', async () => {
    const [here, there] = [await fund(shop, 3), await fund(shop, 4)];
    const name = `scrip:${baseUrl}`;
    localStorage.setItem(name, here);
    visit(shop, <BalanceBadge />);
    await screen.findByText('3 images');
    localStorage.setItem(name, there);
    act(() => void window.dispatchEvent(new StorageEvent('storage', { key: name })));
    await screen.findByText('4 images');
  });

  it('does not ask for a code that opens nothing again by itself', async () => {
    const page = visit(shop, <BalanceBadge productId={shop.productId} />, { code: 'OLIVE-0000-0000-0000' });
    await screen.findByText('0 images');
    const before = page.asked.filter((path) => path.includes('CODE')).length;
    const reads = vi.spyOn(page.client, 'wallet');
    const back = at(Date.now() + 60_000);
    window.dispatchEvent(new Event('focus'));
    back();
    expect(await act(() => reads.mock.results[0]?.value as Promise<unknown>)).toBeNull();
    expect([before, page.asked.filter((path) => path.includes('CODE')).length]).toEqual([1, 1]);
  });

  it('refuses a secret key, and hooks without a provider', () => {
    const quiet = silence();
    const secret = shop.secretKey as unknown as Shop['publishableKey'];
    expect(() => visitKey(secret)).toThrow(/publishable key/i);
    expect(() => visitAlone()).toThrow(/ScripProvider/);
    quiet();
  });
});

describe('a deduction', () => {
  it('makes the wallet that it needs, one, also in strict mode', async () => {
    const free = await openShop({ freeGrant: { credits: 20, period: 'monthly' } });
    function SpendFree() {
      const { deduct } = useDeduct({ productId: free.productId });
      return <button type="button" onClick={() => void deduct({ amount: 8 })}>Draw</button>;
    }
    const page = visit(free, <><SpendFree /><BalanceBadge /></>, { strict: true, code: null });
    await screen.findByText('0 images');
    pressTwice('Draw');
    await screen.findByText('12 images');
    expect(page.asked.filter((path) => path === 'POST /wallets')).toHaveLength(1);
    expect(page.asked.filter((path) => path === 'POST /wallets/CODE/deduct')).toHaveLength(1);
  });

  it('shows what is left at once, and takes once what is pressed again before it answered', async () => {
    const code = await fund(shop, 100);
    const page = visit(shop, <Spend />, { code });
    await screen.findByText('100');
    pressTwice('Draw');
    await screen.findByText('95');
    await screen.findByText('drawn');
    expect((await walletOf(shop, code)).balances[0]?.balance).toBe(95);
    await userEvent.click(screen.getByText('Draw'));
    await screen.findByText('90');
    expect(page.bodies.map(({ amount, meta }) => [amount, meta])).toEqual([
      [5, { feature: 'draw' }],
      [5, { feature: 'draw' }],
    ]);
  });

  it('is the same one when it is tried again after its answer was lost', async () => {
    const code = await fund(shop, 100);
    let lost = 0;
    const page = visit(shop, <Spend />, {
      code,
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        if (String(input).endsWith('/deduct') && lost++ === 0) throw new TypeError('network down');
        return answer;
      },
    });
    await screen.findByText('100');
    await userEvent.click(screen.getByText('Draw'));
    expect((await screen.findByRole('alert')).textContent).toMatch(/did not answer/);
    expect(screen.getByText('not drawn')).toBeTruthy();
    await userEvent.click(screen.getByText('Draw'));
    await screen.findByText('drawn');
    expect(screen.queryByRole('alert')).toBeNull();
    expect((await walletOf(shop, code)).balances[0]?.balance).toBe(95);
    const keys = page.bodies.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys[0]).toBe(keys[1]);
    // What comes after is an operation of its own.
    await userEvent.click(screen.getByText('Draw'));
    await screen.findByText('90');
    expect((await walletOf(shop, code)).balances[0]?.balance).toBe(90);
  });

  it('beside many others is followed by few readings', async () => {
    const code = await fund(shop, 1_000);
    function Burst() {
      const { deduct } = useDeduct({ productId: shop.productId });
      const all = () => Array.from({ length: 30 }, (_, n) => void deduct({ amount: n + 1 }));
      return <button type="button" onClick={all}>All at once</button>;
    }
    const deductions = heldBack(/\/deduct$/);
    const page = visit(shop, <><Burst /><BalanceBadge /><LedgerTable /></>, { code, fetch: deductions.fetch });
    await screen.findByText('1,000 images', { selector: '[role=status]' });
    const before = page.asked.length;
    await userEvent.click(screen.getByText('All at once'));
    await waitFor(() => expect(deductions.answered).toBe(30));
    deductions.go();
    await screen.findByText(`${1_000 - 465} images`, { selector: '[role=status]' });
    await waitFor(() => expect(screen.getAllByRole('row').length).toBeGreaterThan(20));
    const read = page.asked.slice(before).filter((path) => path.startsWith('GET'));
    expect(page.asked.filter((path) => path.endsWith('deduct'))).toHaveLength(30);
    expect(read.sort()).toEqual(['GET /wallets/CODE', 'GET /wallets/CODE/ledger']);
    expect((await walletOf(shop, code)).balances[0]?.balance).toBe(535);
  });

  it('that wants for credits says so in the service’s words and offers the prices that cover it', async () => {
    const code = await fund(shop, 3);
    visit(shop, <Spend amount={150} />, { code });
    await screen.findByText('3');
    await userEvent.click(screen.getByText('Draw'));
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('Not enough credits: 3 available, 150 requested.');
    // 100 images would not be enough.
    const offers = [...alert.querySelectorAll('button')].map(({ textContent }) => textContent);
    expect(offers).toEqual(['Buy 1,000 images for €40.00']);
    expect(screen.getByText('not drawn')).toBeTruthy();
  });

  it('without a product is an error at once', () => {
    const quiet = silence();
    function Wrong() {
      const { deduct } = useDeduct();
      return <button type="button" onClick={() => expect(() => deduct({ amount: 1 })).toThrow(/productId/)}>Go</button>;
    }
    visit(shop, <Wrong />, { code: null });
    act(() => screen.getByText('Go').click());
    quiet();
  });
});

describe('the ledger', () => {
  it('is read page by page, and keeps its pages when something new comes', async () => {
    const code = await fund(shop, 1);
    for (const amount of [2, 3, 4, 5]) await grant(shop, code, amount);
    function Ledger() {
      const { entries, hasOlder, loadOlder } = useLedger({ limit: 2 });
      return (
        <>
          <p>{entries ? entries.map(({ delta }) => delta).join(' ') || 'empty' : 'reading'}</p>
          {hasOlder && <button type="button" onClick={() => void loadOlder()}>Older</button>}
        </>
      );
    }
    const page = visit(shop, <><Ledger /><Spend amount={1} /></>, { code });
    await screen.findByText('5 4');
    const older = screen.getByText('Older');
    act(() => [1, 2, 3].forEach(() => older.click()));
    await screen.findByText('5 4 3 2');
    await userEvent.click(screen.getByText('Older'));
    await screen.findByText('5 4 3 2 1');
    expect(screen.queryByText('Older')).toBeNull();
    await userEvent.click(screen.getByText('Draw'));
    await screen.findByText('-1 5 4 3 2 1');
    expect(page.asked.filter((path) => path === 'GET /wallets/CODE/ledger')).toHaveLength(4);
  });

  it('of another wallet takes its place', async () => {
    const [one, other] = [await fund(shop, 11), await fund(shop, 22)];
    function Ledger() {
      const { entries } = useLedger();
      const { redeem } = useWallet();
      return (
        <button type="button" onClick={() => void redeem(other.toLowerCase())}>
          {entries?.map(({ delta }) => delta).join(' ') ?? 'reading'}
        </button>
      );
    }
    visit(shop, <Ledger />, { code: one });
    await userEvent.click(await screen.findByText('11'));
    await screen.findByText('22');
  });
});

/** Before anything could be answered. */
function pressTwice(name: string): void {
  const button = screen.getByText(name);
  act(() => [1, 2].forEach(() => button.click()));
}

/** Another time of day, until it is called. */
function at(now: number): () => void {
  const real = Date.now;
  Date.now = () => now;
  return () => {
    Date.now = real;
  };
}

/** Nothing on the console about what the test throws, until it is called. */
function silence(): () => void {
  const real = console.error;
  const handled = (event: Event) => event.preventDefault();
  console.error = () => {};
  window.addEventListener('error', handled);
  return () => {
    console.error = real;
    window.removeEventListener('error', handled);
  };
}

function visitKey(publishableKey: Shop['publishableKey']) {
  return render(<ScripProvider baseUrl="http://localhost" publishableKey={publishableKey} />);
}

function visitAlone() {
  return render(<Wallet />);
}
