// A middleware of the AI SDK: credits are set aside before a model is asked, taken while it answers, and settled for
// what it cost. An answer that is cut off without notice has been charged as far as it came.
import type { LanguageModelMiddleware } from 'ai';
import { isScripError, type Outcome, type RunningHold, type ScripServer, type Unsettled, type WithHoldInput, type Worked } from '@scrip-wallet/server';
import { Counter, Spoken, answerText, promptText } from './estimate.js';
import { Reply, type Metadata } from './reply.js';
import { usageOf, usualTokens, type Usage } from './usage.js';

// As the version of the SDK has them that is installed where this is used.
type Stream = NonNullable<LanguageModelMiddleware['wrapStream']>;
type CallOptions = Parameters<Stream>[0]['params'];
type Model = Parameters<Stream>[0]['model'];
type Generated = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapGenerate']>>>;

/** Whose credits, and how a hold of them is made. */
type Whose = WithHoldInput extends infer T ? (T extends unknown ? Omit<T, 'amount' | 'idempotencyKey' | 'resume'> : never) : never;

export interface Metering {
  scrip: Pick<ScripServer, 'withHold'>;
  /** Whose credits: `{ externalUserId: 'ann' }`. May name the product, `meta`, `onShortfall`, and the other fields of a hold. */
  wallet: Whose;
  /** How many are set aside for a call. What it costs beyond that is taken from the balance. */
  hold: number | ((params: CallOptions) => number);
  /**
   * What usage costs, in credits; part of one counts as one. While a model streams it is asked for what was used so far.
   * Where it is no number from 0, what was held is charged.
   */
  cost: (usage: Usage, model: Model) => number;
  /** How many credits an answer may be ahead of what was charged for it. Default: a tenth of the hold. */
  ahead?: number | undefined;
  /** Tokens of a text, until the provider says how many they were. Default: by its script, four Latin letters or one Chinese character each. */
  tokens?: ((text: string) => number) | undefined;
  /** Called with what each call cost. */
  onSettled?: ((outcome: Outcome<Usage>) => void) | undefined;
  /** Called where a cost could not be taken; the answer is delivered all the same. Left out: that is an error of the call. */
  onUnsettled?: ((unsettled: Unsettled<unknown>) => void) | undefined;
}

/** Meters a model: `wrapLanguageModel({ model, middleware: metered({ … }) })`. */
export function metered(metering: Metering): LanguageModelMiddleware {
  const { scrip, wallet, hold: reserve, onSettled, onUnsettled } = metering;
  /** In whole credits; nothing where the function says none. The answer is there, and is not lost for that. */
  const price = (usage: Usage, model: Model): number | undefined => {
    try {
      const amount = Math.ceil(metering.cost(usage, model));
      return Number.isSafeInteger(amount) && amount >= 0 ? amount : undefined;
    } catch {
      return undefined;
    }
  };
  const tokens = (text: string): number => {
    const count = Math.ceil(metering.tokens?.(text) ?? NaN);
    return Number.isSafeInteger(count) && count >= 0 ? count : usualTokens(text);
  };
  const held = (params: CallOptions) => (typeof reserve === 'number' ? reserve : reserve(params));

  /** Runs it against a hold, and returns the outcome; nothing where it could not be settled, which was reported. */
  async function run(params: CallOptions, work: (hold: RunningHold) => Promise<Worked<Usage>>): Promise<Metadata | undefined> {
    try {
      const input = { ...wallet, amount: held(params) } as WithHoldInput;
      const outcome = await scrip.withHold(input, work, { signal: params.abortSignal });
      onSettled?.(outcome);
      const { charged, owed, uncovered, balance } = outcome;
      return { scrip: { charged, owed, uncovered, balance, ...(outcome.value.estimated && { estimated: true }) } };
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
      const metadata = await run(params, async (hold) => {
        result = await doGenerate();
        const usage = usageOf(result.usage, tokens(promptText(params)), tokens(answerText(result.content)));
        return { amount: price(usage, model) ?? hold.amount, value: usage, meta: note(usage) };
      });
      // It is there: `run` does not end well without it.
      const made = result as unknown as Generated;
      return { ...made, providerMetadata: { ...made.providerMetadata, ...metadata } };
    },

    wrapStream({ doStream, params, model }) {
      return new Promise<Awaited<ReturnType<Stream>>>((begun, failed) => {
        const reply = new Reply();
        const ended = run(params, async (hold) => {
          const { stream, ...rest } = await doStream();
          const cut = () => reply.cut(hold.signal.reason);
          hold.signal.addEventListener('abort', cut);
          // While the model was being asked: it may not have noticed.
          if (hold.signal.aborted) cut();
          begun({ ...rest, stream: reply.stream });
          const ahead = metering.ahead ?? Math.ceil(hold.amount / 10);
          const asked = tokens(promptText(params));
          const spoken = new Spoken();
          const answered = new Counter(tokens);
          let measured: unknown;
          let [drawn, completion] = [0, 0];
          await reply.pass(stream, async (part) => {
            if (part.type === 'finish') return void (measured = part.usage);
            answered.add(spoken.text(part));
            const amount = price(usageOf(undefined, asked, answered.total), model);
            // Charged before it is handed on: a cut later on may go unnoticed.
            if (amount !== undefined && amount - drawn > ahead) drawn = await draw(hold, amount, drawn);
            completion = answered.total;
          });
          const usage = usageOf(measured, asked, completion);
          return { amount: price(usage, model) ?? Math.max(hold.amount, drawn), value: usage, meta: note(usage) };
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

/** Charges what a hold is behind, and answers how much that makes. */
async function draw(hold: RunningHold, amount: number, drawn: number): Promise<number> {
  try {
    return (await hold.draw(amount - drawn, { meta: ESTIMATED })).drawn;
  } catch (error) {
    // What is held is there in the end, too. What is not must not be given away.
    if (isScripError(error, 'insufficient_credits') || amount > hold.amount) throw error;
    return drawn;
  }
}
