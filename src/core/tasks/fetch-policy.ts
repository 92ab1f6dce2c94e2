import type { PermissionRule } from "../permissions/rule.ts";
import type { Tx } from "../store.ts";

/**
 * Which requests an agent may send: none, those that need no approval (`ask`), or any. The first is the
 * strictest.
 */
export const fetchModes = ["off", "ask", "allow"] as const;
export type FetchMode = (typeof fetchModes)[number];

/** The rule for the requests of an agent to addresses that a model chooses. */
export interface FetchPolicy {
  readonly mode: FetchMode;
  /** Patterns of hosts that need no approval, as `hostPattern` returns them. */
  readonly hosts: readonly string[];
  /** True when the operator or the owner has set the mode; absent: it is the installation's default. */
  readonly isSet?: boolean;
}

/** What the owner of a space has set for a profile. Null: as the entry of its model has it. */
export interface ProfileFetch {
  readonly fetch: FetchMode | null;
  readonly fetchHosts: readonly string[] | null;
}

/** What the entry of a model has. The mode is null for the default of the installation. */
export interface EntryFetch {
  readonly fetch: FetchMode | null;
  readonly fetchHosts: readonly string[];
}

/** The most patterns of a policy, and their rule. */
export const hostsMax = 100;
export const hostRule =
  "a host name (docs.example.com), or *. and a host name for all hosts below it (*.example.com)";

/**
 * A pattern in lower case and ASCII (`*.münchen.de` is `*.xn--mnchen-3ya.de`); null for a text that is none.
 */
export function hostPattern(text: string): string | null {
  const [, star = "", name = ""] = /^(\*\.)?([^*/?#@:\\\s]{1,253})$/.exec(text) ?? [];
  const host = URL.parse(`http://${name}/`)?.hostname ?? "";
  if (host === "" || host.endsWith(".") || (star !== "" && !host.includes("."))) return null;
  return star + host;
}

/**
 * Whether a host, or all hosts of a pattern, are in a pattern. `*.example.com` has neither `example.com` nor
 * `badexample.com`.
 */
const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || (outer.startsWith("*.") && inner.replace(/^\*/, "x").endsWith(outer.slice(1)));

/**
 * A policy as rules for the tool `web_fetch`. A mode that neither operator nor owner has set says nothing:
 * then other rules can allow a host, and without one a person is asked.
 */
export function fetchRules({ mode, hosts, isSet }: FetchPolicy): readonly PermissionRule[] {
  const rule = (pattern: string, decision: PermissionRule["decision"]) =>
    ({ tool: "web_fetch", pattern, decision, eachTime: false }) as const;
  if (mode !== "ask") return [rule("*", mode === "off" ? "deny" : "allow")];
  return [...hosts.map((host) => rule(host, "allow")), ...(isSet ? [rule("*", "ask")] : [])];
}

/** The policy of a profile: it can only be stricter than the entry of its model. */
export function strictest(model: FetchPolicy, { fetch, fetchHosts }: ProfileFetch): FetchPolicy {
  const mode =
    fetch !== null && fetchModes.indexOf(fetch) < fetchModes.indexOf(model.mode) ? fetch : model.mode;
  const hosts = fetchHosts === null ? model.hosts : intersect(model.hosts, fetchHosts);
  return { mode, hosts, isSet: model.isSet === true || fetch !== null };
}

function intersect(some: readonly string[], others: readonly string[]): readonly string[] {
  const kept = (from: readonly string[], of: readonly string[]) =>
    from.filter((inner) => of.some((outer) => isWithin(inner, outer)));
  return [...new Set([...kept(some, others), ...kept(others, some)])];
}

/**
 * The setting that a migration of 0.2.0 gave installations from before: their models may send requests as
 * before.
 */
const settingName = "fetch";

/** The mode of models whose entry has none. */
export const defaultFetch = async ({ settings }: Pick<Tx, "settings">): Promise<FetchMode> =>
  (await settings.get(settingName)) === "allow" ? "allow" : "ask";
