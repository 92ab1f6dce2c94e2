import type { AGUIEvent, Message } from "@ag-ui/core";

type Written<E> = E extends { readonly type: infer T extends string }
  ? Omit<E, "type"> & { readonly type: `${T}` }
  : never;

/** An event of AG-UI 1.0, with its type as a text: the package of the protocol is here for its types only. */
export type AgentEvent = Written<AGUIEvent>;

export type AgentMessage = Message;

/** The version of the protocol that the platform speaks. */
export const protocolVersion = "1.0";
