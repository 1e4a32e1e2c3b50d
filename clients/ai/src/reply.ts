// What the caller reads of a model's stream: handed on part by part, its end held back until it is paid for.
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';

type Part = LanguageModelV3StreamPart;

/** What is said of the price, as a provider's word. */
export type Told = Record<string, Record<string, number>>;

export class Reply {
  readonly stream: ReadableStream<Part>;
  #controller: ReadableStreamDefaultController<Part> | undefined;
  #finish: Extract<Part, { type: 'finish' }> | undefined;
  #failure: { reason: unknown } | undefined;
  #isCut = false;
  #end: () => void = () => undefined;
  readonly #cut = new Promise<undefined>((resolve) => {
    this.#end = () => resolve(undefined);
  });

  constructor() {
    this.stream = new ReadableStream<Part>({
      start: (controller) => {
        this.#controller = controller;
      },
      // Whoever reads no more is told no more.
      cancel: () => {
        this.#controller = undefined;
        this.#end();
      },
    });
  }

  /** Ends it here. */
  cut(reason: unknown): void {
    this.#failure ??= { reason };
    this.#isCut = true;
    this.#end();
  }

  /** Hands on what the model says, each part once it was looked at, until its end or the reader's. Never throws. */
  async pass(model: ReadableStream<Part>, look: (part: Part) => Promise<void>): Promise<void> {
    const reader = model.getReader();
    try {
      for (;;) {
        const next = await Promise.race([reader.read(), this.#cut]);
        if (!next || next.done) return;
        await look(next.value);
        if (next.value.type === 'finish') this.#finish = next.value;
        else this.#controller?.enqueue(next.value);
      }
    } catch (reason) {
      this.#failure ??= { reason };
    } finally {
      reader.cancel().catch(() => undefined);
    }
  }

  /** It is paid for. */
  end(told: Told | undefined): void {
    if (this.#failure) return this.fail(this.#failure.reason);
    if (this.#finish) this.#controller?.enqueue({ ...this.#finish, providerMetadata: { ...this.#finish.providerMetadata, ...told } });
    this.#controller?.close();
    this.#controller = undefined;
  }

  fail(error: unknown): void {
    // As models say that something went wrong; that they were cut off they say by ending in it.
    if (this.#isCut) this.#controller?.error(error);
    else {
      this.#controller?.enqueue({ type: 'error', error });
      this.#controller?.close();
    }
    this.#controller = undefined;
  }
}
