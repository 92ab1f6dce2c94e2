import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { FastifyServerFactoryHandler } from "fastify";
import type { Config } from "../../config/config.ts";
import type { Settings } from "../../config/sources.ts";
import { idsFrom, systemRandom } from "../../core/ids.ts";
import type { Store } from "../../core/store.ts";
import { waitingNode } from "../../core/tasks/lifecycle.ts";
import { createFirstLink } from "../../core/use-cases/first-sign-in.ts";
import { TestService } from "../../gen/proto/testing/v1/test_service_pb.ts";
import { operationTable } from "../../pipeline/operations.ts";
import { services } from "../../pipeline/services.ts";
import type { Ambient, Installation, TestMode } from "../../start/installation.ts";
import { remoteProfiles } from "../profiles.ts";
import { type Advance, createAdvance } from "./advance.ts";
import { armedFaults } from "./armed.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { faultyCalls } from "./fault-calls.ts";
import { faultyDeliveries } from "./fault-deliveries.ts";
import { refusalOf, refuse } from "./guard.ts";
import { testHandlers } from "./handlers.ts";
import { seededRandom } from "./random.ts";
import { databasePath, readTestSettings } from "./settings.ts";
import { createSpace } from "./spaces.ts";
import { openTestState, type TestState } from "./state.ts";

/** The flags of `atp serve --test`. */
export interface TestFlags {
  /** Decides ids and keys, and stops the time between calls; absent: a new one, and the time passes. */
  readonly seed?: string | undefined;
  /** The time at the start, in Unix milliseconds; by default the machine's, with a seed the begin of 2030. */
  readonly at?: number | undefined;
}

/** A server in test mode, for `serve`. */
export interface TestServer {
  readonly config: Config;
  readonly ambient: Pick<Ambient, "clock" | "ids" | "random"> & { test: TestMode };
  readonly seed: string;
  /** The key of the first owner. */
  key(): string;
  /** The secret of a link that signs the first owner in once, within 15 minutes. */
  signInSecret(): Promise<string | null>;
  /** Opens a second connection to the database; the present rows are those of `test.reset`. */
  open(): Promise<void>;
  /** Keeps the present rows for `test.reset` again: those of the fixtures. */
  keep(): Promise<void>;
  /** Removes what the start made. */
  close(): Promise<void>;
}

const seededStart = Date.parse("2030-01-01T00:00:00Z");

/** Prepares test mode. @throws ConfigError for settings that it refuses. */
export async function openTestMode(env: Settings, { seed, at }: TestFlags): Promise<TestServer> {
  const secret = seed ?? randomSeed();
  const { config, remove } = await readTestSettings(env, secret);
  const isSeeded = seed !== undefined;
  const clock = createTestClock({ at: at ?? (isSeeded ? seededStart : undefined), isStill: isSeeded });
  const seeded = seededRandom(secret);
  const { random } = seeded;
  const ids = idsFrom(random);
  const armed = armedFaults();
  const operations = () => table;
  const table = operationTable([...services, TestService]);
  let state: TestState | undefined;
  let advance: Advance | undefined;
  let served: Store | undefined;
  const opened = (): TestState => {
    if (state === undefined) throw new Error("test mode is not open yet");
    return state;
  };
  const deliveries = faultyDeliveries(armed, (webhookId, eventId, ms) =>
    opened().postpone(webhookId, eventId, clock.now() + ms),
  );
  const calls = faultyCalls(armed, operations);
  let kept = clock.now();

  /** With a seed, a call comes after the work of those before it, and a second later. */
  async function inTurn(answer: () => void): Promise<void> {
    await advance?.quiet(turnMs);
    clock.tick();
    answer();
  }

  const serve = (handler: FastifyServerFactoryHandler): FastifyServerFactoryHandler => {
    const withFaults = calls.serve(handler);
    return (request, response) => {
      response.setHeader("X-ATP-Test", "on");
      dateBy(clock, response);
      const refusal = refusalOf(request);
      const answer = () => seeded.within(request, () => withFaults(request, response));
      if (refusal === null) void (isSeeded && isCounted(request) ? inTurn(answer) : answer());
      else refuse(response, `test mode refuses this request: ${refusal}`);
    };
  };

  const store = (inner: Store): Store => ({ ...inner, change: (work) => inner.change(seeded.bind(work)) });

  function handlers({ store: ofServer }: Installation) {
    served = ofServer;
    const moved = createAdvance(clock, opened(), deliveries.held);
    advance = moved;
    return testHandlers({
      clock,
      advance: moved,
      armed,
      operations,
      createSpace: (name) => createSpace(ofServer, { ids, random, now: clock.now() }, name),
      reset: () =>
        moved.alone(async () => {
          armed.clear();
          await clock.endRuns();
          await moved.quiet(resetQuietMs);
          await opened().restore();
          await clock.set(kept);
          seeded.restart();
        }),
    });
  }

  return {
    config,
    seed: secret,
    ambient: {
      clock,
      ids,
      random,
      test: {
        services: [TestService],
        handlers,
        serve,
        store,
        read: calls.read,
        admit: calls.admit,
        post: deliveries.post,
      },
    },
    key: () => readFileSync(join(config.dataDir, "first-key"), "utf8").trim(),
    signInSecret: async () =>
      (await served?.change((tx) => createFirstLink(tx, { ids, random, now: clock.now() }))) ?? null,
    async open() {
      const snapshot = join(config.dataDir, "reset.db");
      state = await openTestState(databasePath(config), snapshot, {
        remote: remoteProfiles(config),
        waitingNode,
      });
    },
    async keep() {
      opened().keep();
      kept = clock.now();
      seeded.restart();
    },
    async close() {
      await state?.close();
      remove();
    },
  };
}

/** The date of an answer is that of its head, which may be later than its request. */
function dateBy(clock: Pick<TestClock, "now">, response: ServerResponse): void {
  const date = () => new Date(clock.now()).toUTCString();
  const writeHead = response.writeHead.bind(response) as (...head: readonly unknown[]) => ServerResponse;
  response.setHeader("Date", date());
  Object.assign(response, {
    writeHead(...head: readonly unknown[]) {
      response.setHeader("Date", date());
      return writeHead(...head);
    },
  });
}

/** Calls with a key may come at once, and those of workers belong to a run that works. */
const isCounted = ({ headers, url = "" }: IncomingMessage): boolean =>
  headers["idempotency-key"] === undefined && !url.startsWith("/worker.v1.");

/** The longest wait for the work of earlier calls. */
const turnMs = 1_000;

/** Runs that had only to write their end have written it. Those that work on are lost. */
const resetQuietMs = 20;

const randomSeed = (): string => Buffer.from(systemRandom(8)).toString("hex");
