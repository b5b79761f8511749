/**
 * POST /realm/deactivate (D1, D2, D212; docs/realtime.md, close codes): every caller is rejected until `cli
 * reactivate-realm`.
 */
import { join } from "node:path";
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { Client, expects, outcome, refusal, success } from "../support/client.ts";
import { exchange, HostClient } from "../support/http.ts";
import { inviteLink, visit } from "../support/join.ts";
import { fetchPage } from "../support/pictures.ts";
import { runCli } from "../support/process.ts";
import { connect, follow, waitingPoll } from "../support/realtime.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const gone = refusal("This organization has been deactivated", "REALM_DEACTIVATED", 401);
const closed = { code: 4403, reason: "account or organization deactivated: do not retry" };
const event = { type: "realm", op: "deactivated", realm_id: 1 };

t.test("only owners may deactivate the organization", async (t) => {
  const server = await startTestServer(t);
  const changes = await server.owner.watchChanges();
  for (const role of [roles.administrator, roles.moderator, roles.member, roles.guest]) {
    const person = await server.user(`role${role}`, role);
    const refused = refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL");
    await expects(t, person.post("/realm/deactivate"), refused);
  }
  const found = (await changes()).filter((one) => (one as { type: string }).type === "realm");
  t.strictSame(found, []);
  t.equal((await server.owner.get("/users/me")).status, 200);
});

t.test("[D1] all keys are rejected with 401, polls end, sockets close with 4403, all calls are rejected", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  server.setRealm({ enable_spectator_access: true });
  await owner.createChannel("web", [owner], { is_web_public: true });
  const link = await inviteLink(owner);
  const person = await server.user("person");
  const { socket: following } = await follow(person, { event_types: ["realm"] });
  const idle = await connect(person);
  const queue = await person.openQueue(["realm"]);
  const poll = await waitingPoll(server, person, queue, queue.last_event_id);
  const deaf = await person.openQueue(["message"]);
  const unanswered = await waitingPoll(server, person, deaf, deaf.last_event_id);
  await expects(t, owner.post("/realm/deactivate"), success());
  const received = await poll.answer;
  t.match(received.body.events, [event]);
  await expects(t, unanswered.answer, gone);
  t.match(await following.event(({ type }) => type === "realm"), event);
  for (const socket of [following, idle]) t.strictSame(await socket.closed, closed);
  for (const client of [owner, person]) {
    const answer = await client.get("/users/me");
    t.strictSame(outcome(answer), gone);
    t.ok(answer.headers.get("www-authenticate"), "[D2]");
    await expects(t, client.post("/messages", { type: "direct", to: [2], content: "x" }), gone);
  }
  await expects(t, person.getEvents(queue, queue.last_event_id), gone);
  await expects(t, owner.post("/realm/deactivate"), gone);
  const wrong = new Client(server.url, { email: "owner@localhost", key: "wrong", userId: 0 });
  t.equal((await wrong.get("/users/me")).body.code, "INVALID_API_KEY", "a wrong key gets no information");
  await expects(t, owner.anonymous().get("/messages", { num_before: 1, num_after: 0 }), gone);
  const credentials = { username: "owner@localhost", password: "wrong password" };
  await expects(t, owner.anonymous().post("/fetch_api_key", credentials), gone);
  t.equal((await owner.anonymous().get("/server_settings")).status, 200, "server settings stay available");
  t.equal((await fetchPage(server.url, "/health")).status, 200);
  t.equal((await visit(link)).status, 401);
  t.equal((await fetchPage(server.url, "/avatar/2")).status, 401);
  const late = new Socket(server.url);
  await late.opened();
  late.send({ type: "authenticate", email: person.account?.email, api_key: person.account?.key });
  t.equal((await late.closed).code, 4403);
  t.ok(await exchange(server.url, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"));
});

t.test("[S1, M1] the deactivation of one organization survives a restart; reactivate-realm ends it", async (t) => {
  const dataDir = temporaryFolder(t);
  await (await startTestServer(t, { dataDir })).stop();
  const made = await runCli(t, dataDir, "create-realm", "sales", "--email", "owner@localhost", "--name", "Sales");
  if (made.code !== 0) throw new Error(made.stderr);
  const before = await startTestServer(t, { dataDir });
  const { email, key } = readZuliprc(join(dataDir, "zuliprc.sales"));
  const ofSales = (url: string) => new HostClient(new Client(url, { email, key, userId: 2 }), "sales.example.org");
  const kept = await ofSales(before.url).say("general", "t", "kept");
  t.equal((await ofSales(before.url).post("/realm/deactivate")).status, 200);
  await expects(t, ofSales(before.url).get("/users/me"), gone);
  t.equal((await before.owner.get("/users/me")).status, 200);
  await before.stop();
  const during = await startTestServer(t, { dataDir });
  await expects(t, ofSales(during.url).get("/users/me"), gone);
  await during.stop();
  const back = await runCli(t, dataDir, "reactivate-realm", "sales");
  t.equal(back.code, 0, back.stderr);
  t.equal((await runCli(t, dataDir, "reactivate-realm", "sales")).code, 0, "again changes nothing");
  const after = await startTestServer(t, { dataDir });
  t.equal((await ofSales(after.url).get(`/messages/${kept}`)).status, 200);
});
