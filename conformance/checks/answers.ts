import type { JsonObject } from "../../src/core/json.ts";
import { decideApproval, type Stage } from "../stage.ts";
import { stepLines } from "../transcript.ts";
import { WorkerError } from "../worker-error.ts";
import type { Check } from "./check.ts";

const fileText = "tea 1, coffee 3";

/** Checks of every way to end a turn, with the events before. */
export const answerChecks: readonly Check[] = [
  {
    name: "finish",
    about: "`echo TEXT` finishes with TEXT",
    async run(stage) {
      stage.start();
      await stage.expectEnd(await stage.create("echo hello there"), [
        "running",
        "result: hello there",
        "stopped",
      ]);
      await stage.expectEnd(await stage.create("echo 7 € “and” so on"), [
        "running",
        "result: 7 € “and” so on",
        "stopped",
      ]);
    },
  },
  {
    name: "progress",
    about: "`work N` writes a plan, a tool use and a message for each step, and finishes with `did N steps`",
    async run(stage) {
      stage.start();
      const id = await stage.create("work 3");
      await stage.expectEnd(id, ["running", ...stepLines(3), "result: did 3 steps", "stopped"]);
    },
  },
  {
    name: "ask",
    about: "`ask TEXT` asks TEXT, and after the answer it finishes with `you said ANSWER`",
    async run(stage) {
      stage.start();
      const id = await stage.create("ask Which colour?");
      await stage.expectEnd(id, ["running", "question: Which colour?", "waiting"], "waiting");
      await stage.send(id, "blue");
      await stage.expectEnd(id, [
        "running",
        "question: Which colour?",
        "waiting",
        "running",
        "result: you said blue",
        "stopped",
      ]);
    },
  },
  {
    name: "accepted",
    about:
      "`confirm KIND TEXT` requests an approval of that kind; if accepted, it finishes with `accepted TEXT`",
    async run(stage) {
      stage.start();
      const id = await createDecided(stage, "terminalExecute", "ls", { accept: true });
      await stage.expectEnd(id, ["running", "waiting", "tool", "running", "result: accepted ls", "stopped"]);
    },
  },
  {
    name: "refused",
    about: "if the approval is refused, it finishes with `refused TEXT`",
    async run(stage) {
      stage.start();
      const id = await createDecided(stage, "gmailSendAction", "hello", { accept: false });
      await stage.expectEnd(id, [
        "running",
        "waiting",
        "tool",
        "running",
        "result: refused hello",
        "stopped",
      ]);
    },
  },
  {
    name: "allowed",
    about: "an action that is always allowed is not requested again: Finish returns the run to continue",
    async run(stage) {
      stage.start();
      const id = await createDecided(stage, "terminalExecute", "ls", { accept: true, always_allow: true });
      const before = ["running", "waiting", "tool", "running", "result: accepted ls", "stopped"];
      await stage.expectEnd(id, before);
      await stage.send(id, "confirm terminalExecute pwd");
      await stage.expectEnd(id, [...before, "running", "tool", "result: accepted pwd", "stopped"]);
    },
  },
  {
    name: "file",
    about: "`file NAME TEXT` finishes with `here is NAME` and a file with that name and content",
    async run(stage) {
      stage.start();
      const id = await stage.create(`file note.txt ${fileText}`);
      await stage.expectEnd(id, ["running", "result: here is note.txt", "stopped"]);
      await expectFile(stage, id);
    },
  },
  {
    name: "fail",
    about: "`fail TEXT` ends the task in `error` with TEXT",
    async run(stage) {
      stage.start();
      await stage.expectEnd(
        await stage.create("fail out of paper"),
        ["running", "error: out of paper", "error"],
        "error",
      );
    },
  },
];

/** Creates a task that requests an approval, and decides it. */
async function createDecided(stage: Stage, kind: string, text: string, input: JsonObject): Promise<string> {
  const id = await stage.create(`confirm ${kind} ${text}`);
  await stage.waitForStatus(id, "waiting");
  await decideApproval(stage, id, kind, input);
  return id;
}

async function expectFile({ platform, events }: Stage, id: string): Promise<void> {
  const attachments = (await events(id)).flatMap((event) =>
    event.type === "assistant_message" ? (event.payload.attachments ?? []) : [],
  );
  const [file] = attachments;
  if (!file || attachments.length > 1)
    throw new WorkerError(`The result must have one attachment, but has ${attachments.length}.`);
  if (file.filename !== "note.txt")
    throw new WorkerError(`The file's name must be note.txt, but is ${file.filename}.`);
  const link =
    JSON.stringify(await platform.user("task.listMessages", { task_id: id })).match(/"(http[^"]*)"/)?.[1] ??
    "";
  const content = await (await fetch(link)).text();
  if (content !== fileText)
    throw new WorkerError(
      `The file's content must be ${JSON.stringify(fileText)}, but is ${JSON.stringify(content)}.`,
    );
}
