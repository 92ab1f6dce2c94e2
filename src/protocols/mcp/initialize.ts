import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";

/**
 * A server that refuses an `initialize` that does not fit as the client's mistake. The SDK handles it itself,
 * and answers an internal error with the text of an exception. Its hook for subclasses is the only way:
 * another handler of `initialize` could not keep what the client says, because the members for that are
 * private.
 */
export class PlatformServer extends Server {
  protected override _wrapHandler(
    ...[method, handler]: Parameters<Server["_wrapHandler"]>
  ): ReturnType<Server["_wrapHandler"]> {
    const handle = super._wrapHandler(method, handler);
    if (method !== "initialize") return handle;
    return async (request, context) => {
      try {
        return await handle(request, context);
      } catch (thrown) {
        if (thrown instanceof ProtocolError) throw thrown;
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          "initialize needs protocolVersion, capabilities and clientInfo",
        );
      }
    };
  }
}
