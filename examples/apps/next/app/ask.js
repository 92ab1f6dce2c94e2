"use server";
import { createClient } from "@agent-task-platform/client";

/** Creates a task, and returns its answer as soon as the turn ends. */
export async function ask(_before, form) {
  return await createClient()
    .tasks.create({ message: String(form.get("question")) })
    .text();
}
