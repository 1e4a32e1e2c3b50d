// The texts of a call, so that its tokens can be estimated before the provider counts them.
import type { LanguageModelV3CallOptions, LanguageModelV3Content, LanguageModelV3StreamPart } from '@ai-sdk/provider';

/** A value as a model reads it. */
const written = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** All that a prompt says: its texts, calls of tools and what these answered, and the tools themselves. */
export const promptText = ({ prompt, tools }: Pick<LanguageModelV3CallOptions, 'prompt' | 'tools'>): string => {
  const texts: string[] = [];
  for (const { content } of prompt) {
    if (typeof content === 'string') texts.push(content);
    else
      for (const part of content)
        if ('text' in part) texts.push(part.text);
        else if (part.type === 'tool-call') texts.push(part.toolName, written(part.input));
        else if (part.type === 'tool-result') texts.push(...results(part.output));
  }
  for (const tool of tools ?? []) texts.push(written(tool));
  return texts.join('\n');
};

/** What a tool answered; files are no text. */
function results(output: { type: string; value?: unknown; reason?: string | undefined }): string[] {
  if (output.type !== 'content' || !Array.isArray(output.value)) return [written(output.value ?? output.reason ?? '')];
  return (output.value as { text?: string }[]).map(({ text }) => text ?? '');
}

/** All that an answer says, thinks, or gives to tools. */
export const answerText = (content: LanguageModelV3Content[]): string =>
  content.map((part) => (part.type === 'text' || part.type === 'reasoning' ? part.text : part.type === 'tool-call' ? part.toolName + part.input : '')).join('');

/** What the parts of a stream say, think, or give to tools, each once. */
export class Spoken {
  readonly #streamed = new Set<string>();

  text(part: LanguageModelV3StreamPart): string {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return part.delta;
      case 'tool-input-start':
        this.#streamed.add(part.id);
        return part.toolName;
      case 'tool-input-delta':
        return part.delta;
      case 'tool-call':
        return this.#streamed.has(part.toolCallId) ? '' : part.toolName + part.input;
      default:
        return '';
    }
  }
}

/** So many letters are counted again with each piece that follows: pieces of words are fewer tokens together. */
const COUNTED_TOGETHER = 400;

/** Counts the tokens of a text that comes in pieces. */
export class Counter {
  #counted = 0;
  #rest = '';

  constructor(readonly tokens: (text: string) => number) {}

  add(text: string): void {
    this.#rest += text;
    if (this.#rest.length < COUNTED_TOGETHER) return;
    this.#counted += this.tokens(this.#rest);
    this.#rest = '';
  }

  get total(): number {
    return this.#counted + (this.#rest ? this.tokens(this.#rest) : 0);
  }
}
