// What a model used, in units that do not overlap: as its provider measured it, or estimated from text.
import table from '../../usage.json';

/** A kind of tokens. What a provider counts within another kind is taken out of that. */
export type Unit =
  | 'input' | 'cachedInput' | 'cacheWrite' | 'cacheWrite1h' | 'inputAudio' | 'inputImage'
  | 'output' | 'reasoning' | 'outputAudio' | 'outputImage'; // prettier-ignore

/** What a model used, in tokens. */
export interface Usage {
  /** All of the input, of whichever kind. */
  inputTokens: number;
  /** All of the output, of whichever kind. */
  outputTokens: number;
  /** Those of the input that the provider had in its cache. */
  cachedInputTokens: number;
  /** Those of the input that it wrote to its cache. */
  cacheWriteTokens: number;
  /** Those of the output that are reasoning. */
  reasoningTokens: number;
  /** The same by kind, without overlap; none that is zero. */
  units: Partial<Record<Unit, number>>;
  /** Whether some of it was estimated from text, since it was not measured. */
  estimated: boolean;
}

type Units = Usage['units'];
type Row = { unit: string; at: string[]; within?: string };

/** Tokens of a text, where nothing better is known: by the script that it is written in. */
export const usualTokens = (text: string): number => {
  let hundredths = 0;
  for (const letter of text) {
    const point = letter.codePointAt(0) ?? 0;
    hundredths += table.text.find(([last = 0]) => point <= last)?.[1] ?? 100;
  }
  return Math.ceil(hundredths / 100);
};

/** The value at a path such as `a.b`, or `a[AUDIO]` for the count of a list's entry. */
function at(usage: unknown, path: string): unknown {
  const [, steps = '', modality] = /^([^[]*)(?:\[(\w+)\])?$/.exec(path) ?? [];
  let found: unknown = usage;
  for (const step of steps.split('.')) found = typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[step] : undefined;
  if (!modality) return found;
  if (!Array.isArray(found)) return undefined;
  const entry = (found as Record<string, unknown>[]).find((each) => each?.['modality'] === modality);
  return entry?.['tokenCount'] ?? entry?.['token_count'];
}

const first = (usage: unknown, paths: string[]): unknown => paths.map((path) => at(usage, path)).find((value) => value != null);

/** What the objects of a stream say together: the later word counts, unless it is nothing. */
function together(older: unknown, newer: unknown): unknown {
  if (typeof newer === 'object' && newer !== null && !Array.isArray(newer)) {
    const all: Record<string, unknown> = typeof older === 'object' && older !== null ? { ...older } : {};
    for (const [name, value] of Object.entries(newer)) all[name] = together(all[name], value);
    return all;
  }
  return newer == null || (typeof older === 'number' && older > 0 && !(Number(newer) > 0)) ? older : newer;
}

/** A side of a provider's usage, nothing where it is no measurement: absent, zero, or in contradiction to itself. */
function measured(usage: unknown, side: 'input' | 'output'): Units | undefined {
  const shape = table.shapes.find(({ marks }) => marks.every((paths) => first(usage, paths) != null));
  if (!shape) return undefined;
  const kinds = table.units[side];
  const found: Record<string, number> = {};
  let whole = false;
  for (const { unit, at: paths, within } of shape.rows as Row[]) {
    const value = first(usage, paths);
    if (!kinds.includes(unit) || value == null) continue;
    if (!Number.isSafeInteger(value) || (value as number) < 0) return undefined;
    whole ||= unit === side && !within;
    found[unit] = (found[unit] ?? 0) + (value as number);
    if (within) found[within] = (found[within] ?? 0) - (value as number);
  }
  // Audio and images that were cached are reported in both places: they count as cached.
  const cached = (found['cachedInput'] ?? 0) + (found['cacheWrite'] ?? 0) + (found['cacheWrite1h'] ?? 0);
  let twice = Math.min(Math.max(-(found['input'] ?? 0), 0), cached);
  for (const kind of ['inputAudio', 'inputImage']) {
    const less = Math.min(twice, Math.max(found[kind] ?? 0, 0));
    if (!less) continue;
    found[kind] = (found[kind] ?? 0) - less;
    found['input'] = (found['input'] ?? 0) + less;
    twice -= less;
  }
  const values = Object.values(found);
  if (!whole || values.some((value) => value < 0) || !values.some((value) => value > 0)) return undefined;
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value > 0));
}

const sum = (units: Units, side: 'input' | 'output') => table.units[side].reduce((all, unit) => all + (units[unit as Unit] ?? 0), 0);

/**
 * What a provider's usage object says (OpenAI's, Anthropic's, Gemini's, the AI SDK's, LiteLLM's; of a stream an array
 * of them), and an estimate for what it does not: the tokens of what was asked and of what was answered.
 */
export function usageOf(usage: unknown, asked: number, answered: number): Usage {
  const whole = Array.isArray(usage) ? usage.reduce<unknown>(together, undefined) : usage;
  const input = measured(whole, 'input');
  const output = measured(whole, 'output');
  const units: Units = { ...(input ?? (asked > 0 ? { input: asked } : {})), ...(output ?? (answered > 0 ? { output: answered } : {})) };
  return {
    inputTokens: sum(units, 'input'),
    outputTokens: sum(units, 'output'),
    cachedInputTokens: units.cachedInput ?? 0,
    cacheWriteTokens: (units.cacheWrite ?? 0) + (units.cacheWrite1h ?? 0),
    reasoningTokens: units.reasoning ?? 0,
    units,
    estimated: (!input && asked > 0) || (!output && answered > 0),
  };
}
