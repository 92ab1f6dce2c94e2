import { expect } from "vitest";
import { call, sdk } from "../http/openai/facade-rig.ts";
import { untilStatus } from "../support/until.ts";
import { approveByV2, isPart, type RunStory, stopByV2, storyMessage, storyWords } from "./story.ts";

/** Runs the story by v1. */
export const storyByV1: RunStory = async (run) => {
  const { service, person, did } = run;
  const tasks = (method: string, path = "", body?: object) =>
    call(service.url, person, method, `/v1/tasks${path}`, body);
  const { task_id: id } = (await tasks("POST", "", { prompt: storyMessage, interactiveMode: true })).body;
  did("create");
  await untilStatus(service.store, id, "waiting");
  const asked = (await tasks("GET", `/${id}`)).body;
  expect([asked.status, JSON.stringify(asked.output)]).toEqual([
    "pending",
    expect.stringContaining("Which colour?"),
  ]);
  did("question");
  await tasks("POST", "", { task_id: id, prompt: "blue" });
  did("answer");
  await approveByV2(run, id);
  const { output } = (await tasks("GET", `/${id}`)).body;
  expect(await contentOf(output)).toBe("tea,12");
  did("file");
  await tasks("POST", "", { task_id: id, prompt: "[[forever]]" });
  await stopByV2(run, id);
  return id;
};

/** Runs the story by the Responses API, with the SDK of OpenAI. */
export const storyByResponses: RunStory = async (run) => {
  const { service, person, did } = run;
  const { responses } = sdk(service.url, person);
  const words: string[] = [];
  const more: object = { interactive_mode: true };
  const stream = responses.stream({ model: "manus-1.6", input: storyMessage, ...more });
  stream.on("response.output_text.delta", ({ delta }) => words.push(delta));
  const asked = await stream.finalResponse();
  const { id } = asked;
  did("create");
  expect(words.some(isPart)).toBe(true);
  expect(words.join("")).toContain(storyWords);
  did("delta");
  expect(asked).toMatchObject({ status: "pending", incomplete_details: { reason: "question" } });
  did("question");
  await responses.create({ previous_response_id: id, input: "blue" });
  did("answer");
  await approveByV2(run, id);
  const { output } = await responses.retrieve(id);
  expect(await contentOf(output)).toBe("tea,12");
  did("file");
  await responses.create({ previous_response_id: id, input: "[[forever]]" });
  await responses.cancel(id);
  await untilStatus(service.store, id, "stopped");
  did("stop");
  return id;
};

/** The content of the one file of an output. */
async function contentOf(output: unknown): Promise<string> {
  const parts = (output as { content: { type: string; fileUrl: string }[] }[]).flatMap(
    ({ content }) => content,
  );
  const [file] = parts.filter(({ type }) => type === "output_file");
  return (await fetch(file?.fileUrl ?? "")).text();
}
