// What the caller reads of a model's stream: handed on part by part, its end held back until it is paid for.
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';

type Part = LanguageModelV3StreamPart;

/** The price, as a provider's metadata. */
export type Metadata = Record<string, Record<string, number | boolean | string>>;

/** So long a reader may pause before they count as gone. */
const READER_TIMEOUT_MS = 300_000;

export class Reply {
  readonly stream: ReadableStream<Part>;
  #controller: ReadableStreamDefaultController<Part> | undefined;
  #finish: Extract<Part, { type: 'finish' }> | undefined;
  #failure: { reason: unknown } | undefined;
  #isCut = false;
  #wake: () => void = () => undefined;
  #end: () => void = () => undefined;
  readonly #cut = new Promise<undefined>((resolve) => {
    this.#end = () => resolve(undefined);
  });

  constructor() {
    this.stream = new ReadableStream<Part>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#wake(),
      // Nothing is reported to a reader that has left.
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
        // No further than a part ahead of the reader: what they never hear of they shall not pay for.
        if (!(await this.#isRead())) return;
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

  /** Whether it is read on; waits for that, but not for ever. */
  async #isRead(): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    while (this.#controller && (this.#controller.desiredSize ?? 0) <= 0 && !this.#failure) {
      const pulled = new Promise<void>((resolve) => (this.#wake = resolve));
      timer ??= setTimeout(() => this.cut(new Error('The reader stopped reading.')), READER_TIMEOUT_MS);
      await Promise.race([pulled, this.#cut]);
    }
    clearTimeout(timer);
    return this.#controller !== undefined && !this.#failure;
  }

  /** It is paid for. */
  end(metadata: Metadata | undefined): void {
    if (this.#failure) return this.fail(this.#failure.reason);
    if (this.#finish) this.#controller?.enqueue({ ...this.#finish, providerMetadata: { ...this.#finish.providerMetadata, ...metadata } });
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
