import { createClient } from "../../packages/client/src/index.ts";
import { clientOf, signInWithBrowser, tokensIn } from "../browser-login.ts";
import { ask, isInteractive, readInput } from "../frame/ask.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { UsageError } from "../frame/failures.ts";
import { type ClientFlags, exactly, jsonFlag, optionalArgument, switchFlag, textFlag } from "../frame/parameters.ts";
import { openProfiles, originOf, type Profile } from "../profiles.ts";

interface LoginFlags {
  readonly json?: boolean;
  readonly "key-stdin"?: boolean;
  readonly name?: string;
  readonly "client-id"?: string;
}

/** The address that was given, else ATP_URL, else that of the current profile. */
function addressOf({ context: { process } }: Cli, given: string | undefined): string {
  const address = given ?? process.env["ATP_URL"] ?? openProfiles(process.env).current()?.origin;
  if (!address) throw new UsageError("URL: give the address of the installation, for example `atp login https://agents.example.com`");
  return originOf(address);
}

async function readKey({ context }: Cli, origin: string, fromInput: boolean): Promise<string> {
  if (!fromInput && !isInteractive(context)) throw new UsageError("there is no terminal to ask for the key: use --key-stdin");
  const key = (fromInput ? await readInput(context) : await ask(context, `API key for ${origin}: `, true)).trim();
  if (!/^[\x21-\x7e]{1,512}$/.test(key)) throw new UsageError("an API key is one word, for example sk-…");
  return key;
}

/** Checks the credential with a call, stores it, and says who it belongs to. */
async function keep(cli: Cli, profile: Profile): Promise<void> {
  const profiles = openProfiles(cli.context.process.env);
  const { origin, key, oauth } = profile;
  const options = { baseUrl: origin, fetch: cli.context.fetch, sleep: cli.context.sleep };
  const client = createClient(oauth ? { ...options, token: oauth.tokens.accessToken } : { ...options, apiKey: key ?? "" });
  const me = await client.call("user.me");
  profiles.save(profile);
  const value = { profile: profile.name, origin, user_id: me.user_id, space: me.space };
  cli.print.result(value, `Signed in to ${origin} as ${me.name ?? me.email ?? me.user_id} (profile ${profile.name}).`);
}

export const login = command({
  brief: "Sign in to an installation, and store the credential in a profile",
  examples: ["atp login https://agents.example.com", 'printf %s "$KEY" | atp login https://agents.example.com --key-stdin --name work'],
  about:
    "With --client-id, you sign in with the browser, and the command line acts for you with the scopes of that OAuth app. The app needs the redirect http://127.0.0.1/callback with any port. Without it, an API key is asked without showing it. It is checked, and stored in a file that only you can read; it is sent to this installation only. Later commands use the profile of the last login, or that of --profile.",
  parameters: {
    flags: {
      ...jsonFlag,
      "key-stdin": switchFlag("Read the API key from standard input"),
      name: textFlag("Name of the profile; by default the host", "NAME"),
      "client-id": textFlag("Sign in with the browser, for this OAuth app", "ID"),
    },
    positional: exactly(optionalArgument("Address of the installation", "URL")),
  },
  run: async (cli: Cli, flags: LoginFlags, address?: string) => {
    const origin = addressOf(cli, address);
    const name = flags.name ?? new URL(origin).host;
    const { "client-id": clientId, "key-stdin": fromInput = false } = flags;
    if (clientId === undefined) return await keep(cli, { name, origin, key: await readKey(cli, origin, fromInput) });
    if (fromInput) throw new UsageError("give one of --client-id and --key-stdin");
    const show = (url: string) => cli.print.note(`Sign in with the browser. If it does not open, open this address:\n${url}`);
    const tokens = await signInWithBrowser(cli.context, { origin, clientId }, show);
    await keep(cli, { name, origin, oauth: { clientId, tokens } });
  },
});

export const logout = command({
  brief: "Remove the profile with its credential from this machine",
  examples: ["atp logout", "atp logout --profile work"],
  about:
    "Tokens of a login with the browser are revoked. An API key stays valid: revoke it in the settings of the console if it must not be used any more.",
  parameters: { flags: clientFlags },
  run: async (cli: Cli, { profile: name }: ClientFlags) => {
    const profiles = openProfiles(cli.context.process.env);
    const profile = name === undefined ? profiles.current() : profiles.named(name);
    if (!profile) return cli.print.result({ removed: null }, "There is no profile.");
    // The tokens are revoked first: when that fails they are still known, and logout can be repeated.
    if (profile.oauth) {
      const oauth = clientOf(cli.context, originOf(profile.origin), profile.oauth.clientId);
      await oauth.revoke(tokensIn(profiles, profile.origin));
    }
    profiles.remove(profile.origin);
    cli.print.result({ removed: profile.name, origin: profile.origin }, `Removed the profile ${profile.name}.`);
  },
});

export const whoami = command({
  brief: "Show who the credential belongs to",
  examples: ["atp whoami", "atp whoami --json | jq -r .user_id"],
  parameters: { flags: clientFlags },
  run: async (cli: Cli, _flags: ClientFlags) => {
    const { origin, profile } = cli.target();
    const me = await cli.client().call("user.me");
    cli.print.facts(
      { ...me, origin },
      {
        installation: origin,
        profile: profile?.name,
        user: me.name ?? me.email ?? me.user_id,
        "e-mail": me.email,
        id: me.user_id,
        space: me.space.name ?? me.space.id,
        role: me.role?.replace("TEAM_MEMBER_ROLE_", "").toLowerCase().replaceAll("_", " "),
        credential: me.credential_kind,
        scopes: me.scopes?.join(", "),
      },
    );
  },
});
