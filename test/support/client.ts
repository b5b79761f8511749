/** A plain HTTP client of the REST API: forms in, JSON out; arrays and objects are sent as JSON text (spec 4). */
import { checkAnswer } from "./answer-check.ts";

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare whole responses of any shape
  readonly body: any;
  readonly headers: Headers;
}

export type Params = Readonly<Record<string, unknown>>;

export interface Account {
  readonly email: string;
  readonly key: string;
  readonly userId: number;
}

export class Client {
  readonly url: string;
  readonly account: Account | null;

  constructor(url: string, account: Account | null) {
    this.url = url;
    this.account = account;
  }

  get userId(): number {
    return this.account?.userId ?? 0;
  }

  /** The Authorization header's value; "" without credentials. */
  get authorization(): string {
    if (this.account === null) return "";
    return `Basic ${Buffer.from(`${this.account.email}:${this.account.key}`).toString("base64")}`;
  }

  /** The headers that identify the client; none without credentials. */
  get credentials(): Readonly<Record<string, string>> {
    return this.account === null ? {} : { Authorization: this.authorization };
  }

  anonymous(): Client {
    return new Client(this.url, null);
  }

  get(path: string, params: Params = {}, headers: Record<string, string> = {}): Promise<Answer> {
    const query = encodeForm(params);
    return this.send("GET", query === "" ? path : `${path}?${query}`, null, headers);
  }

  post(path: string, params: Params = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("POST", path, encodeForm(params), headers);
  }

  put(path: string, params: Params = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("PUT", path, encodeForm(params), headers);
  }

  patch(path: string, params: Params = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("PATCH", path, encodeForm(params), headers);
  }

  delete(path: string, params: Params = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("DELETE", path, encodeForm(params), headers);
  }

  /** @param path below /api/v1 */
  async send(
    method: string,
    path: string,
    body: string | Buffer | null,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...this.credentials,
        ...(body === null ? {} : { "Content-Type": "application/x-www-form-urlencoded" }),
        ...headers,
      },
      ...(body === null ? {} : { body }),
    });
    const text = await response.text();
    const answer = text === "" ? null : JSON.parse(text);
    const { status, headers: received } = response;
    checkAnswer(method, path, { status, body: answer, header: (name) => received.get(name) });
    return { status, body: answer, headers: received };
  }

  /** Posts to a channel's topic. @returns the message's id */
  async say(channel: string | number, topic: string, content: string): Promise<number> {
    const answer = await this.post("/messages", { type: "channel", to: channel, topic, content });
    if (answer.status !== 200) throw new Error(`not sent: ${JSON.stringify(answer.body)}`);
    return answer.body.id as number;
  }

  /** A queue and where it begins. */
  async register(params: Params = {}): Promise<{ queue_id: string; last_event_id: number } & Record<string, unknown>> {
    const answer = await this.post("/register", params);
    if (answer.status !== 200) throw new Error(`not registered: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}

export function encodeForm(params: Params): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return form.toString();
}
