import type { Random } from "../core/ids.ts";
import { beginDevice, deviceMs, devicePagePath, pollMs } from "../core/oauth/device.ts";
import { shownUserCode } from "../core/oauth/user-code.ts";
import { network } from "../pipeline/limit.ts";
import { type Endpoint, endpoint, type OAuthParts } from "./endpoint.ts";
import { OAuthFailure } from "./failure.ts";

/** `POST /oauth/device_authorization` (RFC 8628 3.1, spec/api.md 8.113). */
export function deviceEndpoint(parts: OAuthParts & { random: Random }): Endpoint {
  const { store, random, issuer, consentUrl } = parts;
  return endpoint(parts, {
    name: "device_authorization",
    hasIssuedToken: async () => false,
    async answer(client, { form, now, address }) {
      const asked = { scope: form.get("scope") ?? null, resource: form.get("resource") ?? null };
      const input = { ...client, ...asked, network: network(address), address, issuer };
      const begun = await store.change((tx) => beginDevice(tx, { now, random }, input));
      if ("refused" in begun) throw new OAuthFailure(begun);
      const page = `${consentUrl}${devicePagePath}`;
      const shown = shownUserCode(begun.userCode);
      return {
        device_code: begun.deviceCode,
        user_code: shown,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${shown}`,
        expires_in: deviceMs / 1000,
        interval: pollMs / 1000,
      };
    },
  });
}
