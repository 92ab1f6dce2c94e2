import { join } from "node:path";
import { invalid } from "../core/failure.ts";
import type { Blobs } from "../core/files/blobs.ts";
import { type BringFiles, bringFiles } from "../core/files/bring.ts";
import { type FileLinks, fileLinks } from "../core/files/links.ts";
import { staging } from "../core/files/stage.ts";
import type { Staging } from "../core/files/staging.ts";
import { writer } from "../core/files/writer.ts";
import { localBlobs } from "../storage/local.ts";
import type { Ground } from "./ground.ts";

export interface FileParts {
  readonly blobs: Blobs;
  readonly links: FileLinks;
  readonly staging: Staging;
}

export function filesOf({ config, store, cipher, clock, ids }: Ground): FileParts {
  const blobs = localBlobs(join(config.dataDir, "files"));
  const writing = writer({ store, blobs, clock, ids, quota: 10 * 1024 ** 3 });
  return { blobs, links: fileLinks(cipher, config.baseUrl), staging: staging({ store, writer: writing, clock, ids }) };
}

/** What messages bring is fetched under the operator's rules (contract/decisions.md 39). */
export const bringing = ({ clock }: Ground, { staging: stage }: FileParts): BringFiles =>
  bringFiles({
    staging: stage,
    clock,
    fetchFile: async () => {
      throw invalid("file_url", "cannot be fetched");
    },
  });
