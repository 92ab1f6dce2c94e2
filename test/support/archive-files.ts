import type { Blobs } from "../../src/core/files/blob.ts";
import { staging } from "../../src/core/files/stage.ts";
import { writer } from "../../src/core/files/writer.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { segmentReader } from "../../src/core/tasks/segment-file.ts";
import type { RetainParts } from "../../src/core/use-cases/retain.ts";
import { cipher } from "./cipher.ts";
import { stillClock } from "./still-clock.ts";

/** The files of archived events, in a storage. */
export function archiveFiles(store: Store, blobs: Blobs, now = Date.now()): RetainParts["archive"] {
  const parts = { changeBytes: store.change, clock: stillClock(now), ids: systemIds };
  const stage = staging({ ...parts, writer: writer({ ...parts, blobs, quota: 1e12 }) });
  return {
    staging: stage,
    cipher,
    random: systemRandom,
    readSegment: segmentReader({ blobs, cipher, log: () => undefined }),
  };
}

const refuse = () => Promise.reject(new Error("this test has no storage"));

/** A storage for passes that archive nothing. */
export const noBlobs: Blobs = { put: refuse, read: refuse, remove: refuse, address: async () => null };
