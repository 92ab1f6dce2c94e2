import { Code, ConnectError } from "@connectrpc/connect";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { linkDigest, linkMs, newLinkText } from "../../../src/core/sign-in/link.ts";
import { ApiKeyService } from "../../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import type { DirectConnection } from "../../support/direct.ts";
import { codeFor, exchangeCode, refreshWith, type TestApp } from "../../support/oauth.ts";
import type { Person, Service } from "../../support/service.ts";
import type { StillClock } from "../../support/still-clock.ts";
import { newApp, tokenOf } from "../../support/token.ts";
import type { Credential, Member, Team, Work } from "./members.ts";

/** The two teams of a run. */
export const sides = ["north", "south"] as const;
export type Side = (typeof sides)[number];

/** The expected teams. */
export type Model = Readonly<Record<Side, Team>>;

/** The credentials with permanent permission over a team. */
export interface PermanentCallers {
  readonly owner: Person;
  readonly management: Person;
  readonly ediscovery: Person;
  readonly app: TestApp;
}

/** The platform of all runs, and the teams of one run. */
export interface Real {
  readonly service: Service;
  readonly tables: DirectConnection;
  readonly clock: StillClock;
  readonly permanentCallers: Readonly<Record<Side, PermanentCallers>>;
  /** Six persons whom both teams may add; the first one has an account with a separate space. */
  readonly addresses: readonly string[];
  /** The number of calls by operation and outcome, for the suite. */
  readonly tally: Map<string, number>;
}

/** The part shared between runs. */
export type SharedPlatform = Pick<Real, "service" | "tables" | "clock" | "tally">;

/** The host of BASE_URL, which is the mail domain if none is configured. */
const domain = "platform.test";

/** Two fresh teams with one owner each, and six persons. */
export async function newTeams(
  shared: SharedPlatform,
): Promise<{ readonly model: Model; readonly real: Real }> {
  const run = systemIds.short().toLowerCase();
  const addresses = Array.from({ length: 6 }, (_, i) => `p${i}-${run}@corp.test`);
  await addOutsideAccount(shared, addresses[0] ?? "");
  const [north, south] = [await newTeam(shared), await newTeam(shared)];
  return {
    model: { north: north.team, south: south.team },
    real: {
      ...shared,
      addresses,
      permanentCallers: { north: north.permanentCallers, south: south.permanentCallers },
    },
  };
}

/** An account without a team, with a name that must not be revealed (spec/decisions.md 5). */
async function addOutsideAccount({ service, clock }: SharedPlatform, email: string): Promise<void> {
  const [id, spaceId, createdAt] = [systemIds.uuid(), systemIds.short(), clock.now()];
  await service.store.change(async ({ accounts }) => {
    await accounts.insertAccount({ id, email, name: "A name from elsewhere", locale: "en", createdAt });
    await accounts.insertSpace({ id: spaceId, kind: "personal", createdAt, accountId: id });
  });
}

async function newTeam({
  service,
}: SharedPlatform): Promise<{ readonly team: Team; readonly permanentCallers: PermanentCallers }> {
  const owner = await service.person();
  const of = { as: owner, with: owner };
  const management = await service.person({ ...of, kind: "team_user_mgmt" });
  const ediscovery = await service.person({ ...of, kind: "ediscovery" });
  const row = await service.store.accounts.ownerOf(owner.spaceId);
  if (row === null) throw new Error("the team has no owner");
  const { id, createdAt, email } = row;
  const member: Member = {
    id,
    createdAt,
    email,
    name: undefined,
    role: "OWNER",
    status: "ACTIVE",
    delegation: undefined,
  };
  const app = await newApp(service, owner);
  return {
    team: { members: [member], credentials: [], work: [], changes: [], domain },
    permanentCallers: { owner, management, ediscovery, app },
  };
}

/** All credentials of a member, and a running task. */
export interface Enrolled {
  readonly credentials: readonly Credential[];
  readonly work: Work;
}

/**
 * Gives a member a key, a signed-in browser, an app with a grant, a code, a refresh token and a link, and a
 * task.
 */
export async function enrol(real: Real, side: Side, { id }: Member): Promise<Enrolled> {
  const { service, clock, permanentCallers } = real;
  const { app, owner } = permanentCallers[side];
  const row = await service.store.accounts.memberById(owner.spaceId, id);
  if (row === null) throw new Error(`${id} is not a member`);
  const self = { accountId: row.accountId, spaceId: owner.spaceId };
  const person = await service.person({ as: self, with: self });
  const session = await person.session();
  const token = await tokenOf(service, person, { of: app, now: clock.now() });
  const code = await codeFor(service, person, app, "pkce", clock.now());
  const keys = session.client(ApiKeyService);
  const { body } = await person.v2("task.create", { message: { content: "x" } });
  const credential = (
    kind: Credential["kind"],
    headers: Credential["headers"],
    opens: Credential["opens"],
  ): Credential => ({
    ...{ kind, headers, opens, holder: id, ended: false },
  });
  return {
    work: { id: String(body["task_id"]), holder: id, status: "running" },
    credentials: [
      credential("key", person.headers, () => isMe(person)),
      credential("session", session.headers, () => keys.listApiKeys({}).then(() => true, isRefusal)),
      credential("token", token.headers, () => isMe(token)),
      credential(
        "refresh",
        {},
        async () => (await refreshWith(service, app, "pkce", token.refreshToken)).status === 200,
      ),
      credential("code", {}, async () => (await exchangeCode(service, app, "pkce", code)).status === 200),
      credential("link", {}, await linkOf(real, self)),
    ],
  };
}

/** Whether the caller is admitted; any answer except 200 and 401 fails the test. */
async function isMe({ v2 }: Pick<Person, "v2">): Promise<boolean> {
  const { status, body } = await v2("user.me");
  if (status !== 200 && status !== 401) throw new Error(JSON.stringify(body));
  return status === 200;
}

function isRefusal(thrown: unknown): false {
  if (ConnectError.from(thrown).code !== Code.Unauthenticated) throw thrown;
  return false;
}

/** An unused invitation; returns whether it would still sign in. */
async function linkOf(
  { service, clock }: Real,
  self: Pick<Person, "accountId" | "spaceId">,
): Promise<Credential["opens"]> {
  const [digest, createdAt] = [linkDigest(newLinkText(systemRandom)), clock.now()];
  await service.store.change((tx) =>
    tx.links.insert({ digest, ...self, createdAt, expiresAt: createdAt + linkMs, isFirst: false }),
  );
  return async () => (await service.store.links.findOpen(digest, clock.now())) !== null;
}
