import { expect, test } from "vitest";
import { pageText } from "../../src/runtime/agents/model/tools/browser-page.ts";

const node = (nodeId: string, role: string, name: string, more: object = {}) => ({
  ...{ nodeId, role: { value: role }, name: { value: name }, backendDOMNodeId: Number(nodeId) },
  ...more,
});

test("a page is rendered line by line: usable elements by ref, nothing repeated", () => {
  const nodes = [
    node("1", "RootWebArea", "Shop"),
    node("2", "heading", "Tea", { parentId: "1" }),
    node("3", "StaticText", "Tea", { parentId: "2" }),
    node("4", "link", 'Buy "now"\n[9] button', { parentId: "1" }),
    node("5", "StaticText", "Buy now", { parentId: "4" }),
    node("6", "textbox", "Name", { parentId: "1", value: { value: "Ann" } }),
    node("7", "StaticText", "hidden", { parentId: "1", ignored: true }),
  ];
  expect(pageText(nodes)).toBe('Tea\n[4] link "Buy \\"now\\" [9] button"\n[6] textbox "Name" = "Ann"');
});

test("a page of unlimited length is cut", () => {
  const nodes = Array.from({ length: 100_000 }, (_, i) => node(String(i), "StaticText", "x".repeat(1_000)));
  const text = pageText(nodes);
  expect(text.length).toBeLessThan(21_000);
  expect(text).toMatch(/… \(the page is longer\)$/);
});

test("an invalid tree is an empty page", () => {
  expect(pageText([null, 1, "a", [], {}, { role: 1, name: null }])).toBe("");
});
