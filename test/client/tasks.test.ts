import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type InvalidArgumentError,
  type TaskEvent,
  TaskStateError,
  TimeoutError,
  type WatchEvent,
} from "../../packages/client/src/index.ts";
import { taskRig } from "../support/task-rig.ts";
import { clientFor } from "./rig.ts";

const rig = taskRig();
const client = () => clientFor(rig.service, rig.ann);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
const seqs = (events: readonly WatchEvent[]) =>
  events.flatMap((event) => (event.type === "text_delta" ? [] : [event.seq]));

describe("a task that was created", () => {
  test("streams its events in order, before the promise of it is awaited", async () => {
    const events = await all(client().tasks.create({ message: "[[say Hello]]" }).stream());
    expect(seqs(events)).toEqual(Array.from({ length: events.length }, (_, index) => index + 1));
    expect(events.map(({ type }) => type)).toContain("assistant_message");
    expect(events.at(-1)).toMatchObject({
      type: "status_update",
      status_update: { agent_status: "stopped" },
    });
  });

  test("is a handle once it is awaited, and streams only what is new to it", async () => {
    const task = await client().tasks.create({ message: "[[say one]]" });
    const first = await all(task.stream());
    await task.send("[[say two]]");
    const second = await all(task.stream());
    expect(seqs(second)[0]).toBe((seqs(first).at(-1) ?? 0) + 1);
    expect(JSON.stringify(second)).not.toContain('"one"');
    expect(seqs(await all(task.stream({ afterSeq: 0 })))).toEqual([...seqs(first), ...seqs(second)]);
  });

  test("returns its text, and waits for it", async () => {
    expect(await client().tasks.create({ message: "[[sleep 0.05]] [[say 42]]" }).text()).toBe("42");
    expect(await client().tasks.create({ message: "[[say Hello]]" }).wait()).toMatchObject({
      status: "stopped",
      outcome: "finished",
    });
  });

  test("rejects all its methods with the error of the creation", async () => {
    const started = client().tasks.create({ message: "" });
    await expect(started.wait()).rejects.toMatchObject({
      name: "InvalidArgumentError",
      param: "message.content",
      code: "invalid_argument",
    });
    await expect(started).rejects.toThrow("message.content");
  });

  test("does not wait longer than it is allowed to", async () => {
    const task = await client().tasks.create({ message: "[[forever]]" });
    await expect(task.wait({ timeoutMs: 10 })).rejects.toBeInstanceOf(TimeoutError);
    await task.stop();
    expect((await task.wait()).outcome).toBe("stopped");
    await task.delete();
    await expect(task.detail()).rejects.toMatchObject({ name: "NotFoundError", status: 404 });
  });

  test("shows the text while it is written, and then the whole event", async () => {
    const events = await all(
      client().tasks.create({ message: "[[stream one two three]]" }).stream({ deltas: true }),
    );
    const texts = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []));
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect("one two three").toContain(text);
    expect(
      events.some(
        (event) => event.type === "assistant_message" && event.assistant_message.content === "one two three",
      ),
    ).toBe(true);
  });
});

describe("a structured output", () => {
  const shape = z.object({ sum: z.number() });
  const structured_output_schema = {
    type: "object",
    properties: { sum: { type: "integer" } },
    required: ["sum"],
    additionalProperties: false,
  };
  const create = (message: string) => client().tasks.create({ message, structured_output_schema });

  test("is returned with the type of its reader", async () => {
    const { sum } = await create('[[value {"sum": 48}]]').result(shape);
    expect(sum satisfies number).toBe(48);
    expect(await create('[[value {"sum": 48}]]').result()).toEqual({ sum: 48 });
    expect(await create('[[value {"sum": 48}]]').result((value) => JSON.stringify(value))).toBe('{"sum":48}');
  });

  test("of another form than its reader expects is an error", async () => {
    await expect(create('[[value {"sum": 48}]]').result(z.object({ sum: z.string() }))).rejects.toThrow(
      "the output has another form",
    );
  });

  test("that the agent did not give is an error with the reason", async () => {
    await expect(create('[[value {"sum": "many"}]]').result()).rejects.toThrow(
      "the turn has no valid structured output",
    );
    await expect(client().tasks.create({ message: "[[say nothing]]" }).result()).rejects.toThrow(
      "structured_output_schema",
    );
  });

  test("of a task that fails or waits is an error with its state", async () => {
    await expect(create("[[fail internal | out of paper]]").result()).rejects.toMatchObject({
      status: "error",
      message: expect.stringContaining("out of paper"),
    });
    await expect(create("[[ask Which one?]]").result()).rejects.toMatchObject({
      status: "waiting",
      message: expect.stringContaining("Which one?"),
    });
  });
});

describe("a task that waits", () => {
  test("for a question takes an answer, and no decision", async () => {
    const task = await client().tasks.create({ message: "[[ask Red or blue? | red | blue]] [[say thanks]]" });
    expect((await task.wait()).status).toBe("waiting");
    expect(await task.pending()).toMatchObject({
      waiting_for_event_type: "messageAskUser",
      waiting_description: "Red or blue?",
    });
    await expect(task.confirm("terminalExecute", { accept: true })).rejects.toBeInstanceOf(TaskStateError);
    await task.answer(["red", "blue"]);
    await task.wait();
    const events = await task.events().all();
    expect(events).toContainEqual(
      expect.objectContaining({ user_message: expect.objectContaining({ content: "red\nblue" }) }),
    );
    expect(await task.pending()).toBeUndefined();
  });

  test("for an approval takes the decision of its kind, and no answer", async () => {
    const task = await client().tasks.create({ message: "[[confirm terminalExecute]] [[say ran]]" });
    await task.wait();
    await expect(task.answer("yes")).rejects.toThrow(
      "the task waits for terminalExecute, not for a question",
    );
    await expect(task.confirm("deployAction", { accept: true })).rejects.toThrow("not for deployAction");
    await task.confirm("terminalExecute", { accept: true, always_allow: true });
    expect(await task.text()).toBe("ran");
    // @ts-expect-error: the input of this kind has no such member
    await expect(task.confirm("videoGenerate", { accept: true })).rejects.toThrow(
      "the task waits for nothing",
    );
  });
});

test("lists are read over all their pages", async () => {
  const person = await rig.service.person();
  const theirs = clientFor(rig.service, person);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1)
    ids.unshift((await theirs.tasks.create({ message: `[[say ${count}]]` })).id);
  expect((await all(theirs.tasks.list({ limit: 2 }))).map(({ id }) => id)).toEqual(ids);
  expect((await theirs.tasks.list({ limit: 2 }).all(3)).map(({ id }) => id)).toEqual(ids.slice(0, 3));
  const sizes = (await all(theirs.items("task.list", { limit: 2 }).pages())).map(({ data }) => data.length);
  expect(sizes).toEqual([2, 2, 1]);
});

test("an event's type decides its payload for the compiler", () => {
  const textOf = (event: TaskEvent): string => {
    switch (event.type) {
      case "user_message":
        return event.user_message.content;
      case "assistant_message":
        return event.assistant_message.content;
      case "status_update":
        // @ts-expect-error: an event has the payload of its type only
        return event.status_update.brief ?? event.assistant_message;
      default:
        return event.type satisfies
          | "error_message"
          | "user_stop"
          | "structured_output_result"
          | "tool_used"
          | "plan_update"
          | "new_plan_step"
          | "explanation";
    }
  };
  const event: TaskEvent = {
    id: "ev",
    seq: 1,
    timestamp: 1,
    type: "user_message",
    user_message: { content: "Hi", message_type: "text", attachments: [] },
  };
  expect(textOf(event)).toBe("Hi");
});

test("an error has all mistakes of the request, and the address of its page", async () => {
  const wrong = { message: { content: "Hi" }, title: "x".repeat(300), project_id: "y".repeat(200) };
  const error = await client()
    .call("task.create", wrong)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    name: "InvalidArgumentError",
    type: "invalid_argument",
    docUrl: expect.stringMatching(/\/errors\/invalid_argument$/),
  });
  const { details } = error as InvalidArgumentError;
  expect(details.map(({ param }) => param).toSorted()).toEqual(["project_id", "title"]);
  for (const { message } of details) expect(message).toMatch(/^must/);
});

test("warnings about members without effect are reported, and refused with strict handling", async () => {
  const seen: string[] = [];
  const lax = clientFor(rig.service, rig.ann, {
    onWarning: (warnings, operation) => seen.push(operation, ...warnings),
  });
  const misspelt = { message: { content: "Hi" }, interctive_mode: true };
  await lax.call("task.create", misspelt);
  expect(seen).toEqual(["task.create", 'unknown member "interctive_mode"; did you mean "interactive_mode"?']);
  const strict = clientFor(rig.service, rig.ann, { strict: true });
  await expect(strict.call("task.create", misspelt)).rejects.toMatchObject({
    status: 400,
    requestId: expect.stringMatching(/^req_/),
  });
});
