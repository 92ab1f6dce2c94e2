import type { JsonObject } from "@bufbuild/protobuf";
import type { ScopeName } from "../../src/core/accounts/caller.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import type { Person } from "../support/service.ts";
import { entries, noInput, type Prepare } from "./entry.ts";

const app = { name: "Garden", redirect_uris: ["https://a.example/cb"] };

const clientId = async (person: Person): Promise<JsonObject> => {
  const made = await person
    .client(OAuth2AppService)
    .createOAuth2App({ name: app.name, redirectUris: app.redirect_uris });
  return { client_id: made.app?.clientId ?? "" };
};

/** An app with a grant of the person. */
const grantedId: Prepare = async (person, store) => grantOf(person, store, []);

/** An app with a grant of the person that includes connectors. */
const connectableId: Prepare = async (person, store) => grantOf(person, store, ["use_connectors"]);

const grantOf = async (person: Person, store: Store, scopes: readonly ScopeName[]): Promise<JsonObject> => {
  const { client_id } = await clientId(person);
  const { accountId, spaceId } = person;
  const grant = {
    id: systemIds.short(),
    accountId,
    spaceId,
    clientId: String(client_id),
    scopes,
    connectorUids: [],
  };
  await store.change((tx) => tx.grants.lock({ ...grant, generation: 1, createdAt: 1, updatedAt: 1 }));
  return { client_id: String(client_id) };
};

/** `oauth.v2.OAuth2AppService`. */
export const appEntries = entries(OAuth2AppService, {
  createOAuth2App: ["settings/apps", async () => app],
  getOAuth2App: ["settings/apps", clientId],
  listOAuth2Apps: ["settings/apps", noInput],
  updateOAuth2App: ["settings/apps", async (person) => ({ ...(await clientId(person)), name: "Orchard" })],
  deleteOAuth2App: ["settings/apps", clientId],
  createOAuth2AppSecret: ["settings/apps", clientId],
  listOAuth2AppSecrets: ["settings/apps", clientId],
  revokeOAuth2AppSecret: [
    "settings/apps",
    async (person) => {
      const { client_id } = await clientId(person);
      const { data } = await person
        .client(OAuth2AppService)
        .listOAuth2AppSecrets({ clientId: String(client_id) });
      return { client_id: String(client_id), secret_id: data[0]?.id ?? "" };
    },
  ],
  listOAuth2AppUsers: ["settings/app-users", clientId],
  updateOAuth2GrantConnectors: ["settings/app-users", connectableId],
  listOAuth2Grants: ["settings/grants", noInput],
  revokeOAuth2Grant: ["settings/grants", grantedId],
  getOAuth2ClientPolicy: ["oauth/unverified", noInput],
  setOAuth2ClientPolicy: ["oauth/unverified", async () => ({ allow_unverified_clients: false })],
});
