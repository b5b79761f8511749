/** PATCH /realm (D5; issue 4): settings of the organization, one by one and together, by administrators and owners. */
import t from "tap";
import { outcome, success } from "../support/conversation.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

t.test("smoke", async (t) => {
  t.strictSame(outcome(await owner.patch("/realm", { name: "New", waiting_period_threshold: 3, topics_policy: "disable_empty_topic", message_content_edit_limit_seconds: "unlimited", jitsi_server_url: "https://x.example" })), success());
  const state: any = await owner.register({ fetch_event_types: ["realm"], event_types: [] });
  console.error(state);
});
