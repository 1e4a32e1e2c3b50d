// Where the recovery code is kept between visits, and what has to outlive a page.

/** Where a recovery code is kept. Replace it to keep codes elsewhere: a cookie, an account of yours. */
export interface CodeStorage {
  get(): string | null | Promise<string | null>;
  set(code: string): void | Promise<void>;
  remove(): void | Promise<void>;
}

/** The browser's `localStorage`, under a name of its own: one for each project that a page sells for. */
export const browserStorage = (name: string): CodeStorage => ({
  get: () => localStorage.getItem(name),
  set: (code) => localStorage.setItem(name, code),
  remove: () => localStorage.removeItem(name),
});

/**
 * A storage that never fails: where it is blocked (a private window, a full disk, no browser at all) what it
 * was given lasts as long as this object.
 */
export class Kept {
  readonly #storage: CodeStorage;
  #memory: string | null | undefined;

  constructor(storage: CodeStorage) {
    this.#storage = storage;
  }

  /** Whether what was given last is kept. */
  get lasts(): boolean {
    return this.#memory == null;
  }

  async get(): Promise<string | null> {
    if (this.#memory !== undefined) return this.#memory;
    try {
      return (await this.#storage.get()) || null;
    } catch {
      return null;
    }
  }

  async set(value: string | null): Promise<void> {
    try {
      await (value === null ? this.#storage.remove() : this.#storage.set(value));
      this.#memory = undefined;
    } catch {
      this.#memory = value;
    }
  }
}

/** What was kept as JSON. */
export function parse<T>(text: string | null): T | undefined {
  try {
    return text ? (JSON.parse(text) as T) : undefined;
  } catch {
    return undefined;
  }
}
