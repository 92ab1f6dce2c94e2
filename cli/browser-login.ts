import { createServer, type RequestListener, type Server } from "node:http";
import {
  type Begun,
  type OAuthClient,
  OAuthError,
  oauthClient,
  type TokenStore,
  type Tokens,
} from "../packages/client/src/index.ts";
import { withLockAsync } from "./file-lock.ts";
import { ask, isInteractive } from "./frame/ask.ts";
import type { CliContext } from "./frame/context.ts";
import { CommandError, interrupted } from "./frame/failures.ts";
import { originOf, type Profiles } from "./profiles.ts";

/** The client of the command line, which every installation has (docs/spec/oauth.md 14). */
export const cliClientId = "atp-cli";

const path = "/callback";
/** How long the browser may take. */
const waitMs = 5 * 60_000;

/** The OAuth client of an installation. Apps for the command line are public: they have no secret. */
export const clientOf = (
  { fetch, now, sleep }: Pick<CliContext, "fetch" | "now" | "sleep">,
  origin: string,
  clientId: string,
  port = 0,
): OAuthClient =>
  oauthClient({
    issuer: origin,
    clientId,
    redirectUri: `http://127.0.0.1:${port}${path}`,
    fetch: within(origin, fetch),
    now,
    sleep,
  });

/**
 * Codes and tokens are sent to the origin of the installation only, and to no other endpoint that it names.
 */
const within =
  (origin: string, doFetch: typeof fetch): typeof fetch =>
  async (input, init) => {
    const target = new URL(input instanceof Request ? input.url : input).origin;
    if (target !== origin)
      throw new OAuthError(
        "invalid_endpoint",
        `${origin} names an endpoint of ${target}: nothing is sent there`,
      );
    return await doFetch(input, init);
  };

/** The tokens of a profile, in its file; several processes share them, and one of them refreshes. */
export const tokensIn = (profiles: Profiles, origin: string): TokenStore => ({
  load: async () => profiles.at(origin)?.oauth?.tokens,
  async save(tokens) {
    if (tokens) profiles.renew(origin, tokens);
  },
  exclusive: (refresh) => withLockAsync(`${profiles.path}.refresh.lock`, refresh),
});

/** A login with the browser. */
export interface BrowserLogin {
  readonly origin: string;
  readonly clientId: string;
  /**
   * False: the address is only shown; on a terminal, the user can paste the address of the last page instead
   * of coming back.
   */
  readonly opens: boolean;
  /** Gets the address to open. */
  readonly show: (url: string) => void;
}

/**
 * Signs in with the browser: authorization code with PKCE, and a redirect to a port of 127.0.0.1 that is open
 * as long as this takes (RFC 8252 7.3).
 *
 * @returns null if a browser should open and there is none.
 * @throws OAuthError when the user refuses; CommandError after 5 minutes
 */
export async function signInWithBrowser(
  context: CliContext,
  { origin, clientId, opens, show }: BrowserLogin,
): Promise<Tokens | null> {
  const callbacks = Promise.withResolvers<Tokens>();
  const over = new AbortController();
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const oauth = clientOf(context, origin, clientId, portOf(server));
  const timer = setTimeout(
    () => callbacks.reject(new CommandError("the browser did not come back within 5 minutes")),
    waitMs,
  );
  const end = context.onInterrupt(() => callbacks.reject(interrupted()));
  try {
    const begun = await oauth.begin();
    originOf(begun.url); // The page is encrypted, or on this machine.
    server.on("request", answerCallback(oauth, begun, callbacks));
    if (opens && !(await context.openUrl(begun.url))) return null;
    show(begun.url);
    if (!opens && isInteractive(context))
      readPasted(context, over.signal, (url) => oauth.finish(url, begun)).then(
        callbacks.resolve,
        callbacks.reject,
      );
    return await callbacks.promise;
  } finally {
    over.abort();
    end();
    clearTimeout(timer);
    server.close();
    server.closeIdleConnections();
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

/** Answers the browser that comes back, and settles the login. */
const answerCallback =
  (oauth: OAuthClient, begun: Begun, { resolve, reject }: PromiseWithResolvers<Tokens>): RequestListener =>
  (request, response) => {
    const answer = (status: number, text: string) =>
      response
        .writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" })
        .end(`${text}\n`);
    const url = new URL(request.url ?? "/", `http://${request.headers.host ?? "127.0.0.1"}`);
    // Any page can open this address: without the state of this login it changes nothing.
    if (request.method !== "GET" || url.pathname !== path || url.searchParams.get("state") !== begun.state)
      return answer(404, "This is not the page of a login in progress.");
    oauth.finish(url, begun).then(
      (tokens) => {
        answer(200, "You are signed in. Close this window, and return to the terminal.");
        resolve(tokens);
      },
      (error: unknown) => {
        answer(400, error instanceof OAuthError ? `The login failed: ${error.code}.` : "The login failed.");
        reject(error);
      },
    );
  };

/** Reads the address of the last page, for a browser of another computer, which cannot open it. */
async function readPasted(
  context: CliContext,
  signal: AbortSignal,
  finish: (url: URL) => Promise<Tokens>,
): Promise<Tokens> {
  const text = (
    await ask(context, "If the browser cannot open the last page, paste its address here: ", false, signal)
  ).trim();
  if (!URL.canParse(text)) throw new CommandError("this is not the address of a page: run the login again");
  return await finish(new URL(text));
}
