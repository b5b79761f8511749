/**
 * The closed list of error codes (spec section 7; schemas/errors.ts): every code has its status, is used, and is
 * covered by a test; every endpoint declares only existing codes, each once.
 */
import t from "tap";
import { commonErrors, type Endpoint } from "../../schemas/endpoint.ts";
import { type ErrorCode, errorBody, errorCodes, type Refusal, refuse } from "../../schemas/errors.ts";
import { endpoints } from "../../schemas/index.ts";
import { readSources } from "../tidy/sources.ts";

const codes = Object.keys(errorCodes) as ErrorCode[];
const sources = readSources();

/** Every constructor of a rejection, called with texts, or with a list where it takes one. */
const refusals = Object.entries(refuse).map(([name, make]): [string, Refusal] => {
  const build = make as (...given: readonly unknown[]) => Refusal;
  try {
    return [name, build("a", "b")];
  } catch {
    return [name, build(["a"])];
  }
});

/** D1. */
const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  UNAUTHORIZED: 401,
  INVALID_API_KEY: 401,
  AUTHENTICATION_FAILED: 401,
  USER_DEACTIVATED: 401,
  REALM_DEACTIVATED: 401,
  CSRF_FAILED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CHANNEL_ALREADY_EXISTS: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMIT_HIT: 429,
  INTERNAL_SERVER_ERROR: 500,
  STORE_REFUSES_WRITES: 503,
  SERVER_SHUTTING_DOWN: 503,
  OVERLOADED: 503,
  OWNER_UNREACHABLE: 503,
};

t.test("[D1] every code has its status, 400 except for those that D1 names, and an explanation", async (t) => {
  for (const code of codes) {
    t.equal(errorCodes[code].status, statuses[code] ?? 400, code);
    t.match(errorCodes[code].meaning, /^[A-Z].{10,}\.$/, `${code} is explained in a sentence`);
    t.match(code, /^[A-Z]+(?:_[A-Z]+)*$/);
  }
});

t.test("only `refuse` creates rejections; every code has one, and every rejection an existing code", async (t) => {
  const built = new Set(refusals.map(([, { code }]) => code));
  t.strictSame([...built].sort(), [...codes].sort());
  for (const [name, refusal] of refusals) {
    t.equal(refusal.kind, "refused", name);
    t.ok(refusal.msg.length > 0, `${name} has a message`);
    const body = errorBody(refusal);
    t.match(body, { result: "error", code: refusal.code, msg: refusal.msg });
    t.notOk(Object.hasOwn(body, "kind"));
  }
  const makers = sources.filter(({ path, text }) => {
    return /^(?:actors|domain|src)\//.test(path) && /kind: "refused",? code:|kind: "refused" as const/.test(text);
  });
  const paths = makers.map(({ path }) => path);
  t.strictSame(paths, [], "no other file creates one");
});

t.test("every rejection is in use", async (t) => {
  const server = sources.filter(({ path }) => /^(?:actors|domain|src)\//.test(path));
  for (const [name] of refusals) {
    t.ok(
      server.some(({ text }) => new RegExp(`\\brefuse\\.${name}\\b`).test(text)),
      name,
    );
  }
});

t.test("every error code is expected by a test", async (t) => {
  const tests = sources.filter(
    ({ path }) => /^test\/.*\.test\.ts$/.test(path) && path !== "test/schemas/errors.test.ts",
  );
  for (const code of codes) {
    const seen = tests.filter(({ text }) => new RegExp(`\\b${code}\\b`).test(text)).map(({ path }) => path);
    t.ok(seen.length > 0, `${code}: ${seen.length} files`);
  }
});

t.test("every endpoint declares existing codes, each once, and none of the common ones", async (t) => {
  for (const { operationId, errors, authentication } of endpoints) {
    for (const code of errors) {
      t.ok(Object.hasOwn(errorCodes, code), `${operationId}: ${code}`);
      t.notOk(commonErrors.includes(code), `${operationId}: ${code} is common to all`);
    }
    t.equal(new Set(errors).size, errors.length, `${operationId}: each once`);
    t.ok(["user", "none", "optional"].includes(authentication));
  }
  t.equal(new Set(commonErrors).size, commonErrors.length);
  for (const code of commonErrors) t.ok(Object.hasOwn(errorCodes, code), code);
});

t.test("every code belongs to an endpoint, to all endpoints, or to the routing before them", async (t) => {
  // Returned before an endpoint is found.
  const transports: readonly ErrorCode[] = ["NOT_FOUND", "METHOD_NOT_ALLOWED", "CSRF_FAILED"];
  const declared = new Set<ErrorCode>([...commonErrors, ...transports, ...endpoints.flatMap(({ errors }) => errors)]);
  const found = codes.filter((code) => !declared.has(code));
  t.strictSame(found, []);
});

/** A path with its variables replaced by what they match: digits only, or anything. */
function shapeOf(path: string, params: Endpoint["params"]): string {
  const kindOf = (name: string) => ((params[name] as { type?: string }).type === "integer" ? "digits" : "text");
  return path.replaceAll(/\{(\w+)/g, (_all, name: string) => `{${kindOf(name)}`);
}

t.test("operation ids are unique, and so are method and path", async (t) => {
  t.equal(new Set(endpoints.map(({ operationId }) => operationId)).size, endpoints.length);
  t.equal(
    new Set(endpoints.map(({ method, path, params }) => `${method} ${shapeOf(path, params)}`)).size,
    endpoints.length,
  );
  for (const { operationId, path, params } of endpoints) {
    for (const [, name] of path.matchAll(/\{(\w+)\*?\}/g)) {
      t.ok(Object.hasOwn(params, name ?? ""), `${operationId}: {${name}} is a parameter`);
    }
  }
});
