/**
 * `call` for every operation (realtime.md): a socket returns exactly the response of REST for the same call, whether
 * accepted or rejected, for every endpoint.
 */
import t from "tap";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import type { Client, Params } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { connect } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import type { Frame, Socket } from "../support/socket.ts";

/** No second passes between two reads that are compared. */
const clock = new ManualClock(Date.now());
const server = await startTestServer(t, { clock });
const { owner } = server;

const excluded = /^\/(events|register|user_uploads|session)(\/|$)/;
/** These end the caller's key and with it the socket; they have their own test below. */
const parting: readonly string[] = ["deactivate-own-user", "regenerate-own-api-key", "deactivate-realm"];
const callable: readonly Endpoint[] = (endpoints as readonly Endpoint[]).filter(
  ({ operationId, path }) => !excluded.test(path) && !parting.includes(operationId),
);

function call(socket: Socket, { method, path }: { method: string; path: string }, params: Params): Promise<Frame> {
  return socket.ask({ type: "call", method, path, params });
}

/** The response body as REST returns it. */
async function rest(client: Client, { method, path }: { method: string; path: string }, params: Params) {
  const send = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;
  return (await client[send[method as keyof typeof send]](path, params)).body;
}

/** The endpoint's path with ids that do not exist. */
function nowhere({ path }: Endpoint): string {
  return path.replace(/\{[^}]*\}/g, "999999");
}

/** Without fields that depend on the moment. */
function bodyOf({ type: _type, ref: _ref, server_timestamp: _at, ...body }: Frame): unknown {
  return body;
}

/** A value that only a text parameter accepts, for each parameter outside the path. */
function wrongParams({ path, params }: Endpoint): Params {
  const names = Object.keys(params).filter((name) => !path.includes(`{${name}`));
  return Object.fromEntries(names.map((name) => [name, "\u0000"]));
}

/** Operations compared below, rejected or accepted. */
const compared = new Set<string>();

t.test("every operation is rejected over a socket as it is over HTTP", async (t) => {
  const person = await server.user("refused caller");
  const socket = await connect(person);
  for (const endpoint of callable) {
    const request = { method: endpoint.method, path: nowhere(endpoint) };
    for (const params of [wrongParams(endpoint), {}]) {
      const expected = await rest(person, request, params);
      if (expected.result !== "error") continue;
      t.strictSame(bodyOf(await call(socket, request, params)), expected, endpoint.operationId);
      compared.add(endpoint.operationId);
    }
  }
  t.ok(compared.size > callable.length / 2, `${compared.size} of ${callable.length}`);
  socket.terminate();
});

t.test("every operation without required parameters is executed over a socket as over HTTP", async (t) => {
  const socket = await connect(owner);
  let accepted = 0;
  for (const endpoint of callable.filter(({ path }) => !path.includes("{"))) {
    const expected = await rest(owner, endpoint, {});
    if (expected.result !== "success") continue;
    const given = bodyOf(await call(socket, endpoint, {})) as Record<string, unknown>;
    // Two creations differ in their id; two reads are equal.
    if (endpoint.effectiveness === "read") t.strictSame(given, bodyOf(expected), endpoint.operationId);
    t.equal(given["result"], "success", endpoint.operationId);
    t.strictSame(Object.keys(given), Object.keys(bodyOf(expected) as object));
    compared.add(endpoint.operationId);
    accepted++;
  }
  t.ok(accepted > 0, `${accepted}`);
  const missing = callable.filter(({ operationId }) => !compared.has(operationId));
  const operationIds = missing.map(({ operationId }) => operationId);
  t.strictSame(operationIds, [], "every operation was compared at least once");
  socket.terminate();
});

t.test("operations that end the caller's key send their response before the socket is closed", async (t) => {
  for (const [path, code] of [
    ["/users/me/api_key/regenerate", 4401],
    ["/users/me", 4403],
  ] as const) {
    const socket = await connect(await server.user(`leaving by ${code}`));
    const answer = await call(socket, { method: code === 4403 ? "DELETE" : "POST", path }, {});
    t.equal(answer.result, "success");
    t.equal((await socket.closed).code, code);
  }
});
