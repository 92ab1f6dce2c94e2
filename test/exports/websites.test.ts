import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { lacks } from "../support/needs.ts";
import type { Person } from "../support/service.ts";
import {
  hostOf,
  openSiteRig,
  page,
  publish,
  runOfflineTask,
  type SiteRig,
  saveSite,
} from "../websites/site.ts";
import type { SiteTree } from "../websites/tree.ts";
import { requestArchive, type Unzipped, waitForExport } from "./export-rig.ts";

const scope = "ENTERPRISE_EXPORT_SCOPE_WEBDEV_PROJECT";

interface FileRow {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly content_type: string;
  readonly entry: string;
}

/** `website.json` and its entries (spec/enterprise.md 6.6). */
describeOnOne("the websites of an archive", (kind) => {
  let rig: SiteRig;
  let ann: Person;
  beforeAll(async () => {
    rig = await openSiteRig(kind);
    ann = await rig.service.person();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const idOf = async (who: Person, task_id: string) =>
    String((await who.v2("website.status", { task_id })).body["website_id"]);
  const createTask = (who: Person) => runOfflineTask(who, "[[say Hi.]]");
  const sites = (files: Unzipped) => files.names.filter((name) => name.startsWith("websites/"));

  /** The answers of the API about a website, in the form of its row. */
  async function shown(who: Person, website_id: string) {
    const { ok: _, request_id: __, ...status } = (await who.v2("website.status", { website_id })).body;
    const { data } = (await who.v2("website.listCheckpoints", { website_id })).body;
    return { status, checkpoints: (data as object[]).toReversed() };
  }

  /** Checks a row's files against the saved ones, by the bytes of their entries. */
  function checkFiles(files: Unzipped, rows: readonly FileRow[], saved: SiteTree): void {
    expect(rows.map(({ path }) => path)).toEqual(Object.keys(saved).toSorted());
    for (const { path, entry, bytes, sha256 } of rows) {
      const held = files.read(entry);
      expect([held.toString(), held.length, createHash("sha256").update(held).digest("hex")], path).toEqual([
        saved[path],
        bytes,
        sha256,
      ]);
    }
  }

  test.each([
    "full",
    "webdev_project",
  ] as const)("of scope %s have each checkpoint as the API shows it, with every file", async (packed) => {
    const cy = await rig.service.person();
    const [other, task] = [await saveSite(cy, "Other"), await createTask(cy)];
    const first = { "index.html": page("one"), "img/a.svg": "<svg/>", "about/index.html": page("about") };
    const second = { ...first, "index.html": page("two"), "copy/a.svg": "<svg/>" };
    await rig.save(task, first, "Began");
    await rig.save(task, second, "Went on");
    const { site_urls } = await publish(cy, task);
    await rig.save(task, { "index.html": page("three") }, "Not published");
    const { files } = await requestArchive(rig, cy, packed);
    const rows = files.json("website.json");
    expect(rows.map(({ session_uid }) => session_uid)).toEqual([other, task]);
    for (const row of rows) {
      const { status, checkpoints } = await shown(cy, row.website_id);
      expect(row).toMatchObject({
        ...status,
        title: "My site",
        is_deleted: false,
        created_at: expect.any(Number),
      });
      expect(row.checkpoints).toMatchObject(checkpoints);
      for (const { hash } of row.checkpoints) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    }
    const [one, two, three] = rows[1].checkpoints;
    checkFiles(files, one.files, first);
    checkFiles(files, two.files, second);
    checkFiles(files, three.files, { "index.html": page("three") });
    expect(rows[1].version_id).toBe(two.version_id);
    const live = two.files.find(({ path }: FileRow) => path === "index.html").entry;
    expect(files.read(live).toString()).toBe((await rig.visit(hostOf({ site_urls }))).text);
    expect(sites(files).length, "equal bytes are packed once").toBe(3 + 1 + 1 + 1);
  });

  test("are those that are requested by the id of website.status, from the request to the download", async () => {
    const [chosen, left] = [
      await idOf(ann, await saveSite(ann, "chosen")),
      await idOf(ann, await saveSite(ann, "left")),
    ];
    const create = (webdev_project_uids: string[]) =>
      ann.v2("enterprise.export.create", { user_id: ann.accountId, scope, webdev_project_uids });
    const { status, body } = await create([chosen, chosen]);
    expect(status).toBe(200);
    expect(await waitForExport(rig.service.store, body["uid"])).toMatchObject({
      status: "completed",
      progress: { done: 2, total: 2 },
    });
    const { files } = await requestArchive(rig, ann, "webdev_project", { webdevProjectUids: [chosen] });
    expect(files.names.filter((name) => name.endsWith(".json"))).toEqual(["user.json", "website.json"]);
    expect(files.json("website.json").map(({ website_id }) => website_id)).toEqual([chosen]);
    expect(sites(files).every((name) => name.startsWith(`websites/${chosen}/`))).toBe(true);
    const all = (await requestArchive(rig, ann, "webdev_project")).files.json("website.json");
    expect(all.map(({ website_id }) => website_id)).toEqual([chosen, left]);
  });

  test("are not found by the id of another person, another team or no website, and are in no archive of another person", async () => {
    const bo = await rig.service.person({ with: ann, role: "member" });
    const stranger = await rig.service.person();
    const own = await idOf(ann, await saveSite(ann));
    const foreign = [
      await idOf(bo, await saveSite(bo)),
      await idOf(stranger, await saveSite(stranger)),
      "nothing",
    ];
    for (const uid of foreign) {
      const ask = { user_id: ann.accountId, scope, webdev_project_uids: [own, uid] };
      const { status, body } = await ann.v2("enterprise.export.create", ask);
      expect([status, body["error"]?.message]).toEqual([404, "webdev_project_uids: website not found"]);
    }
    const rows = (await requestArchive(rig, ann, "full")).files.json("website.json");
    for (const uid of foreign) expect(rows.map(({ website_id }) => website_id)).not.toContain(uid);
  });

  test("are those created between the time bounds, both inclusive", async () => {
    const di = await rig.service.person();
    const ids = [await idOf(di, await saveSite(di)), await idOf(di, await saveSite(di))];
    const at = await Promise.all(
      ids.map(async (id) => (await rig.service.store.websites.byId(id))?.createdAt ?? 0),
    );
    const packed = async (startTime: number | null, endTime: number | null) =>
      (await requestArchive(rig, di, "webdev_project", { startTime, endTime })).files
        .json("website.json")
        .map(({ website_id }) => website_id);
    const [first = 0, second = 0] = at;
    expect(await packed(first, second)).toEqual(ids);
    expect(await packed(first + 1, null)).toEqual(ids.slice(1));
    expect(await packed(null, first)).toEqual(ids.slice(0, 1));
  });

  test("that were deleted leave a row without checkpoints, if deleted data is requested", async () => {
    const ed = await rig.service.person();
    const task_id = await saveSite(ed);
    const website_id = await idOf(ed, task_id);
    await publish(ed, task_id);
    expect((await ed.v2("task.delete", { task_id })).status).toBe(200);
    const ask = (include_deleted: boolean) =>
      ed.v2("enterprise.export.create", {
        user_id: ed.accountId,
        scope,
        webdev_project_uids: [website_id],
        include_deleted,
      });
    expect([(await ask(false)).status, (await ask(true)).status]).toEqual([404, 200]);
    expect((await requestArchive(rig, ed, "full")).files.json("website.json")).toEqual([]);
    const { files } = await requestArchive(rig, ed, "full", { includeDeleted: true });
    const row = {
      website_id,
      session_uid: task_id,
      is_deleted: true,
      deleted_at: expect.any(Number),
      site_urls: [],
      checkpoints: [],
    };
    expect([files.json("website.json"), sites(files)]).toMatchObject([[row], []]);
  });

  const hostile = [
    ...[
      "index.html",
      "Index.HTML",
      "a:b.txt",
      "a?b.txt",
      "con.txt",
      "con",
      "x",
      "x/y.txt",
      "name .html",
      "nul./z",
      "e\u0301.txt",
      "\u00e9.txt",
    ],
    ...[
      ".well-known/security.txt",
      "\u202etxt.html",
      `${"long".repeat(60)}.html`,
      "deep/".repeat(30).concat("end.txt"),
    ],
  ];

  test("have entries that stay in their folder and that every system can unpack next to each other", async () => {
    const fay = await rig.service.person();
    const task = await createTask(fay);
    const tree = Object.fromEntries(hostile.map((path) => [path, `The bytes of ${path}`]));
    await rig.save(task, tree);
    const { files, bytes } = await requestArchive(rig, fay, "webdev_project");
    const [{ website_id, checkpoints }] = files.json("website.json");
    checkFiles(files, checkpoints[0].files, tree);
    const names = sites(files);
    expect(names.length).toBe(hostile.length);
    const folded = names.map((name) => name.toLowerCase().normalize("NFC"));
    expect(new Set(folded).size, "no two are one").toBe(names.length);
    for (const name of folded)
      expect(
        folded.filter((other) => other.startsWith(`${name}/`)),
        "no file is a folder",
      ).toEqual([]);
    for (const name of names) {
      expect(name).toMatch(
        new RegExp(`^websites/${website_id}/(?!.*(^|/)\\.\\.?(/|$))[^\\\\:*?"<>|\\p{C}]+$`, "u"),
      );
      for (const part of name.split("/")) expect(part).not.toMatch(/[. ]$|^(con|nul)(\.|$)/i);
    }
    unpackWithOthers(bytes, checkpoints[0].files, tree);
  });

  test("without their bytes are still listed", async () => {
    const gus = await rig.service.person();
    const website_id = await idOf(gus, await saveSite(gus));
    const [checkpoint] = await rig.service.store.checkpoints.list(website_id);
    const [file] = await rig.service.store.archives.siteFiles(checkpoint?.id ?? "");
    rmSync(join(rig.folder, rig.stored().find((path) => path.endsWith(file?.blobId ?? "")) ?? "none"));
    const { files } = await requestArchive(rig, gus, "webdev_project");
    expect(files.json("website.json")).toMatchObject([
      { website_id, checkpoints: [{ files: [{ path: "index.html" }] }] },
    ]);
    expect(sites(files)).toEqual([]);
  });
});

/** Unpacks a ZIP with Python's library into a folder, and reads the files from there. */
function unpackWithOthers(bytes: Buffer, rows: readonly FileRow[], saved: SiteTree): void {
  if (lacks("python")) return;
  const folder = mkdtempSync(join(tmpdir(), "export-"));
  try {
    writeFileSync(join(folder, "export.zip"), bytes);
    execFileSync("python3", ["-m", "zipfile", "-e", join(folder, "export.zip"), join(folder, "unpacked")]);
    for (const { path, entry } of rows)
      expect(readFileSync(join(folder, "unpacked", entry), "utf8"), path).toBe(saved[path]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
