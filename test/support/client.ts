/** A plain HTTP client of the REST API: forms in, JSON out; arrays and objects are sent as JSON text (spec 4). */
import type { Test } from "tap";
import { checkAnswer } from "./answer-check.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests compare whole events of any shape
export type Event = any;

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

export interface Queue {
  readonly queue_id: string;
  readonly last_event_id: number;
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

  /** Creates a channel with subscribers. @returns its id */
  async createChannel(name: string, subscribers: readonly Client[], more: Params = {}): Promise<number> {
    const ids = subscribers.map((client) => client.userId);
    const made = await this.post("/channels/create", { name, subscribers: ids, ...more });
    if (made.status !== 200) throw new Error(`no channel ${name}: ${JSON.stringify(made.body)}`);
    return made.body.id as number;
  }

  /** The channel's record as the caller sees it; undefined if the channel is hidden from the caller. */
  async channel(id: number): Promise<Event> {
    const { body } = await this.get("/streams", { include_all: true, include_can_access_content: true });
    return body.streams.find((stream: { stream_id: number }) => stream.stream_id === id);
  }

  /** A queue and where it begins. */
  async register(params: Params = {}): Promise<{ queue_id: string; last_event_id: number } & Record<string, unknown>> {
    const answer = await this.post("/register", params);
    if (answer.status !== 200) throw new Error(`not registered: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** A queue for some types of events, without state. */
  openQueue(types: readonly string[] | null, more: Params = {}): Promise<Queue> {
    return this.register({ event_types: types, fetch_event_types: [], ...more });
  }

  getEvents(queue: Queue, after: number, more: Params = {}): Promise<Answer> {
    return this.get("/events", { queue_id: queue.queue_id, last_event_id: after, ...more });
  }

  /**
   * The queue's events after a position, without waiting.
   * @throws when the queue is rejected
   */
  async readNow(queue: Queue, after = queue.last_event_id): Promise<Event[]> {
    const { body } = await this.getEvents(queue, after, { dont_block: true });
    if (body.result !== "success") throw new Error(JSON.stringify(body));
    return body.events;
  }

  /** A reader of a new queue. */
  async follow(params: Params = {}): Promise<Follower> {
    return new Follower(this, await this.register({ fetch_event_types: [], ...params }));
  }

  /** Records every event: the returned function returns those so far, except presence and typing. */
  async watchChanges(): Promise<() => Promise<readonly unknown[]>> {
    const queue = await this.register({ fetch_event_types: [] });
    return () => this.readNow(queue);
  }
}

export function encodeForm(params: Params): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return form.toString();
}

/** Status and body, the parts by which responses are compared. */
export function outcome({ status, body }: Answer): { status: number; body: unknown } {
  return { status, body };
}

export function refusal(msg: string, code = "BAD_REQUEST", status = 400, fields: Params = {}) {
  return { status, body: { result: "error", msg, code, ...fields } };
}

export function success(fields: Params = {}) {
  return { status: 200, body: { result: "success", msg: "", ...fields } };
}

/** Expects one answer. @param expected a text is the message of a BAD_REQUEST */
export async function expects(t: Test, pending: Promise<Answer>, expected: unknown, note?: string): Promise<void> {
  const whole = typeof expected === "string" ? refusal(expected) : expected;
  const answer = outcome(await pending);
  if (note === undefined) t.strictSame(answer, whole);
  else t.strictSame(answer, whole, note);
}

/** Reads a queue by long-poll and remembers every event. */
export class Follower {
  readonly client: Client;
  readonly events: Event[] = [];
  /** The response of POST /register. */
  readonly state: Event;
  #last: number;

  constructor(client: Client, state: Event) {
    this.client = client;
    this.state = state;
    this.#last = state.last_event_id;
  }

  async #read(isImpatient: boolean): Promise<void> {
    const { body } = await this.client.get("/events", {
      queue_id: this.state.queue_id,
      last_event_id: this.#last,
      dont_block: isImpatient,
    });
    if (body.result !== "success") throw new Error(`no events: ${JSON.stringify(body)}`);
    this.events.push(...body.events);
    this.#last = this.events.at(-1)?.id ?? this.#last;
  }

  /** Reads everything that waits: one response has a bounded number of events. */
  async present(): Promise<readonly Event[]> {
    for (let known = -1; known < this.events.length; ) {
      known = this.events.length;
      await this.#read(true);
    }
    return this.events;
  }

  /** The first matching event, past or future. */
  async until(test: (event: Event) => boolean): Promise<Event> {
    for (;;) {
      const found = this.events.find(test);
      if (found !== undefined) return found;
      await this.#read(false);
    }
  }

  /**
   * When this resolves, every earlier event has arrived: commands form one order (M7), so a message to oneself follows
   * them. The queue must include messages.
   */
  async settled(): Promise<readonly Event[]> {
    const sent = await this.client.post("/messages", { type: "direct", to: [this.client.userId], content: "fence" });
    const isFence = (event: Event) => event.type === "message" && event.message.id === sent.body.id;
    await this.until(isFence);
    this.events.splice(this.events.findIndex(isFence), 1);
    return this.events;
  }

  /** Events of one type so far, without their ids. */
  ofType(type: string): Event[] {
    return this.events.filter((event) => event.type === type).map(({ id: _id, ...rest }) => rest);
  }
}
