import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Disk } from "flydrive";
import { FSDriver } from "flydrive/drivers/fs";
import { absent, Failure } from "../core/failure.ts";
import type { Blobs } from "../core/files/blobs.ts";
import { checkedId } from "./blob-id.ts";

/** What waits for the disk. Small: buffers that wait long outlive V8's young generation, which cost twice the time when measured. */
const writeBytes = 64 * 1024;
