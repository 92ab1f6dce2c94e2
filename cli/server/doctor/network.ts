import { connect } from "node:tls";
import { guardedFetch } from "../../../src/adapters/egress/guarded-fetch.ts";
import { LookUpFailed } from "../../../src/adapters/egress/look-up.ts";
import { createUserResolver } from "../../../src/adapters/egress/resolve.ts";
import type { Config } from "../../../src/config/config.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { databaseClockSkew } from "./database.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const dayMs = 86_400_000;
const renewDays = 21;

/** What the end of a certificate means. */
export function judgeCertificate(validTo: Date, now: number): Finding {
  const days = Math.floor((validTo.getTime() - now) / dayMs);
  const date = validTo.toISOString().slice(0, 10);
  if (days < 0) return fail(`the certificate ended on ${date}`, "Renew it: clients no longer connect.");
  if (days < renewDays)
    return warn(
      `the certificate ends on ${date}, in ${days} days`,
      "Check that it is renewed automatically.",
    );
  return ok(`the certificate is valid until ${date}`);
}

/** The end of the certificate that a server shows, verified or not. */
function certificateEnd({ hostname, port }: URL, signal: AbortSignal): Promise<Date> {
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      rejectUnauthorized: false,
      ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }),
    });
    signal.addEventListener("abort", () => socket.destroy(), { once: true });
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      resolve(new Date(socket.getPeerCertificate().valid_to));
      socket.end();
    });
  });
}

const causeCode = (error: unknown): string => {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(error);
};

/** Whether BASE_URL leads to a server of the platform. */
async function answerOf(
  { baseUrl, isAddressGuessed }: Pick<Config, "baseUrl" | "isAddressGuessed">,
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const answer = await fetch(`${baseUrl}/livez`, { signal, redirect: "manual" });
    await answer.body?.cancel();
    if (answer.ok) return ok(`${baseUrl} answers`);
    return fail(
      `${baseUrl}/livez answers ${answer.status}`,
      "Check that BASE_URL leads to this server, through the reverse proxy if there is one.",
    );
  } catch (error) {
    if (signal.aborted) throw error;
    const found = `${baseUrl} cannot be reached: ${causeCode(error)}`;
    const advice =
      "Check that the server runs, and BASE_URL, the name in the DNS, the reverse proxy and its certificate.";
    return isAddressGuessed
      ? warn(found, "Start the server, and set BASE_URL to the address that others use.")
      : fail(found, advice);
  }
}

export const publicAddress = (config: Pick<Config, "baseUrl" | "isAddressGuessed">): Check => ({
  name: "public",
  advice: "Check that BASE_URL leads to this server.",
  async run(signal) {
    const url = new URL(config.baseUrl);
    const answer = await answerOf(config, signal);
    if (url.protocol !== "https:") return [answer];
    const end = await certificateEnd(url, signal).catch(() => null);
    return [answer, ...(end === null ? [] : [judgeCertificate(end, Date.now())])];
  },
});

/** Clocks that differ by more let leases, tokens and signatures end early. */
const skewMs = { warn: 2_000, fail: 30_000 };

export function judgeSkew(ofWhat: string, ms: number): Finding {
  const found = `the clock of ${ofWhat} differs by ${(Math.abs(ms) / 1000).toFixed(1)} s`;
  const advice = "Synchronize the clocks of both machines by NTP.";
  const size = Math.abs(ms);
  return size > skewMs.fail ? fail(found, advice) : size > skewMs.warn ? warn(found, advice) : ok(found);
}

/** The difference to the header `Date`, which has whole seconds; null without an answer. */
async function headerSkew(url: string, signal: AbortSignal): Promise<number | null> {
  const before = Date.now();
  const date = await fetch(url, { method: "HEAD", signal, redirect: "manual" }).then(
    ({ headers }) => headers.get("date"),
    () => null,
  );
  return date === null ? null : Date.parse(date) + 500 - (before + Date.now()) / 2;
}

export const clock = (config: Config): Check => ({
  name: "clock",
  advice: "Check that the database answers, and synchronize the clocks by NTP.",
  async run(signal) {
    const [inDatabase, inHeader] = await Promise.all([
      databaseClockSkew(config, Date.now, signal).catch(() => null),
      headerSkew(config.baseUrl, signal),
    ]);
    const findings = [
      ...(inDatabase === null ? [] : [judgeSkew("the database", inDatabase)]),
      ...(inHeader === null ? [] : [judgeSkew(config.baseUrl, inHeader)]),
    ];
    return findings.length > 0 ? findings : [ok(`${new Date().toISOString()}; nothing to compare it with`)];
  },
});

const egressAdvice =
  "Webhooks, connectors and file_url need outgoing connections without a proxy: check the firewall and the name servers of /etc/resolv.conf.";

/**
 * A request to an outside address by the guarded path of webhooks and connectors: its own look-up, checked
 * addresses, no proxy.
 */
export const egress = ({ webhookAllow }: Pick<Config, "webhookAllow">, url: string): Check => ({
  name: "egress",
  advice: egressAdvice,
  async run(signal) {
    const by = { accountId: "doctor", signal, bytesMax: 1024 * 1024, onTooMuch: () => undefined };
    const guarded = guardedFetch(webhookAllow, createUserResolver({ clock: systemClock }), by);
    try {
      const { status } = await guarded.fetch(url, { method: "HEAD" });
      return [ok(`${url} answers ${status}, by the guarded path`)];
    } catch (error) {
      if (signal.aborted) throw error;
      return [egressFault(url, error)];
    } finally {
      guarded.end();
    }
  },
});

function egressFault(url: string, error: unknown): Finding {
  const { cause } = error instanceof Error ? error : {};
  const reason = cause instanceof Error ? cause : error;
  if (reason instanceof LookUpFailed) {
    const why = reason.kind === "not_found" ? "the name does not exist" : "no name server answers";
    return warn(`${new URL(url).hostname} has no address: ${why}`, egressAdvice);
  }
  const text =
    reason instanceof Error ? ("code" in reason ? String(reason.code) : reason.message) : String(reason);
  return warn(`${url} cannot be reached: ${text}`, egressAdvice);
}
