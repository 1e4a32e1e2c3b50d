// One file of usage objects judges all clients alike: what each reads in them, and what it estimates.
import { readFile } from 'node:fs/promises';
import type { LanguageModelUsage } from 'ai';
import type { LanguageModelV3Usage } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { usageOf, usualTokens, type Unit } from '../src/index.js';

interface Fixture {
  name: string;
  usage: unknown;
  prompt: string;
  answer: string;
  units: Partial<Record<Unit, number | [number, number]>>;
  estimated: boolean;
}

/** JSON has no NaN. */
const revive = (_: string, value: unknown) => (value === 'NaN' ? NaN : value);
const fixtures = JSON.parse(await readFile(new URL('../../usage-fixtures.json', import.meta.url), 'utf8'), revive) as Fixture[];

describe('usage', () => {
  it.each(fixtures)('$name', ({ usage, prompt, answer, units, estimated }) => {
    const found = usageOf(usage, usualTokens(prompt), usualTokens(answer));
    expect(found.estimated).toBe(estimated);
    expect(Object.keys(found.units).sort()).toEqual(Object.keys(units).sort());
    for (const [unit, wanted] of Object.entries(units)) {
      const [least, most] = typeof wanted === 'number' ? [wanted, wanted] : wanted;
      expect(found.units[unit as Unit], unit).toBeGreaterThanOrEqual(least);
      expect(found.units[unit as Unit], unit).toBeLessThanOrEqual(most);
    }
    expect(found.inputTokens + found.outputTokens).toBe(Object.values(found.units).reduce((all, each) => all + each, 0));
  });

  it('is typed as the SDK has it', () => {
    const model: LanguageModelV3Usage = { inputTokens: { total: 9, noCache: 2, cacheRead: 4, cacheWrite: 3 }, outputTokens: { total: 5, text: 4, reasoning: 1 } };
    const result: LanguageModelUsage = {
      inputTokens: 9, inputTokenDetails: { noCacheTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 3 },
      outputTokens: 5, outputTokenDetails: { textTokens: 4, reasoningTokens: 1 }, totalTokens: 14,
    }; // prettier-ignore
    expect(usageOf(model, 0, 0)).toEqual(usageOf(result, 0, 0));
    expect(usageOf(model, 0, 0)).toMatchObject({ inputTokens: 9, outputTokens: 5, cachedInputTokens: 4, cacheWriteTokens: 3, reasoningTokens: 1, estimated: false });
  });
});
