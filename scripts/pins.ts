// Makes builds use what was tested: base images by digest, and actions of CI by commit.
//   node scripts/pins.ts           says what is not pinned, and fails then: release.yml runs it
//   node scripts/pins.ts --write   looks up each tag and writes its digest or commit behind it; run it again to renew
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** A line with a version that a tag names, and the file that it is in. */
interface Place {
  readonly file: string;
  /** Groups: what is before the reference, its name, its tag, and its digest or commit, if it has one. */
  readonly form: RegExp;
  readonly lookUp: (name: string, tag: string) => Promise<string>;
  readonly write: (before: string, name: string, tag: string, found: string) => string;
}

/** The digest of an image, as its registry answers (OCI distribution specification, pulling manifests). */
async function digestOf(name: string, tag: string): Promise<string> {
  const [host = "", ...path] = name.split("/");
  const at = host === "docker.io" ? "registry-1.docker.io" : host;
  const url = `https://${at}/v2/${path.join("/")}/manifests/${tag}`;
  const accept =
    "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json";
  const ask = (authorization?: string) =>
    fetch(url, { method: "HEAD", headers: { accept, ...(authorization && { authorization }) } });
  const first = await ask();
  const answer =
    first.status === 401
      ? await ask(`Bearer ${await tokenFor(first.headers.get("www-authenticate") ?? "")}`)
      : first;
  const digest = answer.headers.get("docker-content-digest") ?? "";
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${url}: no digest, status ${answer.status}`);
  return digest;
}

/** A token for anonymous pulls, from the challenge of the registry. */
async function tokenFor(challenge: string): Promise<string> {
  const { realm = "", ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  const answer = await fetch(`${realm}?${new URLSearchParams(query)}`);
  return ((await answer.json()) as { readonly token: string }).token; // The registry's own form.
}

/** The commit of a tag; of an annotated tag the commit that it names. */
async function commitOf(name: string, tag: string): Promise<string> {
  const refs = ["ls-remote", `https://github.com/${name}.git`, `refs/tags/${tag}`, `refs/tags/${tag}^{}`];
  const lines = execFileSync("git", refs, { encoding: "utf8" }).trim().split("\n");
  const commit = lines.at(-1)?.split("\t")[0] ?? "";
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error(`${name}: no tag ${tag}`);
  return commit;
}

const places: readonly Place[] = [
  {
    file: "deploy/container/Dockerfile",
    form: /^(ARG \w+_IMAGE=)([\w./-]+):([\w.-]+)(?:@(sha256:[0-9a-f]{64}))?$/gm,
    lookUp: digestOf,
    write: (before, name, tag, digest) => `${before}${name}:${tag}@${digest}`,
  },
  ...["ci", "release"].map((name) => ({
    file: `.github/workflows/${name}.yml`,
    form: /^( *- uses: )([\w./-]+)@(?:([0-9a-f]{40}) # )?(v[\w.]+)$/gm,
    lookUp: commitOf,
    write: (before: string, action: string, tag: string, commit: string) =>
      `${before}${action}@${commit} # ${tag}`,
  })),
];

/** What a reference is: its text, its parts, and its digest or commit, if it has one. */
interface Reference {
  readonly whole: string;
  readonly before: string;
  readonly name: string;
  readonly tag: string;
  readonly pinned: string | undefined;
}

const referencesIn = (text: string, { form }: Place): readonly Reference[] =>
  [...text.matchAll(form)].map(([whole, before = "", name = "", third, fourth]) => {
    // In workflows the commit comes before the tag.
    const [tag = "", pinned] = fourth?.startsWith("v") ? [fourth, third] : [third, fourth];
    return { whole, before, name, tag, pinned };
  });

/**
 * The references that a tag alone names, as `file: name tag`. @param readText the text of a file of the
 * repository
 */
export const unpinned = (readText: (file: string) => string): readonly string[] =>
  places.flatMap((place) =>
    referencesIn(readText(place.file), place)
      .filter(({ pinned }) => pinned === undefined)
      .map(({ name, tag }) => `${place.file}: ${name} ${tag}`),
  );

/**
 * The text of a file with the digest or commit of each reference. @param found the digest or commit of a name
 * and a tag
 */
export async function pinnedText(file: string, text: string, found?: Place["lookUp"]): Promise<string> {
  let written = text;
  for (const place of places.filter((each) => each.file === file))
    for (const { whole, before, name, tag } of referencesIn(text, place))
      written = written.replace(
        whole,
        place.write(before, name, tag, await (found ?? place.lookUp)(name, tag)),
      );
  return written;
}

const readText = (file: string): string => readFileSync(join(root, file), "utf8");

async function main(): Promise<void> {
  if (process.argv[2] === "--write")
    for (const { file } of places) writeFileSync(join(root, file), await pinnedText(file, readText(file)));
  const open = unpinned(readText);
  if (open.length === 0) return;
  console.error(
    `not pinned:\n  ${open.join("\n  ")}\nnode scripts/pins.ts --write looks them up and writes them.`,
  );
  process.exitCode = 1;
}

if (import.meta.main) await main();
