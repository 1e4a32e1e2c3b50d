// People who sign in by an identity provider, in a real browser: who was invited comes in and lands where they wanted to
// go, others read why not. Prints what was seen.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const { BASE, TOKEN } = process.env;
const invite = async (name) => {
  const answer = await fetch(`${BASE}/api/admin/v1/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, email: `${name}@example.com`, role: 'owner' }),
  });
  assert.equal(answer.status, 201);
};
await invite('ann');
await invite('eve');
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  // The provider's own are of the same host.
  const ours = async (context) => (await context.cookies(BASE)).map(({ name }) => name).filter((name) => name.startsWith('scrip_')).sort();
  const enter = async (name, path) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${BASE}${path}`);
    await page.getByRole('link', { name: 'Sign in with Test ID' }).click();
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL((url) => url.href.startsWith(BASE));
    return { context, page };
  };
  for (const time of ['first', 'second']) {
    const { context, page } = await enter('ann', '/dashboard/people?from=here');
    assert.equal(page.url(), `${BASE}/dashboard/people?from=here`, time);
    await page.getByRole('heading', { name: 'People' }).waitFor();
    assert.deepEqual(await ours(context), ['scrip_browser', 'scrip_dashboard']);
    // The address of the way back is good once.
    await page.goto(`${BASE}/dashboard/sign-in/oidc/callback?code=a&state=b`);
    await page.getByRole('alert').getByText('Begin again').waitFor();
  }
  const eve = await enter('eve', '/dashboard');
  await eve.page.getByRole('alert').getByText('has not verified').waitFor();
  const bob = await enter('bob', '/dashboard');
  await bob.page.getByRole('alert').getByText('was invited').waitFor();
  assert.deepEqual(await ours(bob.context), []);
  const users = await fetch(`${BASE}/api/admin/v1/users`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const bound = (await users.json()).users.map(({ name, identity }) => [name, identity?.subject ?? null]);
  assert.deepEqual(bound, [['ann', 'ann'], ['eve', null]]);
  console.log('who was invited came in');
} finally {
  await browser.close();
}
