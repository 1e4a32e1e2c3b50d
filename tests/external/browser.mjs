// A person with a browser: opens the demo shop's checkout, looks, mistypes a code, pays, and comes
// back. Prints what was seen along the way; the pictures go to PICTURES.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const { CHECKOUT_URL, PICTURES } = process.env;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const phone = process.env.PHONE === '1';
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: phone ? { width: 360, height: 740 } : { width: 1100, height: 800 },
    colorScheme: phone ? 'dark' : 'light',
  });
  const page = await context.newPage();
  const picture = (name) => PICTURES && page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  await page.goto(CHECKOUT_URL);
  await picture('checkout');
  // Nothing is wider than the screen.
  const { width } = page.viewportSize();
  const body = await page.locator('body').boundingBox();
  assert.ok(body.width <= width, `the page is ${body.width} wide on a screen of ${width}`);
  const email = page.getByLabel(/email/i);
  if (await email.count() && !(await email.inputValue())) await email.fill('ann@mail.example');
  const decline = page.getByRole('button', { name: /decline/i });
  if (await decline.count()) {
    await decline.click();
    await picture('declined');
    assert.match(await page.locator('body').innerText(), /declined/i);
  }
  await page.getByRole('button', { name: /^pay(?! later)/i }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sandbox'));
  await picture('paid');
  console.log(JSON.stringify({ landed: page.url(), text: await page.locator('body').innerText() }));
} finally {
  await browser.close();
}
