import { isIP } from "node:net";
import { z } from "zod";
import { listOf, portMax } from "./values.ts";

/** Addresses that outgoing requests may reach although they are not public. */
export type AllowedAddresses =
  /** 127.0.0.0/8 and ::1, any port, plain http too. */
  | { readonly kind: "loopback" }
  /** One port of a network, https only. */
  | {
      readonly kind: "range";
      readonly family: "ipv4" | "ipv6";
      readonly network: string;
      readonly prefix: number;
      readonly port: number;
    };

const form = /^(?<network>[0-9a-fA-F.:]+)\/(?<prefix>\d{1,3})(?::(?<port>\d{1,5}))?$/;
const httpsPort = 443;

/** The rule of `allowedAddresses` for messages and documentation. */
export const allowedAddressesRule =
  "`loopback` or address ranges like 10.1.0.0/16, each with a port unless it is 443, separated by commas";

/** `loopback` and CIDR ranges, for instance `loopback,10.1.0.0/16:8443,fd00::/8`. */
export const allowedAddresses = listOf(
  z.string().transform((text, context) => {
    const range = parse(text);
    if (range === undefined) context.addIssue("not a range");
    return range ?? z.NEVER;
  }),
);

function parse(text: string): AllowedAddresses | undefined {
  if (text === "loopback") return { kind: "loopback" };
  const { network = "", prefix = "", port = `${httpsPort}` } = form.exec(text)?.groups ?? {};
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(network)] ?? -1;
  if (Number(prefix) > bits || prefix === "" || Number(port) < 1 || Number(port) > portMax) return undefined;
  return {
    kind: "range",
    family: bits === 32 ? "ipv4" : "ipv6",
    network,
    prefix: Number(prefix),
    port: Number(port),
  };
}
