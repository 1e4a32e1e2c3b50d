import { Scrip, type Order } from '@scrip-wallet/browser';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BalanceBadge, CheckoutButton, CheckoutNotice, PricingTable, RecoveryCode, ScripProvider, useCheckout } from '../src';
import { accessible } from './axe';
import { baseUrl, fund, heldBack, keeps, openShop, pay, visit, walletOf, watched, type Shop } from './shop';

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => vi.restoreAllMocks());

/** A window for the checkout, in which the buyer does something. */
function popup(then: (url: string, close: () => void) => void | Promise<void>) {
  const fake = {
    closed: false,
    close() {
      fake.closed = true;
    },
    location: {
      set href(url: string) {
        void then(url, () => fake.close());
      },
    },
  };
  vi.spyOn(window, 'open').mockReturnValue(fake as unknown as Window);
}

/** What jsdom says when it is sent to another page. */
function leaving(): string[] {
  const left: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((error) => void left.push(String(error)));
  return left;
}

/** The order that the client keeps in mind while the buyer is away. */
function remembered(): string | undefined {
  const name = Object.keys(localStorage).find((key) => key.endsWith(':checkout'));
  return name === undefined ? undefined : (JSON.parse(localStorage.getItem(name) ?? '{}') as { orderId?: string }).orderId;
}

/** What a page found when it looked for the order that a buyer came back from: each time, once it is known. */
function looking(): () => Promise<(Order | null)[]> {
  const looks = vi.spyOn(Scrip.prototype, 'completeCheckout');
  return () => act(() => Promise.all(looks.mock.results.map(({ value }) => value as Promise<Order | null>)));
}

describe('a checkout in a window of its own', () => {
  it('makes the wallet, keeps its code and says what there is', async () => {
    popup((url) => pay(url));
    const page = visit(
      shop,
      <>
        <CheckoutNotice>
          <RecoveryCode concealed={false} />
        </CheckoutNotice>
        <PricingTable popup />
        <BalanceBadge />
      </>,
      { code: null, strict: true },
    );
    await userEvent.click(await screen.findByRole('button', { name: 'Buy 100 images for €5.00' }));
    await screen.findByText(/Payment received, thank you\. You have 100 images\./);
    const code = await page.client.code();
    expect(screen.getByRole('group', { name: 'Recovery code' }).querySelector('code')?.textContent).toBe(code);
    expect((await walletOf(shop, code ?? '')).balances[0]?.balance).toBe(100);
    expect(page.asked).not.toContain('POST /wallets');
  });

  it('that is closed unpaid is no error to speak of', async () => {
    popup((_, close) => close());
    const { fetch, go } = heldBack(/\/checkout$/);
    visit(shop, <CheckoutButton priceId={shop.priceId} popup>Buy</CheckoutButton>, { code: null, fetch });
    await userEvent.click(screen.getByText('Buy'));
    expect(screen.getByRole('button').textContent).toBe('Opening checkout…');
    go();
    // Ready at once, not only when it is certain that nothing was paid.
    await waitFor(() => expect(screen.getByRole('button').textContent).toBe('Buy'), { timeout: 3_000 });
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('that the browser does not let open is an error', async () => {
    vi.spyOn(window, 'open').mockReturnValue(null);
    visit(shop, <CheckoutButton priceId={shop.priceId} popup>Buy</CheckoutButton>, { code: null });
    await userEvent.click(screen.getByText('Buy'));
    expect((await screen.findByRole('alert')).textContent).toMatch(/did not let the checkout open/);
  });
});

describe('a checkout that leaves the page', () => {
  it('leads back to it, where the payment is waited for and the new code kept', async () => {
    leaving();
    history.replaceState(null, '', '/shop?tab=prices#packs');
    const first = visit(shop, <CheckoutButton priceId={shop.priceId}>Buy</CheckoutButton>);
    await userEvent.click(screen.getByText('Buy'));
    await waitFor(() => expect(remembered()).toBeTruthy());
    const asked = first.bodies[0] as { successUrl: string; cancelUrl: string };
    expect(asked.cancelUrl).toBe(`${location.origin}/shop?tab=prices#packs`);
    expect(asked.successUrl).toContain('/shop?tab=prices&scrip_checkout={CHECKOUT_SESSION_ID}');
    // It cannot be pressed twice while the page goes away.
    expect(screen.getByRole<HTMLButtonElement>('button').disabled).toBe(true);
    first.unmount();

    const orderId = remembered() ?? '';
    const order = await first.client.order(orderId);
    await pay(shop.checkoutUrl(order.checkoutId ?? ''));
    await first.client.waitForOrder(orderId);
    history.replaceState({ router: 1 }, '', `/shop?tab=prices&scrip_checkout=${order.checkoutId}`);
    const back = visit(shop, <><CheckoutNotice /><BalanceBadge /></>, { strict: true });
    await screen.findByText(/You have 100 images/);
    // What is spent later changes nothing of the thanks, which go when they are closed.
    await back.client.deduct({ productId: shop.productId, amount: 1 });
    await screen.findByText('99 images');
    screen.getByText(/You have 100 images/);
    await userEvent.click(screen.getByRole('button', { name: 'Close' }));
    expect(screen.queryByText(/You have/)).toBeNull();
    expect(location.search).toBe('?tab=prices');
    expect(history.state).toEqual({ router: 1 });
    expect(await back.client.code()).toBe((await back.client.order(orderId)).code);
    expect(back.asked.filter((path) => path.startsWith('GET /orders'))).toHaveLength(2);

    // A reload neither thanks nor asks again.
    back.unmount();
    const looked = looking();
    const reloaded = visit(shop, <CheckoutNotice />);
    expect(await looked()).toEqual([null]);
    expect(screen.queryByText(/Payment received/)).toBeNull();
    expect(reloaded.asked).toEqual([]);
  });

  it('and is come back from without paying says nothing, but is ready to be pressed again', async () => {
    leaving();
    visit(shop, <><CheckoutNotice /><CheckoutButton priceId={shop.priceId}>Buy</CheckoutButton></>);
    await userEvent.click(screen.getByText('Buy'));
    await waitFor(() => expect(remembered()).toBeTruthy());
    // The browser shows the page as it was left.
    const shown = Object.assign(new Event('pageshow'), { persisted: true });
    act(() => void window.dispatchEvent(shown));
    await waitFor(() => expect(screen.getByRole<HTMLButtonElement>('button').disabled).toBe(false));
    expect(screen.queryByRole('alert')).toBeNull();
    expect(screen.queryByRole('status')).toBeNull();
  });

  it('and is open in another tab is not waited for here', async () => {
    const { client } = watched(shop);
    leaving();
    void client.redirectToCheckout({ priceId: shop.priceId });
    await waitFor(() => expect(remembered()).toBeTruthy());
    const looked = looking();
    const page = visit(shop, <CheckoutNotice />, { strict: true });
    expect(await looked()).toEqual([expect.objectContaining({ status: 'pending' })]);
    expect(await looked()).toHaveLength(1);
    expect(screen.queryByRole('status')).toBeNull();
    expect(page.asked.filter((path) => path.startsWith('GET /orders'))).toHaveLength(1);
  });

  it('whose money takes its time says so, until it is there', async () => {
    leaving();
    const { client } = watched(shop);
    void client.redirectToCheckout({ priceId: shop.priceId });
    await waitFor(() => expect(remembered()).toBeTruthy());
    const url = shop.checkoutUrl((await client.order(remembered() ?? '')).checkoutId ?? '');
    await pay(url, 'pay_later');
    const first = visit(shop, <CheckoutNotice />);
    await screen.findByText(/The payment is on its way/);
    await accessible(first.container);
    first.unmount();
    await pay(url, 'settle');
    visit(shop, <CheckoutNotice />);
    await screen.findByText('Payment received, thank you. You have 100 images.');
  });

  it('whose payment is still unknown when the buyer is back is waited for, and said to be', async () => {
    leaving();
    const { client } = watched(shop);
    void client.redirectToCheckout({ priceId: shop.priceId });
    await waitFor(() => expect(remembered()).toBeTruthy());
    const url = shop.checkoutUrl((await client.order(remembered() ?? '')).checkoutId ?? '');
    history.replaceState(null, '', '/?scrip_checkout=done');
    visit(shop, <CheckoutNotice />, { strict: true });
    await screen.findByText(/The payment is not confirmed yet/);
    await pay(url);
    await screen.findByText('Payment received, thank you. You have 100 images.');
    expect(location.search).toBe('');
  });

  it('that was left and is over is not spoken of the next day', async () => {
    leaving();
    const { client } = watched(shop);
    void client.redirectToCheckout({ priceId: shop.priceId });
    await waitFor(() => expect(remembered()).toBeTruthy());
    await pay(shop.checkoutUrl((await client.order(remembered() ?? '')).checkoutId ?? ''), 'expire');
    const page = visit(shop, <CheckoutNotice />);
    await waitFor(() => expect(remembered()).toBeUndefined());
    expect(page.container.textContent).toBe('');
  });

  it('that failed says so', async () => {
    leaving();
    const { client } = watched(shop);
    void client.redirectToCheckout({ priceId: shop.priceId });
    await waitFor(() => expect(remembered()).toBeTruthy());
    const url = shop.checkoutUrl((await client.order(remembered() ?? '')).checkoutId ?? '');
    await pay(url, 'pay_later');
    await pay(url, 'fail');
    visit(shop, <CheckoutNotice />);
    await screen.findByText('The payment failed. Nothing was charged.');
  });

  it('is paid into a wallet of its own where another was opened: neither is lost without asking', async () => {
    leaving();
    const { client } = watched(shop);
    void client.redirectToCheckout({ priceId: shop.priceId });
    await waitFor(() => expect(remembered()).toBeTruthy());
    const orderId = remembered() ?? '';
    const here = await fund(shop, 7);
    await client.useCode(here);
    await pay(shop.checkoutUrl((await client.order(orderId)).checkoutId ?? ''));
    history.replaceState(null, '', '/?scrip_checkout=done');
    const page = visit(shop, <><CheckoutNotice /><BalanceBadge /></>);
    await screen.findByText('Payment received, thank you. You have 100 images.');
    await screen.findByText('7 images');
    const bought = (await client.order(orderId)).code ?? expect.fail('no code');
    await screen.findByText(bought);
    await accessible(page.container);
    expect(await page.client.code()).toBe(here);
    await userEvent.click(screen.getByText('Open it here'));
    await screen.findByText('100 images');
    expect(await page.client.code()).toBe(bought);
    expect(screen.queryByText('Open it here')).toBeNull();
  });

  it('never opens a wallet that the address names', async () => {
    const stranger = await fund(shop, 5);
    history.replaceState(null, '', `/?scrip_checkout=done&code=${stranger}&orderId=ord_0`);
    const page = visit(shop, <><CheckoutNotice /><BalanceBadge /></>);
    await screen.findByText('0 images');
    expect(await page.client.code()).toBeNull();
  });

  it('that the service refuses says why', async () => {
    const closed = await openShop({ provider: false });
    visit(closed, <CheckoutButton priceId={closed.priceId}>Buy</CheckoutButton>, { code: null });
    await userEvent.click(screen.getByText('Buy'));
    expect((await screen.findByRole('alert')).textContent).toMatch(/provider/i);
    expect(screen.getByText<HTMLButtonElement>('Buy').disabled).toBe(false);
  });
});

it('a success page of one’s own asks by itself', async () => {
  const { client } = watched(shop, { code: null });
  leaving();
  void client.redirectToCheckout({ priceId: shop.priceId, successUrl: `${location.origin}/thanks` });
  await waitFor(() => expect(remembered()).toBeTruthy());
  const orderId = remembered() ?? '';
  const other = watched(shop, { code: null });
  const looked = looking();
  function Thanks() {
    const { complete } = useCheckout();
    return <button type="button" onClick={() => void complete()}>Look</button>;
  }
  render(
    <ScripProvider baseUrl={baseUrl} publishableKey={shop.publishableKey} storage={keeps(null)} client={other.client}>
      <Thanks />
      <CheckoutNotice render={(order) => <p>Order {order.status}</p>} />
    </ScripProvider>,
  );
  expect(await looked()).toEqual([expect.objectContaining({ status: 'pending' })]);
  expect(screen.queryByText(/Order/)).toBeNull();
  await pay(shop.checkoutUrl((await client.order(orderId)).checkoutId ?? ''));
  await userEvent.click(screen.getByText('Look'));
  await screen.findByText('Order paid');
  // Looking again takes nothing away.
  await userEvent.click(screen.getByText('Look'));
  await waitFor(() => expect(screen.getByText('Order paid')).toBeTruthy());
});
