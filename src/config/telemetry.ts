import { BlockList, isIP } from "node:net";
import { z } from "zod";
import { baseUrl, listOf } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

const samplers = [
  ...(["always_on", "always_off", "traceidratio"] as const),
  ...(["parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"] as const),
];

/** Where spans and lines of the log go, and which traces are recorded. */
export interface TelemetryConfig {
  /** The address of the collector, without `/v1/traces`. */
  readonly endpoint: string;
  /** Headers of every export; they may hold a secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly sampler: (typeof samplers)[number];
  /** The share of traces that a `traceidratio` sampler records: 0 to 1. */
  readonly ratio: number;
  /** The lines of the log are exported too. */
  readonly logs: boolean;
}

/** A network by its first address and the length of its prefix. */
export interface Network {
  readonly family: "ipv4" | "ipv6";
  readonly network: string;
  readonly prefix: number;
}

const loopback: readonly Network[] = [
  { family: "ipv4", network: "127.0.0.0", prefix: 8 },
  { family: "ipv6", network: "::1", prefix: 128 },
];

/** `loopback`, addresses, and networks such as 10.0.0.0/8. */
const networks = listOf(
  z.string().transform((text, context) => {
    if (text === "loopback") return loopback;
    const [network = "", length, ...rest] = text.split("/");
    const bits = { 4: 32, 6: 128 }[isIP(network)] ?? -1;
    const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : -1;
    if (rest.length === 0 && prefix >= 0 && prefix <= bits)
      return [{ family: bits === 32 ? "ipv4" : "ipv6", network, prefix } as const];
    context.addIssue("not a network");
    return z.NEVER;
  }),
).transform((lists): readonly Network[] => lists.flat());

const headersRule =
  "pairs like name=value, separated by commas, with percent-encoded values of at most 8,192 characters in all";

/** The form of the OpenTelemetry specification: W3C Baggage without properties. */
const headers = z
  .string()
  .max(8_192)
  .pipe(
    listOf(
      z
        .string()
        .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}=[\x21-\x7e]*$/)
        .refine(decodes)
        .transform((pair): readonly [string, string] => {
          const equals = pair.indexOf("=");
          return [pair.slice(0, equals).toLowerCase(), decodeURIComponent(pair.slice(equals + 1))];
        })
        .refine(([, value]) => /^[\t\x20-\x7e]*$/.test(value)),
    ),
  )
  .transform((pairs): Readonly<Record<string, string>> => Object.fromEntries(pairs));

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Traces and logs by OTLP. The names that begin with OTEL_ are those of OpenTelemetry's specification. */
export const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: defineVariable({
    type: "URL",
    fallback: null,
    unset: "no traces are recorded, and no library for them is loaded",
    rule: "an http or https URL without user, query or fragment",
    example: "http://127.0.0.1:4318",
    description:
      "The collector that receives traces, by OTLP over HTTP with protobuf ([monitoring.md](../operate/monitoring.md#traces)). `/v1/traces` and `/v1/logs` are appended. Its address is not checked as addresses of users are.",
    schema: baseUrl,
  }),
  OTEL_EXPORTER_OTLP_HEADERS: defineVariable({
    type: "list of name=value",
    fallback: null,
    unset: "none",
    rule: headersRule,
    example: "authorization=Bearer%20TOKEN",
    description: "Headers of every export, for collectors that need a credential.",
    secret: true,
    schema: headers,
  }),
  OTEL_SERVICE_NAME: defineVariable({
    type: "name",
    fallback: "agent-task-platform",
    rule: "1 to 255 printable characters",
    example: "agent-task-platform-eu",
    description: "The name of this service in traces and exported lines of the log.",
    schema: z.string().regex(/^[\x20-\x7e]{1,255}$/),
  }),
  OTEL_TRACES_SAMPLER: defineVariable({
    type: "sampler",
    fallback: "parentbased_always_on",
    rule: `one of ${samplers.join(", ")}`,
    example: "parentbased_traceidratio",
    description:
      "Which traces are recorded. The `parentbased` samplers follow the `sampled` flag of callers in TRACE_TRUST, and decide themselves for all other callers.",
    schema: z.enum(samplers),
  }),
  OTEL_TRACES_SAMPLER_ARG: defineVariable({
    type: "share",
    fallback: "1",
    rule: "a number from 0 to 1",
    example: "0.05",
    description: "The share of traces that `traceidratio` and `parentbased_traceidratio` record.",
    schema: z
      .string()
      .regex(/^(0|1|[01]?\.\d{1,9}|[01]\.0{0,9})$/)
      .transform(Number)
      .pipe(z.number().min(0).max(1)),
  }),
  OTEL_LOGS_EXPORTER: defineVariable({
    type: "exporter",
    fallback: "none",
    rule: "none or otlp; otlp only with OTEL_EXPORTER_OTLP_ENDPOINT",
    example: "otlp",
    description:
      "`otlp` also sends the lines of the log to the collector, each with the trace that it belongs to.",
    schema: z.enum(["none", "otlp"]),
  }),
  TRACE_TRUST: defineVariable({
    type: "list of addresses",
    fallback: null,
    unset: "no caller is trusted",
    rule: "`loopback`, addresses, or networks like 10.0.0.0/8, separated by commas",
    example: "loopback,10.0.0.0/8",
    description:
      "Callers whose `sampled` flag in the header `traceparent` counts. With TRUST_PROXY it is the caller's address in that header. Others continue their traces, but do not decide whether they are recorded.",
    schema: networks,
  }),
};

/** The collector and its sampler; null without OTEL_EXPORTER_OTLP_ENDPOINT. */
export function readTelemetry({
  read,
  noteProblem,
}: Pick<Reader, "read" | "noteProblem">): TelemetryConfig | null {
  const values = read(telemetry);
  const logs = values.OTEL_LOGS_EXPORTER === "otlp";
  const endpoint = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (logs && endpoint === null)
    noteProblem(
      "OTEL_LOGS_EXPORTER",
      "OTEL_LOGS_EXPORTER must be none without OTEL_EXPORTER_OTLP_ENDPOINT, the address of the collector",
    );
  if (endpoint === null) return null;
  return {
    endpoint,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: values.OTEL_SERVICE_NAME,
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
    logs,
  };
}

/** Whether an address is in one of these networks. An IPv4 address that is written as IPv6 counts as IPv4. */
export function inNetworks(trusted: readonly Network[]): (address: string) => boolean {
  if (trusted.length === 0) return () => false;
  const list = new BlockList();
  for (const { network, prefix, family } of trusted) list.addSubnet(network, prefix, family);
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 4 ? "ipv4" : "ipv6");
  };
}
