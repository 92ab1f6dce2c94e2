import type { PackedSession } from "../core/exports/step-rows.ts";
import type { JsonObject } from "../core/json.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import type { Step } from "./steps.ts";
import { stepUlid } from "./ulid.ts";

/** Of the lines below. */
const schemaVersion = "1.0";

/** A step, and where it was. */
export interface Stepped {
  readonly step: Step;
  readonly event: TaskEvent;
  readonly session: Pick<PackedSession, "id" | "accountId" | "agentProfile">;
  readonly teamId: string;
  readonly includePayload: boolean;
}

/** A line of `events.ndjson` (contract/enterprise.md 8.5, 13 row 34). What happens is kept as it happens: its two times are one. */
export function stepLine({ step, event, session, teamId, includePayload }: Stepped): string {
  const { name, outcome, severity, attributes, content } = step;
  // Only a result stands beside another step of its event.
  const eventId = stepUlid({ ...event, part: name === "tool_result" ? 1 : 0 });
  const occurredAt = new Date(event.timestamp).toISOString();
  const word = name.toUpperCase();
  const who = { eventId, schemaVersion, eventName: `EVENT_NAME_${word}`, outcome, userId: session.accountId };
  const where = { teamUid: teamId, sessionUid: session.id, occurredAt, ingestedAt: occurredAt };
  const line: JsonObject = {
    ...{ event_id: eventId, team_uid: teamId, user_id: session.accountId, session_uid: session.id },
    ...{ event_name: word, outcome, occurred_at: occurredAt },
    metadata: { ...who, ...where, severity, genAiAgentName: session.agentProfile, ...attributes },
    ...(includePayload && Object.keys(content).length > 0 ? { payload: content } : {}),
  };
  return `${JSON.stringify(line)}\n`;
}
