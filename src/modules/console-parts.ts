import { codeEntries } from "../core/oauth/user-code.ts";
import { linkRequestCounter } from "../core/sign-in/link-request.ts";
import { attemptCounter } from "../core/sign-in/prove.ts";
import { network } from "../pipeline/limit.ts";
import { relyingParty } from "../sign-in-pages/factors/webauthn.ts";
import type { ConsoleParts } from "../sign-in-pages/parts.ts";
import { oidcProvider } from "../sign-in-pages/provider.ts";
import { visits } from "../sign-in-pages/visits.ts";
import { deleteFirstKey } from "../start/first-key.ts";
import type { ModuleContext } from "./module.ts";

/** What the pages of people need. */
export function consoleParts(context: ModuleContext): ConsoleParts {
  const { config, store, cipher, clock, ids, random, log, teams, calls } = context;
  const { consentUrl, singleSignOn, dataDir } = config;
  return {
    store,
    clock,
    ids,
    random,
    cipher,
    log,
    readRequest: calls.readRequest,
    report: calls.report,
    askOwner: teams.askOwner,
    sendRecoveryMail: teams.sendRecoveryMail,
    mailLink: teams.mailLink,
    visits: visits({ store, clock, random, consentUrl, console: config.console }),
    countAttempt: attemptCounter(store.counters, clock, network),
    countLink: linkRequestCounter(store.counters, clock, network),
    codeEntries: codeEntries(store.counters, clock, network),
    async welcome() {
      await deleteFirstKey(dataDir).catch((error: unknown) =>
        log("warn", "the file of the first key was not deleted", { error }),
      );
      return config.console ? "/welcome" : "/account/password";
    },
    relyingParty: relyingParty(consentUrl),
    provider:
      singleSignOn && oidcProvider({ ...singleSignOn, redirectUri: `${consentUrl}/sign-in/callback` }),
  };
}
