import { findNearest } from "../core/nearest.ts";
import { isReservedProfile, publicNames } from "../core/tasks/profile.ts";
import { a2aName, isA2aAgent, isModelAgent, modelName } from "./agent-profiles.ts";
import { addresses, listening } from "./network.ts";
import { search } from "./search.ts";
import type { Config } from "./shape.ts";
import { isSameSite, sites } from "./sites.ts";
import { data } from "./storage.ts";
import type { Reader } from "./variable.ts";
import { processing } from "./work.ts";

/** Checks rules that involve several variables. */
export function checkTogether(
  config: Config,
  { noteInvalid, require, noteProblem, isSet, isRefused }: Reader,
): void {
  for (const [name, url] of [
    ["BASE_URL", config.baseUrl],
    ["CONSENT_URL", config.consentUrl],
  ] as const) {
    // A CONSENT_URL that defaults to BASE_URL is reported once. A BASE_URL that is made from HOST is reported
    // as BASE_URL.
    if (!isProtected(url) && (name === "BASE_URL" || isSet(name))) noteInvalid(addresses, name, url);
  }
  const unknown = Object.values(config.agentProfiles).find(
    (agent) => isModelAgent(agent) && !Object.hasOwn(config.models, modelName(agent)),
  );
  if (unknown !== undefined)
    noteProblem("AGENT_PROFILES", `AGENT_PROFILES names ${unknown}, which MODELS_FILE does not have`);
  const absent = Object.values(config.agentProfiles).find(
    (agent) => isA2aAgent(agent) && !Object.hasOwn(config.a2aAgents, a2aName(agent)),
  );
  if (absent !== undefined)
    noteProblem("AGENT_PROFILES", `AGENT_PROFILES names ${absent}, which A2A_AGENTS_FILE does not have`);
  for (const profile of Object.keys(config.agentProfiles)) {
    if (isReservedProfile(profile) && !publicNames.includes(profile))
      noteProblem("AGENT_PROFILES", reservedProfile(profile));
  }
  const strange = config.a2aProfiles.find(
    (name) => !publicNames.includes(name) && !Object.hasOwn(config.agentProfiles, name),
  );
  if (strange !== undefined)
    noteProblem("A2A_PROFILES", `A2A_PROFILES names ${strange}, which is not a profile of AGENT_PROFILES`);
  const { sitesDomain, consentUrl } = config;
  if (!isRefused("SITES_DOMAIN") && URL.canParse(consentUrl) && isSameSite(sitesDomain, consentUrl))
    noteInvalid(sites, "SITES_DOMAIN", sitesDomain);
  const onPostgres = config.database === "postgresql";
  if (
    config.role !== "all" &&
    onPostgres &&
    config.bucket === null &&
    !config.isDataDirShared &&
    !isSet("S3_BUCKET")
  ) {
    const text = `ROLE=${config.role} needs files that all processes can read: set S3_BUCKET, or DATA_DIR_SHARED=true when DATA_DIR is one folder for all processes`;
    noteProblem("DATA_DIR_SHARED", text);
  }
  if (config.role !== "all" && !onPostgres) noteInvalid(processing, "ROLE", config.role);
  if (config.search?.provider === "searxng") require(search, "SEARCH_URL");
  else if (config.search !== null) require(search, "SEARCH_KEY");
  if (onPostgres) require(data, "ENCRYPTION_KEY");
  if (!isRefused("BODY_MEMORY", "BODY_LIMIT") && config.bodyMemory < 2 * config.bodyLimit) {
    noteProblem(
      "BODY_MEMORY",
      `BODY_MEMORY must be at least twice BODY_LIMIT (they are ${config.bodyMemory} and ${config.bodyLimit} bytes)`,
    );
  }
  if (!isRefused("PORT") && config.admin?.port === config.port)
    noteInvalid(listening, "ADMIN_PORT", `${config.port}`);
}

function reservedProfile(profile: string): string {
  const suggestion = findNearest(profile, publicNames);
  const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
  return `AGENT_PROFILES names the profile ${profile}, a name of the public API that is none of ${publicNames.join(", ")}${hint}`;
}

/**
 * These URLs carry tokens, codes and sessions: plain http is allowed on this machine only (spec/oauth.md 12,
 * RFC 6749 3.1, 3.2).
 */
function isProtected(url: string): boolean {
  if (!URL.canParse(url)) return true; // refused already
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
