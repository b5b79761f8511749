/**
 * Ids in paths (S1): a user's own object does not exist for any other user, owners included, and an object of another
 * organization does not exist for anybody here. In the end the creator repeats every request, to prove that it was
 * valid.
 */
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { roles } from "../../schemas/types.ts";
import type { Make } from "../areas/area.ts";
import { merged } from "../areas/index.ts";
import { type Answer, Client, encodeForm, type Params } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { runCli } from "../support/process.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";

const dataDir = temporaryFolder(t);
await (await startTestServer(t, { dataDir })).stop();
const made = await runCli(t, dataDir, "create-realm", "sales", "--email", "owner@localhost", "--name", "Sales");
if (made.code !== 0) throw new Error(made.stderr);
const server = await startTestServer(t, { dataDir });
const { owner } = server;
const { email, key } = readZuliprc(join(dataDir, "zuliprc.sales"));
const sales = new HostClient(new Client(server.url, { email, key, userId: 2 }), "sales.example.org");

/** An id that never existed. */
const neverId = 987_654_321;

/** Makes an object of one user, by the name of its id. */
const personal = merged(({ owned }) => owned);

/** Makes an object of the organization. */
const shared = merged((cases) => cases.shared);

/** Valid parameters, so that every operation reaches the lookup of its id and the creator's request succeeds. */
const form: Params = { title: "t2", content: "x2" };
const forms = merged((cases) => cases.forms);
/** Operations that reject the creator, too, because they need a setting or an earlier action. */
const unproven: ReadonlySet<string> = new Set(["report-message", "remove-reaction", "update-user-group-subgroups"]);

function withId(endpoint: Endpoint, id: number): string {
  return endpoint.path.replace(/\{\w+\}/, String(id)).replace(/\{\w+\}/, "2");
}

function ask(client: Client, endpoint: Endpoint, path: string): Promise<Answer> {
  const params = forms[endpoint.operationId]?.() ?? form;
  const isRead = endpoint.method === "GET";
  return client.send(endpoint.method, path, isRead ? null : encodeForm(params));
}

/** Status and body, with ids replaced. */
function plain({ status, body }: Answer, id: number): string {
  return JSON.stringify({ status, body }).replaceAll(new RegExp(`\\b(?:${id}|${neverId})\\b`, "g"), "ID");
}

/** Operations whose first path variable is one of these kinds. */
function operationsWith(kinds: Readonly<Record<string, Make>>): readonly (readonly [Endpoint, variable: string])[] {
  return (endpoints as readonly Endpoint[]).flatMap((endpoint) => {
    const variable = /\{(\w+)\}/.exec(endpoint.path)?.[1] ?? "";
    return kinds[variable] === undefined ? [] : [[endpoint, variable] as const];
  });
}

async function compare(t: Test, endpoint: Endpoint, id: number, outsiders: Readonly<Record<string, Client>>) {
  for (const [who, outsider] of Object.entries(outsiders)) {
    const theirs = await ask(outsider, endpoint, withId(endpoint, id));
    const never = await ask(outsider, endpoint, withId(endpoint, neverId));
    t.equal(plain(theirs, id), plain(never, neverId), `${endpoint.operationId} as ${who}`);
    t.not(theirs.status, 200, `${endpoint.operationId} gives ${who} nothing`);
  }
}

t.test("[S1] a user's own object does not exist for other users, whatever their role", async (t) => {
  const vera = await server.user("vera");
  const outsiders = {
    guest: await server.user("guest", roles.guest),
    bot: await server.bot("robot", owner),
    member: await server.user("member"),
    moderator: await server.user("moderator", roles.moderator),
    administrator: await server.user("administrator", roles.administrator),
    owner,
  };
  const operations = operationsWith(personal);
  for (const [endpoint, variable] of operations) {
    const id = (await personal[variable]?.(vera)) ?? 0;
    await compare(t, endpoint, id, outsiders);
    const { status, body } = await ask(vera, endpoint, withId(endpoint, id));
    t.equal(status, 200, `${endpoint.operationId} works for vera: ${JSON.stringify(body)}`);
  }
  t.strictSame([...new Set(operations.map(([, variable]) => variable))].sort(), Object.keys(personal).sort());
});

t.test("[S1] an object of another organization does not exist here, not even for the owner", async (t) => {
  // Ids count up per organization, so those of the other one must be higher than the local ones. Files of another
  // organization: test/api/attachment-access.test.ts.
  const { attachment_id: _files, ...kinds }: Readonly<Record<string, Make>> = { ...personal, ...shared };
  const operations = operationsWith(kinds);
  for (const [endpoint, variable] of operations) {
    const make = kinds[variable] as Make;
    const local = await make(owner);
    let id = await make(sales);
    while (id <= local + 1) id = await make(sales);
    await compare(t, endpoint, id, { owner });
    const { status, body } = await ask(sales, endpoint, withId(endpoint, id));
    if (!unproven.has(endpoint.operationId)) {
      t.equal(status, 200, `${endpoint.operationId} works for its creator: ${JSON.stringify(body)}`);
    }
  }
  t.strictSame([...new Set(operations.map(([, variable]) => variable))].sort(), Object.keys(kinds).sort());
});
