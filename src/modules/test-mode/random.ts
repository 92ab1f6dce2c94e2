import { AsyncLocalStorage } from "node:async_hooks";
import { createCipheriv, createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Random } from "../../core/ids.ts";

/** A stream of bytes that a seed decides. */
function stream(seed: string): Random {
  const cipher = createCipheriv("aes-256-ctr", createHash("sha256").update(seed).digest(), Buffer.alloc(16));
  return (bytes) => cipher.update(Buffer.alloc(bytes));
}

/** Random bytes that a seed decides, the same ones for the same call. */
export interface SeededRandom {
  readonly random: Random;
  /**
   * Runs a call, and the work that it begins, with a separate stream: that of its idempotency key and its
   * credential, or else of its place among the calls without a key.
   */
  within(request: Pick<IncomingMessage, "headers" | "url">, work: () => void): void;
  /** Changes are committed in groups: the work of each has the stream of its call. */
  bind<T extends readonly unknown[], R>(work: (...parts: T) => R): (...parts: T) => R;
  /** Begins again. */
  restart(): void;
}

const credentials = ["authorization", "x-service-api-key", "api_key", "cookie"];

export function seededRandom(seed: string): SeededRandom {
  const current = new AsyncLocalStorage<Random | undefined>();
  const uses = new Map<string, number>();
  let background = stream(`${seed} background`);

  function nameOf({ headers, url }: Pick<IncomingMessage, "headers" | "url">): string {
    const key = headers["idempotency-key"];
    const name =
      key === undefined ? "call" : JSON.stringify([key, url, credentials.map((each) => headers[each])]);
    const use = uses.get(name) ?? 0;
    uses.set(name, use + 1);
    return `${seed} ${name} ${use}`;
  }

  return {
    random: (bytes) => (current.getStore() ?? background)(bytes),
    within: (request, work) => current.run(stream(nameOf(request)), work),
    bind(work) {
      const own = current.getStore();
      return (...parts) => current.run(own, () => work(...parts));
    },
    restart() {
      background = stream(`${seed} background`);
      uses.clear();
    },
  };
}
