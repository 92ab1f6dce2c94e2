import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const root = join(import.meta.dirname, "..");

/** A release, as `releases.json` has it: the oldest first. */
export interface Release {
  readonly version: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** The commit that was released, in full. */
  readonly commit: string;
  /** SHA-256 of the image of its schema, in hex: the image is only ever replaced by that of the next release. */
  readonly wire: string;
}

/** All releases, the oldest first. @throws Error when there is none. */
export function readReleases(): { readonly all: readonly Release[]; readonly latest: Release } {
  const all: readonly Release[] = JSON.parse(readFileSync(join(root, "releases.json"), "utf8"));
  const latest = all.at(-1);
  if (latest === undefined) throw new Error("releases.json has no release");
  return { all, latest };
}

/** Where the image of a release's schema is, as `buf build --exclude-source-info` makes it: the path in the checkout. */
export const imageOf = ({ version }: Release): string => `proto/releases/${version}.binpb.gz`;

/**
 * The schema of a release.
 *
 * @throws Error when the image is not the one that was released.
 */
export function schemaOf(release: Release): FileDescriptorSet {
  const bytes = readFileSync(join(root, imageOf(release)));
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== release.wire) throw new Error(`${imageOf(release)} is not the image of the release: releases.json has another digest`);
  return fromBinary(FileDescriptorSetSchema, gunzipSync(bytes));
}
