import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ScopeName } from "../../src/core/accounts/caller.ts";
import { myBrowserId } from "../../src/core/connectors/catalogue.ts";
import { connectorsOf } from "../../src/core/connectors/use.ts";
import { chooseConnectors } from "../../src/core/oauth/consent.ts";
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

const uidSubset = fc.uniqueArray(fc.constantFrom(...uids), { maxLength: 3 });
const by = fc.constantFrom("user", "app");
const wire = fc.constantFrom("v2", "grpc");
const nth = fc.nat(2);
/** The actions of users. */
const action = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("install" as const),
      uid: fc.constantFrom(...uids),
      isDefault: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), uid: fc.constantFrom(...uids) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("project" as const), uids: uidSubset }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("withdraw" as const),
      keeps: fc.uniqueArray(fc.constantFrom(...third)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      by,
      wire,
      named: fc.option(uidSubset),
      inProject: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      by,
      wire,
      nth,
      named: fc.option(uidSubset),
      clear: fc.boolean(),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
/** Mostly with many connectors, so that many can be removed. */
const settings = fc.record({
  granted: fc.shuffledSubarray(third, { minLength: 1 }),
  third: fc.constantFrom(true, true, true, false),
  browser: fc.boolean(),
  installed: fc.shuffledSubarray(uids, { minLength: 2 }),
});
type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never;

/** The content of every message, in protobuf form. */
const content = [{ type: ContentPartType.TEXT, text: "Hi" }];

/** The result of a call: the task's connector ids from then on, or a refusal. */
type Outcome = readonly string[] | string;

/** The tables of the specification (spec/api.md 9.9, spec/oauth.md 3), applied to the known settings. */
class Model {
  readonly installed = new Map<string, boolean>();
  readonly tasks: { has: readonly string[]; readonly ofApp: boolean }[] = [];
  ofProject: readonly string[] = [];
  granted: readonly string[];
  readonly scopes: Settings;

  constructor(scopes: Settings) {
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
  /**
   * The connectors of a run now, without those that were removed or withdrawn from the app that created the
   * task.
   */
  used({ has, ofApp }: Model["tasks"][number]): readonly string[] {
    return has.filter((uid) => this.installed.has(uid) && (!ofApp || this.mayApp(uid)));
  }
}

let service: Service;
beforeAll(async () => {
  service = await openService({ idle: true });
});
afterAll(() => service[Symbol.asyncDispose]());

async function openPlatform(scopes: Settings) {
  const person = await service.person();
  const session = (await person.session()).client(ConnectorService);
  const app = await newApp(service, person, third);
  const requested: ScopeName[] = ["create_task", "manage_all_tasks", "create_project"];
  if (scopes.third) requested.push("use_connectors");
  if (scopes.browser) requested.push("use_my_browsers");
  const token = await tokenOf(service, person, { of: app, scopes: requested, connectorUids: scopes.granted });
  const { body } = await person.v2("project.create", { name: "Garden" });
  return {
    person,
    session,
    app,
    token,
    projectId: String(body["project"].id),
    ids: new Map<string, string>(),
    made: [] as string[],
  };
}
type Real = Awaited<ReturnType<typeof openPlatform>>;

/** A refusal in the form of the model. */
const refusal = (status: string, message: string): string => (status === "403" ? `403 ${message}` : status);

async function overV2(
  caller: Calling,
  name: string,
  request: object,
): Promise<string | { readonly id: string }> {
  const { status, body } = await caller.v2(name, request);
  return body.ok ? { id: String(body["task_id"]) } : refusal(String(status), body.error?.message ?? "");
}

async function overGrpc(
  call: Promise<{ readonly taskId: string }>,
): Promise<string | { readonly id: string }> {
  try {
    return { id: (await call).taskId };
  } catch (thrown) {
    const { code, rawMessage } = ConnectError.from(thrown);
    return refusal(
      code === Code.PermissionDenied ? "403" : code === Code.InvalidArgument ? "400" : Code[code],
      rawMessage,
    );
  }
}

function creating(caller: Calling, { wire, named, inProject }: ActionOf<"create">, projectId: string) {
  const project = inProject ? { project_id: projectId } : {};
  if (wire === "v2")
    return overV2(caller, "task.create", {
      message: { content: "Hi", ...(named ? { connectors: named } : {}) },
      ...project,
    });
  // On these wires an empty list equals an absent one.
  const connectors = { connectors: named ?? [], noConnectors: named?.length === 0 };
  const message = { content, ...connectors };
  return overGrpc(
    caller.client(TaskService, "grpc").createTask({ message, ...(inProject ? { projectId } : {}) }),
  );
}

function sending(caller: Calling, { wire, named, clear }: ActionOf<"send">, id: string) {
  const cleared = clear ? { clear_connectors: true } : {};
  if (wire === "v2")
    return overV2(caller, "task.sendMessage", {
      task_id: id,
      message: { content: "Hi", ...(named ? { connectors: named } : {}) },
      ...cleared,
    });
  const message = { content, connectors: named ?? [] };
  return overGrpc(
    caller
      .client(TaskService, "grpc")
      .sendMessage({ taskId: id, message, ...(clear ? { clearConnectors: true } : {}) }),
  );
}

const sorted = (outcome: Outcome): Outcome =>
  typeof outcome === "string" ? outcome : [...outcome].toSorted();

async function has(real: Real, at: number): Promise<readonly string[]> {
  return sorted(
    (await service.store.taskResources.find(real.made[at] ?? ""))?.connectors ?? [],
  ) as readonly string[]; // they are ids
}

async function perform(real: Real, model: Model, action: Action): Promise<void> {
  switch (action.do) {
    case "install":
      return install(real, model, action);
    case "remove":
      if (model.installed.delete(action.uid))
        await real.session.removeConnector({ id: real.ids.get(action.uid) ?? "" });
      return;
    case "project":
      return setProject(real, model, action.uids);
    case "withdraw":
      return withdraw(real, model, action.keeps);
    case "create":
      return create(real, model, action);
    case "send":
      return send(real, model, action);
  }
}

type ActionOf<D extends Action["do"]> = Extract<Action, { do: D }>;

async function install(
  { session, ids }: Real,
  model: Model,
  { uid, isDefault }: ActionOf<"install">,
): Promise<void> {
  const installing = session.installConnector({ uid, isDefault });
  if (model.installed.has(uid)) return expect(installing).rejects.toMatchObject({ code: Code.AlreadyExists });
  ids.set(uid, (await installing).connector?.id ?? "");
  model.installed.set(uid, isDefault);
}

async function setProject(
  { session, projectId }: Real,
  model: Model,
  requested: readonly string[],
): Promise<void> {
  const setting = session.setProjectConnectors({ projectId, uids: [...requested] });
  if (!requested.every((uid) => model.installed.has(uid)))
    return expect(setting).rejects.toMatchObject({ code: Code.InvalidArgument });
  await setting;
  model.ofProject = requested;
}

/** As the consent page does it; grants never grow. */
async function withdraw(
  { person: { accountId, spaceId }, app }: Real,
  model: Model,
  keeps: readonly string[],
): Promise<void> {
  const connectorUids = model.granted.filter((uid) => keeps.includes(uid));
  const choice = { accountId, spaceId, clientId: app.app.clientId, connectorUids, now: Date.now() };
  await service.store.change((tx) => chooseConnectors(tx, choice));
  model.granted = connectorUids;
}

async function create(real: Real, model: Model, action: ActionOf<"create">): Promise<void> {
  const isApp = action.by === "app";
  const result = await creating(isApp ? real.token : real.person, action, real.projectId);
  const expected = model.create(action.named, isApp, action.inProject);
  if (typeof expected === "string") return expect(result).toBe(expected);
  if (typeof result === "string") throw new Error(result);
  real.made.push(result.id);
  model.tasks.push({ has: expected, ofApp: isApp });
  expect(await has(real, real.made.length - 1)).toEqual(sorted(expected));
}

async function send(real: Real, model: Model, action: ActionOf<"send">): Promise<void> {
  const at = action.nth % Math.max(1, real.made.length);
  const task = model.tasks[at];
  if (!task) return;
  const isApp = action.by === "app";
  const result = await sending(isApp ? real.token : real.person, action, real.made[at] ?? "");
  const expected = model.send(task.has, action.named, action.clear, isApp);
  if (typeof expected === "string") return expect(result).toBe(expected);
  expect(result).toEqual({ id: real.made[at] });
  task.has = expected;
  expect(await has(real, at)).toEqual(sorted(expected));
}

test("over v2 and gRPC, tasks get the connectors of the specification's tables after any installs, grants, withdrawals and messages", async () => {
  await fc.assert(
    fc.asyncProperty(
      settings,
      fc.array(action, { minLength: 8, maxLength: 30, size: "max" }),
      async (scopes, deeds) => {
        const real = await openPlatform(scopes);
        const model = new Model(scopes);
        const first = scopes.installed.map((uid): Action => ({ do: "install", uid, isDefault: true }));
        for (const action of [...first, ...deeds]) {
          await perform(real, model, action);
          for (const [at, task] of model.tasks.entries()) {
            const row = await service.store.tasks.byId(real.made[at] ?? "");
            if (!row) throw new Error("no task");
            const used = (await connectorsOf(service.store, row)).map(({ uid }) => uid);
            expect(sorted(used)).toEqual(sorted(model.used(task)));
          }
        }
        const listed = async (who: Calling) =>
          (await who.v2("connector.list")).body["data"].map(({ id }: { id: string }) => id);
        const installed = [...model.installed.keys()];
        expect(sorted(await listed(real.person))).toEqual(sorted(installed));
        expect(sorted(await listed(real.token))).toEqual(
          sorted(installed.filter((uid) => model.mayApp(uid))),
        );
      },
    ),
    { numRuns: 40 },
  );
});
