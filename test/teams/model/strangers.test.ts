import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Operation, operationTable } from "../../../src/pipeline/operations.ts";
import { describeOnOne } from "../../support/database.ts";
import { openService, type Person, type Service } from "../../support/service.ts";
import { createSampleTeam, type SampleTeam } from "./sample-team.ts";

/** The ids and addresses of a call from a team; the others are the caller's own. */
type Sample = (theirs: SampleTeam, own: SampleTeam) => JsonObject;

const full = { scope: "ENTERPRISE_EXPORT_SCOPE_FULL" };
const deactivated = { role: "MIGRATED_PROFILE_ROLE_DEACTIVATED" };

/** The names that a call of these operations can have, by the method's name: each separately. */
const samples: Readonly<Record<string, readonly Sample[]>> = {
  "team.v2.TeamUserManagementApiV2Service/GetUser": [
    ({ active }) => ({ team_user_id: active.id }),
    ({ active }) => ({ email: active.email }),
  ],
  "team.v2.TeamUserManagementApiV2Service/UpdateUser": [
    ({ active }) => ({ team_user_id: active.id, status: "USER_STATUS_INACTIVE" }),
    ({ active }) => ({ email: active.email, role: "TEAM_MEMBER_ROLE_GUEST" }),
    ({ holder }) => ({ email: holder.email, status: "USER_STATUS_REMOVED" }),
  ],
  "team.v2.TeamUserManagementApiV2Service/DelegateProfile": [
    ({ inactive }, { active }) => ({
      team_user_id: inactive.id,
      target_team_user_id: active.id,
      ...deactivated,
    }),
    ({ active }, { inactive }) => ({
      team_user_id: inactive.id,
      target_team_user_id: active.id,
      ...deactivated,
    }),
    ({ inactive, active }) => ({ team_user_id: inactive.id, target_team_user_id: active.id, ...deactivated }),
  ],
  "team.v2.TeamUserManagementApiV2Service/ReclaimProfile": [
    ({ delegated }) => ({ team_user_id: delegated.id }),
  ],
  "team.v2.TeamUserManagementApiV2Service/RenameProfile": [
    ({ active }) => ({ team_user_id: active.id, display_name: "Mine" }),
  ],
  "team.v2.TeamUserManagementApiV2Service/RemoveMember": [
    ({ active }) => ({ team_user_id: active.id }),
    ({ owner }) => ({ team_user_id: owner.id }),
  ],
  CreateExport: [
    ({ active }) => ({ user_id: active.accountId, ...full }),
    ({ active }) => ({ email: active.email, ...full }),
    ({ removed }) => ({ email: removed.email, ...full }),
    ({ project }, { owner }) => ({
      user_id: owner.accountId,
      scope: "ENTERPRISE_EXPORT_SCOPE_PROJECT",
      project_uids: [project],
    }),
  ],
  GetExport: [({ exported }) => ({ uid: exported })],
  ListExports: [
    ({ active }) => ({ user: active.accountId, page: 1, page_size: 10 }),
    ({ active }) => ({ user: active.email, page: 1, page_size: 10 }),
  ],
  GetDownloadURL: [({ exported }) => ({ uid: exported })],
  CancelExport: [({ exported }) => ({ uid: exported })],
  DeleteExport: [({ exported }) => ({ uid: exported })],
  ListTasks: [
    ({ active }) => ({ user: active.accountId, page: 1, page_size: 10 }),
    ({ active }) => ({ user: active.email, page: 1, page_size: 10, include_deleted: true }),
    ({ removed }) => ({ user: removed.email, page: 1, page_size: 10 }),
  ],
};

/** Operations without a named object: another team has nothing to name. */
const withoutObjects = new Set(["ListUsers", "CreateUser"]);

const operations = operationTable().all.filter(({ method }) =>
  [
    "team.v2.TeamUserManagementApiV2Service",
    "dataexport.v1.EnterpriseDataExportService",
    "dataexport.v2.EnterpriseDataExportV2Service",
  ].includes(method.parent.typeName),
);

const samplesOf = ({ rpc, method }: Operation): readonly Sample[] =>
  samples[rpc] ?? samples[method.name] ?? [];

/** Every address of an operation that accepts JSON. */
const addressesOf = ({ rpc, name }: Operation): readonly string[] => [
  `/${rpc}`,
  ...(name === null ? [] : [`/v2/${name}`]),
];

/** An answer byte for byte, without the request's id. */
async function answerOf(service: Service, path: string, key: string, body: JsonObject): Promise<string> {
  const reply = await fetch(`${service.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify(body),
  });
  const headers = ["content-type", "cache-control", "www-authenticate"].map(
    (name) => `${name}: ${reply.headers.get(name)}`,
  );
  const text = (await reply.text()).replaceAll(reply.headers.get("x-request-id") ?? "none", "REQUEST");
  return [reply.status, ...headers, text].join("\n");
}

describeOnOne("operations of an enterprise", (kind) => {
  let service: Service;
  let caller: Person;
  let own: SampleTeam;
  let theirs: SampleTeam;
  beforeAll(async () => {
    service = await openService({ database: kind, idle: true });
    [caller, own] = await createSampleTeam(service, "own");
    [, theirs] = await createSampleTeam(service, "theirs");
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("are complete, each with every object that it can name", () => {
    expect(operations.map(({ rpc }) => rpc)).toHaveLength(20);
    for (const operation of operations)
      expect(samplesOf(operation).length > 0, operation.rpc).toBe(!withoutObjects.has(operation.method.name));
  });

  test.each(
    operations
      .filter((operation) => samplesOf(operation).length > 0)
      .flatMap((operation) => addressesOf(operation).map((path) => [path, operation] as const)),
  )("%s: objects of another team give the same bytes as unknown ones", async (path, operation) => {
    for (const sample of samplesOf(operation)) {
      const foreign = await answerOf(service, path, caller.key, sample(theirs, own));
      const unknown = await answerOf(service, path, caller.key, sample(unknownTeam, own));
      expect(foreign).toBe(unknown);
      expect(foreign.slice(0, 3), "the team's own are found; these are not").toBe("404");
    }
  });

  test("find all of these in the caller's own team, so that no other reason makes them unknown", async () => {
    for (const operation of operations)
      for (const [i, sample] of samplesOf(operation).entries()) {
        const [owner, team] = await createSampleTeam(
          service,
          `${operation.method.name}-${i}`.toLowerCase() + operation.method.parent.typeName.length,
        );
        const answer = await answerOf(service, `/${operation.rpc}`, owner.key, sample(team, team));
        expect(answer.slice(0, 3), `${operation.rpc} ${i}`).not.toBe("404");
      }
  });

  test("with another team's ids change nothing there", async () => {
    expect(await theirs.members()).toEqual(theirs.before);
  });
});

const unknownMember = {
  id: "nobody",
  accountId: "0b9f2f1e-3c55-4f0e-9d3a-5f1f9a7c2e10",
  email: "nobody@corp.test",
};
/** Valid but unknown ids. */
const unknownTeam: SampleTeam = {
  ...{
    owner: unknownMember,
    active: unknownMember,
    inactive: unknownMember,
    holder: unknownMember,
    delegated: unknownMember,
    removed: unknownMember,
  },
  ...{ project: "nothing", exported: "nothing", before: [], members: async () => [] },
};
