// What is left of a wallet's limits, against the service itself.
import { Scrip } from '@scrip-wallet/browser';
import { render, screen, waitFor, within } from '@testing-library/react';
import type { ReactNode } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ErrorMessage, LedgerTable, ScripError, ScripProvider, Usage, useDeduct, type Limit, type ScripProviderProps, type Session } from '../src';
import { de, fr } from '../src/messages';
import { accessible } from './axe';
import { baseUrl, fund, openShop, visit, watched, type Shop } from './shop';

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});

const secretly = async <T,>(path: string, body: object, method = 'POST'): Promise<T> => {
  const headers = { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' };
  const reply = await fetch(`${baseUrl}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as T;
};
/** A wallet with credits and these limits. */
const limited = async (...limits: object[]) => {
  const code = await fund(shop, 1_000);
  await secretly(`/wallets/${code}/limits`, { limits }, 'PUT');
  return code;
};
const use = (code: string, amount: number, more: object = {}) =>
  secretly(`/wallets/${code}/deduct`, { productId: shop.productId, amount, idempotencyKey: crypto.randomUUID(), ...more });
/** A user's wallet with 100 credits. */
const team = async () => {
  const externalUserId = `team-${crypto.randomUUID()}`;
  await secretly('/credit', { externalUserId, productId: shop.productId, amount: 100, idempotencyKey: externalUserId });
  return externalUserId;
};
const take = (externalUserId: string, amount: number, member?: string) =>
  secretly('/wallets/external/deduct', { externalUserId, productId: shop.productId, amount, member, idempotencyKey: crypto.randomUUID() });
const signIn = (externalUserId: string) => new Scrip({ baseUrl, session: () => secretly<Session>('/sessions', { externalUserId }), retries: 0 });
/** What a user sees who is signed in. */
const show = (client: Scrip, page: ReactNode, props: Partial<ScripProviderProps> = {}) =>
  render(<ScripProvider client={client} locale="en-GB" {...props}>{page}</ScripProvider>);
/** The days of the chart's table, each with what was used. */
const table = () => screen.getAllByRole('row').slice(1).map((row) => within(row).getAllByRole('cell').map(({ textContent }) => textContent));
/** The title, the gauge and the text of each. */
const shown = () =>
  within(screen.getByRole('list')).getAllByRole('listitem').map((item) => {
    const { value, max } = within(item).getByRole<HTMLMeterElement>('meter');
    const [title, left] = [...item.querySelectorAll('p')].map(({ textContent }) => textContent);
    return [title, `${value}/${max}`, left];
  });
const share = { scope: 'member:*', amount: 100, window: 'month' };

describe('<Usage>', () => {
  it('says what is left of each limit, and until when', async () => {
    const code = await limited(share, { scope: 'feature:image', amount: 3, window: 'day', unit: 'operations' }, { scope: 'wallet', amount: 2_000, window: 'lifetime' });
    await use(code, 25, { member: 'ann', meta: { feature: 'image' } });
    const { container, asked } = visit(shop, <Usage member="ann" className="mine" />, { code, strict: true });
    expect(screen.getByRole('status').textContent).toBe('Loading…');
    await screen.findByRole('list', { name: 'Usage' });
    await screen.findByText(/1,975 of 2,000 images left/);
    expect(shown()).toEqual([
      ['Your share, this month', '25/100', expect.stringMatching(/^75 of 100 images left until .*20\d\d/)],
      ['Image, today', '1/3', expect.stringMatching(/^2 of 3 uses left until /)],
      ['Everything, in all', '25/2000', '1,975 of 2,000 images left'],
    ]);
    screen.getByRole('meter', { name: 'Image, today' });
    await accessible(container);
    expect(asked.filter((each) => each.endsWith('/limits'))).toHaveLength(1);
  });

  it('follows what is used on the page', async () => {
    const code = await limited(share);
    function Draw() {
      const { deduct, error } = useDeduct({ productId: shop.productId });
      return <><button onClick={() => void deduct({ amount: 60, member: 'bob' })}>Draw</button><ErrorMessage error={error} /></>;
    }
    visit(shop, <><Draw /><Usage member="bob" /></>, { code });
    await screen.findByText(/^100 of 100 images left/);
    screen.getByText('Draw').click();
    await screen.findByText(/^40 of 100 images left/);
    screen.getByText('Draw').click();
    expect((await screen.findByRole('alert')).textContent).toContain('limit');
    screen.getByText(/^40 of 100 images left/);
  });

  it('reads a window again when it ends', async () => {
    const code = await limited(share);
    const { client } = watched(shop, { code });
    const [limit] = (await client.limits()) as [Limit];
    vi.useFakeTimers({ shouldAdvanceTime: true });
    try {
      const resetsAt = new Date(Date.now() + 60_000).toISOString();
      const read = vi.spyOn(client, 'limits').mockResolvedValueOnce([{ ...limit, used: 100, remaining: 0, resetsAt }]);
      render(<ScripProvider client={client} locale="en-GB"><Usage /></ScripProvider>);
      await screen.findByText(/^0 of 100/);
      await vi.advanceTimersByTimeAsync(65_000);
      await screen.findByText(/^100 of 100/);
      expect(read).toHaveBeenCalledTimes(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('speaks German and French', async () => {
    const code = await limited(share);
    for (const [messages, title, left] of [
      [de, 'Jedes Mitglied, diesen Monat', /^bis .* noch 100 von 100 images übrig$/],
      [fr, 'Chaque membre, ce mois-ci', /^il reste 100 sur 100 images jusqu’au /],
    ] as const) {
      const page = render(<ScripProvider client={watched(shop, { code }).client} locale="de-AT" messages={messages}><Usage /></ScripProvider>);
      await screen.findByText(title);
      await screen.findByText(left);
      page.unmount();
    }
  });

  it('of a session is about the wallet of who is signed in, and follows what their server takes', async () => {
    const externalUserId = await team();
    await secretly('/wallets/external/limits', { externalUserId, limits: [{ scope: 'wallet', amount: 50, window: 'week' }] }, 'PUT');
    show(signIn(externalUserId), <Usage />);
    await screen.findByText(/^50 of 50 images left until /);
    await take(externalUserId, 20);
    await screen.findByText(/^30 of 50 images left until /);
    await screen.findByText('Used: 20 images, at most 20 a day');
  });

  it('is nothing where nothing is limited, or there is no wallet', async () => {
    for (const code of [null, await limited()]) {
      const page = visit(shop, <><Usage /><LedgerTable /></>, { code });
      await screen.findByText('Credit history');
      expect(screen.queryByRole('meter')).toBeNull();
      expect(page.asked.filter((each) => each.startsWith('POST'))).toEqual([]);
      page.unmount();
    }
  });

  it('is some of them, what one makes of them, or why it cannot be read', async () => {
    const code = await limited(share, { scope: 'wallet', amount: 0, window: 'day' });
    const some = visit(shop, <Usage filter={({ window }) => window === 'day'} />, { code });
    await screen.findByText(/^0 of 0 images left/);
    expect(shown()).toHaveLength(1);
    await accessible(some.container);
    some.unmount();
    const own = visit(shop, <Usage render={({ limits }) => <b>{limits?.map(({ remaining }) => remaining).join()}</b>} />, { code });
    await screen.findByText('100,0');
    own.unmount();
    visit(shop, <Usage />, { code, fetch: () => Promise.reject(new TypeError('network down')) });
    within(await screen.findByRole('alert')).getByText('Try again');
  });
});

describe('its chart', () => {
  it('shows what was used on each day, and the days on which nothing was', async () => {
    const externalUserId = await team();
    await take(externalUserId, 20);
    const { container } = show(signIn(externalUserId), <Usage className="mine" />, { timeZone: 'America/Los_Angeles' });
    await screen.findByRole('img', { name: 'Everything, 30 days Used: 20 images, at most 20 a day' });
    const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format();
    const days = table();
    expect(days).toHaveLength(30);
    expect(days.at(-1)).toEqual([today, '20']);
    expect(days.slice(0, -1).map(([, used]) => used)).toEqual(Array(29).fill('0'));
    await accessible(container);
  });

  it('is of a member, of as many days and of the product that one asks for', async () => {
    const externalUserId = await team();
    await take(externalUserId, 20, 'ann');
    await take(externalUserId, 5, 'bob');
    // Without a choice, the first product's.
    const { id } = await shop.admin('/products', { name: 'Tokens', type: 'credits', creditUnit: 'tokens' });
    await secretly('/credit', { externalUserId, productId: id, amount: 100, idempotencyKey: 'tokens' });
    await secretly('/wallets/external/deduct', { externalUserId, productId: id, amount: 9, member: 'ann', idempotencyKey: 'use' });
    const client = signIn(externalUserId);
    for (const [page, name] of [
      [<Usage member="bob" days={7} />, 'Your share, 7 days Used: 5 images, at most 5 a day'],
      [<Usage member="eve" days={1} />, 'Your share, 1 day Used: 0 images, at most 0 a day'],
      [<Usage days={400} />, 'Everything, 400 days Used: 25 images, at most 25 a day'],
      [<Usage productId={id as string} />, 'Everything, 30 days Used: 9 tokens, at most 9 a day'],
    ] as const) {
      const { unmount } = show(client, page);
      await screen.findByRole('img', { name });
      unmount();
    }
  });

  it('draws its bars as high as what was used, and dates them as the reader does', async () => {
    const client = signIn(await team());
    const days = [0, 30, 15].map((deducted, at) => ({ start: `2026-03-0${at + 1}T00:00:00.000Z`, deducted, granted: 0, refunded: 0, expired: 0, deductions: 1 }));
    vi.spyOn(client, 'usage').mockResolvedValue(days);
    for (const [locale, messages, name, first, summary] of [
      ['de-AT', de, 'Alles, 3 Tage Verbraucht: 45 images, höchstens 30 am Tag', '01.03.2026', 'Nach Tagen'],
      ['fr-FR', fr, /^Tout, 3\sjours Utilisation : 45 images, au plus 30 par jour$/, '1 mars 2026', 'Par jour'],
    ] as const) {
      const { container, unmount } = show(client, <Usage days={3} />, { locale, messages });
      await screen.findByRole('img', { name });
      const bars = container.querySelector('path')?.getAttribute('d')?.match(/V[\d.]+/g);
      expect(bars).toEqual(['V1', 'V0', 'V0.5']);
      expect(table()[0]).toEqual([first, '0']);
      screen.getByText(summary);
      unmount();
    }
  });

  it('shows no zeros of a member whose use the service does not tell apart', async () => {
    const externalUserId = await team();
    const { productId } = shop;
    await secretly('/credit', { externalUserId, productId, amount: 1_000, idempotencyKey: 'more' });
    await secretly('/wallets/external/limits', { externalUserId, limits: [share] }, 'PUT');
    const items = Array.from({ length: 202 }, (_, n) => ({ externalUserId, productId, amount: n > 0 ? 2 : 1, member: `m${n}`, idempotencyKey: `m${n}` }));
    await secretly('/deductions/batch', { items });
    const client = signIn(externalUserId);
    const { unmount } = show(client, <Usage member="m7" />);
    await screen.findByRole('img', { name: /Used: 2 images/ });
    unmount();
    const read = vi.spyOn(client, 'usage');
    const page = show(client, <Usage member="m0" />);
    await screen.findByText(/^99 of 100 images left/);
    await waitFor(() => expect(read).toHaveBeenCalled());
    await waitFor(() => expect(page.container.textContent).not.toContain('Loading'));
    expect(screen.queryByRole('img')).toBeNull();
  });

  it('leaves the limits where it cannot be read, and is tried again', async () => {
    const externalUserId = await team();
    await secretly('/wallets/external/limits', { externalUserId, limits: [share] }, 'PUT');
    const client = signIn(externalUserId);
    vi.spyOn(client, 'usage').mockRejectedValueOnce(new ScripError('network_error', 'No answer.'));
    show(client, <Usage />);
    const alert = await screen.findByRole('alert');
    screen.getByRole('meter');
    within(alert).getByText('Try again').click();
    await screen.findByRole('img');
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('is not asked for with a recovery code, or where it is not wanted, and is nothing without a wallet', async () => {
    const code = await limited(share);
    const asked = visit(shop, <Usage />, { code });
    await screen.findByRole('meter');
    await screen.findByText(/100 of 100 images/);
    expect(asked.asked.filter((each) => each.includes('/usage'))).toEqual([]);
    asked.unmount();
    const externalUserId = await team();
    await secretly('/wallets/external/limits', { externalUserId, limits: [share] }, 'PUT');
    const client = signIn(externalUserId);
    const read = vi.spyOn(client, 'usage');
    const { unmount } = show(client, <Usage days={0} />);
    await screen.findByText(/100 of 100 images/);
    expect(read).not.toHaveBeenCalled();
    unmount();
    const nobody = show(new Scrip({ baseUrl, session: () => null }), <Usage />);
    await waitFor(() => expect(nobody.container.textContent).toBe(''));
  });
});
