/**
 * The authorization matrix: every operation x every kind of caller, and a key of another organization on the same
 * server. For an admitted caller the operation is decided. Any other caller gets the rejection for their kind, whatever
 * they send, and nothing changes.
 */
import { join } from "node:path";
import t from "tap";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { roles } from "../../schemas/types.ts";
import { areaCases } from "../areas/index.ts";
import { type Answer, Client, encodeForm, expects, outcome, refusal } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { runCli } from "../support/process.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";
import { type Audience, audiences, type Caller, callers, type RestrictedRequest } from "./endpoints.ts";

/** Each operation's audience, by operationId. */
const audienceOf: ReadonlyMap<string, Audience> = new Map(
  areaCases.flatMap(({ audiences: own = {} }) =>
    (Object.entries(own) as [Audience, readonly string[]][]).flatMap(([audience, ids]) =>
      ids.map((id) => [id, audience] as const),
    ),
  ),
);

const dataDir = temporaryFolder(t);
await (await startTestServer(t, { dataDir })).stop();
const made = await runCli(t, dataDir, "create-realm", "sales", "--email", "owner@localhost", "--name", "Sales");
if (made.code !== 0) throw new Error(made.stderr);
const server = await startTestServer(t, { dataDir });
const { owner } = server;
const { email, key } = readZuliprc(join(dataDir, "zuliprc.sales"));
const outsider = new Client(server.url, { email, key, userId: 2 });
const sales = new HostClient(outsider, "sales.example.org");

async function webhookBot(): Promise<Client> {
  const bot = await server.bot("hook", owner);
  server.changeUser(bot.userId, (user) => ({ ...user, botType: 2 }));
  return bot;
}

async function deactivated(): Promise<Client> {
  const person = await server.user("gone");
  server.changeUser(person.userId, (user) => ({ ...user, isActive: false }));
  return person;
}

/** One caller of each kind, whose own data may be lost. */
const crew: Readonly<Record<Caller, Client>> = {
  nobody: owner.anonymous(),
  deactivated: await deactivated(),
  "webhook bot": await webhookBot(),
  guest: await server.user("guest", roles.guest),
  bot: await server.bot("robot", owner),
  member: await server.user("member"),
  moderator: await server.user("moderator", roles.moderator),
  administrator: await server.user("administrator", roles.administrator),
  owner: await server.user("second", roles.owner),
};

/** A path that names nothing that exists, so that no decision changes anything. */
function pathOf(endpoint: Endpoint): string {
  return endpoint.path.replaceAll(/\{(\w+)\*?\}/g, (_all, name: string) => {
    const { type } = endpoint.params[name] as { type?: string };
    return type === "integer" ? "987654321" : "nothing-there";
  });
}

function ask(client: Client, { method }: Pick<Endpoint, "method">, path: string, params = {}): Promise<Answer> {
  const form = encodeForm(params);
  return client.send(method, path, method === "GET" ? null : form);
}

const notLoggedIn = refusal("Not logged in: API authentication or user session required", "UNAUTHORIZED", 401);
const gone = refusal("Account is deactivated", "USER_DEACTIVATED", 401);
const forSendersOnly = refusal("This API is not available to incoming webhook bots.", "UNAUTHORIZED", 401);
const administratorRequired = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
const noGuests = refusal("Not allowed for guest users");
const noBots = refusal("This endpoint does not accept bot requests.");
const doorRefusals = [notLoggedIn, gone, forSendersOnly, administratorRequired, noGuests, noBots];

/** The rejection of a caller whom the operation does not admit. */
function refusalOf(caller: Caller, audience: string): object {
  if (caller === "nobody") return notLoggedIn;
  if (caller === "deactivated") return gone;
  if (caller === "webhook bot") return forSendersOnly;
  if (audience === "administrators") return administratorRequired;
  return caller === "guest" ? noGuests : noBots;
}

/** Operations that end the caller's own key or account, so they are called last, by users created for them. */
const ends: ReadonlySet<string> = new Set(["deactivate-own-user", "regenerate-own-api-key", "deactivate-realm"]);

t.test("[S1] the table has every operation and no other", async (t) => {
  t.strictSame([...audienceOf.keys()].sort(), endpoints.map(({ operationId }) => operationId).sort());
});

t.test("[S1] every operation admits each kind of caller or rejects it with the error of that kind", async (t) => {
  for (const endpoint of endpoints) {
    const audience = audienceOf.get(endpoint.operationId) ?? "administrators";
    const wrong: unknown[] = [];
    for (const caller of callers) {
      const isHeard = (audiences[audience] as readonly Caller[]).includes(caller);
      if (isHeard && ends.has(endpoint.operationId)) continue;
      const answer = outcome(await ask(crew[caller], endpoint, pathOf(endpoint)));
      const isRefused = doorRefusals.some((each) => JSON.stringify(each.body) === JSON.stringify(answer.body));
      // In an admitted operation, a spectator may still have to log in for anything that is not public.
      const mayBeToldToLogIn = caller === "nobody" && audience === "spectators";
      const isRight = isHeard
        ? mayBeToldToLogIn || (!isRefused && answer.status < 500)
        : JSON.stringify(answer) === JSON.stringify(refusalOf(caller, audience));
      if (!isRight) wrong.push({ caller, isHeard, answer });
    }
    t.strictSame(wrong, [], `${endpoint.operationId}: ${audience}`);
  }
});

t.test("[S1] operations that end the caller's own key or account admit the caller, too", async (t) => {
  for (const operationId of ends) {
    // Tested in test/api/realm-deactivation.test.ts.
    if (operationId === "deactivate-realm") continue;
    const endpoint = endpoints.find((each) => each.operationId === operationId);
    const person = await server.user(`ending${operationId.length}`);
    t.equal((await ask(person, endpoint as Endpoint, pathOf(endpoint as Endpoint))).status, 200, operationId);
    t.equal((await person.get("/users/me")).status, 401);
  }
});

t.test("[S1] a key of another organization is invalid for every operation", async (t) => {
  const invalid = refusal("Invalid API key", "INVALID_API_KEY", 401);
  const changes = await owner.watchChanges();
  for (const endpoint of endpoints) {
    if (audienceOf.get(endpoint.operationId) === "everybody") continue;
    await expects(t, ask(outsider, endpoint, pathOf(endpoint)), invalid, endpoint.operationId);
  }
  t.strictSame(await changes(), []);
  t.equal((await sales.get("/users/me")).status, 200, "it is valid in its own organization");
});

t.test("[S1, D24] ids of another organization get the answer for ids that never existed", async (t) => {
  for (let count = 0; count < 40; count++) await sales.say("general", "ours", `secret ${count}`);
  const people = await Promise.all(Array.from({ length: 30 }, (_, index) => server.user(`local${index}`)));
  const inSales = await sales.post("/channels/create", { name: "ours", subscribers: [2] });
  await sales.post("/user_groups/create", { name: "ours", description: "", members: [2] });
  const unknown = { message_id: 40, user_id: people.at(-1)?.userId ?? 0, stream_id: inSales.body.id + 20 };
  /** Ids of these variables count up per organization; those of the other one are higher. */
  const kinds: Readonly<Record<string, readonly [caller: Client, theirs: number]>> = {
    message_id: [owner, unknown.message_id],
    user_id: [sales, unknown.user_id],
    bot_id: [sales, unknown.user_id],
    muted_user_id: [sales, unknown.user_id],
  };
  let requests = 0;
  for (const endpoint of endpoints) {
    const variable = /\{(\w+)\}/.exec(endpoint.path)?.[1] ?? "";
    const kind = kinds[variable];
    if (kind === undefined) continue;
    const [caller, theirs] = kind;
    const form = {
      full_name: "x",
      content: "x",
      emoji_name: "smile",
      op: "start",
      report_type: "spam",
      status_text: "x",
    };
    const at = (id: number) =>
      ask(caller, endpoint, endpoint.path.replace(`{${variable}}`, String(id)).replace(/\{\w+\}/, "1"), form);
    const [known, never] = [await at(theirs), await at(987_654_321)];
    const plain = ({ status, body }: Answer) =>
      JSON.stringify({ status, body }).replaceAll(/\b(?:40|987654321|\d{2,})\b/g, "ID");
    t.equal(plain(known), plain(never), endpoint.operationId);
    t.not(known.status, 200, `${endpoint.operationId} gives nothing`);
    requests++;
  }
  t.ok(requests >= 15, `${requests} operations`);
});

function fill(path: string, ids: Readonly<Record<string, string | number>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => String(ids[name]));
}

type Restricted = readonly [audience: Audience, requests: readonly RestrictedRequest[]];

let fresh = 0;

async function attempt(caller: Client, { method, path, params }: RestrictedRequest): Promise<number> {
  const other = await server.user(`other${fresh}`);
  const ended = await server.user(`ended${fresh}`);
  server.changeUser(ended.userId, (user) => ({ ...user, isActive: false }));
  const channel = await owner.createChannel(`place ${fresh}`, [owner]);
  const boss = await server.user(`boss${fresh++}`, roles.owner);
  const target = fill(path, {
    other: other.userId,
    email: other.account?.email ?? "",
    gone: ended.userId,
    channel,
    owner: boss.userId,
  });
  const before = JSON.stringify([...server.realm.view.users.all()]);
  const { status } = await caller.send(method, target, encodeForm(params));
  if (status !== 200) t.equal(JSON.stringify([...server.realm.view.users.all()]), before, "nothing is changed");
  return status;
}

t.test("[S1] operations decided by role in the turn admit administrators and owners only", async (t) => {
  const restricted = areaCases.flatMap(({ restricted: own = {} }) => Object.entries(own) as Restricted[]);
  t.strictSame([...new Set(restricted.map(([audience]) => audience))].sort(), ["administrators", "owners"]);
  for (const [audience, requests] of restricted) {
    const may: readonly Caller[] = audiences[audience];
    for (const each of requests) {
      for (const caller of callers) {
        const status = await attempt(crew[caller], each);
        t.equal(status === 200, may.includes(caller), `${each.operationId} ${each.path} as ${caller}: ${status}`);
      }
    }
  }
});
