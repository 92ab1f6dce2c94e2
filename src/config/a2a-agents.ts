import { readFileSync } from "node:fs";
import { z } from "zod";
import { type AllowedAddresses, allowedAddresses } from "./address-range.ts";
import { filePath } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

/** An agent of another system that is reached by A2A 1.0. */
export interface A2aAgentConfig {
  /** The address of its JSON-RPC binding. */
  readonly url: string;
  /** The agent at this address, as its card names it; empty: the only one. */
  readonly tenant: string;
  /** Sent with each request; values may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Addresses that need not be public. */
  readonly allow: readonly AllowedAddresses[];
  /** A request counts as lost when the agent sends nothing for this many seconds. */
  readonly idleSeconds: number;
  /** The longest run. */
  readonly minutes: number;
}

/** Agents of other systems. */
export const a2aAgents = {
  A2A_AGENTS_FILE: defineVariable({
    type: "JSON file",
    fallback: null,
    unset: "no agent of another system",
    rule: "the path of a JSON file that describes agents by name, as documented in docs/guides/a2a.md",
    example: "/etc/agent-task-platform/a2a-agents.json",
    description:
      "The agents of other systems that AGENT_PROFILES can name as `a2a:NAME`. [docs/guides/a2a.md](../guides/a2a.md#agents-of-other-systems-as-profiles) documents the file.",
    schema: filePath,
  }),
};

const must = (rule: string) => ({ error: `must be ${rule}` });
const wholeNumber = (most: number) =>
  z
    .int(must(`a whole number from 1 to ${most}`))
    .min(1)
    .max(most);

const agentSchema = z.strictObject({
  url: z
    .string(must("an http or https URL"))
    .max(2_000)
    .refine(isPlainUrl, must("an http or https URL without user information and fragment")),
  tenant: z
    .string()
    .regex(/^[\x21-\x7e]{0,300}$/, must("printable ASCII without spaces"))
    .default(""),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9-]{1,64}$/, must("the name of a header")),
      z.string().regex(/^[\x20-\x7e]{0,4096}$/, must("printable ASCII")),
    )
    .default({}),
  allow: z.string().pipe(allowedAddresses).default([]),
  idle_seconds: wholeNumber(3_600).default(120),
  minutes: wholeNumber(1_440).default(60),
});

const fileSchema = z.record(
  z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, must("a name of lower-case letters, digits and hyphens")),
  agentSchema,
);

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === "";
}

/**
 * Reads the agents of A2A_AGENTS_FILE by name. Each problem is noted with its path in the file. Values are
 * not shown: they may be secret.
 */
export function readA2aAgents(reader: Reader): Readonly<Record<string, A2aAgentConfig>> {
  const { A2A_AGENTS_FILE } = reader.read(a2aAgents);
  if (A2A_AGENTS_FILE === null) return {};
  const note = (text: string) =>
    reader.noteProblem("A2A_AGENTS_FILE", `A2A_AGENTS_FILE ${A2A_AGENTS_FILE}: ${text}`);
  const parsed = fileSchema.safeParse(readJson(A2A_AGENTS_FILE, note) ?? {});
  for (const issue of parsed.error?.issues ?? []) note(`${issue.path.join(".") || "it"}: ${issue.message}`);
  const entries = Object.entries(parsed.data ?? {}).map(
    ([name, { idle_seconds: idleSeconds, ...agent }]) => [name, { ...agent, idleSeconds }] as const,
  );
  return Object.fromEntries(entries);
}

function readJson(path: string, note: (text: string) => void): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (thrown) {
    return void note(thrown instanceof SyntaxError ? "is not JSON" : "cannot be read");
  }
}
