import type { Attack } from "../attack.ts";
import { bombs } from "./bombs.ts";
import { documents, queries, uploads } from "./documents.ts";
import { holding } from "./held-connections.ts";
import { http1 } from "./http1.ts";
import { http2 } from "./http2.ts";
import { jsons } from "./json-bodies.ts";
import { protos } from "./protos.ts";

const all: readonly Attack[] = [
  ...http1,
  ...http2,
  ...queries,
  ...documents,
  ...uploads,
  ...protos,
  ...jsons,
  ...bombs,
];

/** Too large, too many, too slow, or too much at once: refused before anything is built. */
const refusals = /^(?:408|413|429|431|503|200 8|200 resource_exhausted|reset|goaway|closed)/;
const isRefused = ({ expected: [usual = ""] }: Attack): boolean => refusals.test(usual);

/** Attacks that a bound refuses, each sent after the answer to the one before. */
export const refused: readonly Attack[] = all.filter(isRefused);

/** Attacks within the bounds: they are read completely, and then most are refused by a rule. */
export const within: readonly Attack[] = all.filter((attack) => !isRefused(attack));

/** Attacks that wait for timeouts: they are sent at once, and run concurrently with the others. */
export const slowAttacks: readonly Attack[] = holding;
