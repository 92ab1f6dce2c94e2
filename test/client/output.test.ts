import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type JsonObject, type OutputSchema, outputSchema } from "../../packages/client/src/index.ts";
import { toWire } from "../../packages/client/src/output/convert.ts";
import { readOutput } from "../../packages/client/src/output/output.ts";
import { checkSchema, conforms } from "../../src/core/structured-output/structured-output.ts";
import { depth } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { taskRig } from "../support/task-rig.ts";
import { pythonWith } from "../support/tools.ts";
import { openPython, type Python } from "./python.ts";
import { clientFor } from "./rig.ts";
import { zodRefusals, zodRows } from "./schemas/zod.ts";

/** What `schemas/pydantic_rows.py` prints: made by pydantic, and converted by the Python package. */
interface Pydantic {
  readonly rows: readonly {
    readonly name: string;
    readonly schema: JsonObject;
    readonly wire: JsonObject;
    readonly value: JsonObject;
  }[];
  readonly refusals: readonly {
    readonly name: string;
    readonly schema: JsonObject;
    readonly message: string;
  }[];
}
const folder = join(import.meta.dirname, "schemas");
const pydantic: Pydantic = JSON.parse(readFileSync(join(folder, "pydantic.json"), "utf8"));

const jsonSchemaOf = (schema: OutputSchema<unknown>) =>
  schema["~standard"].jsonSchema.input({
    target: "draft-2020-12",
    libraryOptions: { unrepresentable: "any" },
  });

/** A Python with pydantic from the registry: that of Debian 12 is older than 2. */
async function installPydantic(): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), "pydantic-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  await run(String(pythonWith("ensurepip")), ["-m", "venv", place]);
  await run(join(place, "bin/pip"), ["install", "--quiet", "pydantic==2.13.4"]);
  return join(place, "bin/python");
}

const known = pythonWith("pydantic.type_adapter");
const run = promisify(execFile);

const thrownBy = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (thrown) {
    return thrown;
  }
};

describe("at least 40 schemas of each library", () => {
  test.for(zodRows)("the server takes zod's %s unchanged, and its value is read by zod", async ([
    ,
    schema,
    value,
    read = value,
  ]) => {
    const wire = outputSchema(schema);
    expect(checkSchema(wire as never)).toEqual(wire);
    expect(conforms(wire as never, value as never)).toBe(true);
    expect(await readOutput(schema, value)).toEqual(read);
  });

  test.each(pydantic.rows)("the server takes pydantic's $name unchanged, the same from both clients", ({
    schema,
    wire,
    value,
  }) => {
    expect(zodRows.length).toBeGreaterThanOrEqual(40);
    expect(pydantic.rows.length).toBeGreaterThanOrEqual(40);
    expect(checkSchema(wire as never)).toEqual(wire);
    expect(conforms(wire as never, value as never)).toBe(true);
    expect(toWire(schema).wire).toEqual(wire);
  });

  test.skipIf(known === undefined && (depth === "short" || lacks("python-build")))(
    "pydantic makes these schemas, and reads the values",
    { timeout: 120_000 },
    async () => {
      const python = known ?? (await installPydantic());
      const env = { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1" };
      const { stdout } = await run(python, [join(folder, "pydantic_rows.py")], { env });
      expect(JSON.parse(stdout)).toEqual(pydantic);
    },
  );
});

describe("what cannot be sent throws with its path", () => {
  test.each(zodRefusals)("%s of zod", (_name, schema, message) => {
    expect(thrownBy(() => outputSchema(schema))).toEqual(new TypeError(message));
  });
  test.each(pydantic.refusals)("$name of pydantic", ({ schema, message }) => {
    expect(thrownBy(() => toWire(schema))).toEqual(new TypeError(message));
  });
  test("a validator without a JSON Schema", () => {
    const plain = { "~standard": { validate: (value: unknown) => ({ value }) } };
    // @ts-expect-error: its type says so too
    expect(() => outputSchema(plain)).toThrow(
      "output: this validator has no JSON Schema; use structured_output_schema and result(validator)",
    );
  });
});

describe("a task with an output", () => {
  const rig = taskRig();
  const client = () => clientFor(rig.service, rig.ann);
  const Sum = z.object({
    sum: z.int().min(1),
    unit: z.enum(["m", "km"]).optional(),
    at: z.iso.date().default("2026-01-01"),
  });
  const message = '[[value {"sum": 48, "unit": null, "at": null}]]';
  let opened: Promise<Python> | undefined;
  afterAll(async () => (await opened)?.[Symbol.asyncDispose]());

  test("returns the value as the schema reads it, with its type", async () => {
    const { sum, unit, at } = await client().tasks.create({ message, output: Sum }).result();
    expect([sum satisfies number, unit satisfies "m" | "km" | undefined, at satisfies string]).toEqual([
      48,
      undefined,
      "2026-01-01",
    ]);
    const task = await client().tasks.create({ message, output: Sum });
    expect(await task.result()).toEqual({ sum: 48, at: "2026-01-01" });
    expect(await task.result((value) => JSON.stringify(value))).toBe('{"sum":48,"unit":null,"at":null}');
    expect(await client().tasks.get(task.id).result(Sum, { timeoutMs: 9000 })).toEqual({
      sum: 48,
      at: "2026-01-01",
    });
  });

  test("refuses a value that only the original schema refuses", async () => {
    const none = client().tasks.create({ message: message.replace("48", "0"), output: Sum });
    await expect(none.result()).rejects.toThrow("the output has another form");
  });

  test("is not created when its schema cannot be sent", async () => {
    const before = await client().tasks.list().all();
    const started = client().tasks.create({ message, output: z.object({ pair: z.tuple([z.string()]) }) });
    await expect(started.result()).rejects.toThrow('output.pair: the keyword "prefixItems" cannot be sent');
    expect(await client().tasks.list().all()).toHaveLength(before.length);
  });

  test.skipIf(lacks("python-httpx")).each(["Client", "AsyncClient"])(
    "is the same in Python's %s",
    async (name) => {
      opened ??= openPython();
      const python = await opened;
      const there = await python.make(name, { base_url: rig.service.url, api_key: rig.ann.key });
      const output = await python.make("Adapter", { schema: jsonSchemaOf(Sum) });
      const task = await python.keep(there, "tasks.create", { args: [message], kwargs: { output } });
      expect(await python.do(task, "result")).toEqual({ sum: 48 });
      const pair = await python.make("Adapter", {
        schema: { type: "object", properties: { x: { prefixItems: [] } } },
      });
      await expect(
        python.keep(there, "tasks.create", { args: [message], kwargs: { output: pair } }),
      ).rejects.toMatchObject({
        name: "ValueError",
        message: 'output.x: the keyword "prefixItems" cannot be sent',
      });
    },
  );
});
