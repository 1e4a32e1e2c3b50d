// @vitest-environment node
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { JSDOM } from 'jsdom';
import type { ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, inject, it, vi } from 'vitest';
import {
  AutoTopUp,
  BalanceBadge,
  CheckoutButton,
  CheckoutNotice,
  LedgerTable,
  OpenInvoice,
  PaymentMethod,
  Paywall,
  PortalButton,
  PricingTable,
  RecoveryCode,
  RedeemCode,
  ScripProvider,
  Usage,
  formatInstant,
} from '../src';

const pk = 'pay_pk_nobody' as const;

function Page(): ReactNode {
  return (
    <ScripProvider baseUrl={inject('baseUrl')} publishableKey={pk}>
      <CheckoutNotice />
      <PricingTable />
      <CheckoutButton priceId="price_1" />
      <BalanceBadge />
      <Paywall feature="editor">The editor</Paywall>
      <OpenInvoice />
      <PortalButton />
      <RecoveryCode />
      <RedeemCode recoverByEmail />
      <LedgerTable />
      <PaymentMethod />
      <AutoTopUp />
      <Usage />
    </ScripProvider>
  );
}

/** A browser takes over what a server rendered: what React had to say about it. */
async function hydrated(html: string, page: ReactNode, stored: Record<string, string> = {}) {
  const { window } = new JSDOM(`<div id="root">${html}</div>`, { url: 'http://localhost/', pretendToBeVisual: true });
  for (const [name, value] of Object.entries(stored)) window.localStorage.setItem(name, value);
  vi.stubGlobal('window', window);
  for (const name of ['document', 'location', 'localStorage', 'history', 'HTMLElement', 'Event'] as const) vi.stubGlobal(name, window[name]);
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  const { act } = await import('react');
  const { hydrateRoot } = await import('react-dom/client');
  const root = window.document.getElementById('root') ?? expect.fail('no root');
  const complaints: unknown[] = [];
  vi.spyOn(console, 'error').mockImplementation((...words) => void complaints.push(words));
  await act(async () => {
    hydrateRoot(root, page, { onRecoverableError: (error) => complaints.push(error) });
  });
  return complaints;
}

it('a server renders it all, asking nothing, and the browser takes it over as it is', async () => {
  expect(globalThis.window).toBeUndefined();
  const asked = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('network down'));
  const html = renderToString(<Page />);
  expect(html).toContain('Loading prices…');
  expect(html).toContain('Loading balance…');
  expect(html).not.toContain('The editor');
  expect(asked).not.toHaveBeenCalled();

  // A visitor who has been here before: what the browser knows must not show before the server's markup is its own.
  const complaints = await hydrated(html, <Page />, { [`scrip:${inject('baseUrl')}`]: 'OLIVE-7K2M-9QXP-4TBD' });
  expect(complaints).toEqual([]);
  expect(asked).toHaveBeenCalled();
});

const wallet = {
  walletId: 'wal_1',
  balances: [{ productId: 'prod_1', creditUnit: 'images', balance: 12345 }],
  features: [],
  subscriptions: [
    {
      productId: 'prod_1', priceId: 'price_1', label: 'Plan', status: 'past_due', cancelAtPeriodEnd: false, currentPeriodEnd: '2026-12-01T00:00:00.000Z',
      openInvoice: { amountCents: 123450, currency: 'EUR', url: 'https://pay.example/bill', nextAttemptAt: '2026-11-28T20:30:00.000Z' },
    },
  ],
}; // prettier-ignore

/** The page as a server renders it whose machine is in Vienna and writes German. */
const RENDER = `
  import { createElement as e } from 'react';
  import { renderToString } from 'react-dom/server';
  import { BalanceBadge, OpenInvoice, ScripProvider, formatInstant } from './dist/index.js';
  const { more, wallet } = JSON.parse(process.argv[1]);
  const props = { baseUrl: 'http://127.0.0.1:1', session: () => null, initial: { wallet }, ...more };
  const html = renderToString(e(ScripProvider, props, e(BalanceBadge), e(OpenInvoice)));
  console.log(JSON.stringify([html, formatInstant('2026-11-28T20:30:00.000Z')]));
`;

it.runIf(inject('react') === '19').each([{}, { locale: 'fr', timeZone: 'Asia/Tokyo' }])('a browser elsewhere takes over what a server wrote with %j', async (more) => {
  const env = { ...process.env, TZ: 'Europe/Vienna', LC_ALL: 'de_AT.UTF-8' };
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const options = ['--input-type=module', '-e', RENDER, JSON.stringify({ more, wallet })];
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd, env });
  const [html, there] = JSON.parse(stdout) as [string, string];
  expect(there).toBe('28.11.2026, 21:30');
  const zone = process.env['TZ'];
  process.env['TZ'] = 'America/New_York';
  try {
    expect(formatInstant('2026-11-28T20:30:00.000Z')).toMatch(/Nov 28, 2026.*3:30/);
    const page = (
      <ScripProvider baseUrl="http://127.0.0.1:1" session={() => null} initial={{ wallet: wallet as never }} {...more}>
        <BalanceBadge />
        <OpenInvoice />
      </ScripProvider>
    );
    expect(html).toMatch(more.locale ? /12.345.*29 nov. 2026.*05:30/u : /12,345.*Nov 28, 2026.*8:30/u);
    expect(await hydrated(html, page)).toEqual([]);
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

it('what a server knew is written the same in another locale and another time zone', async () => {
  const page = (more: object = {}) => (
    <ScripProvider baseUrl="http://127.0.0.1:1" session={() => null} initial={{ wallet: wallet as never }} {...more}>
      <BalanceBadge />
      <OpenInvoice />
    </ScripProvider>
  );
  const zone = process.env['TZ'];
  const html = (where: string, locale: string, more?: object) => {
    process.env['TZ'] = where;
    const { NumberFormat, DateTimeFormat } = Intl;
    vi.spyOn(Intl, 'NumberFormat').mockImplementation(function (named?: string | string[], options?: object) { return new NumberFormat(named ?? locale, options); } as never);
    vi.spyOn(Intl, 'DateTimeFormat').mockImplementation(function (named?: string | string[], options?: object) { return new DateTimeFormat(named ?? locale, options); } as never);
    try {
      return renderToString(page(more));
    } finally {
      vi.restoreAllMocks();
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  };
  const there = html('Asia/Tokyo', 'en-US');
  expect(there).toContain('12,345');
  expect(there).toContain('Nov 28, 2026');
  expect(html('America/New_York', 'de-AT')).toBe(there);
  expect(html('America/New_York', 'de-AT', { timeZone: 'Asia/Tokyo' })).toContain('Nov 29, 2026');
});
