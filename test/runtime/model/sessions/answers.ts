import { attached, calls, planOf, type Session } from "./session.ts";

// Sessions about answers: cut ones, values, thoughts, faults of the service, and what each turn is given.

const total = {
  outputSchema: {
    type: "object",
    properties: { total: { type: "integer" } },
    required: ["total"],
    additionalProperties: false,
  },
};
const note = { path: "note.md", content: "Owls." };

export const answerSessions: readonly Session[] = [
  {
    name: "value-of-a-cut-answer",
    api: "anthropic",
    acts: ["How many?", "And then?"],
    answers: [
      { text: "There are 7 owls, and ", finish: "length" },
      { text: "they sleep." },
      { text: "seven" },
      { text: '{"total": 7}' },
      { text: "They wake up." },
      { text: '{"total": 7}' },
    ],
    turn: total,
  },
  {
    name: "value-from-code-fence",
    api: "openai",
    acts: ["How many?"],
    answers: [{ text: "Seven." }, { text: '{"total": "7"}' }, { text: '```json\n{"total": 7}\n```' }],
    turn: total,
  },
  {
    name: "cut-call",
    api: "openai",
    acts: ["Write the note."],
    answers: [
      { calls: [{ name: "write", input: '{"path": "note.md", "content": "Owls and' }], finish: "length" },
      calls("write", note, "In smaller parts."),
      { text: "Written." },
    ],
  },
  {
    name: "thoughts-kept",
    api: "anthropic",
    acts: ["Write the note.", "Shorter, please."],
    answers: [
      { reasoning: "A note is due.", signature: "signed-1", ...calls("write", note, "I write it.") },
      { reasoning: "It is written.", signature: "signed-2", text: "Written." },
      {
        reasoning: "They want less.",
        signature: "signed-3",
        ...calls("write", { ...note, content: "Owl." }),
      },
      { text: "It is shorter." },
    ],
    config: { thinkingTokens: 2_000 },
  },
  {
    name: "fallback",
    api: "openai",
    acts: ["Write the note.", "And now?"],
    answers: [
      calls("write", note),
      ...Array.from({ length: 6 }, () => ({ status: 503 })),
      { text: "Written, says the other model." },
      { text: "The first model is back." },
    ],
    config: { fallback: ["spare"] },
    others: { spare: { model: "spare" } },
  },
  {
    name: "plan-reminder",
    api: "anthropic",
    acts: ["Write, read and tell."],
    answers: [
      { text: "I plan.", calls: [planOf(1)] },
      { text: "I have written." },
      { text: "All is done.", calls: [planOf(3)] },
      { text: "I have written, read and told." },
    ],
  },
  {
    name: "german",
    api: "openai",
    acts: ["Wie viele Eulen?", { say: "Und morgen?", turn: { locale: "de-AT" } }],
    answers: [
      calls("write", { path: "eulen.md", content: "Sieben Käuze." }, "Ich zähle."),
      { text: "Sieben." },
      { text: "Acht." },
    ],
    turn: { locale: "de", person: async () => ({ name: "Änne", timeZone: "Europe/Berlin" }) },
  },
  {
    name: "call-instructions",
    api: "openai",
    acts: [
      { say: "How many?", turn: { ownInstruction: "Answer with one word." } },
      { say: "And now?", turn: { ownInstruction: "Answer in rhymes." } },
      { say: "And in the end?", turn: { ownInstruction: "" } },
    ],
    answers: [{ text: "Seven." }, { text: "Seven in heaven." }, { text: "There are seven." }],
  },
  {
    name: "attachments",
    api: "anthropic",
    acts: [
      {
        say: "Count the owls.",
        turn: { attachments: [attached("owls.csv", "name,count\nbarn,3\ntawny,4\n", "text/csv")] },
      },
      { say: "And these?", turn: { attachments: [attached("more.txt", "Two eagle owls.")] } },
    ],
    answers: [
      calls("read", { path: "inputs/owls.csv" }),
      { text: "Seven." },
      calls("read", { path: "inputs/more.txt" }),
      calls("deliver", { files: [{ path: "inputs/more.txt", name: "eagle.txt" }] }),
      { text: "Two more." },
    ],
  },
  {
    name: "earlier-turns",
    api: "openai",
    acts: [
      {
        say: "Go on.",
        turn: {
          earlier: [
            { role: "user", content: "Count the owls." },
            {
              role: "tool",
              name: "read",
              arguments: { path: "owls.csv" },
              result: "7",
              isError: false,
              isShortened: false,
            },
            { role: "assistant", content: "Seven, said another agent." },
          ],
        },
      },
      "And now?",
    ],
    answers: [{ text: "Still seven." }, { text: "Eight." }],
  },
];
