import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { myBrowserId } from "../../src/core/connectors/catalogue.ts";
import { connectorsOf } from "../../src/core/connectors/use.ts";
import { chooseConnectors } from "../../src/core/oauth/connector-choice.ts";
import type { ScopeName } from "../../src/core/oauth/scope.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { type Calling, openService, type Service } from "../support/service.ts";
import { newApp, tokenOf } from "../support/token.ts";

const [github, gmail, linear] = [
  "bbb0df76-66bd-4a24-ae4f-2aac4750d90b",
  "9444d960-ab7e-450f-9cb9-b9467fb0adda",
  "982c169d-0c89-4dbd-95fd-30b49cc2f71e",
];
const third = [github, gmail, linear];
const uids = [...third, myBrowserId];

const some = fc.uniqueArray(fc.constantFrom(...uids), { maxLength: 3 });
const by = fc.constantFrom("user", "app");
const wire = fc.constantFrom("v2", "grpc");
const nth = fc.nat(2);
/** What somebody does, one after the other. */
const deed = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant("install" as const), uid: fc.constantFrom(...uids), isDefault: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), uid: fc.constantFrom(...uids) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("project" as const), uids: some }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("withdraw" as const), keeps: fc.uniqueArray(fc.constantFrom(...third)) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("create" as const), by, wire, named: fc.option(some), inProject: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("send" as const), by, wire, nth, named: fc.option(some), clear: fc.boolean() }) },
);
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;
/** Mostly one in which much is there, so that much can be taken away. */
const world = fc.record({
  granted: fc.shuffledSubarray(third, { minLength: 1 }),
  third: fc.constantFrom(true, true, true, false),
  browser: fc.boolean(),
  installed: fc.shuffledSubarray(uids, { minLength: 2 }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** What every message says, as protobuf has it. */
const content = [{ type: ContentPartType.TEXT, text: "Hi" }];

/** What a call comes to: the ids that the task has from then on, or a refusal. */
type Outcome = readonly string[] | string;

/** The contract's tables (contract/v2.md 9.9, contract/oauth.md 3), over what is known of the world. */
class Model {
  readonly installed = new Map<string, boolean>();
  readonly tasks: { has: readonly string[]; readonly ofApp: boolean }[] = [];
  ofProject: readonly string[] = [];
  granted: readonly string[];
  readonly scopes: World;

  constructor(scopes: World) {
    this.scopes = scopes;
    this.granted = scopes.granted;
  }

  mayApp(uid: string): boolean {
    return uid === myBrowserId ? this.scopes.browser : this.scopes.third && this.granted.includes(uid);
  }
  /** 403 before 400. */
  named(named: readonly string[], isApp: boolean): Outcome {
    const kept = named.find((uid) => isApp && !this.mayApp(uid));
    if (kept !== undefined) return `403 insufficient_scope: connector ${kept} not granted`;
    return named.every((uid) => this.installed.has(uid)) ? named : "400";
  }
  create(named: readonly string[] | null, isApp: boolean, inProject: boolean): Outcome {
    if (named !== null) return this.named(named, isApp);
    const defaults = inProject ? this.ofProject : uids.filter((uid) => this.installed.get(uid));
    return defaults.filter((uid) => this.installed.has(uid) && (!isApp || this.mayApp(uid)));
  }
  send(has: readonly string[], named: readonly string[] | null, clear: boolean, isApp: boolean): Outcome {
    const names = named !== null && named.length > 0;
    if (clear) return names ? "400" : [];
    return names ? this.named(named, isApp) : has.filter((uid) => !isApp || this.mayApp(uid));
  }
  /** What a run would have now: what was removed or taken from the app that made it is passed over. */
  used({ has, ofApp }: Model["tasks"][number]): readonly string[] {
    return has.filter((uid) => this.installed.has(uid) && (!ofApp || this.mayApp(uid)));
  }
}

let service: Service;
beforeAll(async () => {
  service = await openService({ idle: true });
});
afterAll(() => service[Symbol.asyncDispose]());

async function openWorld(scopes: World) {
  const person = await service.person();
  const session = (await person.session()).client(ConnectorService);
  const app = await newApp(service, person, third);
  const wanted: ScopeName[] = ["create_task", "manage_all_tasks", "create_project"];
  if (scopes.third) wanted.push("use_connectors");
  if (scopes.browser) wanted.push("use_my_browsers");
  const token = await tokenOf(service, person, { of: app, scopes: wanted, connectorUids: scopes.granted });
  const { body } = await person.v2("project.create", { name: "Garden" });
  return { person, session, app, token, projectId: String(body["project"].id), ids: new Map<string, string>(), made: [] as string[] };
}
type Real = Awaited<ReturnType<typeof openWorld>>;

/** A refusal in the model's words. */
const refusal = (status: string, message: string): string => (status === "403" ? `403 ${message}` : status);

async function overV2(caller: Calling, name: string, request: object): Promise<string | { readonly id: string }> {
  const { status, body } = await caller.v2(name, request);
  return body.ok ? { id: String(body["task_id"]) } : refusal(String(status), body.error?.message ?? "");
}

async function overGrpc(call: Promise<{ readonly taskId: string }>): Promise<string | { readonly id: string }> {
  try {
    return { id: (await call).taskId };
  } catch (thrown) {
    const { code, rawMessage } = ConnectError.from(thrown);
    return refusal(code === Code.PermissionDenied ? "403" : code === Code.InvalidArgument ? "400" : Code[code], rawMessage);
  }
}

function creating(caller: Calling, { wire, named, inProject }: Doing<"create">, projectId: string) {
  const place = inProject ? { project_id: projectId } : {};
  if (wire === "v2")
    return overV2(caller, "task.create", { message: { content: "Hi", ...(named ? { connectors: named } : {}) }, ...place });
  // On these wires an empty list is as good as none.
  const means = { connectors: named ?? [], noConnectors: named?.length === 0 };
  const message = { content, ...means };
  return overGrpc(caller.client(TaskService, "grpc").createTask({ message, ...(inProject ? { projectId } : {}) }));
}

function sending(caller: Calling, { wire, named, clear }: Doing<"send">, id: string) {
  const cleared = clear ? { clear_connectors: true } : {};
  if (wire === "v2")
    return overV2(caller, "task.sendMessage", {
      task_id: id,
      message: { content: "Hi", ...(named ? { connectors: named } : {}) },
      ...cleared,
    });
  const message = { content, connectors: named ?? [] };
  return overGrpc(caller.client(TaskService, "grpc").sendMessage({ taskId: id, message, ...(clear ? { clearConnectors: true } : {}) }));
}

const sorted = (outcome: Outcome): Outcome => (typeof outcome === "string" ? outcome : [...outcome].toSorted());

async function has(real: Real, at: number): Promise<readonly string[]> {
  return sorted((await service.store.means.find(real.made[at] ?? ""))?.connectors ?? []) as readonly string[]; // they are ids
}

async function doIt(real: Real, model: Model, what: Deed): Promise<void> {
  switch (what.do) {
    case "install":
      return install(real, model, what);
    case "remove":
      if (model.installed.delete(what.uid)) await real.session.removeConnector({ id: real.ids.get(what.uid) ?? "" });
      return;
    case "project":
      return setProject(real, model, what.uids);
    case "withdraw":
      return withdraw(real, model, what.keeps);
    case "create":
      return create(real, model, what);
    case "send":
      return send(real, model, what);
  }
}

type Doing<D extends Deed["do"]> = Extract<Deed, { do: D }>;

async function install({ session, ids }: Real, model: Model, { uid, isDefault }: Doing<"install">): Promise<void> {
  const installing = session.installConnector({ uid, isDefault });
  if (model.installed.has(uid)) return expect(installing).rejects.toMatchObject({ code: Code.AlreadyExists });
  ids.set(uid, (await installing).connector?.id ?? "");
  model.installed.set(uid, isDefault);
}

async function setProject({ session, projectId }: Real, model: Model, wanted: readonly string[]): Promise<void> {
  const setting = session.setProjectConnectors({ projectId, uids: [...wanted] });
  if (!wanted.every((uid) => model.installed.has(uid))) return expect(setting).rejects.toMatchObject({ code: Code.InvalidArgument });
  await setting;
  model.ofProject = wanted;
}

/** As the consent page does it; nothing is given beyond what was granted. */
async function withdraw({ person: { accountId, spaceId }, app }: Real, model: Model, keeps: readonly string[]): Promise<void> {
  const connectorUids = model.granted.filter((uid) => keeps.includes(uid));
  const choice = { accountId, spaceId, clientId: app.app.clientId, connectorUids, now: Date.now() };
  await service.store.change((tx) => chooseConnectors(tx, choice));
  model.granted = connectorUids;
}

async function create(real: Real, model: Model, what: Doing<"create">): Promise<void> {
  const isApp = what.by === "app";
  const told = await creating(isApp ? real.token : real.person, what, real.projectId);
  const expected = model.create(what.named, isApp, what.inProject);
  if (typeof expected === "string") return expect(told).toBe(expected);
  if (typeof told === "string") throw new Error(told);
  real.made.push(told.id);
  model.tasks.push({ has: expected, ofApp: isApp });
  expect(await has(real, real.made.length - 1)).toEqual(sorted(expected));
}

async function send(real: Real, model: Model, what: Doing<"send">): Promise<void> {
  const at = what.nth % Math.max(1, real.made.length);
  const task = model.tasks[at];
  if (!task) return;
  const isApp = what.by === "app";
  const told = await sending(isApp ? real.token : real.person, what, real.made[at] ?? "");
  const expected = model.send(task.has, what.named, what.clear, isApp);
  if (typeof expected === "string") return expect(told).toBe(expected);
  expect(told).toEqual({ id: real.made[at] });
  task.has = expected;
  expect(await has(real, at)).toEqual(sorted(expected));
}

test("over v2 and gRPC, tasks have the connectors of the contract's tables, whatever is installed, granted, taken away and named by whom", async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.array(deed, { minLength: 8, maxLength: 30, size: "max" }), async (scopes, deeds) => {
      const real = await openWorld(scopes);
      const model = new Model(scopes);
      const first = scopes.installed.map((uid): Deed => ({ do: "install", uid, isDefault: true }));
      for (const what of [...first, ...deeds]) {
        await doIt(real, model, what);
        for (const [at, task] of model.tasks.entries()) {
          const row = await service.store.tasks.byId(real.made[at] ?? "");
          if (!row) throw new Error("no task");
          const used = (await connectorsOf(service.store, row)).map(({ uid }) => uid);
          expect(sorted(used)).toEqual(sorted(model.used(task)));
        }
      }
      const listed = async (who: Calling) => (await who.v2("connector.list")).body["data"].map(({ id }: { id: string }) => id);
      const installed = [...model.installed.keys()];
      expect(sorted(await listed(real.person))).toEqual(sorted(installed));
      expect(sorted(await listed(real.token))).toEqual(sorted(installed.filter((uid) => model.mayApp(uid))));
    }),
    { numRuns: 40 },
  );
});
