// The tools of the example agents, without a framework. Replace them with yours.

const text = { type: "string" };
const schema = (properties) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** What each tool is for, and the JSON Schema of its input. */
export const tools = {
  write_file: { description: "Writes a text file for the user.", input: schema({ name: text, text }) },
  delete_records: {
    description: "Deletes all records of a table. The user is asked first.",
    input: schema({ table: text }),
  },
  ask_user: {
    description: "Asks the user a question, and ends the turn.",
    input: schema({ question: text }),
  },
};

/** Uses a tool, and records the use under the id of the call: after a crash it is not used again. */
export const use = (turn, id, name, input) =>
  turn.once(id, { tool: name, brief: `Used ${name}`, params: input }, async () =>
    name === "write_file"
      ? { written: input.name, upload_id: await turn.upload(input.name, input.text) }
      : { deleted: input.table },
  );

/** The files that this turn has written, for its answer. */
export const filesOf = (uses) => uses.flatMap(({ result }) => result?.upload_id ?? []);

/**
 * Ends the turn with a request for approval, which the user can refuse. @param memo what the framework needs
 * to continue.
 */
export const approval = (input, memo) => ({
  confirm: {
    kind: "connectorAction",
    description: `Delete all records of the table ${input.table}.`,
    params: { tool: "delete_records", input },
    memo,
  },
});

export const instructions =
  "You tidy up tables. Write a file with what you found before you delete anything.";
