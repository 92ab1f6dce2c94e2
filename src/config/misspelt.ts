import { nearest } from "../core/nearest.ts";

/** How names of settings begin, without beginnings that other programs use too (`DATABASE_`, `FILE_`). */
const prefixes =
  /^(AGENT_PROFILES|BODY|CONNECTOR|CONSENT|CORS|DATA_DIR|DELEGATE|DELETED_TASK|DRAIN|ENCRYPTION|FETCH|MAIL|MAX_CONNECTIONS|MODELS|NOTICE|OAUTH|OIDC|OWNER|RATE_LIMITS?|S3|SANDBOX|SIEM|SITES|SMTP|TRUST|WEBHOOK)_/;

/** What container managers make of the names of services: `WEBHOOK_SERVICE_HOST`, `MAIL_PORT_25_TCP_ADDR`. */
const serviceLink = /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP|SCTP))?(_(ADDR|PORT|PROTO))?$/;

/** Usual variables of other programs that happen to be near to a setting. */
const usual: ReadonlySet<string> = new Set(["API_URL", "HOSTS", "POST", "SORT"]);

const shownMax = 64;

/** Names of variables that are no settings and look as if they were meant to be, each with what was probably meant. */
export function misspelt(names: readonly string[], settings: readonly string[]): string[] {
  const unknown = names.filter((name) => !settings.includes(name) && !usual.has(name)).toSorted();
  return unknown.flatMap((name) => {
    const meant = nearest(name, settings);
    if (meant !== undefined) return [`${name} is not a setting; did you mean ${meant}?`];
    return prefixes.test(name) && !serviceLink.test(name)
      ? [`${name.slice(0, shownMax)} is not a setting; docs/configuration.md lists them`]
      : [];
  });
}
