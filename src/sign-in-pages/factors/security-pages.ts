import type { FastifyReply, FastifyRequest } from "fastify";
import type { FactorChange } from "../../core/sign-in/factors.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import type { Html } from "../html.ts";
import type { Handle, requireSignIn } from "../parts.ts";

/** What the pages of the factors share. */
export interface SecurityPages {
  /**
   * Wraps a handler for a signed-in person: without a fresh proof of identity they go to the page that asks
   * for it.
   */
  readonly proven: (handle: Handle) => ReturnType<ReturnType<typeof requireSignIn>>;
  /** Runs one change of what the person signs in with. */
  change<T>(
    request: FastifyRequest,
    who: SessionHolder,
    work: (change: FactorChange) => Promise<T>,
  ): Promise<T>;
  /** Shows the page again with what was wrong. */
  refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    who: SessionHolder,
    wrong: Html,
  ): Promise<FastifyReply>;
  /** Leads back to the page, with a notice. */
  done(reply: FastifyReply): FastifyReply;
}
