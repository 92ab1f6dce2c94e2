import { revokeToken } from "../core/oauth/revoke.ts";
import { type Endpoint, endpoint, type OAuthParts, shownToken } from "./endpoint.ts";
import { OAuthFailure } from "./failure.ts";
import { needed } from "./token.ts";

/** `POST /oauth/revoke` (contract/oauth.md 6, RFC 7009): 200 whenever the client is right, whatever the token. The hint is not needed. */
export function revokeEndpoint(parts: OAuthParts): Endpoint {
  const { store, ids } = parts;
  return endpoint(parts, {
    name: "revoke",
    async proves(clientId, form) {
      const { refreshFamilyId, access } = await shownToken(parts, clientId, form.get("token") ?? "");
      return refreshFamilyId !== null || access !== null;
    },
    async answer(client, { form, now, requestId, address }) {
      const shown = await shownToken(parts, client.client.clientId, needed(form, "token"));
      const result = await store.change((tx) => revokeToken(tx, { now, ids, requestId, address }, client, shown));
      if (result !== null) throw new OAuthFailure(result);
      return {};
    },
  });
}
