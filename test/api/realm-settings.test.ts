import { writeFileSync } from "node:fs";
import t from "tap";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
t.test("smoke", async () => {
  const state: any = await server.owner.register({});
  writeFileSync("/tmp/w/rs-state.json", JSON.stringify(state));
});
