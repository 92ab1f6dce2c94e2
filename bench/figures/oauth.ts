import { randomInt } from "node:crypto";
import type { Dialect } from "../../src/store/statements.ts";
import { MissingDependency } from "../databases.ts";
import { type Figure, race, type Stage } from "../figure.ts";
import type { Installed } from "../installed.ts";
import type { Contender } from "../load.ts";
import { redirectUri, type SeededApp, seedApp } from "../oauth-app.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { anyTask, createPoster } from "./calls.ts";
import { type Stock, stock } from "./stock.ts";

const concurrency = 32;
const detailConcurrency = 16;
/** Families are refreshed round-robin. The introspected tokens fit in a node's cache of signatures. */
const families = 2_000;
const tokens = 1_000;
/** More codes than ours or the floor exchanges in a round, and more than the peer exchanges. */
const codes = 12_000;
const peerCodes = 40_000;

/** Names of the two databases' figures. */
const dialects = [
  ["", "sqlite"],
  [".pg", "postgresql"],
] as const satisfies readonly (readonly [string, Dialect])[];

type Members = Readonly<Record<string, string>>;
type Credentials = Pick<SeededApp, "clientId" | "secret">;

/** The endpoint of a contender's app. */
interface Endpoint {
  readonly name: string;
  readonly server: Server;
  readonly path: string;
  readonly app: Credentials;
}

const form = ({ clientId, secret }: Credentials, members: Members): URLSearchParams =>
  new URLSearchParams({ ...members, client_id: clientId, client_secret: secret });

const refreshing = (refreshToken: string): Members => ({
  grant_type: "refresh_token",
  refresh_token: refreshToken,
});
const exchanging = (code: string): Members => ({
  grant_type: "authorization_code",
  code,
  redirect_uri: redirectUri,
});

/** Reads a text member of a response. */
function readText(answer: Readonly<Record<string, unknown>>, name: string): string {
  const text = answer[name];
  if (typeof text !== "string" || text === "") throw new Error(`no ${name} in ${JSON.stringify(answer)}`);
  return text;
}

/** Starts a platform with an app of its owner. */
async function platform(
  { stack }: Stage,
  database: Installed,
): Promise<{ readonly server: Server; readonly app: SeededApp }> {
  const server = stack.use(await startPlatform(database));
  return { server, app: stack.use(await seedApp(database)) };
}

const peerApp = {
  name: "oidc-provider, in memory",
  app: { clientId: "bench", secret: "a-secret-of-the-benchmark" },
} as const;

/** Starts the peer, with a function that creates codes and tokens in it; null if it is unavailable. */
async function peer({ peers, stack }: Stage) {
  const server = stack.use(await peers.start("oidc-provider"));
  if (!server) return null;
  const createTokens = async (kind: "AuthorizationCode" | "RefreshToken" | "AccessToken", count: number) => {
    const { texts } = await server.post("/made", { kind, count });
    return texts as readonly string[]; // as bench/peers/oidc-provider.mjs returns it
  };
  return { server, createTokens };
}

async function jose({ stack }: Stage): Promise<Contender> {
  const server = stack.use(await startFloor("jose"));
  return createPoster("node:http + jose, one signature", server, {
    path: "/sign",
    body: () => ({}),
    check: (answer) => "access_token" in answer,
  });
}

/** Refreshes families round-robin; each response's token is the family's next token. */
function refreshContender(
  { name, server, path, app }: Endpoint,
  { take, put, fill }: Stock<string>,
): Contender {
  const call = async () =>
    put(readText(await server.post(path, form(app, refreshing(take()))), "refresh_token"));
  return { name, pid: server.pid, prepare: fill, call };
}

async function refreshFloor({ stack }: Stage, database: Installed): Promise<Contender> {
  const server = stack.use(await startFloor("oauth", database.env));
  const app = stack.use(await seedApp(database));
  const { take, put, fill } = stock(families, async (count) =>
    (await app.families(count)).map(({ row }) => row),
  );
  const call = async () => {
    const { family_id, ...next } = take();
    put({ family_id, digest: readText(await server.post("/refresh", { family_id, ...next }), "digest") });
  };
  return { name: "node:http + Prisma transaction of the same writes", pid: server.pid, prepare: fill, call };
}

const refresh = ([suffix, dialect]: (typeof dialects)[number]): Figure =>
  race({
    name: `oauth.refresh${suffix}`,
    concurrency,
    async contenders(stage) {
      const { server, app } = await platform(stage, await stage.databases.empty(dialect));
      const other = await peer(stage);
      const ours = stock(families, async (count) =>
        (await app.families(count)).map(({ refreshToken }) => refreshToken),
      );
      return [
        refreshContender({ name: "ours", server, path: "/oauth/token", app }, ours),
        await refreshFloor(stage, await stage.databases.empty(dialect)),
        other &&
          refreshContender(
            { ...peerApp, server: other.server, path: "/token" },
            stock(families, (count) => other.createTokens("RefreshToken", count)),
          ),
        await jose(stage),
      ];
    },
  });

function exchangeContender({ name, server, path, app }: Endpoint, { take, fill }: Stock<string>): Contender {
  const call = async () => readText(await server.post(path, form(app, exchanging(take()))), "refresh_token");
  return { name, pid: server.pid, prepare: fill, call };
}

async function exchangeFloor({ stack }: Stage, database: Installed): Promise<Contender> {
  const server = stack.use(await startFloor("oauth", database.env));
  const app = stack.use(await seedApp(database));
  const { take, fill } = stock(codes, async (count) => (await app.codes(count)).map(({ row }) => row));
  const call = async () => readText(await server.post("/exchange", take()), "digest");
  return { name: "node:http + Prisma transaction of the same writes", pid: server.pid, prepare: fill, call };
}

const exchange = ([suffix, dialect]: (typeof dialects)[number]): Figure =>
  race({
    name: `oauth.exchange${suffix}`,
    concurrency,
    async contenders(stage) {
      const { server, app } = await platform(stage, await stage.databases.empty(dialect));
      const other = await peer(stage);
      const ours = stock(codes, async (count) => (await app.codes(count)).map(({ code }) => code));
      return [
        exchangeContender({ name: "ours", server, path: "/oauth/token", app }, ours),
        await exchangeFloor(stage, await stage.databases.empty(dialect)),
        other &&
          exchangeContender(
            { ...peerApp, server: other.server, path: "/token" },
            stock(peerCodes, (count) => other.createTokens("AuthorizationCode", count)),
          ),
        await jose(stage),
      ];
    },
  });

/** Access tokens issued by the platform. */
async function accessTokens(server: Server, app: SeededApp, count: number): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const { refreshToken } of await app.families(count))
    texts.push(
      readText(await server.post("/oauth/token", form(app, refreshing(refreshToken))), "access_token"),
    );
  return texts;
}

const introspectContender = ({ name, server, path, app }: Endpoint, texts: readonly string[]): Contender =>
  createPoster(name, server, {
    path,
    body: () => form(app, { token: texts[randomInt(texts.length)] ?? "" }),
    check: ({ active }) => active === true,
  });

const introspect = ([suffix, dialect]: (typeof dialects)[number]): Figure =>
  race({
    name: `oauth.introspect${suffix}`,
    concurrency,
    async contenders(stage) {
      const other = await peer(stage);
      if (!other) throw new MissingDependency("oidc-provider is the floor, and is unavailable");
      const { server, app } = await platform(stage, await stage.databases.empty(dialect));
      return [
        introspectContender(
          { name: "ours", server, path: "/oauth/introspect", app },
          await accessTokens(server, app, tokens),
        ),
        introspectContender(
          { ...peerApp, server: other.server, path: "/token/introspection" },
          await other.createTokens("AccessToken", tokens),
        ),
      ];
    },
  });

/** The same server twice: with a token, and with the key. */
const detail = ([suffix, dialect]: (typeof dialects)[number]): Figure => {
  const revocations: (() => Promise<boolean>)[] = [];
  return race({
    name: `oauth.detail${suffix}`,
    concurrency: detailConcurrency,
    async contenders(stage) {
      const database = await stage.databases.seeded(dialect, 10_000);
      const { server, app } = await platform(stage, database);
      const [token = ""] = await accessTokens(server, app, 1);
      const path = "/v2/task.detail";
      const body = () => ({ task_id: anyTask(database) });
      const check = ({ task }: Readonly<Record<string, unknown>>) => task !== undefined;
      const withToken = {
        ...server,
        post: (path: string, body: unknown) => server.post(path, body, { authorization: `Bearer ${token}` }),
      };
      revocations.push(async () => {
        await server.post("/oauth/revoke", form(app, { token }));
        return withToken.post(path, body()).then(
          () => false,
          (thrown: unknown) => String(thrown).includes("answered 401"),
        );
      });
      return [
        createPoster("ours", withToken, { path, body, check }),
        createPoster("the same with an API key", server, { path, body, check }),
      ];
    },
    more: async () => ({ refused_once_revoked: await revocations.pop()?.() }),
  });
};

/** OAuth 2.0: tokens issued, introspected and used. */
export const oauthFigures: readonly Figure[] = dialects.flatMap((of) => [
  refresh(of),
  exchange(of),
  introspect(of),
  detail(of),
]);
