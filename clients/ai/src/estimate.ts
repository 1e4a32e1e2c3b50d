// What a call has used so far, before the provider says so.
import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider';

/** What a model used, in tokens. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** Those of the input that the provider had in its cache. */
  cachedInputTokens: number;
  /** Those of the output that were thought, not said. */
  reasoningTokens: number;
}

/** Tokens of a text, where nothing better is known: four letters each. */
export const usualTokens = (text: string): number => Math.ceil(text.length / 4);

/** The texts of a prompt. */
export const promptText = ({ prompt }: Pick<LanguageModelV3CallOptions, 'prompt'>): string =>
  prompt.flatMap(({ content }) => (typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')))).join('');

/** What a part of a stream says or thinks. */
export const spoken = (part: LanguageModelV3StreamPart): string =>
  part.type === 'text-delta' || part.type === 'reasoning-delta' || part.type === 'tool-input-delta' ? part.delta : '';

/** What the provider says was used; an estimate where it says nothing. */
export const usageOf = ({ inputTokens, outputTokens }: LanguageModelV3Usage, estimate: Usage): Usage => ({
  inputTokens: inputTokens.total ?? estimate.inputTokens,
  outputTokens: outputTokens.total ?? estimate.outputTokens,
  cachedInputTokens: inputTokens.cacheRead ?? 0,
  reasoningTokens: outputTokens.reasoning ?? 0,
});
