import type { DescService } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { announceSignedOut } from "./signed-out.ts";

/** A server in test mode names it in each answer; base.css shows it. */
const noteTestMode: Interceptor = (next) => async (request) => {
  const answer = await next(request);
  if (answer.header.get("X-ATP-Test") === "on") document.documentElement.dataset["test"] = "on";
  return answer;
};

/** Calls of this origin with the session cookie. */
export const transport = createConnectTransport({ baseUrl: location.origin, interceptors: [noteTestMode] });

const clients = new Map<DescService, unknown>();

/** The client of a service; the same one for each call. */
export function clientOf<S extends DescService>(service: S): Client<S> {
  const known = clients.get(service) ?? createClient(service, transport);
  clients.set(service, known);
  return known as Client<S>;
}

/** Errors that another attempt cannot change. */
const permanent: readonly Code[] = [
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.NotFound,
  Code.InvalidArgument,
  Code.FailedPrecondition,
  Code.ResourceExhausted,
  Code.Unimplemented,
];

/** Whether an error can go away by itself. */
export const isTemporary = (error: unknown): boolean => !permanent.includes(ConnectError.from(error).code);

const noticeSignOut = (error: unknown): void => {
  if (ConnectError.from(error).code === Code.Unauthenticated) announceSignedOut();
};

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSignOut }),
  mutationCache: new MutationCache({ onError: noticeSignOut }),
  defaultOptions: {
    // A server on this machine or in this network answers also while the browser has no internet.
    queries: {
      networkMode: "always",
      retry: (count, error) => count < 3 && isTemporary(error),
      staleTime: 5_000,
    },
    mutations: { networkMode: "always", retry: false },
  },
});
