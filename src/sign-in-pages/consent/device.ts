import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { openExpiring, sealExpiring } from "../../core/cipher.ts";
import { deviceMs, devicePagePath as path } from "../../core/oauth/device.ts";
import { parseUserCode, userCodeDigest } from "../../core/oauth/user-code.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import { hiddenField } from "../form.ts";
import { type Html, html, words } from "../html.ts";
import { type Page, sendPage } from "../page.ts";
import { type ConsoleParts, creationContext, queryText, requestOrigin, requireSignIn } from "../parts.ts";
import { type AuthorizationSettings, findMembership } from "./approval.ts";
import {
  approveDevice,
  type DeviceTicket,
  denyDevice,
  type OpenDevice,
  openDevice,
} from "./device-approval.ts";
import {
  approvedPage,
  codePage,
  deniedPage,
  deviceOutsiderPage,
  devicePage,
  overPage,
} from "./device-page.ts";

const answerPath = `${path}/answer`;
const context = "device form";
/** The same text for a code that does not exist, has expired, or was used. */
const wrongCode = words(
  "This code is not valid. Check it on your device, or start again there to get a new code.",
  "Dieser Code gilt nicht. Prüfen Sie ihn auf Ihrem Gerät, oder beginnen Sie dort neu, um einen neuen Code zu bekommen.",
);

/**
 * `/device`: a person types the code of a device, sees what asks, and decides (RFC 8628 3.3, spec/api.md
 * 8.113).
 */
export function deviceRoutes(
  app: FastifyInstance,
  parts: ConsoleParts,
  settings: AuthorizationSettings,
): void {
  const { visits, store, clock, cipher } = parts;
  const signedIn = requireSignIn(visits, path);
  const send = (reply: FastifyReply, page: Page): FastifyReply => sendPage(reply, visits, page);
  const switchHref = visits.signInHref(visits.href(path));

  const sendCodePage = (
    request: FastifyRequest,
    reply: FastifyReply,
    account: SessionHolder,
    typed: string,
    wrong: Html | null,
  ) =>
    send(
      reply,
      codePage({
        action: visits.href(path),
        fields: visits.sessionToken(request),
        typed,
        wrong,
        account,
        switchHref,
      }),
    );

  // A link can fill the field. Only the press shows the request, and only another one answers it.
  app.get(
    path,
    signedIn((request, reply, who) =>
      sendCodePage(request, reply, who, queryText(request, "user_code").slice(0, 16), null),
    ),
  );

  app.post(
    path,
    signedIn(async (request, reply, who) => {
      const typed = visits.sessionForm(request).text("user_code");
      const isRight = await parts.codeEntries.count(who.session.id, requestOrigin(parts, request).address);
      const userCode = parseUserCode(typed);
      const device = userCode === null ? null : await store.devices.findByUserCode(userCodeDigest(userCode));
      const open = await openDevice((clientId) => store.apps.find(clientId), settings, device, clock.now());
      if (open === null || userCode === null)
        return sendCodePage(request, reply, who, typed.slice(0, 16), wrongCode);
      await isRight();
      return show(request, reply, who, open, userCode);
    }),
  );

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    who: SessionHolder,
    { app: asking, device }: OpenDevice,
    userCode: string,
  ): Promise<FastifyReply> {
    const { accountId, spaceId: currentSpaceId, id: sessionId } = who.session;
    const { spaceId, creatorId } = asking;
    const team = spaceId === null ? null : await findMembership(store, accountId, spaceId);
    if (spaceId !== null && team === null)
      return send(reply, deviceOutsiderPage(asking, who.email, switchHref));
    const maker = spaceId === null ? null : await store.accounts.profile(creatorId, spaceId);
    const ticket: DeviceTicket = { digest: device.digest, generation: asking.generation, sessionId };
    const sealed = hiddenField("ticket", sealExpiring(cipher, clock, context, ticket, deviceMs));
    const page = devicePage({
      app: asking,
      device,
      userCode,
      account: who,
      teamName: team?.name ?? null,
      maker: maker && (maker.name ?? maker.email),
      spaces: spaceId === null ? await store.signIns.listSpaces(accountId) : [],
      currentSpaceId,
      action: visits.href(answerPath),
      fields: html`${visits.sessionToken(request)}${sealed}`,
      appsHref: visits.apps,
    });
    return send(reply, page);
  }

  app.post(
    answerPath,
    signedIn(async (request, reply, who) => {
      const form = visits.sessionForm(request);
      const ticket = openExpiring<DeviceTicket>(cipher, clock, context, form.text("ticket"));
      if (ticket?.sessionId !== who.session.id) return send(reply, overPage(visits.href(path)));
      const chosen = { connectorUids: form.all("connector"), spaceId: form.text("space") };
      const answer = { ticket, ...chosen, session: who.session, from: requestOrigin(parts, request) };
      const isYes = form.text("decision") === "approve";
      const decide = isYes ? approveDevice : denyDevice;
      const outcome = await store.change((tx) => decide(tx, creationContext(parts), settings, answer));
      if (outcome.kind === "over") return send(reply, overPage(visits.href(path)));
      if (outcome.kind === "outsider")
        return send(reply, deviceOutsiderPage(outcome.app, who.email, switchHref));
      return send(reply, (isYes ? approvedPage : deniedPage)(outcome.app));
    }),
  );
}
