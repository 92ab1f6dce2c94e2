import { Readable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { version } from "../../src/config/version.ts";
import { defined } from "../../src/core/defined.ts";
import { createAgent } from "../acp/agent.ts";
import { openSessions } from "../acp/sessions.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { type ClientFlags, textFlag } from "../frame/parameters.ts";
import { remoteClients } from "../rights.ts";

interface AcpFlags extends ClientFlags {
  readonly "agent-profile"?: string;
  readonly project?: string;
}

/** The largest message of an editor: a prompt with images. */
const messageBytesMax = 16 * 1_048_576;

export const acp = command({
  brief: "Serve the Agent Client Protocol over standard input and output, as the agent of an editor",
  examples: ["atp acp", "atp acp --profile work --agent-profile lite"],
  about:
    "The editor starts this command, and each of its sessions is a task of the installation, with your credential. docs/guides/acp.md has the settings of editors. The command ends when the editor closes its input.",
  parameters: {
    flags: {
      ...clientFlags,
      "agent-profile": textFlag("Agent profile of the tasks, as agentProfile.list names it", "NAME"),
      project: textFlag("Project that the tasks join", "ID"),
    },
  },
  run: async (cli: Cli, { "agent-profile": profile, project }: AcpFlags) => {
    const { context } = cli;
    const creation = {
      ...defined({ agent_profile: profile, project_id: project }),
    };
    const output = new WritableStream<Uint8Array>({
      write: (part) => void context.process.stdout.write(part),
    });
    // Node's types distinguish its own streams from those of `fetch`.
    const input = Readable.toWeb(
      Readable.from(context.stdin, { objectMode: false }),
    ) as ReadableStream<Uint8Array>;
    const app = createAgent({
      clientUntil: remoteClients(cli),
      sessions: openSessions(context.process.env, cli.target().origin),
      creation,
      version,
    });
    const connection = app.connect(ndJsonStream(output, input, { maxMessageBytes: messageBytesMax }));
    const stop = context.onInterrupt(() => connection.close());
    await connection.closed;
    stop();
  },
});
