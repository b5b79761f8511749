/**
 * The npm package zulip-js, unmodified, drives a real server from its zuliprc: authenticate, subscribe, send, follow
 * events.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import t from "tap";
import type { Event } from "../support/client.ts";
import { isPolledBy, until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

interface Line {
  readonly what: string;
  readonly value: Event;
}

const program = new URL("zulip-js-client.mjs", import.meta.url).pathname;

/** Runs the program and waits for lines of its output. */
class Program {
  readonly lines: Line[] = [];
  errors = "";
  readonly #child: ChildProcess;
  #wake: () => void = () => undefined;

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("the child has no pipes");
    createInterface({ input: stdout }).on("line", (line) => {
      // The package itself prints errors.
      if (line.startsWith("{")) this.lines.push(JSON.parse(line));
      else this.errors += `${line}\n`;
      this.#wake();
    });
    stderr.on("data", (chunk) => {
      this.errors += chunk;
    });
  }

  async line(test: (line: Line) => boolean): Promise<Line> {
    for (;;) {
      const found = this.lines.find(test);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async answer(what: string): Promise<Event> {
    return (await this.line((line) => line.what === what)).value;
  }

  /** Stops the program, which would run forever. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => this.#child.once("close", () => resolve()));
    this.#child.kill("SIGKILL");
    await gone;
  }
}

t.test("zulip-js authenticates, subscribes, sends and receives by its event loop", async (t) => {
  const password = "a password of the owner";
  const server = await startTestServer(t, { environment: { OWNER_PASSWORD: password } });
  const { owner } = server;
  const friend = await server.person("Friend");
  const child = new Program([server.running.zuliprc, server.url, owner.account?.email ?? "", password]);
  t.teardown(() => child.stop());

  t.match(await child.answer("settings"), { result: "success", zulip_feature_level: 420 });
  t.match(await child.answer("profile"), { result: "success", user_id: owner.userId, full_name: "Owner" });
  const subscribed = await child.answer("subscribed");
  t.match(subscribed, { result: "success", subscribed: { [owner.userId]: ["by zulip-js"] } });
  t.match(await child.answer("registered"), { result: "success", queue_id: String, last_event_id: Number });
  const sent = await child.answer("sent");
  t.match(sent, { result: "success", id: Number });
  t.match(await child.answer("direct"), { result: "success", id: Number });
  const fetched = await child.answer("fetched");
  const found = fetched.messages.map((message: Event) => [message.id, message.content, message.subject]);
  t.strictSame(found, [[sent.id, "<p>from <strong>zulip-js</strong></p>", "hello"]]);
  const names = (list: Event[]) => list.map((channel) => channel.name);
  t.strictSame(names((await child.answer("streams")).streams), ["by zulip-js", "general"]);
  t.strictSame(names((await child.answer("subscriptions")).subscriptions), ["by zulip-js", "general"]);
  t.ok((await child.answer("users")).members.some((person: Event) => person.user_id === friend.userId));
  t.match(await child.answer("other profile"), { result: "success", user_id: owner.userId });
  t.match(await child.answer("typed"), { result: "success" });

  await until(() => isPolledBy(server, owner.userId));
  const ids = [];
  await friend.post("/users/me/subscriptions", { subscriptions: [{ name: "by zulip-js" }] });
  for (const content of ["one", "two"]) ids.push(await friend.say("by zulip-js", "hello", content));
  const { body } = await friend.post("/messages", { type: "direct", to: [owner.userId], content: "three" });
  ids.push(body.id);
  await child.line((line) => line.what === "event" && line.value.message?.id === body.id);
  const events = child.lines.filter((line) => line.what === "event").map((line) => line.value);
  const seen = events.map((event) => event.message.id);
  t.strictSame(seen, ids, "each once, in order");
  const shown = events.map((event) => [event.type, event.message.content, event.message.sender_full_name]);
  t.strictSame(
    shown,
    ["one", "two", "three"].map((content) => ["message", content, "Friend"]),
  );
  t.equal(child.errors, "", "and the package reports no error");
});
