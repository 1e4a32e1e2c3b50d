// A middleware of the AI SDK: credits are set aside before a model is asked, taken while it answers, and settled for
// what it cost. An answer that is cut off without notice has been charged as far as it came.
import type { LanguageModelMiddleware } from 'ai';
import type { LanguageModelV3Usage } from '@ai-sdk/provider';
import { isScripError, type Charge, type Cost, type Outcome, type RunningHold, type ScripServer, type Unsettled, type WithHoldInput, type Worked } from '@scrip-wallet/server';
import { Counter, Spoken, answerText, promptText } from './estimate.js';
import { Reply, type Metadata } from './reply.js';
import { usageOf, usualTokens, type Usage } from './usage.js';

// As the version of the SDK has them that is installed where this is used.
type Stream = NonNullable<LanguageModelMiddleware['wrapStream']>;
type CallOptions = Parameters<Stream>[0]['params'];
type Model = Parameters<Stream>[0]['model'];
type Generated = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapGenerate']>>>;

/** Whose credits, and how a hold of them is made. */
type Whose = WithHoldInput extends infer T ? (T extends unknown ? Omit<T, keyof Charge | 'idempotencyKey' | 'resume'> : never) : never;

export type Metering = Common & (ByCost | ByCard);

interface Common {
  scrip: Pick<ScripServer, 'withHold'>;
  /** Whose credits: `{ externalUserId: 'ann' }`. May name the product, `meta`, `onShortfall`, and the other fields of a hold. */
  wallet: Whose;
  /** How many credits, or with a rate card tokens, an answer may be ahead of what was charged for it. Default: a tenth of the hold. */
  ahead?: number | undefined;
  /** Tokens of a text, until the provider says how many they were. Default: by its script, four Latin letters or one Chinese character each. */
  tokens?: ((text: string) => number) | undefined;
  /** Called with what each call cost. */
  onSettled?: ((outcome: Outcome<Usage>) => void) | undefined;
  /** Called where a cost could not be taken; the answer is delivered all the same. Left out: that is an error of the call. */
  onUnsettled?: ((unsettled: Unsettled<unknown>) => void) | undefined;
}

/** What usage costs is a function of yours. */
export interface ByCost {
  /** How many credits are set aside for a call. What it costs beyond that is taken from the balance. */
  hold: number | ((params: CallOptions) => number);
  /**
   * What usage costs, in credits; part of one counts as one. While a model streams it is asked for what was used so far.
   * Where it is no number from 0, what was held is charged.
   */
  cost: (usage: Usage, model: Model) => number;
  rateCard?: undefined;
  attributes?: undefined;
}

/** A rate card prices what the provider counted, and estimates only where it counted nothing. */
export interface ByCard {
  rateCard: string;
  /** What its rates match. Default: `{ model }`, by the model's name. */
  attributes?: Record<string, string> | ((model: Model) => Record<string, string>) | undefined;
  /** For how many tokens credits are set aside. Default: those of the prompt, and `maxOutputTokens` or 1,000. */
  hold?: Units | ((params: CallOptions) => Units) | undefined;
  cost?: undefined;
}

type Units = Usage['units'];

/** Meters a model: `wrapLanguageModel({ model, middleware: metered({ … }) })`. */
export function metered(metering: Metering): LanguageModelMiddleware {
  const { scrip, wallet, onSettled, onUnsettled } = metering;
  /** In whole credits; nothing where the function says none. The answer is there, and is not lost for that. */
  const price = (usage: Usage, model: Model): number | undefined => {
    try {
      const amount = Math.ceil(metering.cost?.(usage, model) ?? NaN);
      return Number.isSafeInteger(amount) && amount >= 0 ? amount : undefined;
    } catch {
      return undefined;
    }
  };
  const tokens = (text: string): number => {
    const count = Math.ceil(metering.tokens?.(text) ?? NaN);
    return Number.isSafeInteger(count) && count >= 0 ? count : usualTokens(text);
  };
  const valueOf = <T, P>(given: T | ((of: P) => T), of: P): T => (typeof given === 'function' ? (given as (of: P) => T)(of) : given);
  /** What is set aside, and how much of what counts that is: credits, or the tokens of a rate card. */
  const held = (params: CallOptions, model: Model): [Charge, number] => {
    if (metering.rateCard === undefined) {
      const amount = valueOf(metering.hold, params);
      return [{ amount }, amount];
    }
    const quantities = { input: tokens(promptText(params)), output: params.maxOutputTokens ?? 1_000, ...valueOf(metering.hold ?? {}, params) };
    return [{ rateCard: metering.rateCard, attributes: valueOf(metering.attributes ?? { model: model.modelId }, model), quantities }, total(quantities)];
  };
  const isByCard = metering.rateCard !== undefined;
  /** What an answer cost: `usage` is what was `measured`, unless it says that it is an estimate. */
  const charge = (model: Model, usage: Usage, measured: unknown, otherwise: number): Cost => {
    if (!isByCard) return { amount: price(usage, model) ?? otherwise };
    if (total(usage.units) === 0) return { amount: 0 };
    return usage.estimated ? { quantities: usage.units } : { usage: reported(measured as LanguageModelV3Usage), usageFormat: 'ai-sdk' };
  };

  /** Runs it against a hold, and returns the outcome; nothing where it could not be settled, which was reported. */
  async function run(params: CallOptions, model: Model, work: (hold: RunningHold, most: number) => Promise<Worked<Usage>>): Promise<Metadata | undefined> {
    try {
      const [reserved, most] = held(params, model);
      const input = { ...wallet, ...reserved } as WithHoldInput;
      const outcome = await scrip.withHold(input, (hold) => work(hold, most), { signal: params.abortSignal });
      onSettled?.(outcome);
      const { charged, owed, uncovered, balance, cost } = outcome;
      return { scrip: { charged, owed, uncovered, balance, ...(cost !== undefined && { cost }), ...(outcome.value.estimated && { estimated: true }) } };
    } catch (error) {
      if (!onUnsettled || !isScripError(error, 'settle_failed')) throw error;
      onUnsettled(error);
      return undefined;
    }
  }

  return {
    specificationVersion: 'v3',

    async wrapGenerate({ doGenerate, params, model }) {
      let result: Generated | undefined;
      const metadata = await run(params, model, async (hold) => {
        result = await doGenerate();
        const usage = usageOf(result.usage, tokens(promptText(params)), tokens(answerText(result.content)));
        return { ...charge(model, usage, result.usage, hold.amount), value: usage, meta: note(usage) };
      });
      // It is there: `run` does not end well without it.
      const made = result as unknown as Generated;
      return { ...made, providerMetadata: { ...made.providerMetadata, ...metadata } };
    },

    wrapStream({ doStream, params, model }) {
      return new Promise<Awaited<ReturnType<Stream>>>((begun, failed) => {
        const reply = new Reply();
        const ended = run(params, model, async (hold, most) => {
          const { stream, ...rest } = await doStream();
          const cut = () => reply.cut(hold.signal.reason);
          hold.signal.addEventListener('abort', cut);
          // While the model was being asked: it may not have noticed.
          if (hold.signal.aborted) cut();
          begun({ ...rest, stream: reply.stream });
          const ahead = metering.ahead ?? Math.ceil(most / 10);
          const asked = tokens(promptText(params));
          const spoken = new Spoken();
          const answered = new Counter(tokens);
          let measured: unknown;
          let [drawn, completion] = [0, 0];
          let counted: Units = {};
          await reply.pass(stream, async (part) => {
            if (part.type === 'finish') return void (measured = part.usage);
            answered.add(spoken.text(part));
            const usage = usageOf(undefined, asked, answered.total);
            const due = isByCard ? total(usage.units) : price(usage, model);
            // Charged before it is handed on: a cut later on may go unnoticed.
            if (due !== undefined && due - drawn > ahead) {
              const cost = isByCard ? { quantities: less(usage.units, counted) } : { amount: due - drawn };
              const made = await draw(hold, cost, due > most);
              if (made) [drawn, counted] = [isByCard ? due : made.drawn, usage.units];
            }
            completion = answered.total;
          });
          const usage = usageOf(measured, asked, completion);
          return { ...charge(model, usage, measured, Math.max(hold.amount, drawn)), value: usage, meta: note(usage) };
        });
        ended.then(
          (metadata) => reply.end(metadata),
          (error: unknown) => {
            const reason: unknown = params.abortSignal?.aborted ? params.abortSignal.reason : error;
            failed(reason);
            reply.fail(reason);
          },
        );
      });
    },
  };
}

/** How the ledger says that an amount comes from an estimate. */
const ESTIMATED = { estimated: true };
const note = (usage: Usage) => (usage.estimated ? ESTIMATED : undefined);

/** Charges what a hold is behind; nothing where that failed, and what is held is enough. */
async function draw(hold: RunningHold, cost: Cost, isBeyond: boolean): Promise<Awaited<ReturnType<RunningHold['draw']>> | undefined> {
  try {
    return await hold.draw(cost, { meta: ESTIMATED });
  } catch (error) {
    // What is held is there in the end, too. What is not must not be given away.
    if (isScripError(error, 'insufficient_credits') || isBeyond) throw error;
    return undefined;
  }
}

const total = (units: Units): number => Object.values(units).reduce((sum, count) => sum + count, 0);

const less = (units: Units, before: Units): Record<string, number> =>
  Object.fromEntries(Object.entries(units).map(([unit, count]) => [unit, count - (before[unit as keyof Units] ?? 0)]));

/** A model's usage as the SDK reports it of a result, without what the provider itself said. */
const reported = ({ inputTokens, outputTokens }: LanguageModelV3Usage) => ({
  inputTokens: inputTokens.total,
  inputTokenDetails: { cacheReadTokens: inputTokens.cacheRead, cacheWriteTokens: inputTokens.cacheWrite },
  outputTokens: outputTokens.total,
  outputTokenDetails: { reasoningTokens: outputTokens.reasoning },
});
