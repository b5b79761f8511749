/** The pages behind invitations' links, looked at as a browser does: a real parser reads them, and forms are sent as they stand. */
import { type DefaultTreeAdapterMap, parse } from "parse5";
import type { Client, Params } from "./client.ts";

type Node = DefaultTreeAdapterMap["node"];
type Element = DefaultTreeAdapterMap["element"];

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
  readonly elements: readonly Element[];
  /** Everything that a person reads. */
  readonly text: string;
}

export function attribute(element: Element | undefined, name: string): string | undefined {
  return element?.attrs.find((each) => each.name === name)?.value;
}

export function byTag(page: Page, tag: string): Element[] {
  return page.elements.filter(({ tagName }) => tagName === tag);
}

/** The field of that name. */
export function field(page: Page, name: string): Element | undefined {
  return byTag(page, "input").find((input) => attribute(input, "name") === name);
}

/** What stands in an alert. */
export function problem(page: Page): string | undefined {
  const found = page.elements.find((element) => attribute(element, "role") === "alert");
  return found === undefined ? undefined : textOf(found);
}

function textOf(node: Node): string {
  if (node.nodeName === "#text") return (node as DefaultTreeAdapterMap["textNode"]).value;
  if (node.nodeName === "style" || !("childNodes" in node)) return "";
  return node.childNodes.map(textOf).join("");
}

function elementsOf(node: Node): Element[] {
  const own = "tagName" in node ? [node] : [];
  return "childNodes" in node ? [...own, ...node.childNodes.flatMap(elementsOf)] : own;
}

async function pageOf(response: Response): Promise<Page> {
  const html = await response.text();
  const tree = parse(html);
  return {
    status: response.status,
    html,
    headers: response.headers,
    elements: elementsOf(tree),
    text: textOf(tree).replaceAll(/\s+/g, " ").trim(),
  };
}

export async function visit(link: string, method = "GET"): Promise<Page> {
  return pageOf(await fetch(link, { method, redirect: "manual" }));
}

export const goodPassword = "correct horse battery";

export async function submit(link: string, fields: Readonly<Record<string, string>>): Promise<Page> {
  const body = new URLSearchParams({ full_name: "New Person", password: goodPassword, ...fields });
  return pageOf(await fetch(link, { method: "POST", body, redirect: "manual" }));
}

/** @returns the link */
export async function inviteLink(by: Client, params: Params = {}): Promise<string> {
  const { status, body } = await by.post("/invites/multiuse", params);
  if (status !== 200) throw new Error(`no link: ${JSON.stringify(body)}`);
  return body.invite_link as string;
}

/** What the new person is, logged in with address and password. */
export async function logIn(client: Client, email: string, password = goodPassword) {
  return client.anonymous().post("/fetch_api_key", { username: email, password });
}
