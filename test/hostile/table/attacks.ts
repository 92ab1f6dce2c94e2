import type { Attack } from "../attack.ts";
import { bombs } from "./bombs.ts";
import { documents, queries, uploads } from "./documents.ts";
import { holding } from "./held.ts";
import { http1 } from "./http1.ts";
import { http2 } from "./http2.ts";
import { jsons } from "./jsons.ts";
import { protos } from "./protos.ts";

/** Every attack, each sent after the one before it was answered. */
export const attacks: readonly Attack[] = [...http1, ...http2, ...queries, ...documents, ...uploads, ...protos, ...jsons, ...bombs];

/** Those that wait for time-outs: they are sent at once, and go on beside the others. */
export const slowAttacks: readonly Attack[] = holding;
