import {
  type AgentSubscriber,
  type BaseEvent,
  HttpAgent,
  type Message,
  type RunAgentParameters,
} from "@ag-ui/client";

/** A front end: the client of the protocol, and the events that it received. */
export function frontEnd(
  url: string,
  headers: Readonly<Record<string, string>>,
  threadId = `thread-${Math.random()}`,
) {
  const agent = new HttpAgent({ url: `${url}/ag-ui`, headers: { ...headers }, threadId });
  const events: BaseEvent[] = [];
  const subscriber: AgentSubscriber = { onEvent: ({ event }) => void events.push(event) };
  return {
    agent,
    events,
    typed: (type: string) => events.filter((event) => event.type === type),
    async run(parameters: RunAgentParameters = {}) {
      events.length = 0;
      await agent.runAgent(parameters, subscriber);
      return events.at(-1);
    },
    say: (content: string) => agent.addMessage({ id: crypto.randomUUID(), role: "user", content }),
  };
}

export const texts = (messages: readonly Message[]) =>
  messages.map(({ role, content }) => `${role}: ${typeof content === "string" ? content : ""}`);

export const interruptsOf = (event: BaseEvent | undefined) =>
  (event as { outcome?: { interrupts?: { id: string }[] } })?.outcome?.interrupts ?? [];
