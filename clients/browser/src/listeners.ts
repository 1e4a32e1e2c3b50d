// Listeners that are called when the wallet may have changed, here and in other tabs.

export class Listeners {
  readonly #name: string;
  readonly #listeners = new Set<() => void>();
  #tabs: BroadcastChannel | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  add(listener: () => void): () => void {
    // A listener that was added twice is called twice.
    const own = () => listener();
    // A code that is kept says so by itself.
    const other = ({ key }: StorageEvent) => (key === this.#name || key === null) && listener();
    const page = globalThis.window;
    this.#listeners.add(own);
    page?.addEventListener?.('storage', other);
    if (page && globalThis.BroadcastChannel) {
      this.#tabs ??= new BroadcastChannel(this.#name);
      this.#tabs.onmessage = () => this.#tell();
    }
    return () => {
      this.#listeners.delete(own);
      page?.removeEventListener?.('storage', other);
      if (this.#listeners.size > 0) return;
      this.#tabs?.close();
      this.#tabs = undefined;
    };
  }

  /** Tells them all. */
  changed(): void {
    this.#tabs?.postMessage(null);
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener();
      } catch (error) {
        // What changed has changed: a listener's fault is not the call's.
        console.error(error);
      }
    }
  }
}
