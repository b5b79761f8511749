/**
 * HTTP behaviour of every operation: the envelope of spec 2.1, unknown paths and methods (D1), HEAD, OPTIONS and CORS,
 * and the decoding of names and values (spec 4, behaviour 1.3). http-bodies.test.ts tests malformed bytes and limits.
 */
import t from "tap";
import { Type } from "typebox";
import { defineEndpoint, type Endpoint } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { limits } from "../../schemas/limits.ts";
import { Router } from "../../src/edge/http/router.ts";
import { expects, outcome, refusal, success } from "../support/client.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const authorization = `Host: x\r\nAuthorization: ${owner.authorization}\r\n`;

/** The path of an operation, with numbers for its variables. */
function pathOf(endpoint: Endpoint): string {
  return endpoint.path.replaceAll(/\{(\w+)\*?\}/g, (_all, name: string) => (isInteger(endpoint, name) ? "7" : "seven"));
}

function isInteger(endpoint: Endpoint, name: string): boolean {
  return (endpoint.params[name] as { type?: string }).type === "integer";
}

function methodsOf(endpoint: Endpoint): string[] {
  return endpoints.filter((other) => other.path === endpoint.path).map(({ method }) => method);
}

/** Sends a message to oneself as form text. @returns the content that the server stored */
async function sayEncoded(content: string): Promise<string> {
  const sent = await owner.send("POST", "/messages", `type=direct&to=[2]&content=${content}`);
  const read = await owner.get(`/messages/${sent.body.id}`, { apply_markdown: false });
  return read.body.message.content;
}

t.test("[spec 2.1] a successful answer is JSON with result and an empty msg, without code", async (t) => {
  const { status, body, headers } = await owner.post("/messages", { type: "direct", to: [2], content: "hi" });
  t.strictSame({ status, body }, success({ id: body.id }));
  t.equal(headers.get("Content-Type"), "application/json");
});

t.test("[spec 2.1] an error is JSON with result, msg and code", async (t) => {
  const answer = await owner.post("/messages", { type: "direct", to: [2] });
  t.strictSame(
    outcome(answer),
    refusal("Missing 'content' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "content" }),
  );
  t.equal(answer.headers.get("Content-Type"), "application/json");
});

t.test("[spec 2.1] unknown parameters are listed in ascending order, each once", async (t) => {
  const answer = await owner.send("POST", "/messages?zebra=1&mango=2", "type=direct&to=[2]&content=x&mango=3&apple=");
  t.strictSame(answer.body.ignored_parameters_unsupported, ["apple", "mango", "zebra"]);
  const queue = await owner.register({ fetch_event_types: [] });
  const read = await owner.get("/events", {
    queue_id: queue.queue_id,
    last_event_id: queue.last_event_id,
    dont_block: true,
    wat: 1,
  });
  t.strictSame(outcome(read), success({ events: [], ignored_parameters_unsupported: ["wat"] }), "encoded answers, too");
});

t.test("[spec 2.1] names of JavaScript's built-in properties are ordinary names", async (t) => {
  const form = "type=direct&to=[2]&content=x&__proto__=1&constructor=2&hasOwnProperty=3";
  const { status, body } = await owner.send("POST", "/messages", form);
  t.strictSame(
    { status, body },
    success({ id: body.id, ignored_parameters_unsupported: ["__proto__", "constructor", "hasOwnProperty"] }),
  );
});

t.test("[spec 2.1] the list is absent without ignored parameters, and in errors", async (t) => {
  const fine = await owner.get("/users/me");
  t.notOk("ignored_parameters_unsupported" in fine.body);
  const refused = await owner.get("/messages/999999", { wat: 1 });
  t.strictSame(outcome(refused), refusal("Invalid message(s)"));
});

t.test("[D1] an unknown path returns 404 in the envelope, for any method, with or without credentials", async (t) => {
  const expected = refusal("Invalid URL", "NOT_FOUND", 404);
  for (const path of ["/nothing", "/users/me/", "/Users/me", "//users/me", "/messages/abc", "/messages/-1", "/"]) {
    for (const method of ["GET", "POST", "DELETE"]) {
      await expects(t, owner.send(method, path, null), expected, `${method} ${path}`);
    }
    await expects(t, owner.anonymous().get(path), expected, `${path} without credentials`);
  }
  for (const path of ["/api", "/api/v1", "/api/v2/users/me", "/users/me"]) {
    const response = await fetch(`${server.url}${path}`);
    t.strictSame({ status: response.status, body: await response.json() }, expected, path);
  }
});

t.test("[D1] a method that a path does not support returns 405 with Allow, before the credentials", async (t) => {
  for (const endpoint of endpoints) {
    // No operation has this method.
    const answer = await owner.anonymous().send("PROPFIND", pathOf(endpoint), null);
    const { allowed_methods: allowed, ...rest } = answer.body;
    t.strictSame(
      { status: answer.status, body: rest },
      refusal("Method Not Allowed", "METHOD_NOT_ALLOWED", 405),
      endpoint.path,
    );
    t.equal(answer.headers.get("Allow"), allowed.join(", "), "header and list agree");
    for (const method of methodsOf(endpoint)) t.ok(allowed.includes(method), `${method} ${endpoint.path}`);
    t.notOk(allowed.includes("PROPFIND"));
  }
});

t.test("[behaviour 1.3] HEAD returns GET's status and headers without a body; the connection stays open", async (t) => {
  const connection = new RawConnection(server.url);
  for (const path of ["/users/me", "/messages/999999", "/nothing"]) {
    await connection.write(`HEAD /api/v1${path} HTTP/1.1\r\n${authorization}\r\n`);
    const head = await connection.answer(false);
    await connection.write(`GET /api/v1${path} HTTP/1.1\r\n${authorization}\r\n`);
    const got = await connection.answer();
    t.equal(head?.status, got?.status, path);
    t.equal(head?.headers["content-length"], got?.headers["content-length"]);
    t.equal(head?.headers["content-type"], "application/json");
    t.equal(Number(got?.headers["content-length"]), Buffer.byteLength(got?.text ?? ""));
  }
  connection.destroy();
  const refused = await exchange(server.url, `HEAD /api/v1/register HTTP/1.1\r\n${authorization}\r\n`, false);
  t.equal(refused?.status, 405, "a path without GET has no HEAD");
});

t.test("[behaviour 1.3] OPTIONS lists the methods of a path, without credentials", async (t) => {
  for (const endpoint of endpoints) {
    const { status, body, headers } = await owner.anonymous().send("OPTIONS", pathOf(endpoint), null);
    t.strictSame({ status, body }, { status: 204, body: null }, endpoint.path);
    const allowed = headers.get("Allow")?.split(", ") ?? [];
    const expected = [...methodsOf(endpoint), "OPTIONS", ...(methodsOf(endpoint).includes("GET") ? ["HEAD"] : [])];
    t.strictSame(allowed.sort(), expected.sort());
  }
  t.equal((await owner.send("OPTIONS", "/nothing", null)).status, 404);
});

t.test("[D203] a CORS preflight is granted for any origin, with the headers that clients send", async (t) => {
  const { status, headers } = await owner.anonymous().send("OPTIONS", "/messages", null, {
    Origin: "https://app.example.org",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization, idempotency-key",
  });
  t.equal(status, 204);
  t.equal(headers.get("Access-Control-Allow-Origin"), "*");
  const methods = headers.get("Access-Control-Allow-Methods")?.split(", ") ?? [];
  for (const method of ["GET", "POST"]) t.ok(methods.includes(method), method);
  const granted = headers.get("Access-Control-Allow-Headers")?.toLowerCase().split(", ") ?? [];
  for (const name of ["authorization", "content-type", "idempotency-key"]) t.ok(granted.includes(name), name);
  t.equal(headers.get("Access-Control-Allow-Credentials"), null, "cookies are not used");
});

t.test("[D203] a page of another origin may read every answer and the headers it needs, errors included", async (t) => {
  const origin = { Origin: "https://app.example.org" };
  const answers = await Promise.all([
    owner.get("/users/me", {}, origin),
    owner.anonymous().get("/users/me", {}, origin),
    owner.get("/nothing", {}, origin),
    owner.patch("/users/me", {}, origin),
  ]);
  const found = answers.map(({ status, headers }) => [status, headers.get("Access-Control-Allow-Origin")]);
  t.strictSame(
    found,
    [200, 401, 404, 405].map((status) => [status, "*"]),
  );
  const exposed = answers[0].headers.get("Access-Control-Expose-Headers") ?? "";
  for (const name of ["Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"])
    t.ok(exposed.includes(name), name);
  const plain = await owner.get("/users/me");
  t.equal(plain.headers.get("Access-Control-Allow-Origin"), null, "only for requests with an Origin");
});

t.test("[spec 4] form values are percent-decoded once, as UTF-8, with + for a space", async (t) => {
  t.equal(await sayEncoded("a+b%20c%2Bd"), "a b c+d");
  t.equal(await sayEncoded("%C3%A4+%E2%82%AC+%F0%9F%99%82"), "ä € 🙂");
  t.equal(await sayEncoded("%2541"), "%41", "once");
  t.equal(await sayEncoded("1%26to=3%3D"), "1&to=3=", "an encoded & ends nothing, a second = belongs to the value");
  t.equal(await sayEncoded("ä€🙂"), "ä€🙂", "raw UTF-8 bytes");
});

t.test("[behaviour 1.3] a parameter is looked up in the body first, then in the query", async (t) => {
  const sent = await owner.send("POST", "/messages?content=query&type=direct", "to=[2]&content=body");
  t.strictSame(outcome(sent), success({ id: sent.body.id }));
  const read = await owner.get(`/messages/${sent.body.id}`);
  t.equal(read.body.raw_content, "body");
});

t.test("[D45] a parameter that is sent twice in one place is rejected, and nothing is written", async (t) => {
  const changes = await owner.watchChanges();
  const twice = refusal("Parameter 'content' was sent twice");
  await expects(t, owner.send("POST", "/messages", "type=direct&to=[2]&content=a&content=b"), twice);
  await expects(t, owner.send("POST", "/messages?content=a&content=b", "type=direct&to=[2]"), twice, "in the query");
  await expects(
    t,
    owner.send("POST", "/messages", "type=direct&to=[2]&content=a&%63ontent=a"),
    twice,
    "however it is encoded",
  );
  t.strictSame(await changes(), []);
});

t.test("route, credentials and parameters are checked in this order", async (t) => {
  const broken = "content=%zz";
  t.equal((await owner.send("POST", "/nothing", broken)).status, 404);
  t.equal((await owner.send("PUT", "/messages", broken)).status, 405);
  t.equal((await owner.anonymous().send("POST", "/messages", broken)).status, 401);
  t.equal((await owner.send("POST", "/messages", broken)).status, 400);
});

/** @returns `count` unknown parameters */
function surplus(count: number, prefix: string): string {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}=`).join("&");
}

t.test("[S3] form_parameters_max: one more parameter is rejected, and nothing is written", async (t) => {
  const message = "type=direct&to=[2]&content=x";
  const full = await owner.send("POST", "/messages", `${message}&${surplus(limits.form_parameters_max - 3, "n")}`);
  t.equal(full.status, 200);
  t.equal(full.body.ignored_parameters_unsupported.length, limits.form_parameters_max - 3);
  t.equal(
    (await owner.send("POST", "/messages", `${message}${"&".repeat(limits.form_parameters_max - 3)}`)).status,
    200,
  );
  const changes = await owner.watchChanges();
  const over = await owner.send("POST", "/messages", `${message}&${surplus(limits.form_parameters_max - 2, "n")}`);
  t.strictSame(outcome(over), refusal("Too many parameters"));
  const both = await owner.send(
    "POST",
    `/messages?${surplus(10, "q")}`,
    `${message}&${surplus(limits.form_parameters_max - 3, "n")}`,
  );
  t.strictSame(outcome(both), refusal("Too many parameters"), "body and query together");
  const blanks = "&".repeat(limits.form_parameters_max - 3);
  const separated = await owner.send("POST", "/messages", `${message}${blanks}&`);
  t.strictSame(outcome(separated), refusal("Too many parameters"), "empty parameters count");
  t.strictSame(await changes(), []);
});

t.test("[S3, D46] json_nesting_max: JSON that is nested deeper is invalid, at any depth", async (t) => {
  const nested = (depth: number, inner = "") => "[".repeat(depth) + inner + "]".repeat(depth);
  const subscribe = (value: string) => owner.send("POST", "/users/me/subscriptions", `subscriptions=${value}`);
  const most = limits.json_nesting_max;
  await expects(t, subscribe(nested(most)), "subscriptions[0] is not a dict");
  for (const depth of [most + 1, 20_000, 400_000]) {
    for (const inner of ["", String.raw`"\ud800"`, '{"a":1}']) {
      await expects(t, subscribe(nested(depth, inner)), "subscriptions is not valid JSON");
    }
  }
  const text = JSON.stringify([{ name: "deep", description: `\\"${nested(most + 1)}` }]);
  t.equal((await subscribe(text)).status, 200, "brackets within a string are text");
});

t.test("[S3, D46] json_values_max: a request has at most that many values in the JSON of its parameters", async (t) => {
  const most = limits.json_values_max;
  const tooMany = refusal(`The parameters have too many values (limit: ${most})`);
  const ask = (lists: Readonly<Record<string, string>>) =>
    owner.send("POST", "/users/me/subscriptions", new URLSearchParams(lists).toString());
  const list = (count: number, value: string) => `[${Array(count).fill(value).join(",")}]`;
  const wrong = refusal(`subscriptions is too long (limit: ${limits.channels_per_request_max} items)`);
  // A list counts as one value, an empty one as two, like each of an object's fields: its name and its value.
  for (const [count, value] of [
    [most - 1, "1"],
    [(most - 2) / 2, "[]"],
  ] as const) {
    await expects(t, ask({ subscriptions: list(count, value) }), wrong);
    await expects(t, ask({ subscriptions: list(count + 1, value) }), tooMany);
  }
  const object = (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [i, 0])));
  await expects(t, ask({ subscriptions: object((most - 2) / 2) }), "subscriptions is not a list");
  await expects(t, ask({ subscriptions: object(most / 2) }), tooMany);
  const half = list(most / 2 - 1, "1");
  await expects(t, ask({ subscriptions: half, principals: half }), wrong);
  await expects(t, ask({ subscriptions: half, principals: list(most / 2, "1") }), tooMany, "in sum");
  const text = JSON.stringify([{ name: "commas", description: ",:[{".repeat(200) }]);
  t.equal((await ask({ subscriptions: text })).status, 200, "signs within a string are text");
});

t.test("[S3] form_name_characters_max: a longer parameter name is rejected, and no answer repeats it", async (t) => {
  const message = "type=direct&to=[2]&content=x";
  const name = "é".repeat(limits.form_name_characters_max);
  const ignored = await owner.send("POST", "/messages", `${message}&${encodeURIComponent(name)}=1`);
  t.match(outcome(ignored), { status: 200, body: { ignored_parameters_unsupported: [name] } });
  const changes = await owner.watchChanges();
  for (const longer of [encodeURIComponent(`${name}é`), "n".repeat(100_000)]) {
    const answers = [await owner.send("POST", "/messages", `${message}&${longer}=1&${longer}=2`)];
    if (longer.length < 4000) answers.push(await owner.send("POST", `/messages?${longer}=1`, message));
    for (const answer of answers) t.strictSame(outcome(answer), refusal("A parameter's name is too long"));
  }
  t.strictSame(await changes(), []);
});

t.test("[spec 4] numbers, booleans and lists are parsed as strict JSON; text is raw", async (t) => {
  const refused: readonly (readonly [string, string])[] = [
    ["user_ids=", "user_ids is not valid JSON"],
    ["user_ids=2", "user_ids is not a list"],
    ['user_ids=["2"]', "user_ids[0] is not an integer"],
    ["user_ids=[2.5]", "user_ids[0] is not an integer"],
    ["user_ids=[-1]", "user_ids[0] is too small"],
    ["user_ids=null", "user_ids is not a list"],
    ["client_gravatar=True", "client_gravatar is not valid JSON"],
    ["client_gravatar=1", "client_gravatar is not a boolean"],
    ['client_gravatar="true"', "client_gravatar is not a boolean"],
    ["client_gravatar=", "client_gravatar is not valid JSON"],
  ];
  for (const [query, msg] of refused) {
    await expects(t, owner.send("GET", `/users?${query}`, null), msg, query);
  }
  t.equal(await sayEncoded('"quoted"'), '"quoted"');
});

function variableEndpoint(path: string, name: string, schema: ReturnType<typeof Type.String>): { endpoint: Endpoint } {
  const declared = defineEndpoint({
    operationId: path,
    method: "GET",
    path,
    authentication: "none",
    effectiveness: "read",
    summary: "",
    params: { [name]: schema },
    ok: {},
    errors: [],
  });
  return { endpoint: declared as unknown as Endpoint };
}

t.test("[spec 4] path variables are percent-decoded once, within their segment", async (t) => {
  const router = new Router([
    variableEndpoint("/views/{fragment*}", "fragment", Type.String()),
    variableEndpoint("/people/{name}/status", "name", Type.String()),
  ]);
  const variables = (path: string) => {
    const match = router.match("GET", path);
    return match.kind === "found" ? match.variables : match.kind;
  };
  t.strictSame(variables("/people/a%40b.org/status"), ["a@b.org"]);
  t.strictSame(variables("/people/a%2Fb/status"), ["a/b"]);
  t.strictSame(variables("/people/a%252Fb/status"), ["a%2Fb"], "once");
  t.strictSame(variables("/people/a+b/status"), ["a+b"], "+ is a plus in a path");
  t.strictSame(variables("/people//status"), "unknown", "a variable is not empty");
  t.strictSame(variables("/views/narrow/is/starred"), ["narrow/is/starred"]);
  t.strictSame(variables("/views/a%2Fb/c"), ["a/b/c"]);
  for (const broken of ["%", "%4", "%zz", "%ff", "%C0%80", "%ED%A0%80"]) {
    t.strictSame(variables(`/people/${broken}/status`), "malformed", broken);
  }
});

t.test("[spec 4] a path with a known first segment can match a pattern that begins with a variable", async (t) => {
  const router = new Router([
    variableEndpoint("/{area}/status/now", "area", Type.String()),
    variableEndpoint("/people/{name}", "name", Type.String()),
  ]);
  const variables = (path: string) => {
    const match = router.match("GET", path);
    return match.kind === "found" ? match.variables : match.kind;
  };
  t.strictSame(variables("/people/ann"), ["ann"]);
  t.strictSame(variables("/people/status/now"), ["people"]);
  t.strictSame(variables("/rooms/status/now"), ["rooms"]);
  t.strictSame(variables("/rooms/ann"), "unknown");
});

t.test("[spec 4] an escaped letter equals the letter; an escaped slash stays inside its segment", async (t) => {
  const id = await owner.say("general", "paths", "here");
  const escaped = [...String(id)].map((digit) => `%3${digit}`).join("");
  t.equal((await owner.get(`/messages/${escaped}`)).body.message?.id, id);
  t.equal((await owner.get("/%75sers/me")).body.user_id, owner.userId);
  for (const path of ["/users%2Fme", `/messages%2F${id}`, "/%2575sers/me"]) {
    t.equal((await owner.get(path)).status, 404, path);
  }
});
