// A page that asks an agent. The key stays on the server: `ask` is a server action.
// ATP_URL=http://localhost:8080 ATP_KEY=sk-… npx next dev
"use client";
import { useActionState } from "react";
import { ask } from "./ask.js";

export default function Page() {
  const [answer, submit, isPending] = useActionState(ask, "");
  return (
    <form action={submit}>
      <label>
        Question <input name="question" required />
      </label>
      <button type="submit" disabled={isPending}>
        Ask
      </button>
      <output>{isPending ? "The agent works …" : answer}</output>
    </form>
  );
}
