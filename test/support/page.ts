/**
 * A page of the server in a browser, as far as requests show: it has the cookies that the server set, and the headers
 * that a browser adds to what a page sends.
 */
import { type Answer, Client, encodeForm } from "./client.ts";

export interface PageOptions {
  /** Headers that a browser adds; by default those of a script of the server's own page. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookie?: string;
}

export const ownPage: Readonly<Record<string, string>> = { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors" };

export class Page extends Client {
  cookie: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, { headers = ownPage, cookie = "" }: PageOptions = {}) {
    super(url, null);
    this.cookie = cookie;
    this.#headers = headers;
  }

  override get credentials(): Readonly<Record<string, string>> {
    return this.cookie === "" ? this.#headers : { ...this.#headers, Cookie: this.cookie };
  }

  override async send(
    method: string,
    path: string,
    body: string | Buffer | null,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await super.send(method, path, body, headers);
    this.take(answer.headers);
    return answer;
  }

  /** Keeps the cookies of an answer; `Max-Age=0` removes one. */
  take(headers: Headers): void {
    const jar = new Map(this.cookie === "" ? [] : this.cookie.split("; ").map((pair) => pairOf(pair)));
    for (const line of headers.getSetCookie()) {
      const [name, value] = pairOf(line.split(";")[0] ?? "");
      if (/;\s*Max-Age=0\b/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    this.cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  logIn(username: string, password: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("POST", "/session", encodeForm({ username, password }), headers);
  }

  /** A file outside the API. */
  file(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      redirect: "manual",
      headers: { ...this.credentials, ...headers },
    });
  }
}

function pairOf(pair: string): [name: string, value: string] {
  const equals = pair.indexOf("=");
  return [pair.slice(0, equals), pair.slice(equals + 1)];
}
