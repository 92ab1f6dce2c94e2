import { type Client, type ClientOptions, createClient } from "../packages/client/src/index.ts";
import { clientOf, tokensIn } from "./browser-login.ts";
import type { CliContext } from "./frame/context.ts";
import { CommandError } from "./frame/failures.ts";
import { openProfiles, originOf, type Profile } from "./profiles.ts";

/** The installation that a command calls, with the credential for it. */
export interface Target {
  readonly origin: string;
  readonly key?: string;
  readonly profile?: Profile;
}

/**
 * The installation: that of `--profile`, else that of ATP_URL, else the current profile. ATP_KEY belongs to
 * ATP_URL; without it, the profile of the same origin has the credential.
 *
 * @throws CommandError, UsageError when there is none
 */
export function findTarget(
  { process: { env } }: Pick<CliContext, "process">,
  profileName: string | undefined,
): Target {
  const profiles = openProfiles(env);
  const of = (profile: Profile): Target => ({
    origin: originOf(profile.origin),
    profile,
    ...(profile.key ? { key: profile.key } : {}),
  });
  if (profileName !== undefined) return of(profiles.named(profileName));
  const { ATP_URL, ATP_KEY } = env;
  if (ATP_URL) {
    const origin = originOf(ATP_URL);
    if (ATP_KEY) return { origin, key: ATP_KEY };
    const profile = profiles.at(origin);
    if (profile) return of(profile);
    throw new CommandError(
      `there is no credential for ${origin}: run \`atp login ${origin}\`, or set ATP_KEY`,
      "credential",
    );
  }
  if (ATP_KEY)
    throw new CommandError(
      "ATP_KEY is set without ATP_URL, the address of the installation that the key is for",
      "credential",
    );
  const current = profiles.current();
  if (current) return of(current);
  throw new CommandError(
    "no installation is known: run `atp login https://…`, or set ATP_URL and ATP_KEY",
    "credential",
  );
}

/** How one client differs from those of other commands. */
export type ConnectionOptions = Pick<ClientOptions, "signal" | "strict">;

/** A client of the installation. */
export function connect(
  context: CliContext,
  target: Target,
  onWarning: (text: string) => void,
  more: ConnectionOptions = {},
): Client {
  const options: ClientOptions = {
    baseUrl: target.origin,
    ...more,
    fetch: context.fetch,
    sleep: context.sleep,
    onWarning: (warnings) => warnings.forEach(onWarning),
  };
  const { oauth } = target.profile ?? {};
  if (oauth && target.key === undefined) {
    const store = tokensIn(openProfiles(context.process.env), target.origin);
    return createClient({
      ...options,
      token: clientOf(context, target.origin, oauth.clientId).source(store),
    });
  }
  // An empty key: the client must not look for ATP_KEY itself.
  return createClient({ ...options, apiKey: target.key ?? "" });
}
