import { randomBytes } from "node:crypto";
import { type Context, createContextKey } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { TelemetryConfig } from "../../config/telemetry.ts";

const untrusted = createContextKey("the parent's sampled flag does not count");

/** Marks a parent whose `sampled` flag does not count. */
export const withoutTrust = (context: Context): Context => context.setValue(untrusted, true);

/**
 * The sampler of the configuration. Below a parent that is not trusted it decides as for a new trace, and
 * from random bits: a caller could choose a trace id that is always in the share.
 */
export function samplerOf({ sampler, ratio }: Pick<TelemetryConfig, "sampler" | "ratio">): Sampler {
  const root = rootSampler(sampler.replace(/^parentbased_/, ""), ratio);
  const trusting = sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
  return {
    shouldSample: (context, traceId, ...rest) =>
      context.getValue(untrusted) === true
        ? root.shouldSample(context, randomBytes(16).toString("hex"), ...rest)
        : trusting.shouldSample(context, traceId, ...rest),
    toString: () => sampler,
  };
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(ratio);
  return name === "always_off" ? new AlwaysOffSampler() : new AlwaysOnSampler();
}
