// The PyPI package `zulip_bots`, unmodified: an example bot that keeps its state on the server (`/bot_storage`).
import t from "tap";
import { makeBot } from "../support/bots.ts";
import { pythonObstacle, runPython, writeZuliprc } from "../support/python.ts";
import { follow, isPolledBy, until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const skip = pythonObstacle("zulip_bots.run") ?? false;

t.test("the example bot incrementor counts its mentions in one message", { skip }, async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const { bot } = await makeBot(owner, "counter");
  await owner.createChannel("robots", [owner]);
  const { socket } = await follow(owner, { event_types: ["message", "update_message"] });
  t.teardown(() => socket.terminate());
  runPython(t, ["-m", "zulip_bots.run", "incrementor", "--config-file", writeZuliprc(t, bot)]);
  await until(() => isPolledBy(server, bot.userId));
  await owner.say("robots", "t", "@**The counter** one");
  const { message } = await socket.event((event) => event.message?.sender_id === bot.userId);
  t.equal(message.content, "1");
  await owner.say("robots", "t", "@**The counter** two");
  const edited = await socket.event((event) => event.type === "update_message");
  t.match(edited, { message_id: message.id, content: "2" });
  // The bot stores the number after its edit.
  const storedNumber = async () => {
    const { body } = await bot.get("/bot_storage", { keys: ["number"] });
    return (body["storage"] as { readonly number: string }).number;
  };
  while ((await storedNumber()) !== "2");
  t.pass("the server keeps the bot's number");
});
