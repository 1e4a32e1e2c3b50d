// One file of usage objects judges all clients alike: what each reads in them, and what it estimates.
import { readFile } from 'node:fs/promises';
import type { MessageDeltaUsage, Usage as AnthropicUsage } from '@anthropic-ai/sdk/resources/messages/messages';
import type { LanguageModelUsage } from 'ai';
import type { CompletionUsage } from 'openai/resources/completions';
import type { ResponseUsage } from 'openai/resources/responses/responses';
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

/** Usage objects that are in the file, held against the types of those who answer them. */
const TYPED = {
  'OpenAI chat, whole': { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 } satisfies CompletionUsage,
  'OpenAI chat, cached, reasoning, audio': {
    prompt_tokens: 1000,
    completion_tokens: 500,
    total_tokens: 1500,
    prompt_tokens_details: { cached_tokens: 600, audio_tokens: 100 },
    completion_tokens_details: { reasoning_tokens: 300, audio_tokens: 50, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  } satisfies CompletionUsage,
  'OpenAI responses, whole': {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 400, cache_write_tokens: 0 },
    output_tokens: 200,
    output_tokens_details: { reasoning_tokens: 150 },
    total_tokens: 1200,
  } satisfies ResponseUsage,
  'Anthropic, streamed, all reported twice': [
    {
      input_tokens: 10,
      cache_creation_input_tokens: 2000,
      cache_creation: { ephemeral_5m_input_tokens: 2000, ephemeral_1h_input_tokens: 0 },
      cache_read_input_tokens: 10000,
      inference_geo: null,
      output_tokens: 1,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: 'standard',
      speed: null,
    } satisfies AnthropicUsage,
    {
      input_tokens: 10,
      cache_creation_input_tokens: 2000,
      cache_read_input_tokens: 10000,
      output_tokens: 140,
      output_tokens_details: { thinking_tokens: 40 },
      server_tool_use: null,
    } satisfies MessageDeltaUsage,
  ],
  'AI SDK, of a model': {
    inputTokens: { total: 1000, noCache: 300, cacheRead: 600, cacheWrite: 100 },
    outputTokens: { total: 80, text: 50, reasoning: 30 },
  } satisfies LanguageModelV3Usage,
  'AI SDK, of a result': {
    inputTokens: 1000,
    inputTokenDetails: { noCacheTokens: 300, cacheReadTokens: 600, cacheWriteTokens: 100 },
    outputTokens: 80,
    outputTokenDetails: { textTokens: 50, reasoningTokens: 30 },
    totalTokens: 1080,
  } satisfies LanguageModelUsage,
};

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

  it.each(Object.entries(TYPED))('of the kind "%s" is what its SDK says', (name, usage) => {
    expect(fixtures.find((each) => each.name === name)?.usage).toEqual(usage);
  });
});
