import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Failure, invalid, renamed } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blobs.ts";
import type { Staged, Staging } from "../../core/files/staging.ts";
import { inTurn } from "../../core/repeat.ts";
import type { SkillFile } from "../../core/skills/files.ts";
import { archiveBytesMax, unzip } from "../../core/skills/unzip.ts";
import { checkSite } from "../../core/websites/snapshot.ts";
import type { SentSite } from "../../core/workers/remote-run.ts";
import { nameIn } from "../../core/workspaces/path.ts";
import type { NewSite } from "../agent.ts";
import type { StagedFile } from "../artefacts.ts";

/**
 * The website in a worker's ZIP, whose files are in the storage then: the change that writes its event keeps them.
 *
 * @throws Failure `invalid` for what is no ZIP that a skill could come in either, and for what no website may hold.
 */
export type OpenSite = (site: Omit<SentSite, "uploadId">, archive: Staged) => Promise<NewSite<StagedFile>>;

export function siteOpener({
  staging,
  blobs,
}: {
  readonly staging: Pick<Staging, "stage">;
  readonly blobs: Pick<Blobs, "read">;
}): OpenSite {
  // A ZIP and all that is in it are in memory meanwhile: one at a time.
  const exclusive = inTurn();

  async function stage({ path, bytes }: SkillFile): Promise<NewSite<StagedFile>["files"][number]> {
    const to = { accountId: null, max: bytes.byteLength, signal: new AbortController().signal };
    const staged = await staging.stage(Readable.from([bytes], { objectMode: false }), to);
    return { path, file: { staged, name: { filename: nameIn(path), contentType: "" } } };
  }

  return ({ at, title, message }, { blobId, bytes }) =>
    exclusive(async () => {
      if (bytes > archiveBytesMax) throw invalid(`${at}.upload_id`, "a ZIP of a website has at most 50 MB");
      const found = await unzip(`${at}.upload_id`, await buffer(await blobs.read(blobId)), "website");
      check({ title, message, files: found.map(({ path, bytes: content }) => ({ path, bytes: content.byteLength })) }, at);
      const files = [];
      for (const file of found) files.push(await stage(file));
      return { title, message, files };
    });
}

function check(site: Parameters<typeof checkSite>[0], at: string): void {
  try {
    checkSite(site);
  } catch (thrown) {
    throw thrown instanceof Failure ? renamed(thrown, (path) => `${at}.${path === "files" ? "upload_id" : path}`) : thrown;
  }
}
