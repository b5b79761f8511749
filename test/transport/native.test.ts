/** Runs the contract of transports with uWebSockets.js; skipped with a message where its binary does not load. */
import t from "tap";
import { loadNative } from "../../src/edge/transport/native.ts";
import { Program } from "../support/process.ts";
import { holds } from "./app.ts";
import { httpContract } from "./http-contract.ts";
import { patienceContract } from "./patience-contract.ts";
import { socketContract, tlsContract } from "./socket-contract.ts";

const transport = await loadNative().catch(() => null);

if (transport === null) t.pass("skipped: uWebSockets.js has no binary that loads here");
else {
  holds(t, transport, httpContract, socketContract, tlsContract, patienceContract);

  t.test("the library prints no warning for a socket that is accepted later", async (t) => {
    const { code, stdout, stderr } = await new Program(
      t,
      process.execPath,
      ["--import=tsx", "test/transport/late-upgrade.ts"],
      {},
    ).exited;
    t.match({ code, stdout, stderr }, { code: 0, stdout: "hello\n", stderr: "" });
  });
}
