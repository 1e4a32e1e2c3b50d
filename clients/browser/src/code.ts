// The recovery code that a browser keeps. One that no longer works is checked once and then ignored, and
// is kept all the same, since the service may be wrong for a while.
import { ScripError, isScripError, segment } from '@scrip-wallet/core';
import { Kept, browserStorage, parse, type CodeStorage } from './storage.js';

/** How long a code that opened nothing is not tried again. */
const BELIEVED_MS = 3_600_000;

export class StoredCode {
  readonly #code: Kept;
  readonly #lost: Kept;
  /** The first question about a code: until it is answered others wait, lest a wrong one is asked about twice. */
  #first: Promise<unknown> | undefined;
  #good: string | undefined;

  constructor(storage: CodeStorage, name: string) {
    this.#code = new Kept(storage);
    this.#lost = new Kept(browserStorage(`${name}:lost`));
  }

  async get(): Promise<string | null> {
    const code = await this.#code.get();
    const [lost, at] = parse<[string, number]>(await this.#lost.get()) ?? ['', 0];
    return code === lost && Date.now() - at < BELIEVED_MS ? null : code;
  }

  /** The code that opened nothing. */
  async lost(): Promise<string | null> {
    return parse<[string]>(await this.#lost.get())?.[0] ?? null;
  }

  async keep(code: string | null): Promise<void> {
    await this.#code.set(code);
    if (code === null || code === (await this.lost())) await this.#lost.set(null);
  }

  async forgetLost(): Promise<void> {
    const lost = await this.lost();
    if (lost !== null && lost === (await this.#code.get())) await this.#code.set(null);
    await this.#lost.set(null);
  }

  /** Whether it outlives the page. */
  get lasts(): boolean {
    return this.#code.lasts;
  }

  /** Asks something of the wallet of this code, and remembers if there is none. */
  async ask<T>(code: string, ask: (path: string) => Promise<T>): Promise<T> {
    if (code !== this.#good && this.#first) {
      await this.#first.catch(() => undefined);
      if ((await this.get()) === null) throw new ScripError('no_wallet', 'There is no wallet yet.');
    }
    const asking = this.#ask(code, ask);
    this.#first ??= asking;
    try {
      return await asking;
    } finally {
      this.#first = undefined;
    }
  }

  async #ask<T>(code: string, ask: (path: string) => Promise<T>): Promise<T> {
    try {
      const answer = await ask(`/wallets/${segment(code, 'code')}`);
      this.#good = code;
      return answer;
    } catch (error) {
      const isNone = isScripError(error) && (error.code === 'wallet_not_found' || error.param === 'code');
      if (isNone && code === (await this.#code.get())) await this.#lost.set(JSON.stringify([code, Date.now()]));
      throw error;
    }
  }
}
