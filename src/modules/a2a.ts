import { version } from "../config/version.ts";
import { pushConfigs } from "../core/push/push-configs.ts";
import { profilesOf } from "../core/tasks/profile.ts";
import type { RpcDoor } from "../http/rpc-door.ts";
import type { Door } from "../http/unrouted.ts";
import { type CardParts, createAgents } from "../protocols/a2a/agents.ts";
import { type A2aParts, a2aRoutes } from "../protocols/a2a/http/route.ts";
import { a2aService } from "../protocols/a2a/http/rpc.ts";
import type { FileParts } from "./files.ts";
import type { ProcessContext } from "./process-context.ts";
import { type PushNews, pushNews } from "./push.ts";

/** What A2A shares with the other wires. */
type A2aCalls = Pick<A2aParts, "operations" | "admit" | "performer" | "performWith" | "readRequest" | "report" | "anonymous"> &
  Pick<CardParts, "keys">;

/** The door for clients of the Agent2Agent protocol: its routes of HTTP, and its service of gRPC. */
export function createA2a(
  { config, store, clock, ids, cipher }: ProcessContext,
  { uploads, blobs }: FileParts,
  { keys, ...calls }: A2aCalls,
): { readonly routes: Door; readonly service: RpcDoor; readonly pushes: Pick<PushNews, "onCreated"> } {
  const { baseUrl, bodyLimit, agentProfiles, a2aProfiles: publicProfiles } = config;
  const agents = createAgents({ baseUrl, version, profiles: profilesOf(Object.keys(agentProfiles)), publicProfiles, keys });
  const news = pushNews();
  const rules = { plainLoopback: config.webhookAllow.some(({ kind }) => kind === "loopback") };
  const pushes = pushConfigs({ clock, ids, cipher, rules, created: news.created });
  const parts = { ...calls, agents, pushes, store, clock, uploads, blobs, bodyLimit };
  return { routes: (app) => a2aRoutes(app, parts), service: a2aService(parts), pushes: news };
}
