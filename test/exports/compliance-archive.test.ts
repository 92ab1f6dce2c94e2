import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ComplianceExport, type StepFilter, stepNames } from "../../src/core/exports/export.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { eventId, type TaskEvent } from "../../src/core/tasks/event.ts";
import { packCompliance } from "../../src/runtime/exports/compliance.ts";
import { type FilePlatform, openFilePlatform, until, uploadFile } from "../files/files-rig.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import { readZip } from "./export-rig.ts";

// biome-ignore lint/suspicious/noExplicitAny: a line is read as the recipient sees it
type Line = any;

const defaultFilter: StepFilter = {
  user: null,
  session: null,
  startTime: null,
  endTime: null,
  names: stepNames,
  includePayload: true,
};

/** The lines of `events.ndjson`, without a job, a ZIP or a wire in between. */
async function linesOf(
  store: Store,
  { spaceId }: Pick<Person, "spaceId">,
  filter: Partial<StepFilter> = {},
  createdAt = 2 ** 45,
) {
  const complianceExport = {
    kind: "compliance",
    id: "x",
    spaceId,
    requestedBy: "x",
    reason: "",
    createdAt,
    filter: { ...defaultFilter, ...filter },
  };
  const packing = packCompliance(store, complianceExport as ComplianceExport); // The archive itself is not checked.
  let lines: string[] = [];
  for await (const { bytes } of packing.entries(async () => undefined))
    lines = (await text(bytes)).split("\n").slice(0, -1);
  expect(packing.eventCount()).toBe(lines.length);
  return lines;
}

const parseLines = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line));

describeOnOne("a compliance archive", (kind) => {
  let platform: FilePlatform;
  let ann: Person;
  let bo: Person;
  let siem: Person;
  let chat: string;
  let decidedTask: string;
  let failed: string;

  beforeAll(async () => {
    platform = await openFilePlatform(kind, {
      idle: false,
      env: { SIEM_PAYLOADS: "on", DELETED_TASK_DAYS: "30" },
    });
    const { store, person } = platform.service;
    ann = await person();
    bo = await person({ with: ann });
    siem = await person({ as: ann, with: ann, kind: "siem" });
    const { id: file_id } = await uploadFile(platform, ann, "Water the garden.", "notes.txt");
    const content = [
      {
        type: "text",
        text: "[[think A thought of its own]] [[plan A]] [[tool browser_open]] [[tool browser_close | error]] [[say Done.]]",
      },
      { type: "file", file_id },
    ];
    chat = await task(ann, content, "stopped");
    decidedTask = await task(bo, "[[confirm terminalExecute]] [[say After]]", "waiting");
    const { lastSeq } = await untilStatus(store, decidedTask, "waiting");
    await bo.v2("task.confirmAction", {
      task_id: decidedTask,
      event_id: eventId(decidedTask, lastSeq - 1),
      input: { accept: true },
    });
    await untilStatus(store, decidedTask, "stopped");
    failed = await task(bo, "[[fail quota_limit | Spent]]", "error");
    const stranger = await person();
    await task(stranger, "[[say Elsewhere]]", "stopped");
    const gone = await task(ann, "[[say Deleted]]", "stopped");
    await ann.v2("task.delete", { task_id: gone });
  });
  afterAll(async () => platform[Symbol.asyncDispose]());

  async function task(
    who: Person,
    content: unknown,
    status: "stopped" | "waiting" | "error",
  ): Promise<string> {
    const { body } = await who.v2("task.create", { message: { content } });
    if (!body.ok) throw new Error(JSON.stringify(body));
    await untilStatus(platform.service.store, body["task_id"], status);
    return body["task_id"];
  }
  const lines = (filter: Partial<StepFilter> = {}) => linesOf(platform.service.store, ann, filter);
  const eventOutcomes = (some: readonly string[]) =>
    parseLines(some).map(({ event_name, outcome }) => `${event_name} ${outcome}`);

  /** Requests an archive as a SIEM does, and fetches it. */
  async function fetchLines(body: object) {
    const call = async (name: string, sent: object) =>
      (await siem.v2(`enterprise.compliance.export.${name}`, sent)).body;
    const { uid } = await call("create", body);
    let record: Line;
    await until(async () => {
      ({ record } = await call("detail", { uid }));
      return record.completed_at !== undefined;
    });
    expect(record).toMatchObject({ status: "COMPLIANCE_EXPORT_STATUS_COMPLETED" });
    const { download_url } = await call("downloadUrl", { uid });
    const reply = await fetch(platform.reach(download_url));
    const bytes = Buffer.from(await reply.arrayBuffer());
    expect(bytes.length).toBe(record.file_size);
    expect(reply.headers.get("etag")).toBe(`"${createHash("sha256").update(bytes).digest("hex")}"`);
    return { record, zip: await readZip(bytes) };
  }

  test("is a ZIP with only events.ndjson, one JSON object per line, with the number of lines in the record", async () => {
    const { record, zip } = await fetchLines({});
    expect(zip.names).toEqual(["events.ndjson"]);
    const written = zip.read("events.ndjson").toString();
    expect(written.endsWith("}\n")).toBe(true);
    const rows = parseLines(written.split("\n").slice(0, -1));
    expect(rows.length).toBe(record.event_count);
    expect(rows.length).toBeGreaterThan(8);
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(
        "event_id team_uid user_id session_uid event_name outcome occurred_at metadata".split(" "),
      );
      expect(row.metadata).toMatchObject({
        eventId: row.event_id,
        eventName: `EVENT_NAME_${row.event_name}`,
        userId: row.user_id,
      });
    }
    expect(new Set(rows.map(({ event_id }) => event_id)).size).toBe(rows.length);
    expect(new Set(rows.map(({ team_uid }) => team_uid))).toEqual(new Set([`team-${ann.spaceId}`]));
    expect(new Set(rows.map(({ session_uid }) => session_uid))).toEqual(new Set([chat, decidedTask, failed]));
    for (const [session, person] of [
      [chat, ann],
      [decidedTask, bo],
      [failed, bo],
    ] as const)
      expect(
        new Set(rows.filter((row) => row.session_uid === session).map(({ user_id }) => user_id)),
      ).toEqual(new Set([person.accountId]));
    expect(written).not.toMatch(/Elsewhere|Deleted|Done\.|Water|Spent|After/);
  });

  test("has payloads only if they are requested and allowed, and otherwise the same lines", async () => {
    const text = async (body: object) => (await fetchLines(body)).zip.read("events.ndjson").toString();
    const [bare, full] = [
      await text({ session_uid: chat }),
      await text({ session_uid: chat, include_payload: true }),
    ];
    const rows = parseLines(full.split("\n").slice(0, -1));
    expect(rows.map(({ payload: _, ...row }) => row)).toEqual(parseLines(bare.split("\n").slice(0, -1)));
    expect(rows[0].payload.gen_ai_input_messages_json[0].parts).toMatchObject([
      { type: "text", content: expect.stringContaining("[[say Done.]]") },
      { type: "file", filename: "notes.txt", mime_type: "text/plain" },
    ]);
    expect(rows.find(({ event_name }) => event_name === "TOOL_CALL")).toMatchObject({
      metadata: { genAiToolName: "browser_open", genAiToolCallId: expect.stringMatching(/./) },
      payload: { gen_ai_tool_call_arguments_json: { action: "Using", param: "browser_open" } },
    });
    expect(JSON.stringify(rows)).toContain('"content":"Done."');
    // Thoughts and plans are not steps (spec/enterprise.md 8.1).
    expect(JSON.stringify(rows.slice(1))).not.toContain("A thought of its own");
  });

  test("has a task's steps in order: messages, each tool use with its result, and failures", async () => {
    expect(eventOutcomes(await lines({ session: chat })).slice(0, 5)).toEqual([
      ...[
        "USER_CHAT SUCCESS",
        "TOOL_CALL SUCCESS",
        "TOOL_RESULT SUCCESS",
        "TOOL_CALL SUCCESS",
        "TOOL_RESULT FAILURE",
      ],
    ]);
    expect(eventOutcomes(await lines({ session: failed }))).toEqual([
      "USER_CHAT SUCCESS",
      "AGENT_REPLY FAILURE",
    ]);
    expect(parseLines(await lines({ session: failed })).at(-1).metadata).toMatchObject({
      errorType: "quota_limit",
      severity: "ERROR",
    });
    expect(eventOutcomes(await lines({ session: decidedTask })).slice(0, 4)).toEqual([
      ...["USER_CHAT SUCCESS", "TOOL_CALL UNKNOWN", "TOOL_RESULT SUCCESS", "AGENT_REPLY SUCCESS"],
    ]);
    const ids = parseLines(await lines({ session: chat })).map(({ event_id }) => event_id);
    expect(ids.toSorted()).toEqual(ids);
  });

  test("filters by person, task and kind of step, also combined", async () => {
    const all = parseLines(await lines());
    const events = async (filter: Partial<StepFilter>) => parseLines(await lines(filter));
    expect(await events({ user: bo.accountId })).toEqual(
      all.filter(({ user_id }) => user_id === bo.accountId),
    );
    expect(await events({ user: ann.accountId, session: decidedTask })).toEqual([]);
    for (const name of stepNames)
      expect(await events({ names: [name] }), name).toEqual(
        all.filter(({ event_name }) => event_name === name.toUpperCase()),
      );
    expect(await events({ names: ["user_chat", "tool_result"], user: bo.accountId })).toEqual(
      all.filter(
        ({ event_name, user_id }) => user_id === bo.accountId && /USER_CHAT|TOOL_RESULT/.test(event_name),
      ),
    );
  });

  test("split at any time has the same events with the same ids: none is lost or repeated", async () => {
    const all = await lines();
    const times = [...new Set(parseLines(all).map(({ occurred_at }) => Date.parse(occurred_at)))].flatMap(
      (time) => [time, time + 1],
    );
    expect(times.length).toBeGreaterThan(12);
    for (const cut of times) {
      const [before, after] = [await lines({ endTime: cut }), await lines({ startTime: cut })];
      expect(before.every((line) => Date.parse(JSON.parse(line).occurred_at) < cut)).toBe(true);
      expect([...before, ...after].toSorted()).toEqual(all.toSorted());
    }
  });

  test("excludes everything at or after the time of the request, where the next archive may begin", async () => {
    const all = await lines();
    const cut = Date.parse(parseLines(all)[3].occurred_at);
    const { store } = platform.service;
    expect(await linesOf(store, ann, {}, cut)).toEqual(await lines({ endTime: cut }));
    expect(await linesOf(store, ann, { endTime: 2 ** 44 }, cut)).toEqual(await lines({ endTime: cut }));
    expect(await linesOf(store, ann, { endTime: cut }, 2 ** 45)).toEqual(await lines({ endTime: cut }));
  });

  test("without events is a ZIP with an empty file", async () => {
    const { record, zip } = await fetchLines({
      start_time: "2031-01-01T00:00:00Z",
      end_time: "2031-01-01T00:00:00Z",
    });
    expect([record.event_count, zip.names, zip.read("events.ndjson").length]).toEqual([
      0,
      ["events.ndjson"],
      0,
    ]);
  });
});

describe("packing a compliance archive", () => {
  test("reads a page only when it is requested, for any number of events", async () => {
    const pages = { sessions: 0, events: 0 };
    const content = "x".repeat(10_000);
    const steps: Store["steps"] = {
      ...{ has: async () => true, count: async () => 1_000_000, approvalRequests: async () => [] },
      async sessions(_wanted, _after, limit) {
        pages.sessions += 1;
        return Array.from({ length: limit }, () => ({
          ...{ id: systemIds.short(), accountId: "ann", agentProfile: "p", createdAt: 1, lastSeq: 2 ** 30 },
        }));
      },
      async events(_wanted, taskId, afterSeq) {
        pages.events += 1;
        return Array.from({ length: 100 }, (_, at): TaskEvent => {
          const seq = afterSeq + at + 1;
          return {
            type: "user_message",
            payload: { content, messageType: "text" },
            taskId,
            seq,
            timestamp: 1,
          };
        });
      },
    };
    const complianceExport = {
      kind: "compliance",
      id: "x",
      spaceId: "s",
      createdAt: 5,
      filter: defaultFilter,
    } as unknown as ComplianceExport;
    const packing = packCompliance(
      { steps, accounts: { teamOf: async () => ({ id: "t" }) } },
      complianceExport,
    );
    let read = 0;
    for await (const { bytes } of packing.entries(async () => undefined)) {
      for await (const piece of bytes) {
        read += piece.length;
        // About 1 MB per page.
        expect(pages.events).toBeLessThanOrEqual(Math.ceil(read / 1_000_000) + 1);
        if (read > 50_000_000) break;
      }
    }
    expect([pages.sessions, pages.events > 40]).toEqual([1, true]);
  });
});
