// oidc-provider with its in-memory adapter: opaque tokens, no ID tokens, rotating refresh tokens.
// Plain JavaScript, because its packages may not be installed.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import Provider from "oidc-provider";
import MemoryAdapter from "oidc-provider/lib/adapters/memory_adapter.js";

const port = Number(process.env.PORT);
const clientId = "bench";
const redirectUri = "https://app.example/cb";
const scope = "create_task manage_all_tasks";

/** Its adapter on a map: the default storage keeps only the last thousand entries. */
const storage = new Map();
class Adapter extends MemoryAdapter {
  constructor(model) {
    super(model, storage);
  }
}

const monthSeconds = 30 * 24 * 3600;
const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter: Adapter,
  clients: [
    {
      client_id: clientId,
      client_secret: "a-secret-of-the-benchmark",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "client_secret_post",
    },
  ],
  scopes: scope.split(" "),
  features: { introspection: { enabled: true }, devInteractions: { enabled: false } },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  // Grants are created below instead of by consent.
  pkce: { required: () => false },
  ttl: { AccessToken: 24 * 3600, AuthorizationCode: 600, Grant: monthSeconds, RefreshToken: monthSeconds },
});
const client = await provider.Client.find(clientId);

/** Creates a grant with one code, refresh token or access token, as consent would. */
async function createToken(kind) {
  const accountId = randomUUID();
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(scope);
  const common = { accountId, client, grantId: await grant.save(), scope, gty: "authorization_code" };
  const Model = provider[kind];
  return new Model(kind === "AuthorizationCode" ? { ...common, redirectUri } : common).save();
}

const answer = provider.callback();
const server = createServer(async (request, response) => {
  if (request.url !== "/made") return answer(request, response);
  const { kind, count } = await json(request);
  const texts = [];
  while (texts.length < count) texts.push(await createToken(kind));
  response.end(JSON.stringify({ texts }));
});
server.listen({ port, host: "127.0.0.1", backlog: 4096 }, () => process.stdout.write("peer ready\n"));
