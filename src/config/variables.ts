import { objectStorage } from "./bucket.ts";
import { models } from "./models.ts";
import { addresses, listening, outgoing } from "./network.ts";
import { prices } from "./prices.ts";
import { mail, singleSignOn, teams } from "./sign-in.ts";
import { sites } from "./sites.ts";
import { data, files } from "./storage.ts";
import { agents, callLimits, oauth, processing, responses } from "./work.ts";

/** Every variable, by its heading in the documentation. */
export const variableGroups = {
  Listening: listening,
  Addresses: addresses,
  Data: data,
  "Files in a bucket": objectStorage,
  "Single sign-on": singleSignOn,
  Mail: mail,
  Teams: teams,
  Limits: callLimits,
  "Responses API": responses,
  Files: files,
  Websites: sites,
  "OAuth 2.0": oauth,
  Agents: agents,
  Credits: prices,
  Models: models,
  "Outgoing requests": outgoing,
  Process: processing,
} as const;
