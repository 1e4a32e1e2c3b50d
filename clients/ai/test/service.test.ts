// Against the service itself: what a metered answer leaves in a wallet.
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { startService, type Service } from '@scrip-wallet/kit';
import { ScripServer } from '@scrip-wallet/server';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { metered } from '../src/index.js';

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
