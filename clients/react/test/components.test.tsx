import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  BalanceBadge,
  ErrorMessage,
  LedgerTable,
  OpenInvoice,
  Paywall,
  PortalButton,
  PricingTable,
  RecoveryCode,
  RedeemCode,
  ScripError,
} from '../src';
import { accessible } from './axe';
import { baseUrl, fund, grant, openShop, pay, visit, walletOf, watched, type Shop } from './shop';

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => vi.restoreAllMocks());

/** A service that cannot be reached until a test calls `back`. */
function offline(): { fetch: typeof fetch; back: () => void } {
  let reachable = false;
  const through: typeof fetch = (input, init) =>
    reachable ? fetch(input, init) : Promise.reject(new TypeError('network down'));
  return { fetch: through, back: () => void (reachable = true) };
}

describe('<PricingTable>', () => {
  it('lists what is for sale, with a button for each price', async () => {
    const { container } = visit(shop, <PricingTable features={{ editor: 'the editor of pictures' }} highlight={shop.bigPriceId} />, { code: null });
    expect(screen.getByRole('status').textContent).toBe('Loading prices…');
    const images = await screen.findByRole('group', { name: 'Images' });
    expect(within(images).getAllByRole('button').map((button) => button.getAttribute('aria-label'))).toEqual([
      'Buy 100 images for €5.00',
      'Buy 1,000 images for €40.00',
    ]);
    const studio = screen.getByRole('group', { name: 'Studio' });
    within(studio).getByRole('button', { name: 'Subscribe to Studio for €9.00 a month' });
    expect(studio.textContent).toContain('€9.00 a month');
    expect(studio.textContent).toContain('the editor of pictures');
    // The plan is called as its product is: once is enough.
    expect(within(studio).getAllByText('Studio')).toHaveLength(1);
    within(screen.getByText('Recommended').closest('li') ?? images).getByText('1,000 images');
    await accessible(container);
  });

  it('shows some of it, in markup of one’s own', async () => {
    visit(
      shop,
      <PricingTable filter={({ creditsGranted }) => creditsGranted > 500} renderPrice={({ label }, { name }) => <b>{`${name}: ${label}`}</b>} className="mine" />,
      { code: null },
    );
    await screen.findByText('Images: 1,000 images');
    expect(screen.queryByText(/Studio/)).toBeNull();
    expect(document.querySelector('.scrip.mine')).toBeTruthy();
  });

  it('says what went wrong, and tries again', async () => {
    const { fetch, back } = offline();
    const { container } = visit(shop, <PricingTable className="mine" />, { code: null, fetch });
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('The server did not answer.');
    await accessible(container);
    back();
    await userEvent.click(within(alert).getByText('Try again'));
    await screen.findByRole('group', { name: 'Images' });
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('says so where nothing is for sale', async () => {
    visit(shop, <PricingTable productId="prod_none" />, { code: null });
    await screen.findByText('Nothing is for sale at the moment.');
  });

  it('marks what the wallet is subscribed to, and leads other tiers to the portal', async () => {
    const other = await shop.admin(`/products/${shop.studioId}/prices`, {
      label: 'Atelier', amountCents: 1900, currency: 'EUR', interval: 'month', features: ['editor'],
    });
    const code = await fund(shop, 1);
    const { client } = watched(shop, { code });
    await pay((await client.checkout({ priceId: shop.tierId })).url);
    await waitFor(async () => expect((await walletOf(shop, code)).features).toEqual(['editor']));
    const { container } = visit(shop, <PricingTable />, { code });
    const studio = await screen.findByRole('group', { name: 'Studio' });
    await within(studio).findByText('Your plan');
    within(studio).getByRole('button', { name: 'Switch plan' });
    expect(other['label']).toBe('Atelier');
    await accessible(container);
  });
});

it('<PricingTable> does not sell again what is bought once and for all', async () => {
  const product = await shop.admin('/products', { name: 'Export', type: 'one_time' });
  await shop.admin(`/products/${product['id']}/prices`, { amountCents: 300, currency: 'EUR', interval: 'one_time', features: ['export', 'pdf'] });
  const code = await fund(shop, 1);
  await feature(shop, code, 'export');
  const page = visit(shop, <PricingTable />, { code });
  const sold = await screen.findByRole('group', { name: 'Export' });
  within(sold).getByRole('button', { name: 'Buy Export for €3.00' });
  await feature(shop, code, 'pdf');
  await page.client.useCode(code);
  await within(sold).findByText('You own this');
  expect(within(sold).queryByRole('button')).toBeNull();
  // Credits are sold as often as one likes.
  screen.getByRole('button', { name: 'Buy 100 images for €5.00' });
});

describe('<BalanceBadge>', () => {
  it('says what there is, and that it is being read', async () => {
    const code = await fund(shop, 1_234);
    const { container } = visit(shop, <BalanceBadge className="mine" />, { code });
    expect(screen.getByRole('status').textContent).toBe('Loading balance…');
    await screen.findByText('1,234 images');
    await accessible(container);
  });

  it('is what one makes of it', async () => {
    const code = await fund(shop, 7);
    visit(shop, <BalanceBadge render={({ balance }) => <b>{`${balance ?? '?'} left`}</b>} />, { code });
    await screen.findByText('7 left');
    expect(screen.queryByRole('status')).toBeNull();
  });
});

describe('<Paywall>', () => {
  it('shows what is behind it to a user with the feature', async () => {
    const code = await fund(shop, 1);
    await feature(shop, code, 'editor');
    visit(shop, <Paywall feature="editor">The editor</Paywall>, { code });
    await screen.findByText('The editor');
  });

  it('shows to others what would open it, and nothing of what is behind it', async () => {
    const { container } = visit(shop, <Paywall feature="editor">The editor</Paywall>, { code: null });
    expect(container.textContent).toBe('Loading…');
    await screen.findByRole('button', { name: 'Subscribe to Studio for €9.00 a month' });
    screen.getByText('Upgrade to use this.');
    expect(screen.queryByText('The editor')).toBeNull();
    expect(screen.queryByRole('button', { name: /Buy/ })).toBeNull();
    await accessible(container);
  });

  it('opens by itself once there are credits enough', async () => {
    const code = await fund(shop, 3);
    const page = visit(shop, <Paywall credits={5}>The picture</Paywall>, { code });
    await screen.findByText('This needs 5 images; you have 3.');
    await screen.findByRole('button', { name: 'Buy 100 images for €5.00' });
    expect(screen.queryByRole('button', { name: /Studio/ })).toBeNull();
    await grant(shop, code, 2);
    await page.client.useCode(code);
    await screen.findByText('The picture');
  });

  it('stays closed, and says why, when it cannot know', async () => {
    const code = await fund(shop, 1);
    const { fetch } = offline();
    visit(shop, <Paywall feature="editor">The editor</Paywall>, { code, fetch });
    expect((await screen.findByRole('alert')).textContent).toContain('The server did not answer.');
    expect(screen.queryByText('The editor')).toBeNull();
  });

  it('shows in place of it what one likes', async () => {
    visit(shop, <Paywall feature="editor" fallback={<p>Ask your boss</p>}>The editor</Paywall>, { code: null });
    await screen.findByText('Ask your boss');
  });
});

describe('<PortalButton>', () => {
  it('is nothing for those who never bought', async () => {
    const empty = visit(shop, <><PortalButton /><BalanceBadge /></>, { code: null });
    await screen.findByText('0 images');
    expect(screen.queryByRole('button')).toBeNull();
    empty.unmount();
    const code = await fund(shop, 1);
    const page = visit(shop, <><PortalButton /><LedgerTable /></>, { code });
    await screen.findByText('Granted');
    await waitFor(() => expect(page.asked.filter((path) => path.endsWith('/ledger'))).toHaveLength(2));
    expect(screen.queryByRole('button')).toBeNull();
    const { client } = watched(shop, { code });
    const { url, orderId } = await client.checkout({ priceId: shop.priceId });
    await pay(url);
    await client.waitForOrder(orderId);
    page.unmount();
    const { container } = visit(shop, <PortalButton />, { code });
    await screen.findByText('Manage billing');
    await accessible(container);
  });

  it('says why it leads nowhere', async () => {
    visit(shop, <PortalButton always />, { code: await fund(shop, 1) });
    await userEvent.click(await screen.findByText('Manage billing'));
    expect((await screen.findByRole('alert')).textContent).toMatch(/purchase|bought/i);
  });
});

it('<ErrorMessage> recommends one price of those that would be enough, and goes once credits came', async () => {
  const code = await fund(shop, 3);
  const { client } = watched(shop, { code });
  const refused = await client.deduct({ productId: shop.productId, amount: 5 }).catch((error: unknown) => error);
  const page = visit(shop, <><ErrorMessage error={refused as ScripError} /><BalanceBadge /></>, { code });
  await screen.findByText('3 images');
  const offers = within(screen.getByRole('alert')).getAllByRole('button');
  expect(offers.map(({ className }) => className.includes('scrip-primary'))).toEqual([true, false]);
  await grant(shop, code, 2);
  await page.client.useCode(code);
  await screen.findByText('5 images');
  expect(screen.queryByRole('alert')).toBeNull();
});

describe('<RecoveryCode>', () => {
  it('hides all but the first word until it is asked for, and copies all of it', async () => {
    const code = await fund(shop, 1);
    const { container } = visit(shop, <RecoveryCode />, { code });
    const group = await screen.findByRole('group', { name: 'Recovery code' });
    const [word] = code.split('-');
    expect(within(group).getByText(`${word}-••••-••••-••••`)).toBeTruthy();
    expect(container.innerHTML).not.toContain(code);
    const user = userEvent.setup();
    await user.click(screen.getByText('Copy'));
    expect(await navigator.clipboard.readText()).toBe(code);
    await screen.findByText('Copied.');
    await user.click(screen.getByText('Show'));
    expect(within(group).getByText(code)).toBeTruthy();
    await accessible(container);
    await user.click(screen.getByText('Hide'));
    expect(within(group).queryByText(code)).toBeNull();
  });

  it('says so where it cannot be copied', async () => {
    const code = await fund(shop, 1);
    const user = userEvent.setup();
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('no'));
    visit(shop, <RecoveryCode />, { code });
    await user.click(await screen.findByText('Copy'));
    await screen.findByText(/Copying failed/);
  });

  it('replaces a code that became known, once that is confirmed', async () => {
    const code = await fund(shop, 9);
    const page = visit(shop, <><RecoveryCode replaceable /><BalanceBadge /></>, { code });
    await userEvent.click(await screen.findByText('Replace…'));
    expect(await page.client.code()).toBe(code);
    await accessible(page.container);
    await userEvent.click(screen.getByText('Replace it'));
    await waitFor(async () => expect(await page.client.code()).not.toBe(code));
    const now = (await page.client.code()) ?? '';
    await screen.findByText(now);
    await screen.findByText('9 images');
    await expect(walletOf(shop, code)).rejects.toThrow('404');
  });

  it('is nothing without a wallet', async () => {
    visit(shop, <><RecoveryCode /><BalanceBadge /></>, { code: null });
    await screen.findByText('0 images');
    expect(screen.queryByRole('group')).toBeNull();
  });
});

describe('<RedeemCode>', () => {
  it('opens the wallet of a code, written as people write it', async () => {
    const code = await fund(shop, 42);
    const redeemed = vi.fn();
    const page = visit(shop, <><RedeemCode onRedeemed={redeemed} /><BalanceBadge /></>, { code: null });
    await screen.findByText('0 images');
    await accessible(page.container);
    await userEvent.type(screen.getByLabelText('Recovery code'), `  ${code.toLowerCase().replaceAll('-', ' – ')}. {Enter}`);
    await screen.findByText('42 images');
    await screen.findByText('The wallet is open.');
    expect(redeemed).toHaveBeenCalledWith(expect.objectContaining({ code }));
    expect(await page.client.code()).toBe(code);
    expect(screen.getByLabelText<HTMLInputElement>('Recovery code').value).toBe('');
  });

  it('says so of a code that opens nothing, and keeps what was here', async () => {
    const code = await fund(shop, 0 + 1);
    const page = visit(shop, <RedeemCode />, { code });
    const field = await screen.findByLabelText('Recovery code');
    await userEvent.click(await screen.findByRole('checkbox'));
    await userEvent.type(field, 'OLIVE-0000-0000-0000{Enter}');
    expect((await screen.findByRole('alert')).textContent).toContain('No such wallet.');
    expect(await page.client.code()).toBe(code);
    await userEvent.clear(field);
    await userEvent.type(field, '../me{Enter}');
    expect((await screen.findByRole('alert')).textContent).toContain('This is no code.');
  });

  it('replaces no wallet that holds anything without asking', async () => {
    const [here, there] = [await fund(shop, 5), await fund(shop, 6)];
    const page = visit(shop, <><RedeemCode /><BalanceBadge /></>, { code: here });
    const kept = await screen.findByRole<HTMLInputElement>('checkbox', { name: new RegExp(`have kept the code.*${here.split('-')[0]}-`) });
    await accessible(page.container);
    await userEvent.type(screen.getByLabelText('Recovery code'), `${there}{Enter}`);
    expect(kept.validity.valueMissing).toBe(true);
    expect(await page.client.code()).toBe(here);
    await userEvent.click(kept);
    await userEvent.click(screen.getByText('Open wallet'));
    await screen.findByText('6 images');
  });

  it('has lost codes mailed, and says nothing about whether there are any', async () => {
    const page = visit(shop, <RedeemCode recoverByEmail />, { code: null });
    await userEvent.click(await screen.findByText('Lost the code?'));
    await userEvent.type(screen.getByLabelText(/email address/), 'ann@mail.example{Enter}');
    await screen.findByText(/If anything was bought with this address/);
    expect(page.asked).toContain('POST /wallets/recover');
    await accessible(page.container);
  });
});

describe('<LedgerTable>', () => {
  it('lists what came and went, and goes on to older', async () => {
    const code = await fund(shop, 1_000);
    const { client } = watched(shop, { code });
    await client.deduct({ productId: shop.productId, amount: 5, meta: { feature: 'upscale' } });
    const { container } = visit(shop, <LedgerTable limit={1} caption="Your credits" />, { code });
    expect(screen.getByRole('status').textContent).toBe('Loading…');
    const table = await screen.findByRole('table', { name: 'Your credits' });
    const rows = () => within(table).getAllByRole('row').slice(1).map((row) => within(row).getAllByRole('cell').slice(1).map(({ textContent }) => textContent));
    expect(rows()).toEqual([['Used: upscale', '-5', '995 images']]);
    await accessible(container);
    await userEvent.click(screen.getByText('Show older'));
    await waitFor(() => expect(rows()).toEqual([['Used: upscale', '-5', '995 images'], ['Granted', '+1,000', '1,000 images']]));
    expect(screen.queryByText('Show older')).toBeNull();
  });

  it('is empty without a wallet, and says why it cannot be read', async () => {
    const empty = visit(shop, <LedgerTable />, { code: null });
    await screen.findByText('Nothing yet.');
    screen.getByText('Credit history');
    expect(empty.asked).toEqual([]);
    empty.unmount();
    const { fetch, back } = offline();
    const code = await fund(shop, 1);
    visit(shop, <LedgerTable renderReason={({ reason }) => `because of ${reason}`} />, { code, fetch });
    const alert = await screen.findByRole('alert');
    back();
    await userEvent.click(within(alert).getByText('Try again'));
    await screen.findByText('because of manual');
  });
});

it('<OpenInvoice> leads to the bill that a declined card left open, and shows nothing to anybody else', async () => {
  const code = await fund(shop, 1);
  const { client } = watched(shop, { code });
  await pay((await client.checkout({ priceId: shop.tierId })).url);
  await waitFor(async () => expect((await walletOf(shop, code)).features).toEqual(['editor']));
  const paid = visit(shop, <><OpenInvoice /><BalanceBadge /></>, { code });
  await screen.findByText('1 images');
  expect(screen.queryByText('Pay now')).toBeNull();
  paid.unmount();
  const { url } = await client.portal({ returnUrl: 'http://localhost/' });
  const declines = await fetch(`${url}/card`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ declines: 'true' }),
  });
  expect(declines.ok).toBe(true);
  // A month, and the hour in which the bill is a draft.
  await shop.admin('/sandbox/advance', { seconds: 32 * 86_400 });
  const { container } = visit(shop, <OpenInvoice />, { code });
  const link = await screen.findByRole<HTMLAnchorElement>('link', { name: 'Pay now' });
  expect(link.href).toMatch(/^http/);
  expect(screen.getByRole('status').textContent).toContain('A payment of €9.00 for Studio did not go through.');
  await accessible(container);
});

it('<ErrorMessage> gives a reference for what is the service’s own fault, and no other', () => {
  const error = (status: number) => new ScripError('unavailable', 'Try again later.', { status, requestId: 'req_1' });
  const page = visit(shop, <ErrorMessage error={error(503)} />, { code: null });
  expect(screen.getByRole('alert').textContent).toBe('Try again later.Reference: req_1');
  page.unmount();
  visit(shop, <ErrorMessage error={error(404)} />, { code: null });
  expect(screen.getByRole('alert').textContent).toBe('Try again later.');
});

async function feature(of: Shop, code: string, slug: string): Promise<void> {
  const answer = await fetch(`${baseUrl}/api/v1/features`, {
    method: 'POST',
    headers: { authorization: `Bearer ${of.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ code, feature: slug }),
  });
  expect(answer.status).toBe(200);
}
