// Against the service itself: what a metered answer leaves in a wallet.
import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripServer } from '@scrip-wallet/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { metered, type ByCard } from '../src/index.js';

let service: Service;
let scrip: ScripServer;
beforeAll(async () => {
  service = await startService();
  scrip = new ScripServer(service);
});
afterAll(() => service?.stop());

const words = Array.from({ length: 20 }, (_, n) => `word-${n} `);
const parts: LanguageModelV3StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '1' },
  ...words.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
  { type: 'text-end', id: '1' },
  {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: { total: 4, noCache: 4, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 25, text: 25, reasoning: 0 } },
  },
];
const ask = (externalUserId: string, abortSignal?: AbortSignal, chunks = parts) => {
  const inner = new MockLanguageModelV3({ doStream: async () => ({ stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) }) });
  const middleware = metered({
    scrip,
    wallet: { externalUserId, meta: { feature: 'chat' } },
    hold: 40,
    ahead: 4,
    tokens: (text) => text.split(' ').filter(Boolean).length,
    cost: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
  });
  return streamText({ model: wrapLanguageModel({ model: inner, middleware }), prompt: 'four words of prompt', ...(abortSignal && { abortSignal }), onError: () => undefined });
};
const user = async (name: string) => {
  await scrip.credit({ externalUserId: name, productId: service.product, amount: 100, idempotencyKey: 'first' });
  return name;
};
const state = async (externalUserId: string) => {
  const [held] = (await scrip.wallet({ externalUserId })).balances;
  return [held?.balance, held?.held];
};

it('an answer costs what the provider counted, draws included', async () => {
  const ann = await user('ann');
  const result = ask(ann);
  expect(await result.text).toBe(words.join(''));
  expect((await result.providerMetadata)?.['scrip']).toMatchObject({ charged: 29, balance: 71 });
  expect(await state(ann)).toEqual([71, 0]);
  const { items } = await scrip.ledger({ externalUserId: ann }, { reason: 'deduction' });
  expect(items.length).toBeGreaterThan(2);
  expect(items.reduce((sum, { delta }) => sum + delta, 0)).toBe(-29);
  // What was drawn on the way was estimated; the end was measured.
  expect(items.map(({ meta }) => meta)).toEqual([{ feature: 'chat' }, ...items.slice(1).map(() => ({ feature: 'chat', estimated: true }))]);
});

it('an answer that was not measured says so in the ledger', async () => {
  const joe = await user('joe');
  expect(await ask(joe, undefined, parts.slice(0, -1)).text).toBe(words.join(''));
  const { items } = await scrip.ledger({ externalUserId: joe }, { reason: 'deduction' });
  expect(items.every(({ meta }) => meta?.['estimated'] === true && meta['feature'] === 'chat')).toBe(true);
  expect(items.reduce((sum, { delta }) => sum + delta, 0)).toBe(-24);
});

it('an answer that is stopped costs what was said, and holds nothing', async () => {
  const bea = await user('bea');
  const stop = new AbortController();
  let said = 0;
  for await (const part of ask(bea, stop.signal).fullStream) if (part.type === 'text-delta' && ++said === 7) stop.abort();
  await vi.waitFor(async () => expect((await state(bea))[1]).toBe(0), { timeout: 15_000 });
  const charged = 100 - ((await state(bea))[0] ?? 0);
  // The prompt, what was read, and at most what was on its way.
  expect(charged).toBeGreaterThanOrEqual(4 + 7);
  expect(charged).toBeLessThanOrEqual(4 + 20);
});

describe('by a rate card', () => {
  beforeAll(async () => {
    const rates = [{ match: { model: 'mock*' }, per: 10, unitPrices: { input: '1', cachedInput: '0.1', output: '4', reasoning: '5' } }];
    await service.admin('PUT', `/projects/${service.project}/rate-cards/chat`, { productId: service.product, rates });
  });
  const measured: LanguageModelV3Usage = {
    inputTokens: { total: 4, noCache: 1, cacheRead: 3, cacheWrite: 0 },
    outputTokens: { total: 25, text: 20, reasoning: 5 },
    raw: { prompt_tokens: 4, completion_tokens: 25 },
  };
  /** 0.1 + 0.03 + 8 + 2.5. */
  const COST = '10.63';
  const spoken = (usage: LanguageModelV3Usage): LanguageModelV3StreamPart[] => [...parts.slice(0, -1), { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }];
  const byCard = (externalUserId: string, usage: LanguageModelV3Usage, more: Partial<ByCard> & { ahead?: number } = {}, server = scrip) => {
    const inner = new MockLanguageModelV3({
      modelId: 'mock-1',
      doGenerate: async () => ({ content: [{ type: 'text', text: words.join('') }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] }),
      doStream: async () => ({ stream: simulateReadableStream({ chunks: spoken(usage), initialDelayInMs: null, chunkDelayInMs: null }) }),
    });
    const middleware = metered({ scrip: server, wallet: { externalUserId }, rateCard: 'chat', hold: { output: 40 }, tokens: (text) => text.split(' ').filter(Boolean).length, ...more });
    return { inner, model: wrapLanguageModel({ model: inner, middleware }), prompt: 'four words of prompt', maxRetries: 0 };
  };
  const ledger = async (externalUserId: string) => (await scrip.ledger({ externalUserId }, { reason: 'deduction' })).items;

  it('an answer costs what the provider counted, to the last fraction', async () => {
    const ann = await user('ann-by-card');
    const { text, providerMetadata } = await generateText(byCard(ann, measured));
    expect(text).toBe(words.join(''));
    expect(providerMetadata?.['scrip']).toEqual({ charged: 10, owed: 0, uncovered: 0, balance: 90, cost: COST });
    const [entry, ...others] = await ledger(ann);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ delta: -10, rate: { card: 'chat', attributes: { model: 'mock-1' }, cost: COST, quantities: { input: 1, cachedInput: 3, output: 20, reasoning: 5, request: 1 } } });
    // What the provider itself said is no further count.
    expect(entry?.meta).toBeFalsy();
  });

  it('a stream is charged as it goes, and ends at the same cost', async () => {
    const bea = await user('bea-by-card');
    const result = streamText(byCard(bea, measured, { ahead: 4 }));
    expect(await result.text).toBe(words.join(''));
    expect((await result.providerMetadata)?.['scrip']).toMatchObject({ charged: 10, cost: COST });
    expect(await state(bea)).toEqual([90, 0]);
    const entries = await ledger(bea);
    expect(entries.length).toBeGreaterThan(3);
    expect(entries.reduce((sum, { delta }) => sum + delta, 0)).toBe(-10);
    expect(entries.map(({ meta }) => meta?.['estimated'] === true)).toEqual([false, ...entries.slice(1).map(() => true)]);
    expect(entries.at(-1)?.rate?.quantities).toMatchObject({ input: 4 });
  });

  it('an answer that is stopped costs what was said until then, by the card', async () => {
    const liz = await user('liz-by-card');
    const stop = new AbortController();
    let said = 0;
    const { fullStream } = streamText({ ...byCard(liz, measured, { ahead: 4 }), abortSignal: stop.signal, onError: () => undefined });
    for await (const part of fullStream) if (part.type === 'text-delta' && ++said === 7) stop.abort();
    await vi.waitFor(async () => expect((await state(liz))[1]).toBe(0), { timeout: 15_000 });
    const whole = (await scrip.ledger({ externalUserId: liz })).items[0]?.rate;
    const { input, output = 0 } = whole?.quantities ?? {};
    expect([input, output >= 7 && output <= 20]).toEqual([4, true]);
    expect((await state(liz))[0]).toBe(100 - Math.floor(0.4 + 0.4 * output));
  });

  it('what was not counted is estimated, and says so', async () => {
    const nothing: LanguageModelV3Usage = { inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
    for (const ask of [async (name: string) => (await generateText(byCard(name, nothing))).text, async (name: string) => streamText(byCard(name, nothing)).text]) {
      const joe = await user(`joe-${Math.random()}`);
      expect(await ask(joe)).toBe(words.join(''));
      const [entry] = await ledger(joe);
      // 0.4 + 8.
      expect(entry).toMatchObject({ meta: { estimated: true }, rate: { cost: '8.4', quantities: { input: 4, output: 20 } } });
    }
  });

  it('the settlement of a lost answer is repeated, and charged once', async () => {
    const eve = await user('eve-by-card');
    let settled = 0;
    const fetching: typeof fetch = async (...given) => {
      const answer = await fetch(...given);
      if (/settle/.test(String(given[0])) && settled++ === 0) throw new TypeError('connection reset');
      return answer;
    };
    const { providerMetadata } = await generateText(byCard(eve, measured, {}, new ScripServer({ ...service, fetch: fetching })));
    expect([settled, providerMetadata?.['scrip']]).toEqual([2, { charged: 10, owed: 0, uncovered: 0, balance: 90, cost: COST }]);
  });

  it('a model without a price is not asked, nor one whose answer cannot be paid', async () => {
    const zoe = await user('zoe-by-card');
    const other = byCard(zoe, measured, { attributes: ({ modelId }) => ({ model: `other/${modelId}` }) });
    await expect(generateText(other)).rejects.toMatchObject({ code: 'rate_not_found' });
    // 1,000 tokens where nothing else is said.
    const long = byCard(zoe, measured, { hold: undefined });
    await expect(generateText(long)).rejects.toMatchObject({ code: 'insufficient_credits', requested: 401 });
    expect([...other.inner.doGenerateCalls, ...long.inner.doGenerateCalls]).toEqual([]);
    expect((await generateText({ ...long, maxOutputTokens: 30 })).text).toBe(words.join(''));
  });
});
