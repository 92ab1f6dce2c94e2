import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { invalidArgument } from "../../core/failure.ts";
import { stableJson } from "../../core/json-digest.ts";
import { algorithm, type SigningKeys } from "../../core/oauth/signing-key.ts";
import type { Profiles, ProfileText } from "../../core/tasks/profile.ts";
import {
  type AgentCard,
  AgentCardSchema,
  AgentCardSignatureSchema,
} from "../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { basePath, eventsExtension, protocolVersion } from "./protocol.ts";

/** What cards say about this installation. */
export interface CardParts {
  readonly baseUrl: string;
  readonly version: string;
  readonly profiles: Profiles;
  /** The profiles that public cards name, the main one first; empty: there are no public cards. */
  readonly publicProfiles: readonly string[];
  readonly keys: Pick<SigningKeys, "current">;
}

export interface CardSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** The agents of the installation: its profiles. In requests the tenant names one. */
export interface Agents {
  /** The profile of a tenant; undefined for no tenant. @throws Failure `invalid_argument` */
  profileOf(tenant: string): string | undefined;
  /** The public card of a profile, or of the main one; null without a public card. */
  publicCard(name: string | undefined): Promise<AgentCard | null>;
  /** A card for a caller with a credential. @param text the texts of the caller's space. */
  card(text: ProfileText, skills: readonly CardSkill[]): Promise<AgentCard>;
}

export function createAgents({ baseUrl, version, profiles, publicProfiles, keys }: CardParts): Agents {
  const card = (text: ProfileText, skills: readonly CardSkill[] = []) =>
    sign(create(AgentCardSchema, cardOf(text, skills, baseUrl, version)), keys, baseUrl);
  return {
    card,
    profileOf(tenant) {
      if (tenant === "") return undefined;
      if (!profiles.names.includes(tenant))
        throw invalidArgument("tenant", "is not the name of an agent profile");
      return tenant;
    },
    async publicCard(name = publicProfiles[0]) {
      return name !== undefined && publicProfiles.includes(name) ? card(profiles.textOf(name)) : null;
    },
  };
}

const modes = ["text/plain", "application/json", "application/octet-stream"];

const cardOf = (
  { id, title, description }: ProfileText,
  skills: readonly CardSkill[],
  baseUrl: string,
  version: string,
): MessageInitShape<typeof AgentCardSchema> => ({
  name: title,
  description: description || `Works independently on tasks, as the profile ${id}.`,
  version,
  supportedInterfaces: [
    { url: `${baseUrl}${basePath}`, protocolBinding: "JSONRPC", tenant: id, protocolVersion },
    { url: `${baseUrl}${basePath}`, protocolBinding: "HTTP+JSON", tenant: id, protocolVersion },
    { url: authorityOf(baseUrl), protocolBinding: "GRPC", tenant: id, protocolVersion },
  ],
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extendedAgentCard: true,
    extensions: [
      {
        uri: eventsExtension,
        description:
          "Each update has an event of the platform with its seq. The header Last-Event-ID continues a subscription after a seq.",
      },
    ],
  },
  // API keys are accepted as bearer tokens, too. No empty lists: SDKs disagree on them in the canonical form.
  securitySchemes: { bearer: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } } },
  securityRequirements: [{ schemes: { bearer: { list: ["create_task"] } } }],
  defaultInputModes: modes,
  defaultOutputModes: modes,
  skills: [
    {
      id: "task",
      name: "Tasks",
      description: "Works on a task until it is done, and asks when something is missing.",
      tags: ["tasks"],
    },
    ...skills.map((skill) => ({ ...skill, tags: ["skill"] })),
  ],
});

/** Host and port: clients of gRPC take no URL. */
function authorityOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** Signs a card: a JWS of its canonical JSON without signatures (A2A 1.0, 8.4; RFC 7515, RFC 8785). */
async function sign(card: AgentCard, keys: CardParts["keys"], baseUrl: string): Promise<AgentCard> {
  const { kid, key } = await keys.current();
  // A card has texts, lists and booleans only, so that sorted members make it canonical.
  const payload = stableJson(toJson(AgentCardSchema, card));
  const { FlattenedSign } = await import("jose");
  const jws = await new FlattenedSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg: algorithm, typ: "JOSE", kid, jku: `${baseUrl}/oauth/jwks` })
    .sign(key);
  card.signatures = [
    create(AgentCardSignatureSchema, { protected: jws.protected ?? "", signature: jws.signature }),
  ];
  return card;
}
