import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { TaskEventSchema } from "../../../src/gen/proto/task/v2/task_event_pb.ts";
import { outputOf } from "../../../src/http/v1/task-object.ts";

const event = (payload: object) => create(TaskEventSchema, { id: "ev_1", payload } as never);

test("a message has its text first, then its files by links, names and types (spec/clients.md 27)", () => {
  const attachments = [
    { type: 2, filename: "a.md", url: "https://files.example/a", contentType: "text/markdown" },
    { type: 2, filename: "b", url: "https://files.example/b" },
  ];
  expect(outputOf([event({ case: "assistantMessage", value: { content: "Here", attachments } })])).toEqual([
    {
      id: "ev_1",
      status: "completed",
      role: "assistant",
      type: "message",
      content: [
        { type: "output_text", text: "Here" },
        {
          type: "output_file",
          fileUrl: "https://files.example/a",
          fileName: "a.md",
          mimeType: "text/markdown",
        },
        { type: "output_file", fileUrl: "https://files.example/b", fileName: "b" },
      ],
    },
  ]);
});

test("a message of files alone has no empty text, and the user's text is kept", () => {
  const attachments = [{ type: 2, filename: "a.md", url: "https://files.example/a" }];
  const [files, said] = outputOf([
    event({ case: "userMessage", value: { content: "", attachments } }),
    event({ case: "userMessage", value: { content: "Sort" } }),
  ]);
  expect(files?.content).toEqual([
    { type: "output_file", fileUrl: "https://files.example/a", fileName: "a.md" },
  ]);
  expect(said).toMatchObject({ role: "user", content: [{ type: "output_text", text: "Sort" }] });
});

test("a failure is a message of the assistant, and events without text are left out", () => {
  const output = outputOf([
    event({ case: "statusUpdate", value: { brief: "Working" } }),
    event({ case: "explanation", value: { content: "Hm" } }),
    event({ case: "errorMessage", value: { errorType: "internal", content: "No" } }),
  ]);
  expect(output).toMatchObject([{ role: "assistant", content: [{ type: "output_text", text: "No" }] }]);
});
