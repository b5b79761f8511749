/**
 * The PyPI package `zulip_bots`, unmodified: `zulip-run-bot` answers direct messages, and mentions in channels without
 * the bot.
 */
import t from "tap";
import { makeBot } from "../support/bots.ts";
import { pythonObstacle, runPython, writeZuliprc } from "../support/python.ts";
import { follow, isPolledBy, until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const skip = pythonObstacle("zulip_bots.run") ?? false;

t.test("the example bot helloworld answers mentions and direct messages", { skip }, async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const { bot } = await makeBot(owner, "hello");
  await owner.createChannel("robots", [owner]);
  const { socket } = await follow(owner, { event_types: ["message", "reaction"] });
  t.teardown(() => socket.terminate());
  runPython(t, ["-m", "zulip_bots.run", "helloworld", "--config-file", writeZuliprc(t, bot)]);
  await until(() => isPolledBy(server, bot.userId));

  const answer = { sender_id: bot.userId, content: "beep boop" };
  const mention = await owner.say("robots", "t", "@**The hello** hello");
  // The bot sends its answer before its reaction.
  const wave = await socket.event((event) => event.type === "reaction" && event.message_id === mention);
  t.match(wave, { op: "add", emoji_name: "wave", user_id: bot.userId });
  const inChannel = await socket.event((event) => event.message?.sender_id === bot.userId);
  t.match(inChannel.message, { ...answer, display_recipient: "robots", subject: "t" });

  await owner.post("/messages", { type: "direct", to: [bot.userId], content: "hello" });
  const directly = await socket.event(({ message }) => message?.sender_id === bot.userId && message.type === "private");
  t.match(directly.message, answer);
});
