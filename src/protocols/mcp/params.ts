import { z } from "zod";

/*
 * Schemas of requests. Without one, the SDK answers parameters that do not fit with an internal error and the text of its exception.
 */

export const listParams = z.looseObject({ cursor: z.string().optional() });

/** A result, which our own code makes. */
export const result = z.looseObject({});
