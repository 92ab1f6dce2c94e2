import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Tokens } from "../packages/client/src/index.ts";
import { defined } from "../src/core/defined.ts";
import { withLock } from "./file-lock.ts";
import { CommandError, UsageError } from "./frame/failures.ts";

/** The credential of one installation. There is one profile for each origin. */
export interface Profile {
  /** By default the host. */
  readonly name: string;
  /** Scheme, host and port of the installation; the credential is sent nowhere else. */
  readonly origin: string;
  /** An API key; else the tokens of an OAuth app. */
  readonly key?: string;
  readonly oauth?: { readonly clientId: string; readonly tokens: Tokens };
}

interface Stored {
  readonly profiles: readonly Profile[];
  /** The origin that commands use without `--profile` and without ATP_URL. */
  readonly current?: string;
}

type Environment = Readonly<Partial<Record<string, string>>>;

/** Profiles in a file that only its owner can read (`$XDG_CONFIG_HOME/atp/profiles.json`). */
export interface Profiles {
  readonly path: string;
  readonly all: () => readonly Profile[];
  /** The one with this name or origin. @throws CommandError when there is none */
  readonly named: (name: string) => Profile;
  readonly at: (origin: string) => Profile | undefined;
  readonly current: () => Profile | undefined;
  /**
   * Stores a profile instead of the one of its origin, and makes it the current one. @throws CommandError
   * when another origin has the name
   */
  readonly save: (profile: Profile) => void;
  /** Replaces the tokens of a profile. */
  readonly renew: (origin: string, tokens: Tokens) => void;
  readonly use: (origin: string) => void;
  readonly remove: (origin: string) => void;
}

/** The folder of user settings (XDG Base Directory Specification). */
function folderOf(env: Environment): string {
  const base = env["XDG_CONFIG_HOME"];
  return join(base?.startsWith("/") ? base : join(env["HOME"] ?? homedir(), ".config"), "atp");
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * The origin of an address. A credential is sent over https, or to this machine only.
 *
 * @throws UsageError for any other address
 */
export function originOf(address: string): string {
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`);
  } catch {
    throw new UsageError(
      `${address}: is not an address of an installation, for example https://agents.example.com`,
    );
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    throw new UsageError(
      `${url.protocol}//${url.host}: must begin with https, so that the credential is encrypted on its way; http is for loopback addresses`,
    );
  if (url.username !== "" || url.password !== "")
    throw new UsageError("the address must not have a user name or a password");
  return url.origin;
}

export function openProfiles(env: Environment): Profiles {
  const path = join(folderOf(env), "profiles.json");

  function read(): Stored {
    let text: string;
    try {
      if ((statSync(path).mode & 0o077) !== 0)
        throw new CommandError(
          `${path}: other users can read it. Run \`chmod 600 ${path}\`, and revoke the keys in it if they may be known.`,
        );
      text = readFileSync(path, "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return { profiles: [] };
      throw error;
    }
    const stored = parse(text);
    if (!stored)
      throw new CommandError(`${path}: is not a file of profiles. Remove it, and run \`atp login\`.`);
    return stored;
  }

  /** Reads, changes and writes the file while no other process does. */
  function change(edit: (stored: Stored) => Stored): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    withLock(`${path}.lock`, () => write(edit(read())));
  }

  /** Replaces the file as a whole, so that a reader never sees half of it. */
  function write(stored: Stored): void {
    const draft = `${path}.${process.pid}`;
    try {
      writeFileSync(draft, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
      chmodSync(draft, 0o600);
      renameSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  return {
    path,
    all: () => read().profiles,
    at: (origin) => read().profiles.find((profile) => profile.origin === origin),
    named(name) {
      const { profiles } = read();
      const found = profiles.find((profile) => profile.name === name || profile.origin === name);
      if (found) return found;
      const names = profiles.map((profile) => profile.name).join(", ");
      throw new CommandError(
        `there is no profile ${name}${names === "" ? "; run `atp login`" : `; there are: ${names}`}`,
        "credential",
      );
    },
    current() {
      const { profiles, current } = read();
      return profiles.find(({ origin }) => origin === current);
    },
    save(profile) {
      change(({ profiles }) => {
        const others = profiles.filter(({ origin }) => origin !== profile.origin);
        if (others.some(({ name }) => name === profile.name))
          throw new CommandError(
            `another installation has the profile ${profile.name}; choose a name with --name`,
          );
        return { profiles: [...others, profile], current: profile.origin };
      });
    },
    renew(origin, tokens) {
      const renewed = ({ oauth, ...profile }: Profile): Profile =>
        oauth ? { ...profile, oauth: { ...oauth, tokens } } : profile;
      change((stored) => ({
        ...stored,
        profiles: stored.profiles.map((profile) => (profile.origin === origin ? renewed(profile) : profile)),
      }));
    },
    use: (origin) => change((stored) => ({ ...stored, current: origin })),
    remove(origin) {
      change(({ profiles, current }) => {
        const left = profiles.filter((profile) => profile.origin !== origin);
        const next = current === origin ? left[0]?.origin : current;
        return { profiles: left, ...defined({ current: next }) };
      });
    },
  };
}

const isText = (value: unknown): value is string => typeof value === "string";

function parse(text: string): Stored | undefined {
  try {
    const { profiles, current } = JSON.parse(text) as {
      readonly profiles?: unknown;
      readonly current?: unknown;
    };
    if (
      !Array.isArray(profiles) ||
      !profiles.every((each: Partial<Profile>) => isText(each.name) && isText(each.origin))
    )
      return undefined;
    return { profiles, ...(isText(current) ? { current } : {}) };
  } catch {
    return undefined;
  }
}
