import { systemIds } from "../../src/core/ids.ts";
import type { OAuthApp } from "../../src/core/oauth/app.ts";

/** An app as `settings` would have made it: of Ann's team in the north unless told otherwise. */
export const sampleApp = (members: Partial<OAuthApp> = {}): OAuthApp => ({
  clientId: `client_${systemIds.short()}`,
  spaceId: "north",
  creatorId: "ann",
  name: "Post office",
  description: "",
  redirectUris: ["https://app.example/cb"],
  homepageUrl: "https://app.example",
  webhookUrl: null,
  scopes: ["create_task", "create_project"],
  connectorUids: [],
  skillIds: [],
  confidentialOnly: false,
  loopbackAnyPort: false,
  generation: 1,
  createdAt: 1000,
  updatedAt: 1000,
  ...members,
});
