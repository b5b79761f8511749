/**
 * The bots of examples/bots in processes of their own, with the built client, against a server that is killed: what they
 * were asked is answered once. `KILLS` is 1, or 0 to leave the kills out.
 */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { makeBot } from "../support/bots.ts";
import type { Client, Follower } from "../support/client.ts";
import { installClient } from "../support/client-build.ts";
import { freePort } from "../support/ports.ts";
import { checkout, Program, type ServerProgram, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const kills = Number(process.env["KILLS"] ?? 1);
const folder = temporaryFolder(t);
await installClient(folder);

const dataDir = temporaryFolder(t);
const environment = { PORT: String(await freePort()) };
let server: ServerProgram = await startProgram(t, dataDir, environment);
const { owner } = server;

/** @param meanwhile runs while there is no server */
async function killAndRestart(meanwhile: () => void = () => undefined): Promise<void> {
  if (kills > 0) await server.program.end("SIGKILL");
  meanwhile();
  if (kills > 0) server = await startProgram(t, dataDir, environment);
}

/** The account of a bot, and its file with credentials. */
async function account(name: string): Promise<{ bot: Client; zuliprc: string }> {
  const { bot } = await makeBot(owner, name);
  const { email = "", key = "" } = bot.account ?? {};
  const zuliprc = join(folder, `${name}.zuliprc`);
  writeFileSync(zuliprc, `[api]\nemail=${email}\nkey=${key}\nsite=${server.url}\n`);
  return { bot, zuliprc };
}

async function start(name: string, args: readonly string[], given: Readonly<Record<string, string>> = {}) {
  copyFileSync(join(checkout, `examples/bots/${name}.mjs`), join(folder, `${name}.mjs`));
  const program = new Program(t, process.execPath, [join(folder, `${name}.mjs`), ...args], given, folder);
  await program.printed(/listens|is at http/);
  return program;
}

function ask(bot: Client, content: string) {
  return owner.post("/messages", { type: "direct", to: [bot.userId], content });
}

/** What a bot has said to the owner and in channels, as it is stored. */
async function saidBy(bot: Client): Promise<string[]> {
  const narrow = [{ operator: "sender", operand: bot.userId }];
  const page = { anchor: "oldest", num_before: 0, num_after: 100, narrow, apply_markdown: false };
  const { body } = await owner.get("/messages", page);
  return body.messages.map(({ content }: { content: string }) => content);
}

/** Waits until the bot says something. */
async function until(follower: Follower, bot: Client, content: string): Promise<void> {
  await follower.until(
    ({ type, message }) => type === "message" && message.sender_id === bot.userId && message.content === content,
  );
}

t.test("the reply bot answers everything once, through kills of the server and of itself", async (t) => {
  const { bot, zuliprc } = await account("reply");
  const memory = join(folder, "position.json");
  let program = await start("reply-bot", [zuliprc, memory]);
  let follower = await owner.follow({ event_types: ["message"], apply_markdown: false });
  await ask(bot, "one");
  await owner.say("general", "bots", "@**The reply** two");
  await owner.say("general", "bots", "not for it");
  for (const words of ["one", "two"]) await until(follower, bot, `You said: ${words}`);

  await killAndRestart();
  follower = await owner.follow({ event_types: ["message"], apply_markdown: false });
  await ask(bot, "three");
  await until(follower, bot, "You said: three");

  await program.end("SIGKILL");
  await ask(bot, "four");
  program = await start("reply-bot", [zuliprc, memory]);
  await ask(bot, "five");
  await until(follower, bot, "You said: five");
  t.strictSame(
    (await saidBy(bot)).toSorted(),
    ["five", "four", "one", "three", "two"].map((words) => `You said: ${words}`),
  );
  t.equal(program.stderr, "");
});

t.test("the relay bot posts deliveries once, and rejects what is not one", async (t) => {
  const { bot, zuliprc } = await account("relay");
  const program = await start("relay-bot", [zuliprc], { TOKEN: "secret", PORT: "0" });
  const [, address = ""] = await program.printed(/is at (\S+)/);
  const deliver = (text: string, id: string, more: RequestInit = {}) =>
    fetch(address, {
      method: "POST",
      body: JSON.stringify({ topic: "builds", text }),
      headers: { Authorization: "Bearer secret", "X-Delivery": id },
      ...more,
    });
  t.equal((await deliver("Build 1", "1")).status, 200);
  t.equal((await deliver("Build 1", "1")).status, 200, "a delivery that is repeated");
  const waiting: Promise<Response>[] = [];
  await killAndRestart(() => waiting.push(deliver("Build 2", "2")));
  t.equal((await waiting[0])?.status, 200, "it waits for the server");
  t.equal((await deliver("Build 2", "2")).status, 200);
  const wrong = { Authorization: "Bearer wrong" };
  t.equal((await deliver("x", "3", { headers: wrong })).status, 401);
  const headers = { Authorization: "Bearer secret" };
  t.equal((await deliver("x", "3", { headers, body: "{" })).status, 400);
  t.equal((await deliver("x", "3", { headers, body: JSON.stringify({ topic: 1 }) })).status, 400);
  t.equal((await deliver("x", "3", { headers, body: "null" })).status, 400);
  t.equal((await deliver("x", "3", { headers, body: "x".repeat(65 * 1024) })).status, 413);
  t.equal((await deliver("", "3")).status, 422, "the server rejects an empty message");
  t.equal((await fetch(address)).status, 405);
  t.strictSame(await saidBy(bot), ["Build 1", "Build 2"]);
});

t.test("the digest bot counts a channel's messages by topic, after a kill, too", async (t) => {
  const { bot, zuliprc } = await account("digest");
  const program = await start("digest-bot", [zuliprc]);
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
  for (const topic of ["lunch", "coffee", "lunch"]) await owner.say("kitchen", topic, "x");
  let follower = await owner.follow({ event_types: ["message"], apply_markdown: false });
  await ask(bot, "digest kitchen");
  const digest = "In #**kitchen** since yesterday:\n\n* **lunch**: 2 by Owner\n* **coffee**: 1 by Owner";
  await until(follower, bot, digest);
  await killAndRestart();
  follower = await owner.follow({ event_types: ["message"], apply_markdown: false });
  await ask(bot, "digest #**kitchen**");
  await until(follower, bot, digest);
  await ask(bot, "hello");
  await until(follower, bot, "Write `digest CHANNEL`.");
  await ask(bot, "digest nowhere");
  await follower.until(({ type, message }) => type === "message" && /^There is no digest/.test(message.content));
  t.equal(program.stderr, "");
});
