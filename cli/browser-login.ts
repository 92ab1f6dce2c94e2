import { createServer } from "node:http";
import { type OAuthClient, OAuthError, oauthClient, type TokenStore, type Tokens } from "../packages/client/src/index.ts";
import type { CliContext } from "./frame/context.ts";
import { CommandError } from "./frame/failures.ts";
import type { Profiles } from "./profiles.ts";

const path = "/callback";
/** How long the browser may take. */
const waitMs = 5 * 60_000;

/** The OAuth client of an installation. Apps for the command line are public: they have no secret. */
export const clientOf = ({ fetch, now }: Pick<CliContext, "fetch" | "now">, origin: string, clientId: string, port = 0): OAuthClient =>
  oauthClient({ issuer: origin, clientId, redirectUri: `http://127.0.0.1:${port}${path}`, fetch, now });

/** The tokens of a profile, in its file; several processes share them. */
export const tokensIn = (profiles: Profiles, origin: string): TokenStore => ({
  load: async () => profiles.at(origin)?.oauth?.tokens,
  async save(tokens) {
    if (tokens) profiles.renew(origin, tokens);
  },
});

/**
 * Signs in with the browser: authorization code with PKCE, and a redirect to a port of 127.0.0.1 that is open as long as this takes
 * (RFC 8252 7.3).
 *
 * @param show gets the address to open.
 * @throws OAuthError when the user refuses; CommandError after 5 minutes
 */
export async function signInWithBrowser(
  context: CliContext,
  { origin, clientId }: { readonly origin: string; readonly clientId: string },
  show: (url: string) => void,
): Promise<Tokens> {
  const callbacks = Promise.withResolvers<Tokens>();
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const oauth = clientOf(context, origin, clientId, typeof address === "object" && address ? address.port : 0);
  const timer = setTimeout(() => callbacks.reject(new CommandError("the browser did not come back within 5 minutes")), waitMs);
  const end = context.onInterrupt(() => callbacks.reject(new CommandError("interrupted")));
  try {
    const begun = await oauth.begin();
    server.on("request", (request, response) => {
      const answer = (status: number, text: string) =>
        response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${text}\n`);
      const url = new URL(request.url ?? "/", `http://${request.headers.host ?? "127.0.0.1"}`);
      // Any page can open this address: without the state of this login it changes nothing.
      if (request.method !== "GET" || url.pathname !== path || url.searchParams.get("state") !== begun.state)
        return answer(404, "This is not the page of a login in progress.");
      oauth.finish(url, begun).then(
        (tokens) => {
          answer(200, "You are signed in. Close this window, and return to the terminal.");
          callbacks.resolve(tokens);
        },
        (error: unknown) => {
          answer(400, error instanceof OAuthError ? `The login failed: ${error.code}.` : "The login failed.");
          callbacks.reject(error);
        },
      );
    });
    show(begun.url);
    await context.openUrl(begun.url);
    return await callbacks.promise;
  } finally {
    end();
    clearTimeout(timer);
    server.close();
    server.closeIdleConnections();
  }
}
