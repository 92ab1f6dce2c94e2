import { type ScopeName, scopeNames } from "../../src/core/accounts/caller.ts";
import { Access_Credential } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Operation } from "../../src/pipeline/operations.ts";
import { consentUrl, serverUrl } from "./frame.ts";
import type { Json } from "./schema.ts";

/** What each scope of OAuth allows. */
const scopeTexts: Readonly<Record<ScopeName, string>> = {
  create_task: "Create tasks, and read and change the tasks that the app created.",
  manage_all_tasks: "Read and change all tasks of the user.",
  create_project: "Create projects and read them.",
  use_connectors: "Use the user's connectors in tasks.",
  use_my_browsers: "Use the user's browsers in tasks.",
  profile: "Read the name of the user at /oauth/userinfo.",
  email: "Read the e-mail address of the user at /oauth/userinfo.",
  "approve:task": "Approve actions of agents over the Model Context Protocol, for the user.",
};

export const keyScheme = (description: string, name = "x-service-api-key"): Json => ({
  type: "apiKey",
  in: "header",
  name,
  description,
});

/** The security schemes by the names under which operations refer to them. */
const schemes: Readonly<Record<string, readonly [credential: Access_Credential, scheme: Json]>> = {
  ApiKey: [
    Access_Credential.API_KEY,
    keyScheme(
      "A general API key. `x-manus-api-key`, `x-api-key` and `Authorization: Bearer` are accepted too.",
    ),
  ],
  OAuth: [
    Access_Credential.OAUTH,
    {
      type: "oauth2",
      description: "An access token of an OAuth app, sent as `Authorization: Bearer`.",
      flows: {
        authorizationCode: {
          authorizationUrl: `${consentUrl}/openapi/oauth`,
          tokenUrl: `${serverUrl}/oauth/token`,
          refreshUrl: `${serverUrl}/oauth/token`,
          scopes: Object.fromEntries(scopeNames.map((name) => [name, scopeTexts[name]])),
        },
      },
    },
  ],
  EDiscoveryKey: [
    Access_Credential.EDISCOVERY,
    keyScheme("An e-Discovery and legal hold key of a team.", "x-api-key"),
  ],
  SiemKey: [Access_Credential.SIEM, keyScheme("A SIEM key of a team.", "x-api-key")],
  TeamUserKey: [Access_Credential.TEAM_USER_MGMT, keyScheme("A Team User Management key.", "x-api-key")],
  TeamAssetAuditKey: [Access_Credential.TEAM_ASSET_AUDIT, keyScheme("A Team Asset Audit key.", "x-api-key")],
  TeamAssetManageKey: [
    Access_Credential.TEAM_ASSET_MGMT,
    keyScheme("A Team Asset Management key.", "x-api-key"),
  ],
  WorkerCredential: [
    Access_Credential.WORKER,
    keyScheme("The credential of a worker, `wk-…`. `Authorization: Bearer` is accepted too."),
  ],
};

export const securitySchemes: Json = Object.fromEntries(
  Object.entries(schemes).map(([name, [, scheme]]) => [name, scheme]),
);

/** The credentials that may call, of which one is enough. A token needs one of the operation's scopes. */
export function securityOf({ access }: Operation): readonly Json[] {
  if (access === null) return [];
  return Object.entries(schemes).flatMap(([name, [credential]]): Json[] => {
    if (!access.credentials.has(credential)) return [];
    if (credential !== Access_Credential.OAUTH || access.anyScope.length === 0) return [{ [name]: [] }];
    return access.anyScope.map((scope) => ({ [name]: [scope] }));
  });
}
