import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { replaceDurably } from "../adapters/storage/durable-file.ts";
import type { Ids, Random } from "../core/ids.ts";
import { keyDigest } from "../core/keys/api-key.ts";
import { firstSignInSetting } from "../core/sign-in/link.ts";
import type { Store, Tx } from "../core/store.ts";
import { createFirstLink } from "../core/use-cases/first-sign-in.ts";
import { initializeInstallation } from "../core/use-cases/initialize-installation.ts";

/** The output for the first start's message. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface FirstKeyParts {
  readonly dataDir: string;
  readonly ownerEmail: string;
  readonly now: () => number;
  readonly ids: Ids;
  readonly random: Random;
}

/** Creates the first API key and shows it. */
export interface FirstKeys {
  /** Creates account, team and key in an empty database, in the change that opens the installation. */
  create(tx: Tx): Promise<void>;
  /**
   * Shows a new key, or the location of an earlier start's unused key. On a terminal, also a link before the
   * first sign-in.
   */
  show(screen: Output, served: Served): Promise<void>;
}

interface Served {
  readonly store: Pick<Store, "change">;
  readonly baseUrl: string;
  readonly pagesUrl: string;
  /** How the operator starts commands, for example `./atp`. */
  readonly program: string;
}

const firstKeyPath = (dataDir: string): string => join(dataDir, "first-key");

/** Deletes the file of the first key, if there is one. */
export const deleteFirstKey = (dataDir: string): Promise<void> => rm(firstKeyPath(dataDir), { force: true });

/**
 * The first key is written to the file `first-key` of the data folder before the change commits. A process
 * that dies in between leaves either no key, or a key that the next start finds and shows. On a terminal the
 * key itself is shown, and then the file is deleted. It is also deleted when the first link has been used: if
 * the process dies before that, the next start deletes it.
 */
export function firstKeys({ dataDir, ownerEmail, now, ids, random }: FirstKeyParts): FirstKeys {
  const path = firstKeyPath(dataDir);
  let newKey: string | null = null;
  let unusedDigest: string | null = null;
  let isLinkUsed = false;

  /** Checks whether the file has the key with this digest. */
  async function find(digest: string): Promise<FirstKey> {
    const stored = await readFile(path, "utf8").catch(() => "");
    return keyDigest(stored.trim()) === digest ? { kind: "kept", path } : { kind: "lost", path };
  }

  return {
    async create(tx) {
      newKey = await initializeInstallation(tx, { now: now(), ids, random }, ownerEmail);
      // A change may be retried: the file always has the key of the last attempt, which is the one that
      // commits.
      if (newKey !== null) await replaceDurably(path, `${newKey}\n`, random);
      else unusedDigest = await tx.keys.onlyUnused();
      isLinkUsed = (await tx.settings.get(firstSignInSetting)) !== null;
    },
    async show(screen, { store, baseUrl, pagesUrl, program }) {
      const isTerminal = screen.isTTY === true;
      if (isLinkUsed) return deleteFirstKey(dataDir);
      const secret = isTerminal
        ? await store.change((tx) => createFirstLink(tx, { now: now(), ids, random }))
        : null;
      const link = secret === null ? null : `${pagesUrl}/link/${secret}`;
      const kept = unusedDigest === null ? null : await find(unusedDigest);
      const first: FirstKey | null =
        newKey === null ? kept : isTerminal ? { kind: "shown", key: newKey } : { kind: "made", path };
      screen.write(messageOf(first, { baseUrl, link, program }));
      if (first?.kind === "shown") await deleteFirstKey(dataDir);
    },
  };
}

/**
 * The state of the first key. "shown" and "made": this start created it, and shows it on a terminal or keeps
 * it in the file. "kept": an earlier start created it, it is unused and still in the file. "lost": it is
 * unused and not in the file.
 */
type FirstKey =
  | { readonly kind: "shown"; readonly key: string }
  | { readonly kind: "made" | "kept" | "lost"; readonly path: string };

interface Shown extends Pick<Served, "baseUrl" | "program"> {
  readonly link: string | null;
}

/**
 * What a start shows: what was made, the link, which most people need, then the key. Empty when there is
 * nothing new to say.
 */
function messageOf(first: FirstKey | null, shown: Shown): string {
  const parts = [
    headingOf(first),
    shown.link === null ? "" : signInMessage(shown.link),
    first === null ? "" : keyMessage(first, shown),
  ];
  const text = parts.join("");
  return text === "" ? "" : `${text}\n${shown.link === null ? signInHint(first, shown.program) : ""}`;
}

function headingOf(first: FirstKey | null): string {
  if (first === null || first.kind === "lost") return "";
  if (first.kind === "kept") return "\nWelcome back. The first API key has not been used yet.\n";
  return "\nWelcome. This is the first start: a team, its owner and an API key were created.\n";
}

/** The link is shown on a terminal only: elsewhere the output can be a log (spec/decisions.md 90). */
const signInMessage = (link: string): string => `
No user has signed in yet. Open this address in a browser within 15 minutes. It works once:

  ${link}
`;

const signInHint = (first: FirstKey | null, program: string): string =>
  first?.kind === "made"
    ? `To sign in with a browser, print a link:\n\n  ${program} user first-link\n\n`
    : "";

/**
 * The information for the first user: base URL, API key, three lines to paste. The
 * key is shown on a terminal only; otherwise the path of its file is shown (spec/decisions.md 22).
 */
function keyMessage(first: FirstKey, { baseUrl, program }: Shown): string {
  if (first.kind === "lost")
    return `
The first API key was never used, and it is not in ${first.path}. If you do not have it, create another:

  ${program} key --name NAME
`;
  const shown = first.kind === "shown" ? first.key : `$(cat '${first.path.replaceAll("'", `'\\''`)}')`;
  return `
  Base URL  ${baseUrl}
  API key   ${first.kind === "shown" ? `${first.key}   (shown only once)` : `in ${first.path}`}

Create a task, read its messages, stop it:

  ATP_KEY=${shown}
  TASK=$(curl -s ${baseUrl}/v2/task.create -H "x-service-api-key: $ATP_KEY" -d '{"message": {"content": "What is 12 * 4?"}}' | sed 's/.*"task_id":"\\([^"]*\\)".*/\\1/')
  curl -s ${baseUrl}/v2/task.listMessages -H "x-service-api-key: $ATP_KEY" -d "{\\"task_id\\": \\"$TASK\\"}"
  curl -s ${baseUrl}/v2/task.stop -H "x-service-api-key: $ATP_KEY" -d "{\\"task_id\\": \\"$TASK\\"}"
`;
}
