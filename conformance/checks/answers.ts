import type { JsonObject } from "../../src/core/json.ts";
import { Flaw } from "../flaw.ts";
import { decide, type Stage } from "../stage.ts";
import { stepLines } from "../transcript.ts";
import type { Check } from "./check.ts";

const fileText = "tea 1, coffee 3";

/** Every way in which a turn ends, and what is written before. */
export const answerChecks: readonly Check[] = [
  {
    name: "finish",
    about: "`echo TEXT` is finished with TEXT",
    async run(stage) {
      stage.start();
      await stage.ends(await stage.create("echo hello there"), ["running", "result: hello there", "stopped"]);
      await stage.ends(await stage.create("echo 7 € “and” so on"), ["running", "result: 7 € “and” so on", "stopped"]);
    },
  },
  {
    name: "progress",
    about: "`work N` writes a plan, a tool and a message for each step, and finishes with `did N steps`",
    async run(stage) {
      stage.start();
      const id = await stage.create("work 3");
      await stage.ends(id, ["running", ...stepLines(3), "result: did 3 steps", "stopped"]);
    },
  },
  {
    name: "ask",
    about: "`ask TEXT` asks TEXT, and the answer is finished with `you said ANSWER`",
    async run(stage) {
      stage.start();
      const id = await stage.create("ask Which colour?");
      await stage.ends(id, ["running", "question: Which colour?", "waiting"], "waiting");
      await stage.send(id, "blue");
      await stage.ends(id, ["running", "question: Which colour?", "waiting", "running", "result: you said blue", "stopped"]);
    },
  },
  {
    name: "accepted",
    about: "`confirm KIND TEXT` asks for an approval of that kind; once accepted it finishes with `accepted TEXT`",
    async run(stage) {
      stage.start();
      const id = await approval(stage, "terminalExecute", "ls", { accept: true });
      await stage.ends(id, ["running", "waiting", "tool", "running", "result: accepted ls", "stopped"]);
    },
  },
  {
    name: "refused",
    about: "when the approval is refused it finishes with `refused TEXT`",
    async run(stage) {
      stage.start();
      const id = await approval(stage, "gmailSendAction", "hello", { accept: false });
      await stage.ends(id, ["running", "waiting", "tool", "running", "result: refused hello", "stopped"]);
    },
  },
  {
    name: "allowed",
    about: "what was always allowed is not asked again: Finish is answered with the run to go on with",
    async run(stage) {
      stage.start();
      const id = await approval(stage, "terminalExecute", "ls", { accept: true, always_allow: true });
      const before = ["running", "waiting", "tool", "running", "result: accepted ls", "stopped"];
      await stage.ends(id, before);
      await stage.send(id, "confirm terminalExecute pwd");
      await stage.ends(id, [...before, "running", "tool", "result: accepted pwd", "stopped"]);
    },
  },
  {
    name: "file",
    about: "`file NAME TEXT` finishes with `here is NAME`, and a file of that name and content",
    async run(stage) {
      stage.start();
      const id = await stage.create(`file note.txt ${fileText}`);
      await stage.ends(id, ["running", "result: here is note.txt", "stopped"]);
      await expectFile(stage, id);
    },
  },
  {
    name: "fail",
    about: "`fail TEXT` ends the task in `error` with TEXT",
    async run(stage) {
      stage.start();
      await stage.ends(await stage.create("fail out of paper"), ["running", "error: out of paper", "error"], "error");
    },
  },
];

/** A task that was asked for an approval, and given this decision. */
async function approval(stage: Stage, kind: string, text: string, input: JsonObject): Promise<string> {
  const id = await stage.create(`confirm ${kind} ${text}`);
  await stage.reach(id, "waiting");
  await decide(stage, id, kind, input);
  return id;
}

async function expectFile({ platform, events }: Stage, id: string): Promise<void> {
  const shown = (await events(id)).flatMap((event) => (event.type === "assistant_message" ? (event.payload.attachments ?? []) : []));
  const [file] = shown;
  if (!file || shown.length > 1) throw new Flaw(`The result was expected to show one file, and shows ${shown.length}.`);
  if (file.filename !== "note.txt") throw new Flaw(`The file was expected to be called note.txt, and is called ${file.filename}.`);
  const link = JSON.stringify(await platform.user("task.listMessages", { task_id: id })).match(/"(http[^"]*)"/)?.[1] ?? "";
  const content = await (await fetch(link)).text();
  if (content !== fileText)
    throw new Flaw(`The file was expected to hold ${JSON.stringify(fileText)}, and holds ${JSON.stringify(content)}.`);
}
