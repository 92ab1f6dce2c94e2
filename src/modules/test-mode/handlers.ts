import { invalidArgument } from "../../core/failure.ts";
import { findNearest } from "../../core/nearest.ts";
import { TestService } from "../../gen/proto/testing/v1/test_service_pb.ts";
import { type HandlerTable, handlerTable, implement } from "../../pipeline/handlers.ts";
import type { OperationTable } from "../../pipeline/operations.ts";
import type { Advance } from "./advance.ts";
import type { ArmedFaults } from "./armed.ts";
import type { TestClock } from "./clock.ts";
import { parseFault } from "./fault.ts";
import { wireNames } from "./fault-calls.ts";
import type { TestSpace } from "./spaces.ts";

export interface TestParts {
  readonly clock: TestClock;
  readonly advance: Advance;
  readonly armed: ArmedFaults;
  readonly operations: () => OperationTable;
  /** Returns the server to its first state. */
  readonly reset: () => Promise<void>;
  readonly createSpace: (name: string | undefined) => Promise<TestSpace>;
}

/** They make their own changes: a call of a test has no audit row and no idempotency record. */
export function testHandlers({
  clock,
  advance,
  armed,
  operations,
  reset,
  createSpace,
}: TestParts): HandlerTable {
  const now = () => BigInt(Math.floor(clock.now() / 1000));
  const implementation = implement(TestService, {
    readClock: async () => ({ now: now() }),
    advanceClock: {
      async hold(_tx, _call, { seconds, to }) {
        if ((seconds === undefined) === (to === undefined))
          throw invalidArgument("seconds", "set either seconds or to");
        const ms = seconds === undefined ? Number(to) * 1000 - clock.now() : Number(seconds) * 1000;
        const stops = await advance.by(ms);
        return { now: now(), stops };
      },
    },
    armFault: {
      async hold(_tx, _call, { fault: text, operation, wire, webhookId }) {
        const isDelivery = webhookId !== undefined;
        const fault = parseFault(text, "fault", { isDelivery });
        if (isDelivery && (operation !== undefined || wire !== undefined))
          throw invalidArgument("webhook_id", "a fault of deliveries has no operation and no wire");
        if (operation !== undefined) checkOperation(operation, operations());
        if (wire !== undefined && !wireNames.includes(wire))
          throw invalidArgument("wire", `must be one of ${wireNames.join(", ")}`);
        armed.arm(fault, { isDelivery, name: webhookId ?? operation, wire });
        return {};
      },
    },
    clearFaults: { hold: async () => ({ cleared: armed.clear() }) },
    reset: {
      async hold() {
        await reset();
        return { now: now() };
      },
    },
    createSpace: { hold: (_tx, _call, { name }) => createSpace(name) },
  });
  return handlerTable([TestService], [implementation]);
}

/** @throws Failure `invalid_argument` for the name of no operation. */
function checkOperation(name: string, { all, byName, byRpc }: OperationTable): void {
  if (name.startsWith("/") || byName(name) || byRpc(name)) return;
  const suggestion = findNearest(
    name,
    all.flatMap((operation) => operation.name ?? []),
  );
  throw invalidArgument(
    "operation",
    `unknown operation${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`,
  );
}
