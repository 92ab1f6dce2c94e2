import { z } from "zod";

/*
 * Schemas of requests. A handler without one answers parameters that do not fit with an internal error, which has the text of an exception
 * of the SDK.
 */

/** The parameters of a list. */
export const listParams = z.looseObject({ cursor: z.string().optional() });

/** A result, which our own code makes. */
export const result = z.looseObject({});
