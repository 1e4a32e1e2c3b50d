// Stripe's own library as a customer of the sandbox: what it makes it can read back, what it gets
// wrong is refused as Stripe refuses it, what the sandbox reports it can verify, and what it signs
// Scrip takes in.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import Stripe from 'stripe';

const { API_BASE, OBJECTS, SECRET_KEY, WEBHOOK_SECRET, WEBHOOK_URL } = process.env;
// The library only takes an origin: the path in front of /v1 is put in on the way.
const base = new URL(API_BASE);
const httpClient = Stripe.createFetchHttpClient((url, init) => {
  const target = new URL(url);
  return fetch(`${API_BASE}${target.pathname}${target.search}`, init);
});
const connect = (key) =>
  new Stripe(key, { host: base.hostname, port: base.port, protocol: 'http', httpClient, maxNetworkRetries: 0, telemetry: false });
const stripe = connect(SECRET_KEY);

const once = {
  mode: 'payment',
  line_items: [{ quantity: 1, price_data: { currency: 'eur', unit_amount: 1250, product_data: { name: 'Credits' } } }],
  customer_creation: 'always',
  success_url: 'https://shop.example/ok?s={CHECKOUT_SESSION_ID}',
  cancel_url: 'https://shop.example/no',
};
const press = async (url, button, fields = {}) => {
  const body = new URLSearchParams(fields);
  const reply = await fetch(`${url}/${button}`, { method: 'POST', body });
  const text = await reply.text();
  assert.equal(reply.status, 200, `${button}: ${reply.status} ${text}`);
  return JSON.parse(text);
};
const script = async (path, form = {}) => {
  const headers = { authorization: `Bearer ${SECRET_KEY}` };
  const reply = await fetch(`${API_BASE}/script/${path}`, { method: 'POST', headers, body: new URLSearchParams(form) });
  assert.equal(reply.status, 200, `${path}: ${await reply.clone().text()}`);
  return reply.json();
};
const refused = async (promise, kind, param) => {
  const error = await promise.then(() => assert.fail('it was not refused'), (error) => error);
  assert.ok(error instanceof kind, `${error.constructor.name}: ${error.message}`);
  if (param) assert.equal(error.param, param);
  return error;
};

// A payment, from session to refund.
{
  const made = await stripe.checkout.sessions.create({ ...once, metadata: { colour: 'blue' } });
  assert.match(made.id, /^cs_/);
  assert.equal(made.object, 'checkout.session');
  assert.equal(made.livemode, false);
  const read = await stripe.checkout.sessions.retrieve(made.id);
  assert.deepEqual(
    [read.status, read.payment_status, read.amount_total, read.currency, read.metadata.colour],
    ['open', 'unpaid', 1250, 'eur', 'blue'],
  );
  await press(made.url, 'pay', { email: 'buyer@mail.example' });
  const paid = await stripe.checkout.sessions.retrieve(made.id);
  assert.deepEqual([paid.status, paid.payment_status], ['complete', 'paid']);
  assert.equal(paid.customer_details.email, 'buyer@mail.example');
  const customer = await stripe.customers.retrieve(paid.customer);
  assert.equal(customer.email, 'buyer@mail.example');
  const intent = await stripe.paymentIntents.retrieve(paid.payment_intent);
  assert.deepEqual([intent.status, intent.amount_received], ['succeeded', 1250]);
  const part = await stripe.refunds.create({ payment_intent: intent.id, amount: 250 });
  assert.equal(part.status, 'succeeded');
  await stripe.refunds.create({ payment_intent: intent.id });
  const charge = await stripe.charges.retrieve(intent.latest_charge);
  assert.deepEqual([charge.amount_refunded, charge.refunded], [1250, true]);
  await refused(stripe.refunds.create({ payment_intent: intent.id }), Stripe.errors.StripeInvalidRequestError);
}

// What is wrong is refused.
{
  const create = (change) => stripe.checkout.sessions.create({ ...once, ...change });
  const { StripeInvalidRequestError: Invalid, StripeAuthenticationError: Stranger } = Stripe.errors;
  await refused(create({ mode: 'subscription' }), Invalid);
  await refused(create({ customer: 'cus_nobody', customer_creation: undefined }), Invalid, 'customer');
  await refused(create({ success_url: 'nowhere' }), Invalid, 'success_url');
  await refused(create({ expires_at: Math.floor(Date.now() / 1000) + 30 * 86400 }), Invalid, 'expires_at');
  await refused(create({ allow_promotion_codes: true, discounts: [{ coupon: 'x' }] }), Invalid);
  await refused(create({ colour: 'blue' }), Invalid, 'colour');
  await refused(stripe.checkout.sessions.retrieve('cs_test_nothing'), Invalid);
  await refused(connect('sk_sandbox_wrong').checkout.sessions.create(once), Stranger);
}

// One operation under one key.
{
  const idempotencyKey = 'judge/1';
  const one = await stripe.checkout.sessions.create(once, { idempotencyKey });
  const two = await stripe.checkout.sessions.create(once, { idempotencyKey });
  assert.equal(one.id, two.id);
  const other = { ...once, cancel_url: 'https://shop.example/other' };
  await refused(stripe.checkout.sessions.create(other, { idempotencyKey }), Stripe.errors.StripeIdempotencyError);
  const closed = await stripe.checkout.sessions.expire(one.id);
  assert.equal(closed.status, 'expired');
}

// A subscription, a promotion code, a list.
{
  const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'once' });
  const code = await stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: coupon.id }, code: 'JUDGE50' });
  const found = await stripe.promotionCodes.list({ code: 'JUDGE50', active: true });
  assert.deepEqual(found.data.map((one) => one.id), [code.id]);
  const price = await stripe.prices.create({
    currency: 'usd', unit_amount: 2000, recurring: { interval: 'month' }, product_data: { name: 'Plan' }, lookup_key: 'judge',
  });
  assert.deepEqual((await stripe.prices.list({ lookup_keys: ['judge'] })).data.map((one) => one.id), [price.id]);
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription', line_items: [{ price: price.id, quantity: 1 }], success_url: once.success_url,
    discounts: [{ promotion_code: code.id }], subscription_data: { metadata: { colour: 'red' } },
  });
  await press(session.url, 'pay');
  const paid = await stripe.checkout.sessions.retrieve(session.id);
  assert.equal(paid.amount_total, 1000);
  const subscription = await stripe.subscriptions.retrieve(paid.subscription);
  assert.deepEqual([subscription.status, subscription.metadata.colour], ['active', 'red']);
  const end = subscription.items.data[0].current_period_end;
  assert.ok(end > Date.now() / 1000 + 27 * 86400);
  const invoice = await stripe.invoices.retrieve(paid.invoice);
  assert.equal(invoice.parent.subscription_details.subscription, subscription.id);
  assert.deepEqual([invoice.billing_reason, invoice.amount_paid], ['subscription_create', 1000]);
  const ending = await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
  assert.ok(ending.cancel_at_period_end);
  assert.equal((await stripe.subscriptions.cancel(subscription.id)).status, 'canceled');
}

// What a bank does, by scripts: the library reads the outcome.
{
  const session = await stripe.checkout.sessions.create(once);
  await press(session.url, 'challenge', { email: 'buyer@mail.example' });
  await press(session.url, 'authenticate');
  const { payment_intent } = await stripe.checkout.sessions.retrieve(session.id);
  await script(`charges/${payment_intent}`, { refunds: 'pending' });
  const slow = await stripe.refunds.create({ payment_intent, amount: 250 });
  assert.equal(slow.status, 'pending');
  await script(`refunds/${slow.id}/fail`);
  const failed = await stripe.refunds.retrieve(slow.id, { expand: ['charge'] });
  assert.deepEqual([failed.status, failed.failure_reason, failed.charge.amount_refunded], ['failed', 'unknown', 0]);
  await script('disputes', { payment_intent, amount: 400, inquiry: 'true' });
  const [dispute] = (await stripe.disputes.list({ payment_intent })).data;
  assert.deepEqual([dispute.status, dispute.amount], ['warning_needs_response', 400]);
  await script(`disputes/${dispute.id}/escalate`);
  const lost = await stripe.disputes.close(dispute.id);
  assert.deepEqual([lost.status, lost.balance_transactions[0].amount], ['lost', -400]);
  const reversals = await stripe.events.list({ types: ['refund.failed', 'charge.dispute.closed'], created: { gte: session.created } });
  assert.equal(reversals.data.length, 2);
  await script('faults', { kind: 'rate_limit', path: 'account', retry_after: '1' });
  await refused(stripe.accounts.retrieveCurrent(), Stripe.errors.StripeRateLimitError);
  assert.equal((await stripe.accounts.retrieveCurrent()).object, 'account');
}

// A subscription on trial, switched, paused, planned; an endpoint; a price that is archived.
{
  const price = (unit_amount) =>
    stripe.prices.create({ currency: 'eur', unit_amount, recurring: { interval: 'month' }, product_data: { name: 'Tier' } });
  const [small, large] = [await price(1000), await price(3000)];
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription', line_items: [{ price: small.id, quantity: 1 }], success_url: once.success_url,
    subscription_data: { trial_period_days: 14 },
  });
  await press(session.url, 'pay');
  const { subscription: id } = await stripe.checkout.sessions.retrieve(session.id);
  assert.equal((await stripe.subscriptions.retrieve(id)).status, 'trialing');
  const active = await stripe.subscriptions.update(id, { trial_end: 'now' });
  assert.equal(active.status, 'active');
  const switched = await stripe.subscriptions.update(id, {
    items: [{ id: active.items.data[0].id, price: large.id }], proration_behavior: 'always_invoice', expand: ['latest_invoice'],
  });
  const { latest_invoice: invoice } = switched;
  assert.equal(invoice.billing_reason, 'subscription_update');
  assert.deepEqual(invoice.lines.data.map((line) => line.amount), [-1000, 3000]);
  assert.ok(invoice.lines.data.every((line) => line.parent.subscription_item_details.proration));
  const paused = await stripe.subscriptions.update(id, { pause_collection: { behavior: 'void' } });
  assert.equal(paused.pause_collection.behavior, 'void');
  assert.equal((await stripe.subscriptions.update(id, { pause_collection: '' })).pause_collection, null);
  const plan = await stripe.subscriptionSchedules.create({ from_subscription: id });
  assert.equal((await stripe.subscriptionSchedules.release(plan.id)).status, 'released');
  const dollars = { ...once, mode: 'subscription', customer: switched.customer, customer_creation: undefined, line_items: [{
    quantity: 1, price_data: { currency: 'usd', unit_amount: 900, recurring: { interval: 'month' }, product_data: { name: 'x' } },
  }] };
  await refused(stripe.checkout.sessions.create(dollars), Stripe.errors.StripeInvalidRequestError);
  await stripe.prices.update(small.id, { active: false });
  const archived = { mode: 'subscription', line_items: [{ price: small.id, quantity: 1 }], success_url: once.success_url };
  await refused(stripe.checkout.sessions.create(archived), Stripe.errors.StripeInvalidRequestError, 'line_items[0][price]');
  const endpoint = await stripe.webhookEndpoints.create({ url: WEBHOOK_URL, enabled_events: ['invoice.paid'] });
  assert.match(endpoint.secret, /^whsec_/);
  assert.equal((await stripe.webhookEndpoints.update(endpoint.id, { disabled: true })).status, 'disabled');
  assert.ok((await stripe.webhookEndpoints.del(endpoint.id)).deleted);
}

// Cards on file: entered on a page or with a payment, charged without their owner, declined, closed, forgotten. The
// objects go to the library's types.
{
  const { StripeCardError: Declined, StripeInvalidRequestError: Invalid } = Stripe.errors;
  const setup = await stripe.checkout.sessions.create({
    mode: 'setup', allowed_payment_method_types: ['card'], customer_creation: 'always', customer_email: 'ann@mail.example',
    success_url: once.success_url, cancel_url: once.cancel_url, metadata: { colour: 'green' },
  });
  assert.deepEqual([setup.mode, setup.payment_status, setup.amount_total, setup.currency], ['setup', 'no_payment_required', null, null]);
  await press(setup.url, 'pay', { card: '4242 4242 4242 4242' });
  const { setup_intent: entry, customer, status } = await stripe.checkout.sessions.retrieve(setup.id, { expand: ['setup_intent.payment_method'] });
  const method = entry.payment_method;
  assert.deepEqual([status, entry.status, method.customer, method.card.last4], ['complete', 'succeeded', customer, '4242']);
  const pay = (more = {}, options = {}) => stripe.paymentIntents.create({
    amount: 1000, currency: 'eur', customer, payment_method: method.id, allowed_payment_method_types: ['card'], confirm: true, off_session: true,
    description: 'Credits', metadata: { order: '7' }, ...more,
  }, options);
  const idempotencyKey = 'judge/card';
  const paid = await pay({}, { idempotencyKey });
  assert.deepEqual([paid.status, paid.amount_received, paid.last_payment_error], ['succeeded', 1000, null]);
  assert.equal((await pay({}, { idempotencyKey })).id, paid.id);
  const charge = await stripe.charges.retrieve(paid.latest_charge);
  assert.deepEqual([charge.metadata.order, charge.payment_method, charge.paid], ['7', method.id, true]);
  const declines = async (card, code, decline_code) => {
    await script(`customers/${customer}`, { card });
    const key = { idempotencyKey: `judge/${card}` };
    const error = await refused(pay({}, key), Declined);
    assert.deepEqual([error.statusCode, error.code, error.decline_code], [402, code, decline_code]);
    const again = await refused(pay({}, key), Declined);
    assert.equal(again.payment_intent.id, error.payment_intent.id);
    const intent = await stripe.paymentIntents.retrieve(error.payment_intent.id, { expand: ['latest_charge'] });
    assert.deepEqual([intent.status, intent.last_payment_error.decline_code], ['requires_payment_method', decline_code]);
    assert.deepEqual([intent.latest_charge.status, intent.latest_charge.amount_captured], ['failed', 0]);
    return intent;
  };
  await declines('4000000000009995', 'card_declined', 'insufficient_funds');
  await declines('4000000000000069', 'expired_card', 'expired_card');
  const asked = await declines('4000002760003184', 'authentication_required', 'authentication_required');
  const { latest_charge: failed } = asked;
  const canceled = await stripe.paymentIntents.cancel(asked.id, { cancellation_reason: 'abandoned' });
  assert.equal(canceled.status, 'canceled');
  await refused(stripe.paymentIntents.cancel(paid.id), Invalid);
  await script(`customers/${customer}`, { card: '4242000000003038' });
  const slow = await pay();
  assert.equal(slow.status, 'processing');
  await script(`payment_intents/${slow.id}/settle`);
  const since = { gte: setup.created - 60 };
  const listed = await stripe.paymentIntents.list({ customer, created: since, limit: 100 });
  assert.deepEqual(listed.data.map((one) => one.status).sort(), ['canceled', 'requires_payment_method', 'requires_payment_method', 'succeeded', 'succeeded']);
  const types = ['succeeded', 'payment_failed', 'processing', 'canceled'].map((one) => `payment_intent.${one}`);
  const reported = await stripe.events.list({ types, created: since, limit: 100 });
  assert.deepEqual([...new Set(reported.data.filter(({ data }) => data.object.customer === customer).map(({ type }) => type))].sort(), types.sort());
  const session = await stripe.checkout.sessions.create({
    ...once, customer_creation: undefined, customer, allowed_payment_method_types: ['card'], payment_intent_data: { setup_future_usage: 'off_session' },
  });
  await press(session.url, 'pay', { card: '4242424242424242' });
  const { payment_intent: saving } = await stripe.checkout.sessions.retrieve(session.id, { expand: ['payment_intent.payment_method'] });
  assert.deepEqual([saving.setup_future_usage, saving.payment_method.customer], ['off_session', customer]);
  assert.equal((await stripe.paymentMethods.list({ customer, type: 'card' })).data.length, 2);
  assert.equal((await stripe.paymentMethods.detach(method.id)).customer, null);
  await refused(stripe.paymentMethods.detach(method.id), Invalid);
  await refused(pay(), Invalid, 'payment_method');
  const plain = ({ lastResponse, ...object }) => object;
  const objects = [
    ['Checkout.Session', setup], ['SetupIntent', entry], ['PaymentMethod', method], ['PaymentIntent', paid], ['PaymentIntent', asked],
    ['PaymentIntent', slow], ['PaymentIntent', canceled], ['Charge', charge], ['Charge', failed],
  ];
  const lines = objects.map(([kind, object], n) => `export const object${n}: Stripe.${kind} = ${JSON.stringify(plain(object))};`);
  await writeFile(OBJECTS, `import Stripe from 'stripe';\n${lines.join('\n')}\n`);
}

// Events: what the sandbox reports the library can verify, what the library signs Scrip takes in.
{
  const events = await stripe.events.list({ limit: 100 });
  const kinds = new Set(events.data.map((event) => event.type));
  for (const kind of ['checkout.session.completed', 'invoice.paid', 'charge.refunded', 'customer.subscription.deleted']) {
    assert.ok(kinds.has(kind), `${kind} among ${[...kinds]}`);
  }
  const deliver = async (payload, header) => {
    const reply = await fetch(WEBHOOK_URL, { method: 'POST', body: payload, headers: { 'stripe-signature': header } });
    await reply.text();
    return reply.status;
  };
  const payload = JSON.stringify(events.data[0]);
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET });
  assert.equal(await deliver(payload, header), 200);
  assert.equal(await deliver(payload + ' ', header), 400);
  const old = Math.floor(Date.now() / 1000) - 301;
  const stale = stripe.webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET, timestamp: old });
  assert.equal(await deliver(payload, stale), 400);
  const forged = stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_wrong' });
  assert.equal(await deliver(payload, forged), 400);
}
console.log('the library is content');
