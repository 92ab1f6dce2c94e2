import { invalidClient, invalidRequest } from "./failure.ts";
import type { Form } from "./form.ts";

/** Who a request says it comes from. */
export interface Credentials {
  readonly clientId: string;
  /** Null where none was shown. */
  readonly secret: string | null;
}

/**
 * A client's credentials, in the body or in `Authorization: Basic`, never both (RFC 6749 2.3).
 *
 * @throws OAuthFailure `invalid_request` or, for a header that is not to be read, `invalid_client`.
 */
export function credentialsOf(authorization: string | undefined, form: Form): Credentials {
  const inBody = { id: form.get("client_id") ?? null, secret: form.get("client_secret") ?? null };
  if (authorization === undefined) {
    if (inBody.id === null) throw invalidRequest("client_id is missing");
    return { clientId: inBody.id, secret: inBody.secret };
  }
  const basic = basicOf(authorization);
  if (inBody.secret !== null) throw invalidRequest("a request authenticates in one way, this one in two");
  if (inBody.id !== null && inBody.id !== basic.clientId) throw invalidRequest("client_id is not the one that authenticates");
  return basic;
}

/** Both parts are form-decoded after base64 (RFC 6749 2.3.1). */
function basicOf(authorization: string): Credentials {
  const [, encoded] = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization) ?? [];
  const [, id, secret] = /^([^:]+):(.*)$/s.exec(Buffer.from(encoded ?? "", "base64").toString("utf8")) ?? [];
  if (id === undefined || secret === undefined) throw invalidClient();
  return { clientId: formDecoded(id), secret: formDecoded(secret) || null };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw invalidClient();
  }
}
