// What things cost, and what they did cost, against the service itself.
import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerTable, PriceEstimate, ScripProvider, type Session } from '../src';
import { de, fr } from '../src/messages';
import { accessible } from './axe';
import { baseUrl, fund, grant, openShop, visit, watched, type Shop } from './shop';

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
  const rates = [{ match: { model: 'mock*' }, per: 1000, unitPrices: { input: '1', cachedInput: '0.1', output: '4' } }];
  await shop.admin('/rate-cards/chat', { productId: shop.productId, rates }, 'PUT');
});

const secretly = async <T,>(path: string, body: object): Promise<T> => {
  const headers = { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' };
  const reply = await fetch(`${baseUrl}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify({ ...body, idempotencyKey: crypto.randomUUID() }) });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as T;
};
const use = { rateCard: 'chat', attributes: { model: 'mock-1' } };

describe('<PriceEstimate>', () => {
  const estimate = (output = 1_000) => <PriceEstimate {...use} quantities={{ input: 200, output }} />;
  const words = () => screen.getByRole('status').textContent;

  it('says what a use would cost, and to whom has a wallet whether it has enough', async () => {
    const nobody = visit(shop, estimate(), { code: null });
    expect(words()).toBe('Loading…');
    // 0.2 + 4, rounded up.
    await screen.findByText('This costs 5 images.');
    await accessible(nobody.container);
    // Looking makes no wallet.
    expect(nobody.asked.filter((each) => each.startsWith('POST'))).toEqual(['POST /estimate']);
    nobody.unmount();

    const code = await fund(shop, 4);
    const { client } = visit(shop, estimate(), { code });
    await screen.findByText('This needs 5 images; you have 4.');
    await grant(shop, code, 10);
    await client.useCode(code);
    await screen.findByText('This costs 5 images; you have 14.');
  });

  it('follows what is asked for, and asks once for the same', async () => {
    function Slider() {
      const [output, set] = useState(1_000);
      return <><button onClick={() => set((now) => now + 1_000)}>More</button><button onClick={() => set((now) => now)}>Same</button>{estimate(output)}</>;
    }
    const { asked } = visit(shop, <Slider />, { code: await fund(shop, 100), strict: true });
    await screen.findByText('This costs 5 images; you have 100.');
    await userEvent.click(screen.getByText('Same'));
    await userEvent.click(screen.getByText('More'));
    await screen.findByText('This costs 9 images; you have 100.');
    expect(asked.filter((each) => each === 'POST /estimate')).toHaveLength(2);
  });

  it('speaks German and French', async () => {
    for (const [messages, some, little] of [
      [de, 'Das kostet 5 images.', 'Dafür braucht es 5 images; Sie haben 4.'],
      [fr, 'Cela coûte 5 images.', 'Il faut 5 images ; vous avez 4.'],
    ] as const) {
      for (const [code, text] of [[null, some], [await fund(shop, 4), little]] as const) {
        const page = render(<ScripProvider client={watched(shop, { code }).client} locale="de-AT" messages={messages}>{estimate()}</ScripProvider>);
        await screen.findByText(text);
        page.unmount();
      }
    }
  });

  it('of a session is about the wallet of who is signed in', async () => {
    const ann = `ann-${crypto.randomUUID()}`;
    await secretly('/credit', { externalUserId: ann, productId: shop.productId, amount: 3 });
    const session = async () => {
      const headers = { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' };
      return (await (await fetch(`${baseUrl}/api/v1/sessions`, { method: 'POST', headers, body: JSON.stringify({ externalUserId: ann }) })).json()) as Session;
    };
    render(<ScripProvider baseUrl={baseUrl} session={session} locale="en-GB">{estimate()}</ScripProvider>);
    await screen.findByText('This needs 5 images; you have 3.');
    // Their server grants some: this page is not touched.
    await secretly('/credit', { externalUserId: ann, productId: shop.productId, amount: 30 });
    await screen.findByText('This costs 5 images; you have 33.');
  });

  it('says why there is no price', async () => {
    const none = visit(shop, <PriceEstimate rateCard="chat" attributes={{ model: 'other' }} quantities={{ input: 1 }} />, { code: null });
    const alert = await screen.findByRole('alert');
    within(alert).getByText('Try again');
    await accessible(none.container);
    none.unmount();
    visit(shop, <PriceEstimate {...use} quantities={{ input: 1 }} render={({ estimate: found }) => <b>{found?.cost ?? '…'}</b>} />, { code: null });
    await screen.findByText('0.001');
  });
});

describe('<LedgerTable>', () => {
  it('explains an entry that a rate card priced, also one of no whole credit', async () => {
    const code = await fund(shop, 1_000);
    const deduct = (quantities: Record<string, number>) => secretly(`/wallets/${code}/deduct`, { ...use, quantities, meta: { feature: 'chat' } });
    await deduct({ input: 1_200, cachedInput: 8, output: 310 });
    await deduct({ input: 123 });
    const { container } = visit(shop, <LedgerTable />, { code });
    const table = await screen.findByRole('table', { name: 'Credit history' });
    const [, small, large, granted] = within(table).getAllByRole('row') as [HTMLElement, HTMLElement, HTMLElement, HTMLElement];
    const cells = (row: HTMLElement) => within(row).getAllByRole('cell').slice(2).map(({ textContent, className }) => [textContent, className.includes('scrip-more')]);
    // Nothing came: it is not shown as if something had.
    expect(cells(small)).toEqual([['0', false], ['998 images', false]]);
    expect(cells(large)).toEqual([['-2', false], ['998 images', false]]);
    expect(cells(granted)).toEqual([['+1,000', true], ['1,000 images', false]]);
    const details = large.querySelector('details') as HTMLDetailsElement;
    expect(details.open).toBe(false);
    await userEvent.click(within(large).getByText('Used: chat'));
    expect(details.open).toBe(true);
    const explained = (row: HTMLElement) => within(row).getAllByRole('listitem', { hidden: true }).map(({ textContent }) => textContent);
    expect(explained(large)).toEqual(['mock-1', '8 cached input', '1,200 input', '310 output', 'Exact cost: 2.4408 images']);
    expect(explained(small)).toEqual(['mock-1', '123 input', 'Exact cost: 0.123 images']);
    expect(granted.querySelector('details')).toBeNull();
    await accessible(container);
  });
});
