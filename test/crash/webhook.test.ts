/**
 * The process is killed while receivers of outgoing webhooks have not answered (M3): the next start finds the messages
 * and sends them, those in flight a second time, and each is answered once.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Client } from "../support/client.ts";
import { startProgram } from "../support/process.ts";
import { answer, hang, privateAllowed, Receiver, webhookBot } from "../support/receiver.ts";
import { temporaryFolder } from "../support/server.ts";

t.test("[M3] webhook messages in flight at kill -9 are sent and answered after the next start", async (t) => {
  const dataDir = temporaryFolder(t);
  const far = await Receiver.start(t, hang);
  const killed = await startProgram(t, dataDir, privateAllowed.environment);
  const { bot } = await webhookBot(killed.owner, "waiting", far.url);
  const underWay = limits.webhook_deliveries_per_bot_concurrent_max;
  const count = underWay + 2;
  for (let index = 0; index < count; index++) await killed.owner.say("general", "t", `@**The waiting** ${index}`);
  await far.call(underWay);
  await killed.program.end("SIGKILL");
  t.equal(far.calls.length, underWay);
  far.usual = (response, called) => answer({ content: `to ${JSON.parse(called.text).message.id}` })(response, called);
  const next = await startProgram(t, dataDir, privateAllowed.environment);
  const owner = new Client(next.url, killed.owner.account);
  const follower = await owner.follow();
  await far.call(underWay + count);
  const last = await owner.say("general", "t", "@**The waiting** the end");
  await follower.until((event) => event.message?.content === `to ${last}`);
  const narrow = [["sender", String(bot.userId)]];
  const page = { anchor: "newest", num_before: 100, num_after: 0, narrow, apply_markdown: false };
  const { body } = await owner.get("/messages", page);
  const texts: string[] = body.messages.map(({ content }: { content: string }) => content);
  t.equal(texts.length, count + 1);
  t.equal(new Set(texts).size, count + 1, "each once");
});
