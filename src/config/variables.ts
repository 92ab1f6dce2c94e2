import { a2aAgents } from "./a2a-agents.ts";
import { objectStorage } from "./bucket.ts";
import { models } from "./models.ts";
import { addresses, listening, outgoing } from "./network.ts";
import { pdf } from "./pdf.ts";
import { permissions } from "./permissions.ts";
import { prices } from "./prices.ts";
import { retention } from "./retention.ts";
import { sandbox } from "./sandbox.ts";
import { search } from "./search.ts";
import { mail, singleSignOn, teams } from "./sign-in.ts";
import { console, sites } from "./sites.ts";
import { settingsFile } from "./sources.ts";
import { speech } from "./speech.ts";
import { data, files } from "./storage.ts";
import { telemetry } from "./telemetry.ts";
import { a2a, agents, callLimits, oauth, processing, responses } from "./work.ts";

/** Every variable, by its heading in the documentation. */
export const variableGroups = {
  Listening: listening,
  Addresses: addresses,
  Data: data,
  Retention: retention,
  "Files in a bucket": objectStorage,
  "Single sign-on": singleSignOn,
  Mail: mail,
  Teams: teams,
  Limits: callLimits,
  "Responses API": responses,
  Files: files,
  PDF: pdf,
  Websites: sites,
  Console: console,
  "OAuth 2.0": oauth,
  Agents: { ...agents, ...sandbox },
  A2A: { ...a2a, ...a2aAgents },
  Credits: prices,
  Models: { ...models, ...permissions },
  Speech: speech,
  Search: search,
  "Outgoing requests": outgoing,
  Process: processing,
  Telemetry: telemetry,
  "Settings in a file": settingsFile,
} as const;
