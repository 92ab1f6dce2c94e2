import { z } from "zod";
import type { AgentName } from "./agent-profiles.ts";
import { isLoopback } from "./sign-in.ts";

/** `auto`, `off`, `default` or a factor on every limit; null: no limits. */
export const rateFactor: z.ZodType<number | "auto" | null, string> = z
  .string()
  .regex(/^(auto|off|default|\d{1,6}(\.\d{1,6})?)$/)
  .transform((text) =>
    text === "auto" ? text : text === "off" ? null : text === "default" ? 1 : Number(text),
  )
  .refine((factor) => factor !== 0);

/** Where a server is reached, and what its agents are. */
interface Reach {
  readonly host: string;
  readonly admin: { isLocal: boolean } | null;
  readonly baseUrl: string;
  readonly consentUrl: string;
  readonly appUrl: string;
  readonly sitesDomain: string;
  readonly trustProxy: string | null;
  readonly agentProfiles: Readonly<Record<string, AgentName>>;
}

/**
 * The factor of `auto`: no limits while only this machine uses the server and no profile has a model, else
 * that of `default`.
 */
export function chooseRateFactor({
  host,
  admin,
  sitesDomain,
  trustProxy,
  agentProfiles,
  ...urls
}: Reach): number | null {
  const publicHosts = [urls.baseUrl, urls.consentUrl, urls.appUrl].map(
    (url) => URL.parse(url)?.hostname ?? "",
  );
  const isLocal =
    [host, sitesDomain, ...publicHosts].every(isLoopback) && admin?.isLocal !== false && trustProxy === null;
  return isLocal && Object.values(agentProfiles).every((agent) => agent === "offline" || agent === "remote")
    ? null
    : 1;
}
