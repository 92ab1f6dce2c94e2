import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { invalid } from "../failure.ts";
import { type Allowance, allowance, fileBytesMax, isLitter, rooted, type SkillFile } from "./files.ts";
import { shown } from "./path.ts";

/** Reads the files of a skill from a folder of this machine. @throws Failure `invalid` as for a ZIP. */
export async function readFolder(at: string, folder: string): Promise<readonly SkillFile[]> {
  return rooted(at, await readLevel(at, folder, "", allowance(at)));
}

async function readLevel(at: string, root: string, prefix: string, room: Allowance): Promise<readonly SkillFile[]> {
  const files: SkillFile[] = [];
  for (const entry of await readdir(join(root, prefix), { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (entry.name === ".git" || isLitter(path)) continue;
    room.entry();
    if (entry.isDirectory()) files.push(...(await readLevel(at, root, `${path}/`, room)));
    else if (entry.isFile()) files.push({ path, bytes: await readOne(at, join(root, path), room) });
    else throw invalid(at, `${shown(path)} is a link, or no file at all`);
  }
  return files;
}

async function readOne(at: string, path: string, room: Allowance): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (size > fileBytesMax) throw invalid(at, "a file of a skill has at most 20 MB");
    room.take(size, 0);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
