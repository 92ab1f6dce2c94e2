// The trivial graph: one node, which answers immediately.

import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", async () => ({ messages: [new AIMessage("done")] }))
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile();
