import type { Caller } from "../accounts/caller.ts";
import { findWebUrlFault, parseUri } from "../addresses/address.ts";
import { Failure, invalidArgument } from "../failure.ts";
import { connectorById, myBrowserId } from "./catalogue.ts";
import type { ConnectorServer } from "./connector.ts";
import { type Credentials, noTokens } from "./server.ts";

export type ServerInput =
  | {
      readonly kind: "http";
      readonly url: string;
      readonly header?: { name: string; value: string };
      /** The platform's client at the authorization server; an empty id: not registered. */
      readonly oauth?: { clientId: string; clientSecret: string };
    }
  | { readonly kind: "command"; readonly name: string }
  | { readonly kind: "none" };

export interface ServerRules {
  /** Allows plain http to this machine. */
  readonly plainLoopback: boolean;
  readonly commands: readonly string[];
}

/** A server as stored, and its credentials. */
export interface CheckedServer {
  readonly server: ConnectorServer;
  readonly credentials: Credentials | null;
}

/** Headers that the transport sets. A credential in one of them would break or redirect requests. */
const reservedHeaders =
  /^(host|content-.*|transfer-encoding|connection|upgrade|te|trailer|expect|accept.*|mcp-.*|cookie|origin|referer|user-agent|proxy-.*)$/i;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** @throws Failure `invalid_argument` */
export function checkServer(input: ServerInput, rules: ServerRules): CheckedServer {
  if (input.kind === "none") return { server: { transport: "none" }, credentials: null };
  if (input.kind === "command") {
    if (!rules.commands.includes(input.name))
      throw invalidArgument("command", "is not one that the operator allows");
    return { server: { transport: "stdio", command: input.name }, credentials: null };
  }
  const url = readServerUrl(input.url, rules);
  const { header, oauth } = input;
  if (header) {
    const name = header.name || "Authorization";
    if (reservedHeaders.test(name))
      throw invalidArgument("http.header.name", "is a reserved header, choose another one");
    if (!/^[\x20-\x7e]+$/.test(header.value))
      throw invalidArgument("http.header.value", "must have printable ASCII characters only");
    return {
      server: { transport: "http", url, auth: "header", header: name },
      credentials: { kind: "header", value: header.value },
    };
  }
  if (!oauth) return { server: { transport: "http", url, auth: "none", header: "" }, credentials: null };
  const { clientId, clientSecret } = oauth;
  const client =
    clientId === ""
      ? null
      : { client_id: clientId, ...(clientSecret === "" ? {} : { client_secret: clientSecret }) };
  return {
    server: { transport: "http", url, auth: "oauth", header: "" },
    credentials: { ...noTokens, client },
  };
}

/** Checks the text only. The host's addresses are checked at each connection. */
function readServerUrl(text: string, { plainLoopback }: ServerRules): string {
  const uri = parseUri(text);
  const fault = typeof uri === "string" ? uri : serverUrlFault(text, uri, plainLoopback);
  if (fault !== undefined) throw invalidArgument("http.url", `is not a valid server URL: ${fault}`);
  return text;
}

function serverUrlFault(
  text: string,
  uri: Exclude<ReturnType<typeof parseUri>, string>,
  plainLoopback: boolean,
): string | undefined {
  if (text.includes("#")) return "must have no fragment";
  const isLoopback = loopbackHost.test(uri.authority?.host.toLowerCase() ?? "");
  if (uri.scheme !== "https" && !(plainLoopback && uri.scheme === "http" && isLoopback))
    return "must begin with https://";
  return findWebUrlFault(text, uri);
}

export interface ConnectorInput {
  /** Empty: a connector that is not in the catalogue. */
  readonly uid: string;
  /** Empty: the catalogue's name. */
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly forSpace: boolean;
  readonly isDefault: boolean;
  readonly server: ServerInput;
}

/**
 * Checks that a key installs a connector for its own account only, and not as a default: a leaked key must
 * not reach tasks of other members, or tasks that do not name the connector (spec/decisions.md 65).
 *
 * @throws Failure `permission_denied`
 */
export function checkInstaller(
  { credential }: Pick<Caller, "credential">,
  { forSpace, isDefault }: ConnectorInput,
): void {
  if (credential.kind !== "key" || !(forSpace || isDefault)) return;
  throw new Failure(
    "permission_denied",
    `${forSpace ? "for_space" : "is_default"}: requires a session, not a key`,
  );
}

/** Reads the texts of a connector; the default name is the catalogue's. @throws Failure `invalid_argument` */
export function readConnectorInput({ uid, name, description, category }: ConnectorInput) {
  const known = uid === "" ? undefined : connectorById(uid);
  if (uid !== "" && !known) throw invalidArgument("uid", "is not in the catalogue");
  const texts = { name: name || known?.name || "", description, category };
  for (const [path, text] of Object.entries(texts))
    if (/\p{Cc}|\p{Bidi_Control}/u.test(text)) throw invalidArgument(path, "must have no control characters");
  if (texts.name.trim() === "")
    throw invalidArgument("name", "is required for a connector that is not in the catalogue");
  return { uid, ...texts };
}

/** Checks that an entry of the catalogue may have such a server. @throws Failure `invalid_argument` */
export function checkCatalogueServer(uid: string, { transport }: ConnectorServer): void {
  if (uid === "" && transport === "none")
    throw invalidArgument("http", "a server is required for a connector that is not in the catalogue");
  // Its scope grants it to apps without any granted connector (spec/oauth.md 2), so it must not have a
  // server.
  if (uid === myBrowserId && transport !== "none")
    throw invalidArgument("uid", "is built into the platform and cannot have a server");
}
