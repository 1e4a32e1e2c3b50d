// A session in place of a key: had when it is needed, renewed before its end, by one request however many ask.
import { ScripError, isScripError, type Bearer, type Session } from '@scrip-wallet/core';

/** Where sessions come from: the address of a `scripHandler` of yours, or a function that gets one; null where nobody is signed in. */
export type SessionSource = string | (() => Session | null | Promise<Session | null>);

/** So long before its end a session is renewed. */
const EARLY_MS = 60_000;
/** So long a failed renewal is left alone while the session is still good. */
const LEAVE_ALONE_MS = 5_000;
const TIMEOUT_MS = 15_000;

export class Sessions implements Bearer {
  readonly #get: () => Session | null | Promise<Session | null>;
  #held: (Session & { renewAt: number }) | undefined;
  #asking: Promise<string> | undefined;
  #path: string | undefined;

  constructor(source: SessionSource) {
    this.#get = typeof source === 'string' ? () => post(source) : source;
  }

  token(): string | Promise<string> {
    const held = this.#held;
    if (held && Date.now() < held.renewAt) return held.token;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    if (!held || Date.parse(held.expiresAt) <= Date.now()) return this.#asking;
    return this.#asking.catch(() => {
      held.renewAt = Date.now() + LEAVE_ALONE_MS;
      return held.token;
    });
  }

  drop(token: string): void {
    if (this.#held?.token === token) this.#held = undefined;
  }

  /** Asks something of the wallet. Whether it is a user's or a code's shows at the first try. */
  async ask<T>(ask: (path: string) => Promise<T>): Promise<T> {
    const at = async (path: string) => {
      const answer = await ask(path);
      this.#path = path;
      return answer;
    };
    if (this.#path) return at(this.#path);
    try {
      return await at('/wallets/external');
    } catch (error) {
      if (!isScripError(error, 'session_forbidden')) throw error;
      // Neither: what was refused is what was asked, not where.
      return at('/wallets/code').catch(() => Promise.reject(error));
    }
  }

  async #ask(): Promise<string> {
    let session: Session | null;
    try {
      session = await this.#get();
    } catch (cause) {
      if (isScripError(cause)) throw cause;
      throw new ScripError('session_failed', 'There is no session.', { cause });
    }
    if (!session) throw new ScripError('no_wallet', 'Nobody is signed in.');
    if (!session.token) throw new ScripError('session_failed', 'This is no session.', { status: 400 });
    const now = Date.now();
    const lifeMs = Date.parse(session.expiresAt) - now;
    // A clock that is wrong by hours must not ask for a session at each call: the service says when one has ended.
    const renewAt = now + (lifeMs > 0 ? Math.max(lifeMs - EARLY_MS, lifeMs / 2) : EARLY_MS);
    this.#held = { ...session, renewAt };
    return session.token;
  }
}

async function post(address: string): Promise<Session | null> {
  // As JSON: another site's page cannot send that without permission, and frameworks refuse a body without a type.
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(address, { method: 'POST', headers, body: '{}', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { status } = response;
  if (status === 401) return null;
  if (!response.ok) throw new ScripError('session_failed', `There is no session (status ${status}).`, { status });
  return (await response.json()) as Session;
}
