import { makeFirstAccount } from "../../src/core/accounts/first-start.ts";
import { type Invitation, type Invited, invite } from "../../src/core/accounts/invite.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { hashPassword } from "../../src/core/sign-in/password-hash.ts";
import type { Store } from "../../src/core/store.ts";
import { type DatabaseKind, openTestStore, rowsIn, runOn } from "../support/database.ts";
import { openService, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { type Browser, openBrowser, type Seen } from "./browser.ts";

/** A password that is long enough. */
export const goodPassword = "correct horse battery staple";
let storedGood: Promise<string> | undefined;

/** A platform with its first team, whose owner is owner@example.com. */
export interface Town extends AsyncDisposable {
  readonly service: Service;
  readonly store: Store;
  readonly clock: StillClock;
  browser(): Browser;
  invite(invitation: Invitation): Promise<Invited>;
  /** Invited, and with the good password. */
  member(invitation: Invitation): Promise<Invited>;
  /** Signs in by the good password; the answer that follows the form. */
  signIn(browser: Browser, email: string, password?: string, next?: string): Promise<Seen>;
  /** One statement past the store. */
  run(statement: string): Promise<void>;
  rows(query: string): Promise<Record<string, unknown>[]>;
}

export async function openTown(kind: DatabaseKind = "sqlite", env: Readonly<Record<string, string>> = {}): Promise<Town> {
  const clock = stillClock();
  const test = await openTestStore(kind, { clock });
  const { store } = test;
  const service = await openService({ over: test, clock, env, idle: true });
  const making = () => ({ now: clock.now(), ids: systemIds, random: systemRandom });
  await store.change((tx) => makeFirstAccount(tx, making(), "owner@example.com"));
  const inviting = (invitation: Invitation) => store.change((tx) => invite(tx, making(), invitation));
  return {
    service,
    store,
    clock,
    browser: () => openBrowser(service.url),
    invite: inviting,
    async member(invitation) {
      const invited = await inviting(invitation);
      storedGood ??= hashPassword(goodPassword);
      const stored = await storedGood;
      await store.change((tx) => tx.signIns.setPassword(invited.accountId, stored));
      return invited;
    },
    async signIn(browser, email, password = goodPassword, next = "/account") {
      const page = await browser.get(`/sign-in?next=${encodeURIComponent(next)}`);
      return browser.submit(page, "/sign-in", { email, password });
    },
    run: (statement) => runOn(test.url, statement),
    rows: (query) => rowsIn(test.url, query),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await test[Symbol.asyncDispose]();
    },
  };
}
