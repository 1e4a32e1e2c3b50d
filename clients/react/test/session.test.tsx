// A page of somebody who is signed in: the same hooks and components, for their own wallet, as it happens.
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';
import {
  BalanceBadge,
  CheckoutButton,
  CheckoutNotice,
  ErrorMessage,
  LedgerTable,
  PricingTable,
  RecoveryCode,
  RedeemCode,
  ScripProvider,
  useDeduct,
  useWallet,
  type Session,
} from '../src';
import { baseUrl, openShop, pay, type Shop } from './shop';

let shop: Shop;
let ann: string;
beforeEach(async () => {
  shop = await openShop();
  ann = `ann-${crypto.randomUUID()}`;
});

const secretly = async <T,>(path: string, body: object): Promise<T> => {
  const headers = { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' };
  const reply = await fetch(`${baseUrl}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as T;
};
const give = (amount: number) => secretly('/credit', { externalUserId: ann, productId: shop.productId, amount, idempotencyKey: crypto.randomUUID() });
const take = (amount: number) => secretly('/wallets/external/deduct', { externalUserId: ann, productId: shop.productId, amount, idempotencyKey: crypto.randomUUID() });
const session = () => secretly<Session>('/sessions', { externalUserId: ann });

it('shows what they have, and what becomes of it, without a reload', async () => {
  await give(50);
  render(<ScripProvider baseUrl={baseUrl} session={session} locale="en-GB"><BalanceBadge /><LedgerTable /></ScripProvider>);
  await screen.findByText('50 images', { selector: '.scrip-balance' });
  await screen.findByText('Granted');
  // Their server takes credits, another tab buys some: this page is not touched.
  await take(8);
  await screen.findByText('42 images', { selector: '.scrip-balance' });
  await screen.findByText('Used');
  await give(100);
  await screen.findByText('142 images', { selector: '.scrip-balance' });
});

it('buys for them, and says what they have', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  await give(5);
  const page = () => <ScripProvider baseUrl={baseUrl} session={session} locale="en-GB"><CheckoutNotice><RecoveryCode /></CheckoutNotice><CheckoutButton priceId={shop.priceId}>Buy</CheckoutButton></ScripProvider>;
  const first = render(page());
  await userEvent.click(screen.getByText('Buy'));
  const remembered = () => JSON.parse(localStorage.getItem(`scrip:${baseUrl}:session:checkout`) ?? 'null') as { checkoutId: string } | null;
  await waitFor(() => expect(remembered()).toBeTruthy());
  const id = remembered()?.checkoutId ?? '';
  first.unmount();
  await pay(shop.checkoutUrl(id));
  history.replaceState(null, '', `/?scrip_checkout=${id}`);
  render(page());
  await screen.findByText('Payment received, thank you. You have 105 images.');
  expect(location.search).toBe('');
  // Whose wallet is known has no code to keep.
  expect(screen.queryByText(/only key/)).toBeNull();
});

it('thanks for a plan with the credits that it brought, though they are of another product', async () => {
  const plus = { label: 'Plus', amountCents: 900, currency: 'EUR', interval: 'month', creditsGranted: 30, creditsProductId: shop.productId, features: [] };
  const { id: priceId } = await shop.admin(`/products/${shop.studioId}/prices`, plus);
  const { url, checkoutId } = await secretly<{ url: string; checkoutId: string }>('/checkout', { externalUserId: ann, priceId });
  await pay(url);
  history.replaceState(null, '', `/?scrip_checkout=${checkoutId}`);
  render(<ScripProvider baseUrl={baseUrl} session={session} locale="en-GB"><CheckoutNotice /></ScripProvider>);
  await screen.findByText('Payment received, thank you. You have 30 images.');
});

it('asks for one session, though the function is written where it is used', async () => {
  const asked = vi.fn(session);
  function Page() {
    const [n, setN] = useState(0);
    return <ScripProvider baseUrl={baseUrl} session={() => asked()}><BalanceBadge /><button type="button" onClick={() => setN(n + 1)}>{`Again ${n}`}</button></ScripProvider>;
  }
  await give(5);
  render(<Page />, { reactStrictMode: true });
  await screen.findByText('5 images');
  for (let n = 0; n < 4; n++) await userEvent.click(screen.getByText(`Again ${n}`));
  expect(asked).toHaveBeenCalledTimes(1);
});

it('shows prices and no error to a visitor who is not signed in', async () => {
  const error = vi.spyOn(console, 'error');
  function Who() {
    const { wallet, error: failure } = useWallet();
    return <p>{failure ? failure.code : wallet === null ? 'no wallet' : 'a wallet'}</p>;
  }
  render(<ScripProvider baseUrl={baseUrl} session={() => null}><Who /><LedgerTable /><CheckoutNotice /><RedeemCode /></ScripProvider>);
  await screen.findByText('no wallet');
  await screen.findByText('Nothing yet.');
  expect(screen.queryByRole('alert')).toBeNull();
  expect(screen.queryByLabelText('Recovery code')).toBeNull();
  expect(error).not.toHaveBeenCalled();
});

it('takes no credits in the page, and says where that is done', async () => {
  await give(5);
  function Draw() {
    const { deduct, error } = useDeduct({ productId: shop.productId });
    return <><button type="button" onClick={() => void deduct({ amount: 1 })}>Draw</button><ErrorMessage error={error} /></>;
  }
  render(<ScripProvider baseUrl={baseUrl} session={session}><BalanceBadge /><Draw /></ScripProvider>);
  await screen.findByText('5 images');
  await userEvent.click(screen.getByText('Draw'));
  expect((await screen.findByRole('alert')).textContent).toContain('on your server');
});

it('marks the plan that they have', async () => {
  const { url } = await secretly<{ url: string }>('/checkout', { externalUserId: ann, priceId: shop.tierId });
  await pay(url);
  render(<ScripProvider baseUrl={baseUrl} session={session}><PricingTable /></ScripProvider>);
  await screen.findByText('Your plan');
  await act(async () => undefined);
});
