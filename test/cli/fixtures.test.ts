import { expect, test } from "vitest";
import { readFixtures, resolve } from "../../cli/fixtures/read.ts";
import { runFixtures } from "../../cli/fixtures/run.ts";
import { openService } from "../support/service.ts";

const project = { name: "project", call: "project.create", with: { name: "Demo" } };
const task = (more = {}) => ({
  name: "task",
  call: "task.create",
  with: { message: { content: "Hello" }, project_id: "$" + "{project.id}", ...more },
});
const read = (steps: unknown) =>
  readFixtures("demo.json", typeof steps === "string" ? steps : JSON.stringify(steps));

test("a second run finds what the first has made, and continues where it ended", async () => {
  await using service = await openService({ idle: true });
  const { key } = await service.person();
  const text = JSON.stringify([project, task({ project_id: "$" + "{project.project.name}" })]);
  const target = { origin: service.url, key, fetch };
  const seen: string[] = [];
  const run = (file: string) =>
    runFixtures(read(file), file, target, ({ name, outcome }) => void seen.push(`${outcome} ${name}`));
  await expect(run(text)).rejects.toThrow("step 2 of 2, task (task.create): not_found");
  expect(seen.splice(0)).toEqual(["made project"]);
  await expect(run(text)).rejects.toThrow("step 2 of 2");
  expect(seen.splice(0)).toEqual(["present project"]);

  const corrected = JSON.stringify([project, task()]);
  const results = await run(corrected);
  expect(seen.splice(0)).toEqual(["made project", "made task"]);
  const bodies = (all: Awaited<ReturnType<typeof run>>) =>
    all.map(({ answer: { request_id: _, ...body } }) => body);
  expect(bodies(await run(corrected))).toEqual(bodies(results));
  expect(seen).toEqual(["present project", "present task"]);
});

test.each([
  ["{", "is not JSON"],
  [{}, "must be a list"],
  [[{ ...project, extra: 1 }], "extra is not a member of a step"],
  [[{ ...project, name: "a b" }], "[0].name: must be a word"],
  [[project, project], "[1].name: project is the name of an earlier step"],
  [[{ ...project, call: "project.creat" }], "[0].call: project.creat is not an operation"],
  [[{ ...project, call: "test.reset" }], "test.reset is not an operation"],
  [[{ ...project, with: { nam: "x" } }], "[0].with.nam: project.create has no such member; it has name"],
  [[task()], "names no earlier step"],
  [[project, task({ project_id: "$" + "{project}" })], "must be"],
])("%j is refused before the first call: %s", (steps, message) => {
  expect(() => read(steps)).toThrow(message);
});

test("references take the type of their value, and name what an answer has", () => {
  const answers = new Map([
    ["a", { count: 2, made: { id: "x" }, ok: true }],
    ["b", { request_id: "r", task_id: "t" }],
  ]);
  const reference = (text: string) => ["$", "{", text, "}"].join("");
  expect(
    resolve(
      {
        n: reference("a.count"),
        t: `${reference("a.id")}-${reference("b.id")}`,
        l: [reference("a.made.id")],
      },
      answers,
    ),
  ).toEqual({
    ...{ n: 2, t: "x-t", l: ["x"] },
  });
  expect(() => resolve(reference("b.none"), answers)).toThrow(
    "the answer of b has no none; it has request_id, task_id",
  );
});
