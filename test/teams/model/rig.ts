import { Code, ConnectError } from "@connectrpc/connect";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { linkDigest, linkMs, newLinkText } from "../../../src/core/sign-in/link.ts";
import { ApiKeyService } from "../../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import type { Beside } from "../../support/direct.ts";
import { codeFor, exchangeCode, refreshWith, type TestApp } from "../../support/oauth.ts";
import type { Person, Service } from "../../support/service.ts";
import type { StillClock } from "../../support/still-clock.ts";
import { newApp, tokenOf } from "../../support/token.ts";
import type { Credential, Member, Team, Work } from "./members.ts";

/** The two teams of a run. */
export const sides = ["north", "south"] as const;
export type Side = (typeof sides)[number];

/** Teams as they should be. */
export type Model = Readonly<Record<Side, Team>>;

/** Who has power over a team whatever happens to its members. */
export interface Rulers {
  readonly owner: Person;
  readonly management: Person;
  readonly ediscovery: Person;
  readonly app: TestApp;
}

/** The platform of all runs, and the teams of one. */
export interface Real {
  readonly service: Service;
  readonly tables: Beside;
  readonly clock: StillClock;
  readonly rulers: Readonly<Record<Side, Rulers>>;
  /** Six persons whom both teams may add; the first one has an account and a space of its own. */
  readonly addresses: readonly string[];
  /** Calls that were made and what came of them, for the whole suite. */
  readonly tally: Map<string, number>;
}

/** What a run shares with the others. */
export type Ground = Pick<Real, "service" | "tables" | "clock" | "tally">;

/** The host of BASE_URL, which is the mail domain where none is configured. */
const domain = "platform.test";

/** Two fresh teams of an owner each, and six persons. */
export async function newTeams(ground: Ground): Promise<{ readonly model: Model; readonly real: Real }> {
  const run = systemIds.short().toLowerCase();
  const addresses = Array.from({ length: 6 }, (_, i) => `p${i}-${run}@corp.test`);
  await foreigner(ground, addresses[0] ?? "");
  const [north, south] = [await newTeam(ground), await newTeam(ground)];
  return {
    model: { north: north.team, south: south.team },
    real: { ...ground, addresses, rulers: { north: north.rulers, south: south.rulers } },
  };
}

/** An account that no team knows, with a name that none is to learn (contract/decisions.md 5). */
async function foreigner({ service, clock }: Ground, email: string): Promise<void> {
  const [id, spaceId, createdAt] = [systemIds.uuid(), systemIds.short(), clock.now()];
  await service.store.change(async ({ accounts }) => {
    await accounts.insertAccount({ id, email, name: "A name from elsewhere", locale: "en", createdAt });
    await accounts.insertSpace({ id: spaceId, kind: "personal", createdAt, accountId: id });
  });
}

async function newTeam({ service }: Ground): Promise<{ readonly team: Team; readonly rulers: Rulers }> {
  const owner = await service.person();
  const of = { as: owner, with: owner };
  const management = await service.person({ ...of, kind: "team_user_mgmt" });
  const ediscovery = await service.person({ ...of, kind: "ediscovery" });
  const row = await service.store.accounts.ownerOf(owner.spaceId);
  if (row === null) throw new Error("the team has no owner");
  const { id, createdAt, email } = row;
  const member: Member = { id, createdAt, email, name: undefined, role: "OWNER", status: "ACTIVE", delegation: undefined };
  const app = await newApp(service, owner);
  return { team: { members: [member], credentials: [], work: [], changes: [], domain }, rulers: { owner, management, ediscovery, app } };
}

/** Whatever lets a member in, and a task that runs. */
export interface Enrolled {
  readonly credentials: readonly Credential[];
  readonly work: Work;
}

/** Gives a member a key, a browser that is signed in, an app that acts for it, what would give another of each, and a task. */
export async function enrol(real: Real, side: Side, { id }: Member): Promise<Enrolled> {
  const { service, clock, rulers } = real;
  const { app, owner } = rulers[side];
  const row = await service.store.accounts.memberById(owner.spaceId, id);
  if (row === null) throw new Error(`${id} is nobody`);
  const self = { accountId: row.accountId, spaceId: owner.spaceId };
  const person = await service.person({ as: self, with: self });
  const session = await person.session();
  const token = await tokenOf(service, person, { of: app, now: clock.now() });
  const code = await codeFor(service, person, app, "pkce", clock.now());
  const keys = session.client(ApiKeyService);
  const { body } = await person.v2("task.create", { message: { content: "x" } });
  const credential = (kind: Credential["kind"], headers: Credential["headers"], opens: Credential["opens"]): Credential => ({
    ...{ kind, headers, opens, holder: id, ended: false },
  });
  return {
    work: { id: String(body["task_id"]), holder: id, status: "running" },
    credentials: [
      credential("key", person.headers, () => isMe(person)),
      credential("session", session.headers, () => keys.listApiKeys({}).then(() => true, isRefusal)),
      credential("token", token.headers, () => isMe(token)),
      credential("refresh", {}, async () => (await refreshWith(service, app, "pkce", token.refreshToken)).status === 200),
      credential("code", {}, async () => (await exchangeCode(service, app, "pkce", code)).status === 200),
      credential("link", {}, await linkOf(real, self)),
    ],
  };
}

/** Whether somebody is let in; anything but a 401 that says no is a failure of the test. */
async function isMe({ v2 }: Pick<Person, "v2">): Promise<boolean> {
  const { status, body } = await v2("user.me");
  if (status !== 200 && status !== 401) throw new Error(JSON.stringify(body));
  return status === 200;
}

function isRefusal(thrown: unknown): false {
  if (ConnectError.from(thrown).code !== Code.Unauthenticated) throw thrown;
  return false;
}

/** An invitation that nobody has followed; whether it would still sign in. */
async function linkOf({ service, clock }: Real, self: Pick<Person, "accountId" | "spaceId">): Promise<Credential["opens"]> {
  const [digest, createdAt] = [linkDigest(newLinkText(systemRandom)), clock.now()];
  await service.store.change((tx) => tx.links.insert({ digest, ...self, createdAt, expiresAt: createdAt + linkMs }));
  return async () => (await service.store.links.open(digest, clock.now())) !== null;
}
