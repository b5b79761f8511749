/** The echo bot of the examples in a process of its own, against a server in another process. */
import t from "tap";
import { freePort } from "../support/ports.ts";
import { Program, startProgram } from "../support/process.ts";
import { webhookBot } from "../support/receiver.ts";
import { temporaryFolder } from "../support/server.ts";

t.test("[spec 4.21] examples/echo-bot.mjs answers mentions through an outgoing webhook", async (t) => {
  const environment = { OUTGOING_WEBHOOK_ALLOW_PRIVATE: "true" };
  const { owner } = await startProgram(t, temporaryFolder(t), environment);
  const port = await freePort();
  const { bot } = await webhookBot(owner, "echo", `http://127.0.0.1:${port}/`);
  const { body } = await owner.post("/register", { fetch_event_types: ["realm_bot"] });
  const [{ token }] = body.realm_bots.find((one: { user_id: number }) => one.user_id === bot.userId).services;
  const given = { TOKEN: token, PORT: String(port) };
  const program = new Program(t, process.execPath, ["examples/echo-bot.mjs"], given);
  await program.printed(/is at http/);
  const follower = await owner.follow();
  await owner.say("general", "echo", "@**The echo** soup is ready");
  const { message } = await follower.until(
    (event) => event.type === "message" && event.message.sender_id === bot.userId,
  );
  t.match(message, { subject: "echo", content: "Owner said: soup is ready" });
});
