/**
 * Activity other than posts when the server is killed: a socket that reads, an outgoing webhook, emails, scheduled
 * messages, a topic being deleted. Each starts with a server and checks its promise after the next start.
 */
import type { Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client } from "../support/client.ts";
import type { HostClient } from "../support/http.ts";
import { ascends } from "../support/kept-messages.ts";
import { outboxMails } from "../support/mail.ts";
import type { ServerProgram } from "../support/process.ts";
import { answer, Receiver, webhookBot } from "../support/receiver.ts";
import { scheduledOf } from "../support/scheduled.ts";
import { type Frame, Socket } from "../support/socket.ts";
import { unlessKilled } from "./kill-load.ts";

/** A queue that a sequence of sockets reads (E1, E2). */
export class SocketReader {
  #queueId = "";
  #last = 0;
  #socket: Socket | null = null;
  /** Event ids in order of arrival, over all sockets. */
  readonly #eventIds: number[] = [];
  readonly messageIds: number[] = [];

  async begin(owner: HostClient): Promise<void> {
    const socket = new Socket(owner.url, { as: owner, headers: { Host: owner.host } });
    this.#socket = socket;
    await socket.opened();
    if (this.#queueId === "") {
      const params = { event_types: ["message", "delete_message"] };
      const { queue_id: id, last_event_id: last } = await socket.ask({ type: "register", params });
      [this.#queueId, this.#last] = [id, last];
      return;
    }
    const reply = await socket.ask({ type: "resume", queue_id: this.#queueId, last_event_id: this.#last });
    if (reply.result !== "success") throw new Error(`not resumed: ${JSON.stringify(reply)}`);
  }

  /** The first event on this socket, past or future, for which the test is true. */
  event(test: (event: Frame) => boolean): Promise<Frame> {
    return (this.#socket as Socket).event(test);
  }

  /** Keeps what this socket received; the next socket resumes after it. */
  async end(): Promise<void> {
    const socket = this.#socket as Socket;
    socket.terminate();
    await socket.closed;
    for (const { id, message } of socket.events) {
      this.#eventIds.push(id);
      if (message !== undefined) this.messageIds.push(message.id);
      this.#last = id;
    }
  }

  get isInOrder(): boolean {
    return ascends(this.#eventIds) && ascends(this.messageIds);
  }
}

/** Messages are delivered to a receiver at least once, however often the sender is killed (M3). */
export class Hook {
  readonly #receiver: Receiver;

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  static async start(t: Test, { owner }: ServerProgram): Promise<Hook> {
    const receiver = await Receiver.start(t, answer({ response_not_required: true }));
    await webhookBot(owner, "hook", receiver.url);
    return new Hook(receiver);
  }

  /** Resolves when each of these has been delivered. */
  async carried(contents: readonly string[]): Promise<void> {
    const missing = new Set(contents);
    let seen = 0;
    await this.#receiver.until(() => {
      for (const { text } of this.#receiver.calls.slice(seen)) missing.delete(JSON.parse(text).message.content);
      seen = this.#receiver.calls.length;
      return missing.size === 0;
    });
  }

  get calls(): number {
    return this.#receiver.calls.length;
  }
}

const password = "a newcomer's own words";
const email = "newcomer@example.org";

/** A new user who logs in from a new program each time, which an email reports. */
export class NewUser {
  readonly #dataDir: string;
  readonly programs: string[] = [];

  private constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  static async join({ owner }: ServerProgram, dataDir: string): Promise<NewUser> {
    const made = await owner.post("/users", { email, password, full_name: "Newcomer" });
    if (made.status !== 200) throw new Error(JSON.stringify(made.body));
    const newUser = new NewUser(dataDir);
    // The first login causes no email.
    await newUser.#logIn(owner, "First");
    return newUser;
  }

  async #logIn(owner: Client, program: string): Promise<void> {
    const headers = { "User-Agent": `${program}/1` };
    const { status, body } = await owner.anonymous().post("/fetch_api_key", { username: email, password }, headers);
    if (status !== 200) throw new Error(JSON.stringify(body));
  }

  async begin({ owner }: ServerProgram, round: number): Promise<void> {
    const program = `Program${round}`;
    if (await unlessKilled(this.#logIn(owner, program))) this.programs.push(program);
  }

  /** @returns the number of emails per acknowledged login, once each has one */
  async mails(): Promise<number[]> {
    for (let count = this.programs.length; ; count++) {
      const subjects = (await outboxMails(this.#dataDir, count)).map((mail) => mail.email.subject ?? "");
      const found = this.programs.map((program) => subjects.filter((text) => text.endsWith(` ${program}`)).length);
      if (found.every((times) => times > 0)) return found;
    }
  }
}

const scheduledPerRound = 4;

/** Messages due shortly after the kill, or during it (M8). */
export class Schedule {
  /** The accepted messages; each must be posted once. */
  readonly contents: string[] = [];
  #open: Record<string, unknown>[] = [];

  async begin({ owner }: ServerProgram, round: number): Promise<void> {
    const due = Math.floor(Date.now() / 1000) + 2;
    this.#open = Array.from({ length: scheduledPerRound }, (_, index) => {
      return { type: "direct", to: [2], content: `due${round}-${index}`, scheduled_delivery_timestamp: due };
    });
    await this.settle(owner);
  }

  /** Repeats each unanswered request once with its key: it was accepted, or its time may have passed by now. */
  async settle(owner: Client): Promise<void> {
    const open = this.#open;
    this.#open = [];
    await Promise.all(
      open.map(async (params) => {
        const content = String(params["content"]);
        const work = owner
          .post("/scheduled_messages", params, { "Idempotency-Key": content })
          .then(({ status, body }) => {
            if (status === 200) this.contents.push(content);
            else if (!/must be in the future/.test(body.msg)) throw new Error(`${content}: ${JSON.stringify(body)}`);
          });
        if (!(await unlessKilled(work))) this.#open.push(params);
      }),
    );
  }

  /** Resolves when no message is waiting. */
  async over({ owner }: ServerProgram): Promise<void> {
    const follower = await owner.follow({ event_types: ["scheduled_messages", "message"] });
    for (let seen = 0; (await scheduledOf(owner)).length > 0; seen = follower.events.length) {
      const known = seen;
      await follower.until((event) => follower.events.indexOf(event) >= known);
    }
  }
}

const batch = limits.topic_deletion_batch_messages_busy;

/** A topic being deleted at the moment of the kill (spec 4.13). */
export class TopicBeingDeleted {
  readonly #topic: string;
  readonly ids: number[] = [];
  #done: Promise<boolean> = Promise.resolve(false);

  private constructor(topic: string) {
    this.#topic = topic;
  }

  /** Fills the topic with a few batches and a partial one. */
  static async fill({ owner }: ServerProgram, round: number): Promise<TopicBeingDeleted> {
    const deletion = new TopicBeingDeleted(`doomed ${round}`);
    const contents = Array.from({ length: 2 * batch + 50 }, (_, index) => `doomed ${round}-${index}`);
    for (let from = 0; from < contents.length; from += 64) {
      const some = contents.slice(from, from + 64);
      deletion.ids.push(...(await Promise.all(some.map((text) => owner.say("general", deletion.#topic, text)))));
    }
    deletion.ids.sort((a, b) => a - b);
    return deletion;
  }

  begin({ owner }: ServerProgram): void {
    this.#done = unlessKilled(owner.post("/streams/1/delete_topic", { topic_name: this.#topic }));
  }

  async #left(owner: Client): Promise<number[]> {
    const narrow = [
      { operator: "channel", operand: 1 },
      { operator: "topic", operand: this.#topic },
    ];
    const { body } = await owner.get("/messages", { anchor: "newest", num_before: 5000, num_after: 0, narrow });
    return body.messages.map(({ id }: { id: number }) => id);
  }

  /** @returns how many messages were left */
  async settle(t: Test, { owner }: ServerProgram): Promise<number> {
    await this.#done;
    const left = await this.#left(owner);
    t.strictSame(left, this.ids.slice(0, left.length), "[spec 4.13] the oldest messages are left");
    t.equal(
      (this.ids.length - left.length) % (left.length === 0 ? 1 : batch),
      0,
      `parked after a batch: ${left.length} left`,
    );
    if (left.length > 0) {
      const { body } = await owner.post("/streams/1/delete_topic", { topic_name: this.#topic });
      t.equal(body.complete, true, "a repeat completes it");
    }
    t.strictSame(await this.#left(owner), []);
    return left.length;
  }
}
