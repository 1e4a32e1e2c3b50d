import { ScripError, type Bearer } from '@scrip-wallet/core';
import type { SessionSource, Sessions } from './session.js';

const part = <T>(loading: Promise<T>): Promise<T> =>
  loading.catch((cause: unknown) => {
    throw new ScripError('network_error', 'A part of the client could not be loaded.', { cause });
  });

/** What only pages with a session need: loaded when the first one does. */
export const signedIn = () => part(import('./signed-in.js'));
/** What only buyers need. */
export const buying = () => part(import('./buying.js'));

/** Sessions, once they are there. */
export class LazySessions implements Bearer {
  readonly #source: SessionSource;
  #sessions: Sessions | undefined;

  constructor(source: SessionSource) {
    this.#source = source;
  }

  async get(): Promise<Sessions> {
    const { Sessions } = await signedIn();
    return (this.#sessions ??= new Sessions(this.#source));
  }

  async token(): Promise<string> {
    return (await this.get()).token();
  }

  drop(token: string): void {
    this.#sessions?.drop(token);
  }
}
