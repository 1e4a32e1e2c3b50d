// One thing that the service knows, read once for however many components show it. It must never ask twice for
// what is already on its way, and never show an older answer over a newer one.
import type { ScripError } from '@scrip-wallet/browser';
import { asScripError } from '../errors';

/** What is known of it now. */
export interface Snapshot<T> {
  /** The last answer; stays while it is read again. */
  readonly data: T | undefined;
  /** Why the last reading failed. */
  readonly error: ScripError | undefined;
  /** Whether there is nothing to show yet, neither an answer nor an error. */
  readonly loading: boolean;
}

const NOTHING: Snapshot<never> = { data: undefined, error: undefined, loading: true };

export class Resource<T> {
  readonly #read: (before: T | undefined) => Promise<T>;
  readonly #listeners = new Set<() => void>();
  readonly #initial: Snapshot<T>;
  #snapshot: Snapshot<T>;
  #flight: Promise<void> | undefined;
  #stale = true;
  #readAt = 0;

  constructor(read: (before: T | undefined) => Promise<T>, initial?: T) {
    this.#read = read;
    this.#initial = initial === undefined ? NOTHING : { data: initial, error: undefined, loading: false };
    this.#snapshot = this.#initial;
  }

  readonly snapshot = (): Snapshot<T> => this.#snapshot;

  /** What a server renders, and the browser's first render with it: what it was given, if anything. */
  readonly serverSnapshot = (): Snapshot<T> => this.#initial;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    // Effects of strict mode subscribe, leave and subscribe again: the first one's reading serves both.
    this.ensure();
    return () => this.#listeners.delete(listener);
  };

  /** Reads it if it was not read yet. */
  ensure(): void {
    if (this.#stale) void this.#start();
  }

  /** Reads it again; resolves with an answer that is newer than this call. */
  refresh(): Promise<void> {
    this.#stale = true;
    return this.#start();
  }

  /** It may have changed: read again now if it is shown, else when it is next. */
  invalidate(): void {
    this.#stale = true;
    if (this.#listeners.size > 0) void this.#start();
  }

  /** The same, unless it was read within the last while. */
  revalidate(olderThanMs: number): void {
    if (!this.#flight && Date.now() - this.#readAt >= olderThanMs) this.invalidate();
  }

  /** Puts in what is known from elsewhere; a reading that is on its way knows less and is repeated. */
  put(change: (data: T | undefined) => T | undefined): void {
    const data = change(this.#snapshot.data);
    if (data === undefined || data === this.#snapshot.data) return;
    if (this.#flight) this.#stale = true;
    this.#show({ data, error: undefined, loading: false });
  }

  /** Shows what a reading knows before it ends. */
  preview(data: T): void {
    this.#show({ data, error: undefined, loading: false });
  }

  #start(): Promise<void> {
    this.#flight ??= this.#run().finally(() => {
      this.#flight = undefined;
    });
    return this.#flight;
  }

  async #run(): Promise<void> {
    // An error is gone once it is tried again and there is nothing else to show.
    if (this.#snapshot.data === undefined && this.#snapshot.error) this.#show(NOTHING);
    while (this.#stale) {
      this.#stale = false;
      const before = this.#snapshot.data;
      let after: Snapshot<T>;
      try {
        after = { data: await this.#read(before), error: undefined, loading: false };
      } catch (error) {
        after = { data: this.#snapshot.data, error: asScripError(error), loading: false };
      }
      this.#readAt = Date.now();
      if (!this.#stale) this.#show(after);
    }
  }

  #show(snapshot: Snapshot<T>): void {
    this.#snapshot = snapshot;
    for (const listener of [...this.#listeners]) listener();
  }
}
