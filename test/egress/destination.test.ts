import { describe, expect, test } from "vitest";
import { mayReach } from "../../src/adapters/egress/agent.ts";
import { allowedAddresses } from "../../src/config/address-range.ts";

const isAllowed = (address: string, port: number, secure: boolean, allow = "") =>
  mayReach(
    { ports: [80, 443], plain: true, allowed: allow === "" ? [] : allowedAddresses.parse(allow) },
    { address, port, secure },
  );

describe("an allowed destination", () => {
  test.each([
    { why: "a public address over http", address: "8.8.8.8", port: 80, secure: false, allow: "" },
    { why: "a public address over https", address: "2600::1", port: 443, secure: true, allow: "" },
    {
      why: "this machine, any port, plain, where loopback is allowed",
      address: "127.9.9.9",
      port: 1,
      secure: false,
      allow: "loopback",
    },
    { why: "::1, where loopback is allowed", address: "::1", port: 8080, secure: false, allow: "loopback" },
    {
      why: "mapped loopback, where loopback is allowed",
      address: "::ffff:127.0.0.1",
      port: 8080,
      secure: false,
      allow: "loopback",
    },
    {
      why: "an allowed range over https",
      address: "10.1.2.3",
      port: 443,
      secure: true,
      allow: "10.1.0.0/16",
    },
    {
      why: "an allowed range at its port",
      address: "10.1.2.3",
      port: 8443,
      secure: true,
      allow: "loopback,10.1.0.0/16:8443",
    },
    { why: "an allowed IPv6 range", address: "fd00::5", port: 443, secure: true, allow: "fd00::/8" },
    {
      why: "a mapped address of an allowed range",
      address: "::ffff:10.1.2.3",
      port: 443,
      secure: true,
      allow: "10.1.0.0/16",
    },
  ])("is $why", ({ address, port, secure, allow }) =>
    expect(isAllowed(address, port, secure, allow)).toBe(true));

  test.each([
    { why: "another port of a public address", address: "8.8.8.8", port: 8080, secure: true, allow: "" },
    {
      why: "this machine, where nothing is allowed",
      address: "127.0.0.1",
      port: 80,
      secure: false,
      allow: "",
    },
    {
      why: "a private network, where loopback is allowed",
      address: "10.0.0.1",
      port: 443,
      secure: true,
      allow: "loopback",
    },
    {
      why: "0.0.0.0, where loopback is allowed",
      address: "0.0.0.0",
      port: 80,
      secure: false,
      allow: "loopback",
    },
    {
      why: "an allowed range over plain http",
      address: "10.1.2.3",
      port: 443,
      secure: false,
      allow: "10.1.0.0/16",
    },
    {
      why: "an allowed range at another port",
      address: "10.1.2.3",
      port: 443,
      secure: true,
      allow: "10.1.0.0/16:8443",
    },
    { why: "port 80 of an allowed range", address: "10.1.2.3", port: 80, secure: true, allow: "10.1.0.0/16" },
    {
      why: "a neighbour of an allowed range",
      address: "10.2.0.0",
      port: 443,
      secure: true,
      allow: "10.1.0.0/16",
    },
    { why: "a host name", address: "localhost", port: 80, secure: false, allow: "loopback" },
  ])("is never $why", ({ address, port, secure, allow }) =>
    expect(isAllowed(address, port, secure, allow)).toBe(false));

  test("public addresses are refused over plain http where TLS is required, and this machine is accepted where loopback is allowed", () => {
    const reach = { ports: [443], plain: false, allowed: [{ kind: "loopback" }] } as const;
    expect(mayReach(reach, { address: "8.8.8.8", port: 443, secure: true })).toBe(true);
    expect(mayReach(reach, { address: "8.8.8.8", port: 443, secure: false })).toBe(false);
    expect(mayReach(reach, { address: "8.8.8.8", port: 80, secure: true })).toBe(false);
    expect(mayReach(reach, { address: "127.0.0.1", port: 8080, secure: false })).toBe(true);
  });
});
