import type { JsonObject } from "@bufbuild/protobuf";
import { TeamUserManagementApiV2Service } from "../../src/gen/proto/team/v2/team_user_service_pb.ts";
import type { Person } from "../support/service.ts";

/** Calls a method over Connect as curl does; returns the JSON with the wire's exact names. */
export async function callConnect(url: string, who: Pick<Person, "key">, method: string, body: JsonObject) {
  const headers = { "content-type": "application/json", "x-api-key": who.key };
  const reply = await fetch(`${url}/${TeamUserManagementApiV2Service.typeName}/${method}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it, member by member
  return (await reply.json()) as any;
}
