/** Calls a v2 operation with one key; returns its body. */
export type Post = (name: string, body: object) => Promise<Readonly<Record<string, unknown>>>;

export const createPost =
  (url: string, key: string): Post =>
  async (name, body) => {
    const reply = await fetch(`${url}/v2/${name}`, {
      method: "POST",
      headers: { "x-service-api-key": key },
      body: JSON.stringify(body),
    });
    return (await reply.json()) as Readonly<Record<string, unknown>>; // v2 answers with an object.
  };

/** The id of a new task. */
export async function createTask(post: Post, content: string, title = "A task"): Promise<string> {
  const { task_id: id } = await post("task.create", { title, message: { content } });
  if (typeof id !== "string") throw new Error("no task was created");
  return id;
}

/** The id of a new project. */
export async function createProject(post: Post, name: string): Promise<string> {
  const { project } = await post("project.create", { name });
  if (typeof project !== "object" || project === null || !("id" in project))
    throw new Error("no project was created");
  return String(project.id);
}
