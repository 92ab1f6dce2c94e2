import type { Json, JsonObject } from "../../../../core/json.ts";

/** Characters of a page that a model is given. */
export const textMax = 20_000;
const nameMax = 500;

/** Roles of what a model may click or type into. */
const refRoles: ReadonlySet<string> = new Set([
  ...["link", "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "menuitem", "option", "switch", "tab", "slider"],
]);
const textRoles: ReadonlySet<string> = new Set(["StaticText", "image"]);

/**
 * A page as text, from the nodes of `Accessibility.getFullAXTree`: a line for each text, and for each element that can be
 * worked with, as `[ref] role "name" = value`. What is within such an element is its name, and not told again.
 */
export function readable(nodes: readonly Json[]): string {
  const told: string[] = [];
  const inside = new Set<string>();
  let length = 0;
  for (const node of nodes.filter(isObject)) {
    const id = String(node["nodeId"]);
    const line = inside.has(String(node["parentId"])) ? "" : lineOf(node);
    if (inside.has(String(node["parentId"])) || line !== "") inside.add(id);
    if (line === "") continue;
    length += line.length + 1;
    if (length > textMax) return [...told, "… (the page is longer)"].join("\n");
    told.push(line);
  }
  return told.join("\n");
}

function lineOf(node: JsonObject): string {
  if (node["ignored"] === true) return "";
  const role = textOf(node["role"]);
  const name = textOf(node["name"]);
  if (refRoles.has(role)) {
    const value = textOf(node["value"]);
    return `[${node["backendDOMNodeId"]}] ${role} ${JSON.stringify(name)}${value === "" ? "" : ` = ${JSON.stringify(value)}`}`;
  }
  return textRoles.has(role) ? name : "";
}

/** The text of the protocol's AXValue. */
const textOf = (value: Json | undefined): string =>
  isObject(value)
    ? String(value["value"] ?? "")
        .replaceAll(/\s+/g, " ")
        .trim()
        .slice(0, nameMax)
    : "";

const isObject = (value: Json | undefined): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value);
