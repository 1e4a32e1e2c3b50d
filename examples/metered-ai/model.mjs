// In place of a language model: it streams words, takes its time, and says what it counted. Put a real one
// here: all that the rest asks of it is tokens, one after the other, and an end when the signal says so. It can be made
// to fail, or to answer slowly.
import { setTimeout as sleep } from 'node:timers/promises';

const WORDS = `A hold sets credits aside before the work begins so nobody spends them twice while the answer streams each
token is counted as it leaves and when the last one is out the hold is settled for exactly what it took and the rest
goes back to the wallet where it can be spent again at once`.split(/\s+/);

/** How many tokens a text has: as many as words, here. */
export const count = (text) => text.trim().split(/\s+/).filter(Boolean).length;

/** The answer, a token at a time. */
export async function* answer(prompt, { maxTokens, signal, delayMs = 40 }) {
  if (/\bfail\b/i.test(prompt)) throw new Error('the model is out of order');
  const pauseMs = /\bslowly\b/i.test(prompt) ? 20 * delayMs : delayMs;
  const length = Math.min(maxTokens, 12 + (prompt.length * 7) % WORDS.length);
  for (let n = 0; n < length; n++) {
    await sleep(pauseMs, undefined, { signal });
    yield `${WORDS[n % WORDS.length]}${n === length - 1 ? '.' : ' '}`;
  }
}
