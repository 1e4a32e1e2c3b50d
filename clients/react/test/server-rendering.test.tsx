// @vitest-environment node
import { JSDOM } from 'jsdom';
import type { ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, inject, it, vi } from 'vitest';
import {
  BalanceBadge,
  CheckoutButton,
  CheckoutNotice,
  LedgerTable,
  OpenInvoice,
  Paywall,
  PortalButton,
  PricingTable,
  RecoveryCode,
  RedeemCode,
  ScripProvider,
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
    </ScripProvider>
  );
}

it('a server renders it all, asking nothing, and the browser takes it over as it is', async () => {
  expect(globalThis.window).toBeUndefined();
  const asked = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('network down'));
  const html = renderToString(<Page />);
  expect(html).toContain('Loading prices…');
  expect(html).toContain('Loading balance…');
  expect(html).not.toContain('The editor');
  expect(asked).not.toHaveBeenCalled();

  const { window } = new JSDOM(`<div id="root">${html}</div>`, { url: 'http://localhost/', pretendToBeVisual: true });
  // A visitor who has been here before: what the browser knows must not show before the server's markup is its own.
  window.localStorage.setItem(`scrip:${inject('baseUrl')}`, 'OLIVE-7K2M-9QXP-4TBD');
  vi.stubGlobal('window', window);
  for (const name of ['document', 'location', 'localStorage', 'history', 'HTMLElement', 'Event'] as const) vi.stubGlobal(name, window[name]);
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  const { act } = await import('react');
  const { hydrateRoot } = await import('react-dom/client');
  const root = window.document.getElementById('root') ?? expect.fail('no root');
  const complaints: unknown[] = [];
  vi.spyOn(console, 'error').mockImplementation((...words) => void complaints.push(words));
  await act(async () => {
    hydrateRoot(root, <Page />, { onRecoverableError: (error) => complaints.push(error) });
  });
  expect(complaints).toEqual([]);
  expect(asked).toHaveBeenCalled();
});
