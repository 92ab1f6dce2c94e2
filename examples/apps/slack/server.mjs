// A slash command of Slack: `/agent TEXT` creates a task, and its answer is posted to the channel.
// ATP_URL=http://localhost:8080 ATP_KEY=sk-… SLACK_SIGNING_SECRET=… PORT=3000 node server.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createClient } from "@agent-task-platform/client";

const { SLACK_SIGNING_SECRET: secret = "", PORT = "3000" } = process.env;
const client = createClient();

/**
 * Whether Slack signed this request within the last five minutes
 * (https://docs.slack.dev/authentication/verifying-requests-from-slack).
 */
function isSigned({ "x-slack-request-timestamp": sentAt = "", "x-slack-signature": signature = "" }, body) {
  const expected = `v0=${createHmac("sha256", secret).update(`v0:${sentAt}:${body}`).digest("hex")}`;
  const isRecent = Math.abs(Date.now() / 1000 - Number(sentAt)) < 300;
  return (
    secret !== "" &&
    isRecent &&
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  );
}

/** Slack waits 3 seconds for an answer. The result goes to `response_url` instead, for up to 30 minutes. */
async function answer(question, user, url) {
  const result = await client.tasks
    .create({ message: question, metadata: { slack_user: user } })
    .text()
    .catch((error) => `The task failed: ${error.message}`);
  const body = JSON.stringify({ response_type: "in_channel", text: result });
  await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
}

createServer(async (request, response) => {
  const body = await text(request);
  if (!isSigned(request.headers, body)) return response.writeHead(401).end();
  const {
    text: question = "",
    user_id: user = "",
    response_url: url = "",
  } = Object.fromEntries(new URLSearchParams(body));
  answer(question, user, url).catch(console.error);
  response
    .setHeader("content-type", "application/json")
    .end(JSON.stringify({ response_type: "ephemeral", text: "The agent works …" }));
}).listen(Number(PORT), "127.0.0.1", () => console.log("ready"));
