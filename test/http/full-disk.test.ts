import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import { mountSmallDisk } from "../faults/harness/small-disk.ts";
import { eventually, installation } from "../faults/server.ts";
import { ownEnvironment, root } from "../support/server-process.ts";

const disk = mountSmallDisk("8m");

/** What a command on the server writes, for any exit code. */
const command = (words: readonly string[], env: Readonly<Record<string, string>>) =>
  new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const options = { cwd: root, env: { ...ownEnvironment(), ...env } };
    execFile(process.execPath, ["cli/main.ts", ...words], options, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });

test.skipIf(disk === undefined)(
  "a server whose disk is full says so at /readyz and at the head of a line of its log, and is ready again with room",
  async () => {
    if (disk === undefined) return;
    using small = disk;
    using place = installation({ DATA_DIR: small.path });
    const server = await place.start();
    const readiness = async () => (await fetch(`${server.url}/readyz`)).status;
    const becomes = (status: number) =>
      eventually(`/readyz answers ${status}`, async () => (await readiness()) === status);
    await becomes(200);
    small.fill();
    await becomes(503);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    const errors = server
      .stderrText()
      .split("\n")
      .filter((line) => line.includes('"level":50'))
      .map((line) => JSON.parse(line).msg);
    expect(errors).toContain(
      `not ready: the database takes no writes: SQLITE_FULL: database or disk is full (${small.path}/platform.db)`,
    );
    for (const words of [["status"], ["key", "list"], ["doctor", "--reach", server.url]]) {
      const { stdout, stderr } = await command(words, place.env);
      if (words[0] === "doctor") expect(stdout).toMatch(/^ok .*configuration.*\n(FAIL|WARN) disk /);
      else expect(stderr).toMatch(/^the disk of \S+ is full/);
      expect(stdout, `${words}: ${stderr}`).toMatch(
        { status: /^Platform /, key: /general/, doctor: /database/ }[words[0] ?? ""] ?? /^$/,
      );
    }
    small.free();
    await becomes(200);
    expect(await server.end("SIGHUP")).toMatchObject({ code: 0 });
  },
);
