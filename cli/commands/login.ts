import { createClient, memoryStore, type Tokens } from "../../packages/client/src/index.ts";
import { cliClientId, clientOf, signInWithBrowser, tokensIn } from "../browser-login.ts";
import { type DeviceLogin, hasNoDevices, signInWithDevice } from "../device-login.ts";
import { ask, isInteractive, readInput } from "../frame/ask.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import {
  type ClientFlags,
  exactly,
  jsonFlags,
  optionalArgument,
  switchFlag,
  textFlag,
} from "../frame/parameters.ts";
import { openProfiles, originOf, type Profile } from "../profiles.ts";

interface LoginFlags {
  readonly json?: boolean;
  readonly "no-browser"?: boolean;
  readonly device?: boolean;
  readonly key?: boolean;
  readonly "key-stdin"?: boolean;
  readonly name?: string;
  readonly "client-id"?: string;
}

/** The address that was given, else ATP_URL, else that of the current profile. */
function addressOf({ context: { process } }: Cli, given: string | undefined): string {
  const address = given ?? process.env["ATP_URL"] ?? openProfiles(process.env).current()?.origin;
  if (!address)
    throw new UsageError(
      "URL: give the address of the installation, for example `atp login https://agents.example.com`",
    );
  return originOf(address);
}

async function readKey({ context }: Cli, origin: string, fromInput: boolean): Promise<string> {
  if (!fromInput && !isInteractive(context))
    throw new UsageError("there is no terminal to ask for the key: use --key-stdin");
  const key = (
    fromInput ? await readInput(context) : await ask(context, `API key for ${origin}: `, true)
  ).trim();
  if (!/^[\x21-\x7e]{1,512}$/.test(key)) throw new UsageError("an API key is one word, for example sk-…");
  return key;
}

/** Checks the credential with a call, stores it, and says who it belongs to. */
async function keep(cli: Cli, profile: Profile): Promise<void> {
  const profiles = openProfiles(cli.context.process.env);
  const { origin, key, oauth } = profile;
  const options = { baseUrl: origin, fetch: cli.context.fetch, sleep: cli.context.sleep };
  const client = createClient(
    oauth ? { ...options, token: oauth.tokens.accessToken } : { ...options, apiKey: key ?? "" },
  );
  const me = await client.call("user.me");
  const earlier = profiles.at(origin)?.oauth;
  profiles.save(profile);
  // The tokens of the earlier login are no longer needed. They may have ended already.
  if (earlier)
    await clientOf(cli.context, origin, earlier.clientId)
      .revoke(memoryStore(earlier.tokens))
      .catch(() => undefined);
  const value = { profile: profile.name, origin, user_id: me.user_id, space: me.space };
  cli.print.result(
    value,
    `Signed in to ${origin} as ${me.name ?? me.email ?? me.user_id} (profile ${profile.name}).`,
  );
}

/**
 * Signs in with a browser: of this computer, or of another device if this one has none or a flag requests it.
 */
async function signIn(
  cli: Cli,
  origin: string,
  { "client-id": clientId = cliClientId, ...flags }: LoginFlags,
): Promise<Tokens> {
  const { "no-browser": isShown = false, device = false } = flags;
  if (clientId === cliClientId && !isShown && !device && !isInteractive(cli.context))
    throw new UsageError(
      "there is no terminal: use --key-stdin, --device, or --no-browser, which shows the address to open",
    );
  if (device) return await signInWithDevice(cli.context, deviceLogin(cli, origin, clientId));
  const login = {
    origin,
    clientId,
    show: (url: string) => cli.print.note(isShown ? shownText(url) : openedText(url)),
  };
  const tokens = await signInWithBrowser(cli.context, { ...login, opens: !isShown });
  if (tokens) return tokens;
  try {
    return await signInWithDevice(cli.context, deviceLogin(cli, origin, clientId));
  } catch (error) {
    if (!hasNoDevices(error)) throw error;
  }
  const shown = await signInWithBrowser(cli.context, {
    ...login,
    opens: false,
    show: (url) => cli.print.note(shownText(url)),
  });
  if (!shown) throw new CommandError("the login ended without an answer");
  return shown;
}

const shownText = (url: string): string => `Open this address in a browser:\n${url}`;
const openedText = (url: string): string =>
  `Sign in with the browser. If it does not open, open this address:\n${url}`;

const deviceLogin = (cli: Cli, origin: string, clientId: string): DeviceLogin => ({
  origin,
  clientId,
  show: ({ verificationUri, userCode }) =>
    cli.print.note(
      `Open this page in a browser of any device:\n${verificationUri}\nand enter the code ${userCode}\nIt is valid for 10 minutes. Waiting for the answer…`,
    ),
});

export const login = command({
  brief: "Sign in to an installation, and store the credential in a profile",
  examples: [
    "atp login https://agents.example.com",
    "atp login https://agents.example.com --device",
    'printf %s "$ATP_KEY" | atp login https://agents.example.com --key-stdin --name work',
  ],
  about:
    "The browser opens, and you choose the space in which the command line acts for you. Where no browser can be opened, and with --device, it shows a page and a code instead, to be entered in a browser of any device. --no-browser shows the address, and takes the address of the last page from a browser of another computer. With --client-id, the command line has the scopes of that OAuth app, which needs the redirect http://127.0.0.1/callback with any port. With --key, an API key is asked without showing it: it can call every operation that you can. The credential is checked, and stored in a file that only you can read; it is sent to this installation only. Later commands use the profile of the last login, or that of --profile.",
  parameters: {
    flags: {
      ...jsonFlags,
      "no-browser": switchFlag("Show the address to open, and open no browser"),
      device: switchFlag("Show a code to enter in a browser of another device"),
      key: switchFlag("Ask for an API key instead"),
      "key-stdin": switchFlag("Read the API key from standard input"),
      name: textFlag("Name of the profile; by default the host", "NAME"),
      "client-id": textFlag("Sign in for this OAuth app instead", "ID"),
    },
    positional: exactly(optionalArgument("Address of the installation", "URL")),
  },
  run: async (cli: Cli, flags: LoginFlags, address?: string) => {
    const origin = addressOf(cli, address);
    const name = flags.name ?? new URL(origin).host;
    const { "client-id": clientId = cliClientId, key = false, "key-stdin": fromInput = false } = flags;
    const browsers = [flags["no-browser"], flags.device];
    const ways = [key, fromInput, flags["client-id"] !== undefined || browsers.some(Boolean)];
    if (ways.filter(Boolean).length > 1 || browsers.filter(Boolean).length > 1)
      throw new UsageError(
        "give one of --key, --key-stdin, and --client-id with or without one of --no-browser and --device",
      );
    if (key || fromInput)
      return await keep(cli, { name, origin, key: await readKey(cli, origin, fromInput) });
    const tokens = await signIn(cli, origin, flags);
    await keep(cli, { name, origin, oauth: { clientId, tokens } });
  },
});

export const logout = command({
  brief: "Remove the profile with its credential from this machine",
  examples: ["atp logout", "atp logout --profile work"],
  about:
    "Tokens of a login with the browser are revoked. An API key stays valid: revoke it in the settings of the console if it must no longer be used.",
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
    cli.print.result(
      { removed: profile.name, origin: profile.origin },
      `Removed the profile ${profile.name}.`,
    );
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
