// Models of the SDK's own tests, metered: finished, failing, cut off after each part.
import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3, convertArrayToReadableStream } from 'ai/test';
import { isScripError } from '@scrip-wallet/server';
import { describe, expect, it, vi } from 'vitest';
import { metered, type ByCost, type Metering } from '../src/index.js';
import { books } from './books.js';

const usage = (input: number | undefined, output: number | undefined): LanguageModelV3Usage => ({
  inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: output, reasoning: undefined },
});
const WORDS = ['one ', 'two ', 'three ', 'four ', 'five '];
/** An answer of five words, of a token each; all in all it used what `used` says. */
const parts = (used = usage(10, 5)): LanguageModelV3StreamPart[] => [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '1' },
  ...WORDS.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
  { type: 'text-end', id: '1' },
  { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: used },
];
const streaming = (stream: () => ReadableStream<LanguageModelV3StreamPart>) => new MockLanguageModelV3({ doStream: async () => ({ stream: stream() }) });
const generating = (used = usage(10, 5)) =>
  new MockLanguageModelV3({
    doGenerate: async () => ({ content: [{ type: 'text', text: WORDS.join('') }], finishReason: { unified: 'stop', raw: 'stop' }, usage: used, warnings: [] }),
  });

/** A credit for each token that comes out, and one for ten that go in. */
const cost: ByCost['cost'] = ({ inputTokens, outputTokens }) => inputTokens / 10 + outputTokens;
const rules = (service: ReturnType<typeof books>, more: Partial<Metering & ByCost> = {}): Metering => ({
  scrip: service.scrip,
  wallet: { externalUserId: 'ann' },
  hold: 20,
  cost,
  ahead: 0,
  tokens: (text) => text.split(' ').filter(Boolean).length,
  ...more,
});
const model = (inner: MockLanguageModelV3, metering: Metering) => wrapLanguageModel({ model: inner, middleware: metered(metering) });
const prompt = 'a prompt of ten words, as one token for each word';
/** All that is said, until it ends or fails. */
const read = async (stream: AsyncIterable<{ type: string; text?: string; error?: unknown }>) => {
  const said: string[] = [];
  let failure: unknown;
  for await (const part of stream) {
    if (part.type === 'text-delta') said.push(part.text ?? '');
    if (part.type === 'error') failure = part.error;
  }
  return { said, failure };
};
/** Once it is so: a busy machine takes its time. */
const soon = (look: () => void) => vi.waitFor(look, { timeout: 15_000 });
const quiet = { maxRetries: 0, onError: () => undefined };

describe('an answer in one piece', () => {
  it('is charged what it cost, and says so', async () => {
    const service = books(100);
    const onSettled = vi.fn();
    const result = await generateText({ model: model(generating(), rules(service, { onSettled })), prompt });
    expect(result.text).toBe(WORDS.join(''));
    expect(result.providerMetadata?.['scrip']).toEqual({ charged: 6, owed: 0, uncovered: 0, balance: 94 });
    expect(onSettled).toHaveBeenCalledWith(expect.objectContaining({ charged: 6, value: expect.objectContaining({ inputTokens: 10, outputTokens: 5 }) }));
    expect(service.state()).toEqual({ balance: 94, held: 0, charged: 6 });
  });

  it('of a model that says nothing of its use is charged by an estimate', async () => {
    const service = books(100);
    await generateText({ model: model(generating(usage(undefined, undefined)), rules(service)), prompt });
    expect(service.state().charged).toBe(Math.ceil(prompt.split(' ').length / 10) + 5);
  });

  it.each([[0, 0], [NaN, NaN], [-10, -5], [10, 0], [NaN, 5]])('whose usage is %s and %s is charged by an estimate, and says so', async (input, output) => {
    const service = books(100);
    const result = await generateText({ model: model(generating(usage(input, output)), rules(service)), prompt });
    expect(result.text).toBe(WORDS.join(''));
    expect(result.providerMetadata?.['scrip']).toMatchObject({ estimated: true });
    expect([6, 7]).toContain(service.state().charged);
    const streamed = books(100);
    const stream = streamText({ model: model(streaming(() => convertArrayToReadableStream(parts(usage(input, output)))), rules(streamed)), prompt, ...quiet });
    expect((await read(stream.fullStream)).said).toEqual(WORDS);
    expect((await stream.providerMetadata)?.['scrip']).toMatchObject({ estimated: true });
    expect([6, 7]).toContain(streamed.state().charged);
  });

  it.each([
    ['NaN', () => NaN],
    ['negative', () => -1],
    ['without end', () => Infinity],
    ['an error', () => { throw new Error('no price'); }],
  ])('whose cost is %s is delivered for what was held', async (_, unusable) => {
    const service = books(100);
    const result = await generateText({ model: model(generating(), rules(service, { cost: unusable })), prompt });
    expect(result.text).toBe(WORDS.join(''));
    expect(service.state()).toEqual({ balance: 80, held: 0, charged: 20 });
    const streamed = books(100);
    const stream = streamText({ model: model(streaming(() => convertArrayToReadableStream(parts())), rules(streamed, { cost: unusable })), prompt, ...quiet });
    expect((await read(stream.fullStream)).said).toEqual(WORDS);
    expect(streamed.state()).toEqual({ balance: 80, held: 0, charged: 20 });
  });

  it('of calls of tools, with results of tools in its prompt, is charged for them', async () => {
    const input = JSON.stringify({ text: 'x'.repeat(3_980) });
    const call = { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'write', input };
    const finish = { finishReason: { unified: 'tool-calls' as const, raw: 'tool_calls' }, usage: usage(undefined, undefined) };
    const messages = [
      { role: 'assistant' as const, content: [{ type: 'tool-call' as const, toolCallId: 'c0', toolName: 'read', input: { path: 'y'.repeat(400) } }] },
      { role: 'tool' as const, content: [{ type: 'tool-result' as const, toolCallId: 'c0', toolName: 'read', output: { type: 'text' as const, value: 'z'.repeat(4_000) } }] },
    ];
    const charged = async (inner: MockLanguageModelV3, stream: boolean) => {
      const service = books(10_000);
      const paid = model(inner, rules(service, { tokens: undefined, cost: ({ inputTokens, outputTokens }) => inputTokens + outputTokens }));
      if (stream) {
        const reader = (await paid.doStream({ prompt: messages })).stream.getReader();
        while (!(await reader.read()).done);
      } else await paid.doGenerate({ prompt: messages });
      return service.state().charged;
    };
    const whole = new MockLanguageModelV3({ doGenerate: async () => ({ content: [call], ...finish, warnings: [] }) });
    const pieces: LanguageModelV3StreamPart[] = [
      { type: 'tool-input-start', id: 'c1', toolName: 'write' },
      ...(input.match(/.{1,7}/g) ?? []).map((delta) => ({ type: 'tool-input-delta' as const, id: 'c1', delta })),
      { type: 'tool-input-end', id: 'c1' },
      call,
      { type: 'finish', ...finish },
    ];
    const at_once: LanguageModelV3StreamPart[] = [call, { type: 'finish', ...finish }];
    for (const came of [await charged(whole, false), await charged(streaming(() => convertArrayToReadableStream(pieces)), true), await charged(streaming(() => convertArrayToReadableStream(at_once)), true)]) {
      expect(came).toBeGreaterThan(2_000);
      expect(came).toBeLessThan(2_300);
    }
  });

  it('is not asked for where credits are missing', async () => {
    const service = books(5);
    const inner = generating();
    const error = await generateText({ model: model(inner, rules(service)), prompt }).catch((thrown: unknown) => thrown);
    expect(isScripError(error, 'insufficient_credits')).toBe(true);
    expect(inner.doGenerateCalls).toHaveLength(0);
  });

  it('that fails costs nothing', async () => {
    const service = books(100);
    const broken = new MockLanguageModelV3({ doGenerate: async () => Promise.reject(new Error('the model is on fire')) });
    await expect(generateText({ model: model(broken, rules(service)), prompt, maxRetries: 0 })).rejects.toThrow('on fire');
    expect(service.state()).toEqual({ balance: 100, held: 0, charged: 0 });
  });

  it('that cannot be settled is an error that has it, or is delivered where a callback takes it', async () => {
    const service = books(100);
    service.fail('settle');
    const error = await generateText({ model: model(generating(), rules(service)), prompt, maxRetries: 0 }).catch((thrown: unknown) => thrown);
    expect(isScripError(error, 'settle_failed')).toBe(true);
    const other = books(100);
    other.fail('settle');
    const onUnsettled = vi.fn();
    expect((await generateText({ model: model(generating(), rules(other, { onUnsettled })), prompt })).text).toBe(WORDS.join(''));
    expect(onUnsettled).toHaveBeenCalledWith(expect.objectContaining({ holdId: 'hold_1', amount: 6, resume: expect.any(Function) }));
  });
});

describe('an answer that streams', () => {
  it('is charged as it comes, and settled for what it cost in the end', async () => {
    const service = books(100);
    // Reckoned at six, it used seven.
    const result = streamText({ model: model(streaming(() => convertArrayToReadableStream(parts(usage(20, 5)))), rules(service)), prompt, ...quiet });
    expect((await read(result.fullStream)).said).toEqual(WORDS);
    expect((await result.providerMetadata)?.['scrip']).toMatchObject({ charged: 7, balance: 93 });
    expect(service.asked).toEqual(['holds 20', 'draw 2', 'draw 1', 'draw 1', 'draw 1', 'draw 1', 'draw 1', 'settle 7']);
    expect(service.state()).toEqual({ balance: 93, held: 0, charged: 7 });
  });

  it('gives back what was charged too much on the way', async () => {
    const service = books(100);
    const result = streamText({ model: model(streaming(() => convertArrayToReadableStream(parts(usage(10, 2)))), rules(service)), prompt, ...quiet });
    await read(result.fullStream);
    expect(service.state()).toEqual({ balance: 97, held: 0, charged: 3 });
  });

  it('may be ahead of what is charged for it, so that not every word is a call', async () => {
    const service = books(100);
    const result = streamText({ model: model(streaming(() => convertArrayToReadableStream(parts())), rules(service, { ahead: 4 })), prompt, ...quiet });
    await read(result.fullStream);
    expect(service.asked).toEqual(['holds 20', 'draw 5', 'settle 6']);
  });

  it('is cut off where the credits end, and nothing of it is given away', async () => {
    const service = books(4);
    const result = streamText({ model: model(streaming(() => convertArrayToReadableStream(parts())), rules(service, { hold: 3 })), prompt, ...quiet });
    const { said, failure } = await read(result.fullStream);
    expect(isScripError(failure, 'insufficient_credits')).toBe(true);
    expect(said).toEqual(WORDS.slice(0, service.state().charged - 2));
    expect(service.state()).toEqual({ balance: 0, held: 0, charged: 4 });
  });

  it('goes on where a draw is lost: what is held is there in the end', async () => {
    const service = books(100);
    service.fail('draw');
    const result = streamText({ model: model(streaming(() => convertArrayToReadableStream(parts())), rules(service)), prompt, ...quiet });
    expect((await read(result.fullStream)).said).toEqual(WORDS);
    expect(service.state()).toEqual({ balance: 94, held: 0, charged: 6 });
  });

  it('whose model fails midway is charged as far as it came', async () => {
    const service = books(100);
    const failing = () => {
      const all = parts().slice(0, 4);
      return new ReadableStream<LanguageModelV3StreamPart>({ pull: (controller) => (all.length > 0 ? controller.enqueue(all.shift() as LanguageModelV3StreamPart) : controller.error(new Error('the model is on fire'))) });
    };
    const result = streamText({ model: model(streaming(failing), rules(service)), prompt, ...quiet });
    const { said, failure } = await read(result.fullStream);
    expect([said, String(failure)]).toEqual([WORDS.slice(0, 2), 'Error: the model is on fire']);
    expect(service.state()).toMatchObject({ held: 0, charged: 4 });
  });

  it('whose model cannot be asked costs nothing', async () => {
    const service = books(100);
    const broken = new MockLanguageModelV3({ doStream: async () => Promise.reject(new Error('no such model')) });
    const { failure } = await read(streamText({ model: model(broken, rules(service)), prompt, ...quiet }).fullStream);
    expect(String(failure)).toContain('no such model');
    expect(service.state()).toEqual({ balance: 100, held: 0, charged: 0 });
  });

  it('that cannot be settled has been paid for by its draws', async () => {
    const service = books(100);
    service.fail('settle');
    const result = streamText({ model: model(streaming(() => convertArrayToReadableStream(parts())), rules(service)), prompt, ...quiet });
    const { said, failure } = await read(result.fullStream);
    expect([said, isScripError(failure, 'settle_failed')]).toEqual([WORDS, true]);
    expect(service.state()).toMatchObject({ charged: 7 });
  });
});

describe('an answer that is cut off', () => {
  const never = new Promise<never>(() => undefined);
  /** A model that says so many parts and then hangs, as one does whose reader went away. */
  const hanging = (count: number, hangs = () => {}) => () => {
    const all = parts().slice(0, count);
    const pull = (controller: ReadableStreamDefaultController<LanguageModelV3StreamPart>) => {
      const part = all.shift();
      if (part) return controller.enqueue(part);
      hangs();
      return never;
    };
    return new ReadableStream<LanguageModelV3StreamPart>({ pull });
  };
  /** What was handed on by then has to be paid for. */
  const owed = (said: string[]) => (said.length === 0 ? [0, 1, 2] : [said.length + 2, said.length + 1]);

  it.each(parts().map((_, count) => [count]))('after %i parts by the signal is charged as far as it came, and no more', async (count) => {
    const service = books(100);
    const stop = new AbortController();
    const words = WORDS.slice(0, Math.max(0, count - 2));
    const said: string[] = [];
    // Not before the model hangs and all that it said has been read.
    let hangs = false;
    const look = () => hangs && said.length === words.length && stop.abort();
    const silent = hanging(count, () => {
      hangs = true;
      look();
    });
    const result = streamText({ model: model(streaming(silent), rules(service)), prompt, abortSignal: stop.signal, ...quiet });
    for await (const part of result.fullStream) {
      if (part.type !== 'text-delta') continue;
      said.push(part.text);
      look();
    }
    await soon(() => expect(service.asked.at(-1)).toMatch(/settle|release/));
    expect(said).toEqual(words);
    expect(owed(said)).toContain(service.state().charged);
    expect(service.state().held).toBe(0);
  });

  it('while the model is asked ends it, though the model does not hear', async () => {
    const service = books(100);
    const stop = new AbortController();
    const deaf = new MockLanguageModelV3({
      doStream: async () => {
        stop.abort();
        return { stream: new ReadableStream<LanguageModelV3StreamPart>({ pull: () => never }) };
      },
    });
    await read(streamText({ model: model(deaf, rules(service)), prompt, abortSignal: stop.signal, ...quiet }).fullStream);
    await soon(() => expect(service.state().held).toBe(0));
    expect(owed([])).toContain(service.state().charged);
  });

  it.each(parts().map((_, count) => [count]))('after %i parts by a reader that went away is charged as far as it came', async (count) => {
    const service = books(100);
    const { stream } = await model(streaming(hanging(count)), rules(service)).doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }] });
    const reader = stream.getReader();
    const said: string[] = [];
    for (let n = 0; n < count; n++) {
      const { value } = await reader.read();
      if (value?.type === 'text-delta') said.push(value.delta);
    }
    await reader.cancel();
    await soon(() => expect(service.asked.at(-1)).toMatch(/settle/));
    expect(owed(said)).toContain(service.state().charged);
    expect(service.state().held).toBe(0);
  });

  it('by a reader who pauses for good is abandoned, and nothing stays held', async () => {
    vi.useFakeTimers();
    try {
      const service = books(100);
      const { stream } = await model(streaming(() => convertArrayToReadableStream(parts())), rules(service)).doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }] });
      const reader = stream.getReader();
      for (let n = 0; n < 4; n++) await reader.read();
      await vi.advanceTimersByTimeAsync(200_000);
      // No further than a part ahead of them.
      expect(service.state().charged).toBeLessThanOrEqual(2 + 3);
      await vi.advanceTimersByTimeAsync(200_000);
      expect(service.state()).toMatchObject({ held: 0 });
      expect(service.asked.at(-1)).toMatch(/settle/);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each(parts().map((_, count) => [count]))('after %i parts, whose end is never reported, has been charged by its draws', async (count) => {
    const service = books(100);
    // The process dies here: nothing is settled, nothing is released.
    service.fail('settle');
    service.fail('release');
    const { stream } = await model(streaming(hanging(count)), rules(service)).doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }] });
    const reader = stream.getReader();
    const said: string[] = [];
    for (let n = 0; n < count; n++) {
      const { value } = await reader.read();
      if (value?.type === 'text-delta') said.push(value.delta);
    }
    expect(owed(said)).toContain(service.state().charged);
    await reader.cancel();
  });
});
