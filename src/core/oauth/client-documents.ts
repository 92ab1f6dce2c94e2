import type { OnBehalf } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument } from "../failure.ts";
import type { OAuthApp } from "./app.ts";
import {
  type ClientMetadata,
  isLoopbackRedirect,
  membersOf,
  readClientMetadata,
  unverifiedApp,
} from "./client-metadata.ts";

/** The longest URL that is a client id, in characters. */
const clientIdMax = 512;

/**
 * Whether a client id is the address of a metadata document: https, in normal form, with a path, without user
 * and fragment.
 */
export function isDocumentClientId(text: string): boolean {
  if (text.length > clientIdMax || !text.startsWith("https://") || text.includes("#")) return false;
  const url = URL.parse(text);
  return (
    url !== null && url.href === text && url.pathname !== "/" && url.username === "" && url.password === ""
  );
}

export interface FetchedDocument {
  /** Not checked. */
  readonly json: unknown;
  /** `max-age` of the answer; null when it has none. */
  readonly maxAgeSeconds: number | null;
}

/** Fetches the document of a client. @throws Failure `invalid_argument` */
export type FetchDocument = (url: string, by: OnBehalf) => Promise<FetchedDocument>;

/**
 * Clients that describe themselves by a document at their client id (Client ID Metadata Documents,
 * spec/oauth.md 16.1).
 */
export interface ClientDocuments {
  /**
   * The client of a document.
   *
   * @param address the caller's, whose fetches are counted.
   * @throws Failure `invalid_argument` for a document that cannot be had or breaks a rule, `rate_limited`
   */
  find(clientId: string, address: string): Promise<OAuthApp>;
}

const cachedMax = 1_000;
const minuteMs = 60_000;
const defaultMs = 60 * minuteMs;
const longestMs = 24 * 60 * minuteMs;

interface Parts {
  readonly clock: Pick<Clock, "now">;
  readonly fetch: FetchDocument;
  /** Counts a fetch of an address. @throws Failure `rate_limited` */
  readonly count: (address: string) => Promise<void>;
}

/**
 * Documents are cached as long as their server says, from a minute to 24 hours, and an hour if it says
 * nothing.
 */
export function clientDocuments({ clock, fetch, count }: Parts): ClientDocuments {
  const cached = new Map<string, { app: OAuthApp; until: number }>();

  return {
    async find(clientId, address) {
      const known = cached.get(clientId);
      if (known && clock.now() < known.until) return known.app;
      cached.delete(clientId);
      await count(address);
      const { json, maxAgeSeconds } = await fetch(clientId, {
        accountId: `address ${address}`,
        signal: new AbortController().signal,
      });
      const app = documentApp(clientId, json, clock.now());
      const ms =
        maxAgeSeconds === null ? defaultMs : Math.min(Math.max(maxAgeSeconds * 1000, minuteMs), longestMs);
      cached.set(clientId, { app, until: clock.now() + ms });
      const [oldest] = cached.size > cachedMax ? cached.keys() : [];
      if (oldest !== undefined) cached.delete(oldest);
      return app;
    },
  };
}

/** @throws Failure `invalid_argument` */
function documentApp(clientId: string, json: unknown, now: number): OAuthApp {
  try {
    const members = membersOf(json);
    if (members.get("client_id") !== clientId)
      throw invalidArgument("client_id", "must be equal to the URL of the document");
    if ((members.get("token_endpoint_auth_method") ?? "none") !== "none")
      throw invalidArgument(
        "token_endpoint_auth_method",
        "must be none: clients with a document prove themselves by PKCE",
      );
    return unverifiedApp(
      clientId,
      new URL(clientId).host,
      keepOwn(clientId, readClientMetadata(members)),
      now,
    );
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    throw new Failure("invalid_argument", `the document of the client: ${thrown.message}`);
  }
}

/** Keeps addresses of the client's own origin, and redirects to the user's computer. */
function keepOwn(clientId: string, metadata: ClientMetadata): ClientMetadata {
  const isOwn = (uri: string): boolean => URL.parse(uri)?.origin === new URL(clientId).origin;
  const redirectUris = metadata.redirectUris.filter((uri) => isOwn(uri) || isLoopbackRedirect(uri));
  if (redirectUris.length === 0)
    throw invalidArgument("redirect_uris", "has no URI of the origin of the document or of the loopback");
  return { ...metadata, redirectUris, homepageUrl: isOwn(metadata.homepageUrl) ? metadata.homepageUrl : "" };
}
