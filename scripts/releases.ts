import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { FrozenMigrations } from "./migration-digests.ts";

const root = join(import.meta.dirname, "..");

/** A release in `releases.json`. */
export interface Release {
  readonly version: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** The full hash of the released commit. */
  readonly commit: string;
  /** SHA-256 of the image of its schema, in hex; an image does not change after its release. */
  readonly wire: string;
  /** Releases from 0.2.0 on have it. */
  readonly migrations?: FrozenMigrations;
}

/** All releases of a checkout, oldest first. @throws Error if there is none. */
export function readReleases(folder = root): { readonly all: readonly Release[]; readonly latest: Release } {
  const all: readonly Release[] = JSON.parse(readFileSync(join(folder, "releases.json"), "utf8"));
  const latest = all.at(-1);
  if (latest === undefined) throw new Error("releases.json has no release");
  return { all, latest };
}

/** The path of the image of a release's schema in the checkout, made by `buf build --exclude-source-info`. */
export const imageOf = ({ version }: Pick<Release, "version">): string =>
  `proto/releases/${version}.binpb.gz`;

/**
 * The schema of a release.
 *
 * @throws Error if the image is not the released one.
 */
export function schemaOf(release: Release): FileDescriptorSet {
  const bytes = readFileSync(join(root, imageOf(release)));
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== release.wire)
    throw new Error(`${imageOf(release)} is not the image of the release: releases.json has another digest`);
  return fromBinary(FileDescriptorSetSchema, gunzipSync(bytes));
}
