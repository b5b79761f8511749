/**
 * zulip-term 0.7.0 (zulip-terminal), unmodified, in a terminal: it loads, shows existing and new messages, and sends
 * one.
 */
import t from "tap";
import { clientProgram, python, pythonObstacle, runPython, writeZuliprc } from "../support/python.ts";
import { isPolledBy, until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const skip = pythonObstacle("zulipterminal", "pty") ?? false;

t.test("zulip-terminal shows messages, live ones too, and sends one", { skip }, async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const friend = await server.person("Friend");
  await friend.say("general", "t", "written before");
  const queue = await friend.openQueue(["message"]);
  const steps = [
    { see: "written before" },
    // The bottom line is drawn last. From then on the program reads keys.
    { see: "Help(?)" },
    { press: "" },
    { see: "written while it runs" },
    { press: "x" },
    { see: "To:" },
    { press: `Friend <${friend.account?.email}>` },
    { see: "example.com>" },
    { press: "\t" },
    { press: "typed in a terminal" },
    { see: "terminal" },
    { press: "\u0004" },
    // The bar is of a message, so the line is not the one that was typed.
    { see: "▒ typed in a terminal" },
  ];
  const command = [python, "-m", "zulipterminal.cli.run", "--config-file", writeZuliprc(t, owner)];
  const program = runPython(t, [clientProgram("terminal.py"), JSON.stringify(steps), ...command]);
  await program.printed(/"press": ""/);
  await until(() => isPolledBy(server, owner.userId));
  await friend.say("general", "t", "written while it runs");
  const { code, stderr } = await program.exited;
  t.equal(code, 0, stderr);
  const [, sent] = await friend.readNow(queue);
  t.match(sent.message, { sender_id: owner.userId, type: "private", content: "typed in a terminal" });
});
