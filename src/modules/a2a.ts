import { version } from "../config/version.ts";
import { pushConfigs } from "../core/push/push-configs.ts";
import type { ProtocolService } from "../http/protocol-service.ts";
import type { ProtocolRoutes } from "../http/unrouted.ts";
import { type CardParts, createAgents } from "../protocols/a2a/agents.ts";
import { type A2aParts, a2aRoutes } from "../protocols/a2a/http/route.ts";
import { a2aService } from "../protocols/a2a/http/rpc.ts";
import type { FileParts } from "./file-parts.ts";
import type { ProcessContext } from "./process-context.ts";
import { configuredProfiles } from "./profiles.ts";
import { plainLoopback } from "./sending.ts";

/** What A2A shares with the other wires. */
type A2aCalls = Pick<
  A2aParts,
  "operations" | "admit" | "performer" | "performWith" | "readRequest" | "report" | "anonymous"
> &
  Pick<CardParts, "keys">;

/** The protocol of clients of the Agent2Agent protocol: its routes of HTTP, and its service of gRPC. */
export function createA2a(
  { config, store, clock, ids, cipher }: ProcessContext,
  { uploads, blobs }: FileParts,
  { keys, ...calls }: A2aCalls,
  pushCreated: (taskId: string) => void,
): { routes: ProtocolRoutes; service: ProtocolService } {
  const { baseUrl, bodyLimit, a2aProfiles } = config;
  const agents = createAgents({
    baseUrl,
    version,
    profiles: configuredProfiles(config),
    publicProfiles: a2aProfiles,
    keys,
  });
  const pushes = pushConfigs({ clock, ids, cipher, rules: plainLoopback(config), created: pushCreated });
  const parts = { ...calls, agents, pushes, store, clock, uploads, blobs, bodyLimit };
  return { routes: (app) => a2aRoutes(app, parts), service: a2aService(parts) };
}
