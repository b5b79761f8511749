/**
 * The pages behind invitation links, as a browser sees them: a real parser reads them, and forms are submitted with
 * their own fields.
 */
import { type DefaultTreeAdapterMap, parse } from "parse5";
import type { Client, Params } from "./client.ts";

type Node = DefaultTreeAdapterMap["node"];
type Element = DefaultTreeAdapterMap["element"];

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
  readonly elements: readonly Element[];
  /** The whole visible text. */
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

/** The text of the page's alert. */
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

/** The new user's state, after a login with email address and password. */
export async function logIn(client: Client, email: string, password = goodPassword) {
  return client.anonymous().post("/fetch_api_key", { username: email, password });
}
