// What a rate card prices, against the service itself.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { BINARY, startService, type Service } from '@scrip-wallet/kit';
import { ScripServer, isScripError, type BatchItem, type DeductInput, type HoldInput, type RunningHold, type SettleInput } from '../src/index.js';
import { formatted } from '../src/usage-format.js';

let service: Service;
let scrip: ScripServer;
/** Saves the card, which makes a version. */
const price = (output: string) =>
  service.admin('PUT', `/projects/${service.project}/rate-cards/ai.v1`, {
    productId: service.product,
    rates: [
      { match: { model: 'mock*' }, per: 10, unitPrices: { input: '1', cachedInput: '0.1', output } },
      { match: { kind: 'image' }, unitPrices: { image: '0.4' } },
    ],
  });
beforeAll(async () => {
  service = await startService();
  scrip = new ScripServer(service);
  await price('4');
});
afterAll(() => service?.stop());

const user = async (amount = 100) => {
  const externalUserId = `user-${randomUUID()}`;
  await scrip.credit({ externalUserId, productId: service.product, amount, idempotencyKey: 'first' });
  return externalUserId;
};
const card = { rateCard: 'ai.v1', attributes: { model: 'mock-1' } };
/** 6 × 0.1 + 8 × 0.01 + 3 × 0.4: 1.88 credits by the card. */
const usage = { prompt_tokens: 14, completion_tokens: 3, total_tokens: 17, prompt_tokens_details: { cached_tokens: 8 } };
const COST = '1.88';
/** Both ways to send: gathered, and one by one. */
const clients = () => [scrip, new ScripServer({ ...service, gather: false })];

it('are read, and estimate what a use would cost', async () => {
  expect((await scrip.rateCards()).map(({ slug, version }) => [slug, version])).toEqual([['ai.v1', 1]]);
  expect((await scrip.rateCard('ai.v1')).rates[1]?.unitPrices).toEqual({ image: '0.4' });
  await expect(scrip.rateCard('other')).rejects.toMatchObject({ code: 'rate_card_not_found' });
  await expect(scrip.rateCard('..')).rejects.toMatchObject({ code: 'invalid_request', status: 0 });
  const estimate = await scrip.estimate({ ...card, usage });
  expect(estimate).toMatchObject({ amount: 2, cost: COST, rateVersion: 1 });
  expect(estimate.lines.map(({ unit, quantity }) => [unit, quantity])).toEqual([['cachedInput', 8], ['input', 6], ['output', 3]]);
  const externalUserId = await user(1);
  expect(await scrip.estimate({ ...card, usage, externalUserId })).toMatchObject({ balance: 1, affordable: false });
});

describe('a deduction', () => {
  it.each([0, 1])('is priced by what was used, to the last fraction (%i)', async (which) => {
    const client = clients()[which] as ScripServer;
    const externalUserId = await user();
    expect(await client.deduct({ externalUserId, ...card, usage: { ...usage, new_tokens: 5 } })).toEqual({ balance: 99, deducted: true, amount: 1, cost: COST, rateVersion: 1, unpricedUsage: ['new_tokens'] });
    const image = { externalUserId, rateCard: 'ai.v1', attributes: { kind: 'image' }, quantities: { image: 1 } };
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push(await client.deduct(image));
    // 1.88 + 3 × 0.4 = 3.08.
    expect(answers.map(({ amount, deducted }) => [amount, deducted])).toEqual([[1, true], [0, true], [1, true]]);
    const { items } = await client.ledger({ externalUserId });
    expect(items.map(({ delta, rate }) => [delta, rate?.cost, rate?.quantities]).at(-2)).toEqual([-1, COST, { cachedInput: 8, input: 6, output: 3, request: 1 }]);
    expect(items[1]?.delta).toBe(0);
  });

  it('whose answer is lost is repeated, and answered as the first was, at a price that changed in between', async () => {
    for (const gather of [true, false]) {
      await price('4');
      const externalUserId = await user();
      let sent = 0;
      const losing = new ScripServer({
        ...service,
        gather,
        fetch: async (...given) => {
          const response = await fetch(...given);
          if (sent++ > 0) return response;
          await price('400');
          throw new TypeError('connection reset');
        },
      });
      expect(await losing.deduct({ externalUserId, ...card, usage })).toMatchObject({ balance: 99, deducted: true, amount: 1, cost: COST });
      expect(sent).toBe(2);
      expect((await scrip.ledger({ externalUserId }, { reason: 'deduction' })).items).toHaveLength(1);
    }
    await price('4');
  });

  it('without a price, or with usage of no known shape, is refused', async () => {
    const externalUserId = await user();
    await expect(scrip.deduct({ externalUserId, rateCard: 'ai.v1', attributes: { model: 'other' }, usage })).rejects.toMatchObject({ code: 'rate_not_found', status: 404 });
    const unknown = { externalUserId, ...card, usage: { tokens: 5 } };
    for (const client of clients()) await expect(client.deduct(unknown)).rejects.toMatchObject({ code: 'invalid_request', param: 'usageFormat', status: 0 });
    // By its format it is the service's to judge.
    await expect(scrip.deduct({ ...unknown, usageFormat: 'anthropic' })).rejects.toMatchObject({ status: 400, param: 'usage' });
    await expect(scrip.deduct({ ...unknown, usage: 5 as unknown as object, usageFormat: 'anthropic' })).rejects.toMatchObject({ status: 400 });
    // @ts-expect-error: an amount and a card exclude each other
    await expect(scrip.deduct({ externalUserId, ...card, usage, amount: 5 })).rejects.toMatchObject({ status: 400, param: 'amount' });
  });

  it('among many at once goes with them, each as it was when it was called', async () => {
    const externalUserId = await user(1_000);
    let requests = 0;
    const client = new ScripServer({ ...service, fetch: (...given) => (requests++, fetch(...given)) });
    const mine = { prompt_tokens: 10, completion_tokens: 0 };
    const calls = Array.from({ length: 200 }, () => client.deduct({ externalUserId, ...card, usage: mine }));
    mine.prompt_tokens = 1_000_000;
    const plain = client.deduct({ externalUserId, amount: 1 });
    expect((await Promise.all(calls)).every(({ amount }) => amount === 1)).toBe(true);
    expect((await plain).balance).toBe(799);
    expect(requests).toBeLessThan(10);
  });
});

it('price the items of batches', async () => {
  const externalUserId = await user();
  const item = (idempotencyKey: string): BatchItem => ({ externalUserId, idempotencyKey, ...card, usage });
  const [done, refused] = await scrip.deductBatch([item('a'), { externalUserId, idempotencyKey: 'b', ...card, rateCard: 'none', usage }]);
  expect(done).toMatchObject({ amount: 1, cost: COST, rateVersion: expect.any(Number) });
  expect(refused?.error).toMatchObject({ code: 'rate_card_not_found', status: 404, idempotencyKey: 'b' });
  const [held] = await scrip.holdBatch([{ externalUserId, idempotencyKey: 'c', ...card, quantities: { input: 100 } }]);
  if (!held || held.error) throw held?.error;
  expect(held).toMatchObject({ amount: 10, cost: '10' });
  const charge = { holdId: held.holdId, ...card, usage };
  expect(await scrip.settleBatch([{ ...charge, keepOpen: true, idempotencyKey: 'd' }, charge])).toMatchObject([{ cost: COST, drawn: expect.any(Number) }, { cost: COST }]);
});

describe('work', () => {
  const hold = { ...card, quantities: { input: 100, output: 100 } };

  it('is held for, drawn and settled by the card of its hold', async () => {
    const externalUserId = await user();
    const outcome = await scrip.withHold({ externalUserId, ...hold, meta: { feature: 'chat' } }, async ({ amount, draw }) => {
      expect(amount).toBe(50);
      // What is changed under the work does not change its price.
      await price('400');
      expect(await draw({ quantities: { output: 10 } })).toMatchObject({ amount: 4, drawn: 4, cost: '4' });
      expect(await draw(1)).toMatchObject({ drawn: 5 });
      return { usage: { inputTokens: 20, outputTokens: 30 }, value: 'an answer' };
    });
    expect(outcome).toEqual({ value: 'an answer', balance: 86, charged: 14, owed: 0, uncovered: 0, cost: '14', rateVersion: expect.any(Number), unpricedUsage: undefined });
    await price('4');
    const [entry] = (await scrip.ledger({ externalUserId })).items;
    expect(entry).toMatchObject({ delta: -9, meta: { feature: 'chat' }, rate: { cost: '14', quantities: { input: 20, output: 30, request: 1 } } });
  });

  it('whose settlement is lost is charged once', async () => {
    const externalUserId = await user();
    let lost = 0;
    const losing = new ScripServer({
      ...service,
      fetch: async (...given) => {
        const response = await fetch(...given);
        if (/settle/.test(String(given[0])) && lost++ === 0) throw new TypeError('connection reset');
        return response;
      },
    });
    expect(await losing.withHold({ externalUserId, ...hold }, async () => ({ usage }))).toMatchObject({ charged: 1, balance: 99, cost: COST });
    expect(lost).toBe(2);
  });

  it('that cost more than there is says what was taken', async () => {
    const externalUserId = await user(60);
    expect(await scrip.withHold({ externalUserId, ...hold }, async () => ({ quantities: { output: 200 } }))).toMatchObject({ charged: 60, uncovered: 20, balance: 0, cost: '80' });
  });

  it('that has to be paid for later keeps what it used', async () => {
    const externalUserId = await user(50);
    const call = scrip.withHold({ externalUserId, ...hold, onShortfall: 'refuse' }, async () => ({ quantities: { output: 200 }, value: 7 }));
    const error = await call.catch((thrown: unknown) => thrown);
    if (!isScripError(error, 'settle_failed')) throw error;
    expect(error.amount).toBeUndefined();
    await scrip.credit({ externalUserId, productId: service.product, amount: 100, idempotencyKey: 'more' });
    expect(await error.resume()).toMatchObject({ charged: 80, value: 7, cost: '80' });
  });

  it('of a hold of a plain amount names its card, or costs nothing and fails', async () => {
    const externalUserId = await user();
    expect(await scrip.withHold({ externalUserId, amount: 50 }, async () => ({ ...card, usage }))).toMatchObject({ charged: 1, cost: COST });
    await expect(scrip.withHold({ externalUserId, amount: 50 }, async () => ({ usage }))).rejects.toMatchObject({ code: 'invalid_request', param: 'amount' });
    expect((await scrip.wallet({ externalUserId })).balances[0]).toMatchObject({ balance: 99 });
  });
});

it('know the format of usage by its shape, as all clients judge it', async () => {
  const fixtures = JSON.parse(await readFile(new URL('../../usage-fixtures.json', import.meta.url), 'utf8')) as { name: string; usage: unknown; estimated: boolean }[];
  const expected: [RegExp, string][] = [[/^OpenAI chat|LiteLLM/, 'openai.chat'], [/^OpenAI responses/, 'openai.responses'], [/^Anthropic/, 'anthropic'], [/^Gemini/, 'gemini'], [/^AI SDK/, 'ai-sdk']];
  let judged = 0;
  for (const { name, usage: given, estimated } of fixtures) {
    const format = expected.find(([pattern]) => pattern.test(name))?.[1];
    if (!format || estimated || Array.isArray(given)) continue;
    expect(formatted({ name, usage: given })).toEqual({ name, usage: given, usageFormat: format });
    judged++;
  }
  expect(judged).toBeGreaterThan(12);
});

it('are applied and charged by as the documentation has it', async () => {
  const page = await readFile(new URL('../../../docs/costs.md', import.meta.url), 'utf8');
  const [catalog = '', source = ''] = ['toml', 'ts'].map((kind) => new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, 'm').exec(page)?.[1]);
  const env = { ...process.env, SCRIP_URL: service.baseUrl, SCRIP_ADMIN_TOKEN: service.adminToken };
  const folder = await mkdtemp(join(tmpdir(), 'scrip-docs-'));
  await writeFile(join(folder, 'scrip.toml'), catalog);
  execFileSync(BINARY, ['apply', 'scrip.toml', '--project', service.project], { env, cwd: folder });
  await rm(folder, { recursive: true });
  const { productId } = await scrip.rateCard('ai');
  const externalUserId = `user-${randomUUID()}`;
  await scrip.credit({ externalUserId, productId, amount: 10_000, idempotencyKey: 'first' });

  const answers: Record<string, object> = {
    'gpt-5': { prompt_tokens: 2_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 1_000 } },
    'claude-sonnet-4-5': { input_tokens: 1_000, cache_read_input_tokens: 1_000, output_tokens: 100 },
    'llama-local': { prompt_tokens: 2_000, completion_tokens: 100 },
  };
  const called: string[] = [];
  const model = async (text: string, { name }: { name: string }) => {
    called.push(name);
    return { text, usage: answers[name] };
  };
  const { code } = await transform(source, { loader: 'ts', format: 'cjs' });
  const app = { exports: {} as { ask(user: string, name: string, question: string): Promise<object>; draw(user: string, prompt: string, size: string): Promise<object> } };
  // The client of the test in place of the one with the documentation's address.
  const library = { ScripServer: function () { return scrip; } };
  new Function('require', 'module', 'model', 'paint', code)(() => library, app, model, async () => 'an image');
  const { ask, draw } = app.exports;
  // 1,000 × 0.001625 + 1,000 × 0.0001625 + 100 × 0.013 = 3.0875, then 3.9 + 0.39 + 1.95 = 6.24.
  expect(await ask(externalUserId, 'gpt-5', 'Why?')).toEqual({ answer: 'Why?', charged: 3 });
  expect(await ask(externalUserId, 'claude-sonnet-4-5', 'Why?')).toEqual({ answer: 'Why?', charged: 6 });
  expect(await ask(externalUserId, 'llama-local', 'Why?')).toEqual({ answer: 'Why?', charged: 0 });
  await expect(ask(externalUserId, 'gpt-4', 'Why?')).rejects.toMatchObject({ code: 'rate_not_found' });
  expect(called).toEqual(Object.keys(answers));
  expect(await draw(externalUserId, 'A cat', '1024')).toMatchObject({ value: 'an image', charged: 52 });
  expect(await draw(externalUserId, 'A cat', '2048')).toMatchObject({ value: 'an image', charged: 104 });
});

it('exclude amounts in the types', () => {
  type Who = { externalUserId: string };
  expectTypeOf<Who & { amount: number }>().toExtend<DeductInput>();
  expectTypeOf<Who & { rateCard: string; quantities: { image: number } }>().toExtend<DeductInput & HoldInput>();
  expectTypeOf<Who & { rateCard: string }>().not.toExtend<DeductInput>();
  expectTypeOf<{ rateCard: string; usage: { input_tokens: number }; amount: number }>().not.toExtend<SettleInput>();
  expectTypeOf<{ rateCard: string; usage: object; quantities: { input: number } }>().not.toExtend<SettleInput>();
  // A code's product is its card's.
  expectTypeOf<{ code: string; rateCard: string; usage: object }>().toExtend<DeductInput>();
  expectTypeOf<{ code: string; amount: number }>().not.toExtend<DeductInput>();
  expectTypeOf<Parameters<RunningHold['draw']>[0]>().toExtend<number | { amount?: number | undefined }>();
});
