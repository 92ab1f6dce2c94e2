import { Failure } from "../../core/failure.ts";
import { nearest } from "../../core/nearest.ts";
import type { OperationTable } from "../../operations.ts";

/** What an operation's word is called elsewhere; of several that fit, the first in this order is meant. */
const synonyms: readonly (readonly [word: string, others: readonly string[]])[] = [
  ["detail", ["get", "show", "read", "retrieve", "fetch", "view", "describe", "info"]],
  ["me", ["get", "show", "info", "whoami", "self", "current"]],
  ["status", ["get", "show", "state"]],
  ["list", ["get", "find", "search", "all", "index", "query", "show"]],
  ["create", ["new", "add", "make", "start", "submit", "run", "post", "register"]],
  ["upload", ["create", "new", "add", "put", "post"]],
  ["delete", ["remove", "destroy", "erase"]],
  ["remove", ["delete", "destroy", "erase"]],
  ["update", ["edit", "patch", "set", "change", "put", "modify"]],
  ["stop", ["cancel", "abort", "end", "kill", "terminate"]],
  ["watch", ["stream", "subscribe", "follow", "event", "listen"]],
  ["send", ["reply", "answer", "continue", "post", "add", "create"]],
  ["confirm", ["approve", "accept", "allow"]],
  ["ping", ["test"]],
];

/** Longer names are not searched for, and are cut in the answer. */
const nameMax = 64;

/**
 * The refusal of an address that no operation has. Below `/v2/` it names the operation that was probably meant: one
 * that says the same in other words (`task.get`, `/v2/tasks`, `/v2/task/create`, `createTask`), or is spelt almost so.
 *
 * @returns what takes the URL's path and query.
 */
export function unknownOperation({ all }: OperationTable): (url: string) => Failure {
  const names = all.flatMap(({ name }) => name ?? []).toSorted();
  const words = new Map(names.map((name) => [name, wordsIn(name)]));
  function meantBy(given: readonly string[]): string | undefined {
    let best: { readonly name: string; readonly rank: number } | undefined;
    for (const [name, own] of words) {
      const rank = rankOf(given, own);
      if (rank < (best?.rank ?? Number.POSITIVE_INFINITY)) best = { name, rank };
    }
    return best?.name;
  }
  return (url) => {
    const [, given = ""] = /^\/v2\/([^?#]*)/.exec(url) ?? [];
    const shown = given.slice(0, nameMax).replaceAll(/[^\x21-\x7e]/g, "?");
    if (shown === "") return new Failure("absent", "unknown operation");
    const meant = given.length > nameMax ? undefined : (meantBy(wordsIn(given)) ?? nearest(given.replaceAll("/", "."), names));
    return new Failure("absent", `unknown operation ${shown}${meant === undefined ? "" : `; did you mean ${meant}?`}`);
  };
}

/** `task.listMessages`, `/tasks/list_messages` and `listTaskMessages` have the same words in some order; plurals are as good. */
const wordsIn = (name: string): string[] =>
  name
    .replaceAll(/([a-z])([A-Z])/g, "$1.$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "")
    .map((word) => word.replace(/([^su])s$/, "$1"));

/** How far an operation is from what was written, 0 for the same words; infinite where it is another thing. */
function rankOf(given: readonly string[], operation: readonly string[]): number {
  const left = [...operation];
  const take = (word: string): boolean => left.includes(word) && left.splice(left.indexOf(word), 1).length > 0;
  let rank = 0;
  for (const word of given.filter((one) => !take(one))) {
    const place = synonyms.findIndex(([meant, others]) => others.includes(word) && take(meant));
    if (place === -1) return Number.POSITIVE_INFINITY;
    rank += place + 1;
  }
  return left.length === 0 ? rank : rank + rankOfHalf(given, left);
}

/** A name may leave a word out: `tasks` and `task.messages` are lists, `task.send` is `task.sendMessage`. */
function rankOfHalf(given: readonly string[], left: readonly string[]): number {
  if (given.length === 0 || left.length > 1) return Number.POSITIVE_INFINITY;
  if (left[0] === "list") return 100;
  return given.length > 1 ? 200 : Number.POSITIVE_INFINITY;
}
